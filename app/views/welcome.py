"""What stands where the transcript will be: what runs, where, and how to begin."""

from collections.abc import Sequence
from typing import Protocol

from PySide6.QtCore import QSize, Qt, Signal, Slot
from PySide6.QtGui import QFont
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QProgressBar,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app.fonts import scaled
from app.i18n import tr
from app.icons import app_icon, icon
from app.state import AppState
from app.theme import Appearance
from app.views.folding_row import FoldingRow
from app.views.missing_models import MissingModels
from app.views.scroll_column import ScrollColumn
from engine.core.events import BackendChanged, BackendState
from engine.core.types import BackendKind

_KINDS = (BackendKind.RECOGNIZER, BackendKind.DIARIZER, BackendKind.SYNTHESIZER)
_PAGE_CHARACTERS = 72
_MARGIN_PX = 16


class Input(Protocol):
    """What is to be known of a device here."""

    @property
    def num_inputs(self) -> int: ...
    @property
    def is_monitor(self) -> bool: ...


class Welcome(QWidget):
    """The first thing to see.

    Signals:
        record_asked: start a recording.
        demo_asked: play the bundled conversation through everything.
        file_asked: choose a sound file to listen to.
        devices_asked: look for microphones again.

    Attributes:
        missing: offers to fetch what is not on this machine.

    Args:
        state: the backends.
        appearance: colours.
    """

    record_asked = Signal()
    demo_asked = Signal()
    file_asked = Signal()
    devices_asked = Signal()

    def __init__(
        self, state: AppState, appearance: Appearance, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName("welcome")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._state = state
        self._appearance = appearance
        self.promise = QLabel()
        self.record_button = QPushButton(tr("Record"))
        self.demo_button = QPushButton(tr("Try the demo"))
        self.file_button = QPushButton(tr("Open a sound file…"))
        self.no_input = QFrame()
        self.look_button = QPushButton(tr("Look again"))
        self._states = {kind: QLabel() for kind in _KINDS}
        self._bars = {kind: QProgressBar() for kind in _KINDS}
        self.missing = MissingModels()
        self._build()
        self._refresh()
        state.backends_changed.connect(self._refresh)
        appearance.changed.connect(self._refresh)
        self.record_button.clicked.connect(self.record_asked)
        self.demo_button.clicked.connect(self.demo_asked)
        self.file_button.clicked.connect(self.file_asked)
        self.look_button.clicked.connect(self.devices_asked)

    def set_ready(self, is_ready: bool) -> None:
        """Say whether the engine is there and idle."""
        self.record_button.setEnabled(is_ready)
        self.demo_button.setEnabled(is_ready)
        self.file_button.setEnabled(is_ready)

    @Slot(object)
    def set_devices(self, devices: Sequence[Input]) -> None:
        """Say what can be done without a microphone, if there is none among these."""
        has_input = any(device.num_inputs and not device.is_monitor for device in devices)
        self.no_input.setVisible(not has_input)

    @Slot()
    def _refresh(self) -> None:
        ready = [b for b in self._state.backends.values() if b.state is BackendState.READY]
        places = ", ".join(dict.fromkeys(b.device for b in ready if b.device))
        self.promise.setText(
            tr(
                "Everything runs on this computer ({places}). "
                "Nothing you say, write or hear leaves it.",
                places=places,
            )
            if places
            else tr("Everything runs on this computer. Nothing you say, write or hear leaves it.")
        )
        for kind in _KINDS:
            self._show_backend(kind, self._state.backends.get(kind))
        theme = self._appearance.theme
        self.record_button.setIcon(icon("record", theme.color("on_focus"), theme.color("faint")))
        self.demo_button.setIcon(icon("play", theme.color("text"), theme.color("faint")))

    def _show_backend(self, kind: BackendKind, backend: BackendChanged | None) -> None:
        label, bar = self._states[kind], self._bars[kind]
        is_loading = backend is None or backend.state is BackendState.LOADING
        bar.setVisible(is_loading)
        known = backend is not None and backend.progress >= 0
        bar.setRange(0, 100 if known or backend is None else 0)
        bar.setValue(round(100 * backend.progress) if backend is not None and known else 0)
        is_problem = backend is not None and backend.state is BackendState.FAILED
        label.setProperty("role", "problem" if is_problem else "")
        label.style().polish(label)
        label.setText(_status(backend))
        label.setToolTip(backend.message if backend is not None else "")

    def _build(self) -> None:
        middle = QWidget()
        outer = QHBoxLayout(middle)
        outer.setContentsMargins(_MARGIN_PX, _MARGIN_PX, _MARGIN_PX, _MARGIN_PX)
        page = QWidget()
        page.setMaximumWidth(_PAGE_CHARACTERS * self.fontMetrics().averageCharWidth())
        outer.addStretch(1)
        # It takes what it needs before the margins get anything.
        outer.addWidget(page, 100)
        outer.addStretch(1)
        self._fill(page)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(ScrollColumn(middle))

    def _fill(self, page: QWidget) -> None:
        column = QVBoxLayout(page)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(12)
        mark = QLabel()
        mark.setPixmap(app_icon().pixmap(QSize(48, 48)))
        title = QLabel(tr("Speak, and read it as it is said"))
        title.setWordWrap(True)
        font = scaled(self.font(), 1.7)
        font.setWeight(QFont.Weight.DemiBold)
        title.setFont(font)
        self.promise.setWordWrap(True)
        self.promise.setProperty("role", "muted")
        self._name_buttons()
        buttons = FoldingRow(self.record_button, self.demo_button, self.file_button)
        column.addStretch(2)
        column.addWidget(mark)
        column.addWidget(title)
        column.addWidget(self.promise)
        column.addSpacing(4)
        column.addWidget(buttons)
        column.addWidget(self._no_input_card())
        column.addSpacing(12)
        column.addLayout(self._backend_grid())
        column.addWidget(self.missing)
        column.addStretch(3)

    def _name_buttons(self) -> None:
        self.record_button.setProperty("role", "primary")
        self.record_button.setToolTip(tr("Start a recording (Ctrl+R)"))
        self.demo_button.setToolTip(
            tr(
                "Play the bundled conversation of 27 seconds through everything, "
                "as if it were spoken"
            )
        )
        self.file_button.setToolTip(tr("Read a recording as if it were spoken now (Ctrl+O)"))

    def _backend_grid(self) -> QGridLayout:
        grid = QGridLayout()
        grid.setHorizontalSpacing(16)
        grid.setVerticalSpacing(6)
        grid.setColumnStretch(1, 1)
        for row, kind in enumerate(_KINDS):
            job = _job(kind)
            name = QLabel(job)
            name.setProperty("role", "muted")
            for label in (name, self._states[kind]):
                label.setWordWrap(True)
            bar = self._bars[kind]
            bar.setTextVisible(False)
            bar.setFixedWidth(96)
            bar.setAccessibleName(tr("Loading: {job}", job=job))
            grid.addWidget(name, row, 0)
            grid.addWidget(self._states[kind], row, 1)
            grid.addWidget(bar, row, 2)
        return grid

    def _no_input_card(self) -> QFrame:
        self.no_input.setProperty("role", "card")
        card = QVBoxLayout(self.no_input)
        card.setContentsMargins(16, 10, 12, 10)
        text = QLabel(
            tr(
                "No microphone was found. Connect one and look again; the demo and sound files "
                "work without one."
            )
        )
        text.setWordWrap(True)
        card.addWidget(FoldingRow(text, self.look_button, stretched=(text,), spacing=12))
        self.no_input.hide()
        return self.no_input


def _job(kind: BackendKind) -> str:
    match kind:
        case BackendKind.RECOGNIZER:
            return tr("Writes")
        case BackendKind.DIARIZER:
            return tr("Tells voices apart")
        case _:
            return tr("Reads aloud")


def _status(backend: BackendChanged | None) -> str:
    if backend is None:
        return "…"
    name = backend.title or backend.backend_id
    match backend.state:
        case BackendState.LOADING:
            return tr("{name}: loading", name=name)
        case BackendState.FAILED:
            return tr("{name}: not available", name=name)
        case BackendState.OFF:
            return tr("Off") if backend.backend_id == "none" else name
        case BackendState.READY:
            return tr("{name}: ready", name=name)
