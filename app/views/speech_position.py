"""Where in the spoken text the loudspeaker is: pause, go on, go elsewhere, hear it again."""

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QAbstractSlider, QHBoxLayout, QLabel, QSlider, QToolButton, QWidget

from app.i18n import tr
from app.icons import icon
from app.theme import Appearance
from engine.core.events import UtteranceState
from engine.core.types import SpeechPlace

_STEP_MS = 5000
_RUNNING = (UtteranceState.QUEUED, UtteranceState.RENDERING, UtteranceState.SPEAKING)


class SpeechPosition(QWidget):
    """A button and a slider; hidden until something was spoken.

    Signals:
        pause_asked: be silent (True) or go on (False).
        replay_asked: from the beginning.
        seek_asked: from this second on.

    Args:
        appearance: colours.
    """

    pause_asked = Signal(bool)
    replay_asked = Signal()
    seek_asked = Signal(float)

    def __init__(self, appearance: Appearance, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._appearance = appearance
        self._state = UtteranceState.DONE
        self.button = QToolButton()
        self.slider = QSlider(Qt.Orientation.Horizontal)
        self.time = QLabel()
        self.slider.setAccessibleName(tr("Place in the spoken text"))
        self.slider.setToolTip(tr("Place in the spoken text"))
        self.slider.setSingleStep(_STEP_MS)
        self.slider.setPageStep(_STEP_MS)
        self.time.setProperty("role", "muted")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        row.addWidget(self.button)
        row.addWidget(self.slider, 1)
        row.addWidget(self.time)
        self.button.clicked.connect(self._ask)
        self.slider.sliderMoved.connect(self._show_time)
        self.slider.sliderReleased.connect(self._ask_to_seek)
        self.slider.actionTriggered.connect(self._take_action)
        appearance.changed.connect(self._paint)
        self._paint()
        self.hide()

    def set_state(self, state: UtteranceState) -> None:
        """Show whether it is being spoken, paused, or over."""
        self._state = state
        self._paint()

    def set_place(self, place: SpeechPlace) -> None:
        """Show where it is; what the user is dragging stays in their hand."""
        if place.end_s <= 0:
            return
        self.show()
        if self.slider.isSliderDown():
            return
        self.slider.setRange(round(1000 * place.start_s), round(1000 * place.end_s))
        self.slider.setValue(round(1000 * place.position_s))
        self._show_time(self.slider.value())

    @Slot()
    def _ask(self) -> None:
        if self._state is UtteranceState.PAUSED:
            self.pause_asked.emit(False)
        elif self._state in _RUNNING:
            self.pause_asked.emit(True)
        else:
            self.replay_asked.emit()

    @Slot()
    def _ask_to_seek(self) -> None:
        self.seek_asked.emit(self.slider.sliderPosition() / 1000)

    @Slot(int)
    def _take_action(self, action: int) -> None:
        # Keys and clicks beside the handle; a drag ends with its release.
        if action != QAbstractSlider.SliderAction.SliderMove.value:
            self._ask_to_seek()

    @Slot(int)
    def _show_time(self, position_ms: int) -> None:
        place, end = _clock(position_ms), _clock(self.slider.maximum())
        self.time.setText(tr("{place} / {end}", place=place, end=end))

    @Slot()
    def _paint(self) -> None:
        is_running = self._state in _RUNNING
        is_paused = self._state is UtteranceState.PAUSED
        text = tr("Pause") if is_running else tr("Go on") if is_paused else tr("Play again")
        theme = self._appearance.theme
        name = "pause" if is_running else "play"
        self.button.setIcon(icon(name, theme.color("text"), theme.color("faint")))
        self.button.setToolTip(text)
        self.button.setAccessibleName(text)


def _clock(milliseconds: int) -> str:
    minutes, seconds = divmod(milliseconds // 1000, 60)
    return f"{minutes}:{seconds:02d}"
