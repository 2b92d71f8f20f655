"""What the keys do on the timeline."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent

from app.views.timeline.actions import TimelineActions

if TYPE_CHECKING:
    from app.views.timeline.speaker_timeline import SpeakerTimeline

_STEPS_S = (0.1, 1.0, 10.0, 60.0, 600.0)
_LEAST_STEP_PX = 2
_FINE_SPAN_S = 8.0
_FAR = 10
_MOVES = {
    Qt.Key.Key_Left: -1,
    Qt.Key.Key_Right: 1,
}


class TimelineKeys:
    """Turns keys into commands of the timeline.

    Args:
        timeline: whose keys.
        actions: what they do.
    """

    def __init__(self, timeline: "SpeakerTimeline", actions: TimelineActions) -> None:
        self._timeline = timeline
        self._actions = actions
        self._commands: dict[int, Callable[[], object]] = {
            Qt.Key.Key_PageUp: lambda: timeline.scroll_pages(-0.9),
            Qt.Key.Key_PageDown: lambda: timeline.scroll_pages(0.9),
            Qt.Key.Key_Plus: lambda: timeline.zoom(True),
            Qt.Key.Key_Equal: lambda: timeline.zoom(True),
            Qt.Key.Key_Minus: lambda: timeline.zoom(False),
            Qt.Key.Key_0: timeline.show_all,
            Qt.Key.Key_Up: lambda: actions.step_row(-1),
            Qt.Key.Key_Down: lambda: actions.step_row(1),
            Qt.Key.Key_Return: actions.toggle_playing,
            Qt.Key.Key_Enter: actions.toggle_playing,
            Qt.Key.Key_Space: actions.toggle_playing,
            Qt.Key.Key_F2: actions.rename_current,
            Qt.Key.Key_Menu: actions.open_menu,
        }

    def press(self, event: QKeyEvent) -> bool:
        """Do what a key asks for; return whether it asks for anything here."""
        actions, key = self._actions, event.key()
        extends = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        if not self.is_ours(event):
            return False
        if key in _MOVES:
            is_far = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
            actions.step_cursor(_MOVES[Qt.Key(key)] * self.step_s(is_far), extends=extends)
        elif key == Qt.Key.Key_Home:
            actions.go_to_start(extends=extends)
        elif key == Qt.Key.Key_End:
            actions.go_to_end(extends=extends)
        elif key == Qt.Key.Key_Escape:
            return actions.escape()
        elif key == Qt.Key.Key_F10:
            actions.open_menu()
        else:
            self._commands[key]()
        return True

    def is_ours(self, event: QKeyEvent) -> bool:
        """Return whether a key does something here, so that no shortcut may take it."""
        key, modifiers = event.key(), event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        control, shift = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
        if key in _MOVES:
            return not modifiers & ~(control | shift)
        if key in (Qt.Key.Key_Home, Qt.Key.Key_End):
            return not modifiers & ~shift
        if key == Qt.Key.Key_F10:
            return modifiers == shift
        if key in (Qt.Key.Key_Plus, Qt.Key.Key_Equal):  # typed with Shift on many keyboards
            return not modifiers & ~shift
        if key == Qt.Key.Key_Escape:
            return not modifiers and self._actions.can_escape
        if key == Qt.Key.Key_F2:
            # Without a row of the keyboard it is the transcript's.
            return not modifiers and self._timeline.current_speaker is not None
        return key in self._commands and not modifiers

    def step_s(self, is_far: bool) -> float:
        """Return how far the cursor moves: a second, or what can be told apart at this zoom."""
        model = self._timeline.model
        least = _LEAST_STEP_PX * model.px_s
        if model.span_s > _FINE_SPAN_S:
            least = max(least, 1.0)
        step = next((step for step in _STEPS_S if step >= least - 1e-9), _STEPS_S[-1])
        return step * _FAR if is_far else step
