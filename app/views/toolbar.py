"""The controls of a recording: record, pause, stop, time, input with level, output."""

from collections.abc import Sequence
from typing import Protocol

from PySide6.QtCore import QSize, Qt, Signal, Slot
from PySide6.QtGui import QFont
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QSizePolicy,
    QWidget,
)

from app.fonts import scaled, tabular
from app.i18n import tr
from app.icons import icon
from app.state import AppState
from app.text import shortened
from app.theme import Appearance
from app.views.elided_choice import ElidedChoice
from app.views.elided_label import ElidedLabel
from app.views.folding_row import FoldingRow
from app.views.health.level_meter import LevelMeter
from engine.core.events import SessionState
from engine.core.timebase import format_time

_MAX_NAME_CHARACTERS = 28
_ICON_PX = 18


class Device(Protocol):
    """What a chooser needs of a device."""

    @property
    def name(self) -> str:
        """For people and settings."""
        ...

    @property
    def num_inputs(self) -> int:
        """Input channels."""
        ...

    @property
    def num_outputs(self) -> int:
        """Output channels."""
        ...

    @property
    def is_monitor(self) -> bool:
        """Whether it records what a loudspeaker plays."""
        ...


class DeviceChooser(ElidedChoice):
    """Chooses a device by name; it asks for a fresh list whenever it opens.

    Signals:
        opened: the list is about to be shown.
        chosen: the user took a name.
    """

    opened = Signal()
    chosen = Signal(str)

    def __init__(self, title: str, current: str, parent: QWidget | None = None) -> None:
        super().__init__(title, parent)
        self._current = current
        self.set_names(())
        self.activated.connect(self._take)

    def set_names(self, names: Sequence[tuple[str, str]]) -> None:
        """Offer devices as (name, text shown), besides the system's default."""
        shown = [("default", tr("System default")), *names]
        if self._current not in [name for name, _ in shown]:
            shown.append((self._current, self._title_of_absent(is_searched=bool(names))))
        if shown != [(self.itemData(i), self.itemText(i)) for i in range(self.count())]:
            self.clear()
            for name, text in shown:
                self.addItem(text, name)
        self.setCurrentIndex([name for name, _ in shown].index(self._current))

    def showPopup(self) -> None:
        self.opened.emit()
        super().showPopup()

    def _title_of_absent(self, *, is_searched: bool) -> str:
        if self._current == "null":
            return tr("None (silence)")
        return tr("{name} (not there)", name=self._current) if is_searched else self._current

    @Slot(int)
    def _take(self, index: int) -> None:
        name = str(self.itemData(index))
        if name != self._current:
            self._current = name
            self.chosen.emit(name)


class Toolbar(QFrame):
    """The row of controls at the top.

    Signals:
        record_asked: Record, or Stop where it stands in its place.
        pause_asked: Pause or Resume.
        stop_asked: Stop, or, while the text is being finished, do without the rest.

    Args:
        state: what is going on.
        appearance: colours.
        input_name: chosen microphone.
        output_name: chosen loudspeaker.
    """

    record_asked = Signal()
    pause_asked = Signal()
    stop_asked = Signal()

    def __init__(
        self,
        state: AppState,
        appearance: Appearance,
        input_name: str,
        output_name: str,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setObjectName("toolbar")
        self._state = state
        self._appearance = appearance
        self._is_ready = False
        self._input_in_use = ("", False)
        self.record_button = _button(tr("Record"), tr("Start a recording (Ctrl+R)"))
        self.pause_button = _button(tr("Pause"), tr("Hold the recording (Ctrl+P)"))
        self.stop_button = _button(tr("Stop"), tr("End the recording (Ctrl+R)"))
        self.time_label = QLabel("00:00:00")
        self.unkept_label = QLabel(tr("not kept"))
        self.detail_label = ElidedLabel()
        self.input_chooser = DeviceChooser(tr("Microphone"), input_name)
        self.output_chooser = DeviceChooser(tr("Loudspeaker"), output_name)
        self.meter = LevelMeter(appearance)
        self._icons = [(QLabel(), "microphone"), (QLabel(), "speaker")]
        self._build()
        self.record_button.clicked.connect(self.record_asked)
        self.pause_button.clicked.connect(self.pause_asked)
        self.stop_button.clicked.connect(self.stop_asked)
        state.session_changed.connect(self.refresh)
        state.document_replaced.connect(self.refresh)
        appearance.changed.connect(self._paint_icons)
        self._paint_icons()
        self.refresh()

    def set_ready(self, is_ready: bool) -> None:
        """Say whether the engine is there."""
        if is_ready != self._is_ready:
            self._is_ready = is_ready
            self.refresh()

    def set_time(self, seconds: float) -> None:
        """Show the length of the recording."""
        text = format_time(seconds)
        if text != self.time_label.text():
            self.time_label.setText(text)

    def set_input_in_use(self, name: str, can_change: bool) -> None:
        """Say whose sound is recorded, and whether another input may be chosen meanwhile."""
        if (name, can_change) != self._input_in_use:
            self._input_in_use = name, can_change
            self.refresh()

    def set_devices(self, devices: Sequence[Device]) -> None:
        """Offer the devices there are; those that record a loudspeaker come last."""
        inputs = sorted((d for d in devices if d.num_inputs), key=lambda d: d.is_monitor)
        self.input_chooser.set_names([(d.name, d.name) for d in inputs])
        self.output_chooser.set_names([(d.name, d.name) for d in devices if d.num_outputs])

    @Slot()
    def refresh(self) -> None:
        """Bring buttons in line with the session."""
        state = self._state.session_state
        is_live = state in (SessionState.RECORDING, SessionState.PAUSED)
        is_stopping = state is SessionState.STOPPING
        self.record_button.setEnabled(self._is_ready and state is SessionState.IDLE)
        texts = {
            SessionState.STARTING: tr("Opening…"),
            SessionState.RECORDING: tr("Recording"),
            SessionState.PAUSED: tr("Paused"),
            SessionState.STOPPING: tr("Finishing…"),
        }
        self.record_button.setText(texts.get(state, tr("Record")))
        _set_property(self.record_button, "recording", state is SessionState.RECORDING)
        self.pause_button.setEnabled(is_live)
        self.pause_button.setText(tr("Resume") if state is SessionState.PAUSED else tr("Pause"))
        self.stop_button.setEnabled(is_live or is_stopping)
        self.stop_button.setText(tr("Skip rest") if is_stopping else tr("Stop"))
        self.stop_button.setToolTip(
            tr("Do without the words that are not recognized yet")
            if is_stopping
            else tr("End the recording (Ctrl+R)")
        )
        if not is_live:
            self._input_in_use = ("", False)
        is_free = state in (SessionState.IDLE, SessionState.CLOSED)
        self.input_chooser.setEnabled(is_free or self._input_in_use[1])
        recording = self._state.live_document.recording
        self.unkept_label.setVisible(recording is not None and not recording.is_kept)
        detail = self._detail()
        self.detail_label.setText(detail)
        self.detail_label.setToolTip(detail)
        self._paint_icons()

    def _detail(self) -> str:
        """Return what goes on beside the time: where the sound comes from, what is being done."""
        state, recording = self._state.session_state, self._state.live_document.recording
        if state is SessionState.STOPPING:
            return self._state.state_detail
        is_live = state in (SessionState.RECORDING, SessionState.PAUSED)
        if not is_live or recording is None:
            return ""
        name = shortened(self._input_in_use[0] or recording.device, _MAX_NAME_CHARACTERS)
        return tr("from {name}", name=name)

    def _build(self) -> None:
        font = scaled(self.font(), 1.25)
        font.setWeight(QFont.Weight.DemiBold)
        self.time_label.setFont(tabular(font))
        self.time_label.setAccessibleName(tr("Length of the recording"))
        tip = tr(
            "Nothing of this recording stays on disk: it is gone when the next one begins or the "
            "window closes. Export it to keep it. The menu Recording says what is kept of the next."
        )
        self.unkept_label.setToolTip(tip)
        self.unkept_label.setAccessibleDescription(tip)
        self.unkept_label.setProperty("role", "mark")
        self.unkept_label.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Maximum)
        self.unkept_label.hide()
        self.detail_label.setProperty("role", "muted")
        # A screen reader calls a list of choices by its label; else it says the choice alone.
        for (label, _), chooser in zip(
            self._icons, (self.input_chooser, self.output_chooser), strict=True
        ):
            label.setAccessibleName(chooser.accessibleName())
            label.setBuddy(chooser)
        buttons = FoldingRow(self.record_button, self.pause_button, self.stop_button)
        times = _together(
            self.time_label, self.unkept_label, self.detail_label, is_free_at_end=True
        )
        microphone = _together(self._icons[0][0], self.input_chooser, self.meter)
        loudspeaker = _together(self._icons[1][0], self.output_chooser)
        recording = FoldingRow(buttons, times, stretched=(times,), spacing=16)
        devices = FoldingRow(microphone, loudspeaker, spacing=16)
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 8, 12, 8)
        row.addWidget(FoldingRow(recording, devices, stretched=(recording,)))

    @Slot()
    def _paint_icons(self) -> None:
        theme = self._appearance.theme
        text, faint = theme.color("text"), theme.color("faint")
        is_recording = self._state.session_state is SessionState.RECORDING
        red = theme.color("on_record") if is_recording else theme.color("record")
        # A disabled button that says "Recording" is a sign, not an absence: its mark stays bright.
        mark = red if is_recording else faint
        self.record_button.setIcon(icon("record", red, mark))
        is_paused = self._state.session_state is SessionState.PAUSED
        self.pause_button.setIcon(icon("play" if is_paused else "pause", text, faint))
        self.stop_button.setIcon(icon("stop", text, faint))
        for label, name in self._icons:
            label.setPixmap(icon(name, theme.color("muted")).pixmap(QSize(_ICON_PX, _ICON_PX)))


def _together(*parts: QWidget, is_free_at_end: bool = False) -> QWidget:
    """Return parts that always stand side by side."""
    group = QWidget()
    row = QHBoxLayout(group)
    row.setContentsMargins(0, 0, 0, 0)
    row.setSpacing(8)
    for part in parts:
        row.addWidget(part)
    if is_free_at_end:
        row.addStretch(1)
    return group


def _button(text: str, tip: str) -> QPushButton:
    button = QPushButton(text)
    button.setToolTip(tip)
    button.setAccessibleDescription(tip)
    button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    return button


def _set_property(widget: QWidget, name: str, value: bool) -> None:
    if widget.property(name) != value:
        widget.setProperty(name, value)
        widget.style().unpolish(widget)
        widget.style().polish(widget)
