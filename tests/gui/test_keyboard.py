"""A whole session by keyboard alone: every key goes to whatever has the focus."""

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QWidget

from engine.core.events import SessionState
from engine.core.types import SpeakerId
from tests.helpers.window import conversation

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from tests.helpers.window import WindowParts

pytestmark = pytest.mark.gui

_CTRL, _ALT, _SHIFT, _NONE = (
    Qt.KeyboardModifier.ControlModifier,
    Qt.KeyboardModifier.AltModifier,
    Qt.KeyboardModifier.ShiftModifier,
    Qt.KeyboardModifier.NoModifier,
)


class Keyboard:
    """The only way into the window."""

    def __init__(self, window: QWidget) -> None:
        self._window = window

    @property
    def focus(self) -> QWidget:
        """What has the focus."""
        return QApplication.focusWidget() or self._window

    def press(self, key: Qt.Key, modifiers: Qt.KeyboardModifier = _NONE, times: int = 1) -> None:
        """Press a key."""
        for _ in range(times):
            QTest.keyClick(self.focus, key, modifiers)

    def come_back(self, qtbot: "QtBot") -> None:
        """Do what a window manager does once the window in front has closed."""
        self._window.activateWindow()
        qtbot.waitUntil(lambda: QApplication.activeWindow() is self._window)

    def type(self, text: str) -> None:
        """Type a text."""
        QTest.keyClicks(self.focus, text)

    def tab_to(self, wanted: QWidget) -> None:
        """Press Tab until a control has the focus."""
        for _ in range(60):
            if self.focus is wanted:
                return
            self.press(Qt.Key.Key_Tab)
        raise AssertionError(f"Tab does not lead to {wanted}")


@pytest.fixture
def keyboard(parts: "WindowParts", qtbot: "QtBot") -> Keyboard:
    """The keyboard of a window that is in front."""
    made = Keyboard(parts.window)
    made.come_back(qtbot)
    return made


def test_a_session_when_only_keys_are_used_then_everything_can_be_done(
    parts: "WindowParts", keyboard: Keyboard, qtbot: "QtBot"
):
    window, state, session = parts.window, parts.state, parts.session
    document = lambda: state.document  # noqa: E731

    # Record.
    keyboard.press(Qt.Key.Key_R, _CTRL)
    qtbot.waitUntil(lambda: "start default keep=text" in session.calls)
    session.enter(SessionState.RECORDING)
    session.post(*conversation())
    qtbot.waitUntil(lambda: len(document().lines) > 3)
    keyboard.press(Qt.Key.Key_P, _CTRL)
    qtbot.waitUntil(lambda: "pause" in session.calls)

    # Read, and name who speaks.
    keyboard.tab_to(window.transcript)
    keyboard.press(Qt.Key.Key_Home, _CTRL)
    keyboard.press(Qt.Key.Key_F2)
    keyboard.press(Qt.Key.Key_A, _CTRL)
    keyboard.type("Maria")
    keyboard.press(Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: document().speaker_name(SpeakerId(0, 0)) == "Maria")
    assert keyboard.focus is window.transcript

    # Correct a line, and take it back.
    before = document().line_text(document().lines[0])
    keyboard.press(Qt.Key.Key_Return)
    keyboard.press(Qt.Key.Key_A, _CTRL)
    keyboard.type("We ship both.")
    keyboard.press(Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: document().line_text(document().lines[0]) == "We ship both.")
    keyboard.press(Qt.Key.Key_Z, _CTRL)
    qtbot.waitUntil(lambda: document().line_text(document().lines[0]) == before)
    keyboard.press(Qt.Key.Key_Y, _CTRL)
    qtbot.waitUntil(lambda: document().line_text(document().lines[0]) == "We ship both.")

    # Say who spoke.
    keyboard.press(Qt.Key.Key_2)
    qtbot.waitUntil(lambda: document().lines[0].speaker == SpeakerId(0, 1))

    # Find.
    keyboard.press(Qt.Key.Key_F, _CTRL)
    keyboard.type("letters")
    assert len(parts.context.marks.hits) == 1
    keyboard.press(Qt.Key.Key_Escape)
    assert keyboard.focus is window.transcript

    # Hear a place again.
    keyboard.press(Qt.Key.Key_Space)
    assert any(call.startswith("play ") for call in session.calls)
    keyboard.press(Qt.Key.Key_Escape)
    assert "stop playing" in session.calls

    # Choose a stretch in the timeline, and export it.
    keyboard.tab_to(window.timeline)
    keyboard.press(Qt.Key.Key_Home)
    keyboard.press(Qt.Key.Key_Right, _SHIFT, times=3)
    assert parts.context.marks.selection is not None
    keyboard.press(Qt.Key.Key_E, _CTRL | _SHIFT)
    (dialog,) = window.findChildren(QFileDialog)
    qtbot.waitUntil(lambda: QApplication.activeWindow() is dialog)
    keyboard.press(Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: not dialog.isVisible())
    keyboard.come_back(qtbot)

    # Captions, and back.
    keyboard.press(Qt.Key.Key_F11)
    qtbot.waitUntil(lambda: window.captions.is_shown)
    qtbot.waitUntil(lambda: QApplication.activeWindow() is window.captions.window())
    keyboard.press(Qt.Key.Key_F6)
    keyboard.type("One moment please.")
    keyboard.press(Qt.Key.Key_Return)
    assert "speak One moment please." in session.calls
    keyboard.press(Qt.Key.Key_F11)
    qtbot.waitUntil(lambda: not window.captions.is_shown)
    keyboard.come_back(qtbot)

    # Speak from the panel, go on, and stop.
    keyboard.tab_to(window.speak_panel.text)
    keyboard.type("Thank you all.")
    keyboard.press(Qt.Key.Key_Return, _CTRL)
    assert "speak Thank you all." in session.calls
    keyboard.press(Qt.Key.Key_P, _CTRL)
    keyboard.press(Qt.Key.Key_R, _CTRL)
    qtbot.waitUntil(lambda: "stop discard=False" in session.calls)
    session.enter(SessionState.IDLE)


def test_tab_when_pressed_often_enough_then_the_round_is_closed_and_leaves_nothing_out(
    parts: "WindowParts", keyboard: Keyboard, qtbot: "QtBot"
):
    parts.session.post(*conversation())
    qtbot.waitUntil(lambda: len(parts.state.document.lines) > 3)
    keyboard.tab_to(parts.window.transcript)
    round_trip = []
    for _ in range(80):
        keyboard.press(Qt.Key.Key_Tab)
        if keyboard.focus is parts.window.transcript:
            break
        round_trip.append(keyboard.focus)
    else:
        raise AssertionError("Tab does not come back")
    for wanted in (
        parts.window.timeline,
        parts.window.speak_panel.text,
        parts.window.toolbar.record_button,
        parts.window.toolbar.input_chooser,
        parts.window.sessions_panel.filter,
    ):
        assert wanted in round_trip
    order = [round_trip.index(w) for w in (parts.window.speak_panel.text, parts.window.timeline)]
    assert order == sorted(order)


def test_alt_and_arrows_when_pressed_anywhere_then_the_timeline_moves(
    parts: "WindowParts", keyboard: Keyboard, qtbot: "QtBot"
):
    window = parts.window
    parts.state.take(conversation())
    window.timeline.set_duration(600)
    bar = window.search_bar
    bar.begin()
    places = (
        window.transcript,
        window.timeline,
        window.timeline.controls.slider,
        window.speak_panel.text,
        window.sessions_panel.filter,
        window.sessions_panel.list,
        window.toolbar.output_chooser,
        bar.field,
    )
    for place in places:
        place.setFocus()
        qtbot.waitUntil(place.hasFocus)
        before = window.timeline.model.start_s
        keyboard.press(Qt.Key.Key_Left, _ALT, times=2)
        keyboard.press(Qt.Key.Key_Right, _ALT)
        assert window.timeline.model.start_s < before, place
