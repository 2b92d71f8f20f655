"""Pause, place and replay of the spoken text in the speak panel."""

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt

from engine.core.events import UtteranceChanged, UtteranceState
from engine.core.types import SpeechPlace

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from tests.helpers.window import WindowParts

pytestmark = pytest.mark.gui

SPEAKING = UtteranceChanged(1, UtteranceState.SPEAKING, 0, 4)


def show(
    parts: "WindowParts", qtbot: "QtBot", event: UtteranceChanged, position_s: float = 2.0
) -> None:
    """Let the session say where it is, and wait until the panel shows it."""
    parts.session.place = SpeechPlace(1, 0.0, position_s, 8.0, is_complete=False)
    parts.session.post(event)
    position = parts.window.speak_panel.position
    qtbot.waitUntil(lambda: position.slider.value() == round(1000 * position_s))
    qtbot.waitUntil(lambda: parts.state.utterance == event)


def test_position_when_nothing_was_spoken_then_is_hidden(parts: "WindowParts") -> None:
    assert not parts.window.speak_panel.position.isVisible()


def test_position_when_speaking_then_follows_and_can_be_paused(
    parts: "WindowParts", qtbot: "QtBot"
) -> None:
    panel = parts.window.speak_panel
    show(parts, qtbot, SPEAKING)
    assert panel.position.isVisible()
    assert panel.position.time.text() == "0:02 / 0:08"
    # Followed by itself from then on.
    parts.session.place = SpeechPlace(1, 0.0, 3.5, 9.0, is_complete=False)
    qtbot.waitUntil(lambda: panel.position.time.text() == "0:03 / 0:09")
    assert panel.position.button.accessibleName() == "Pause"
    qtbot.mouseClick(panel.position.button, Qt.MouseButton.LeftButton)
    assert parts.session.calls[-1] == "pause speaking"
    parts.session.post(UtteranceChanged(1, UtteranceState.PAUSED, 0, 4))
    qtbot.waitUntil(lambda: panel.message.text() == "Paused")
    assert panel.stop_button.isEnabled()
    qtbot.mouseClick(panel.position.button, Qt.MouseButton.LeftButton)
    assert parts.session.calls[-1] == "resume speaking"


def test_position_when_the_text_ended_then_it_can_be_heard_again(
    parts: "WindowParts", qtbot: "QtBot"
) -> None:
    position = parts.window.speak_panel.position
    show(parts, qtbot, UtteranceChanged(1, UtteranceState.DONE), 8.0)
    assert position.button.accessibleName() == "Play again"
    qtbot.mouseClick(position.button, Qt.MouseButton.LeftButton)
    assert parts.session.calls[-1] == "replay"


def test_slider_when_moved_by_key_or_drag_then_goes_there(
    parts: "WindowParts", qtbot: "QtBot"
) -> None:
    slider = parts.window.speak_panel.position.slider
    show(parts, qtbot, UtteranceChanged(1, UtteranceState.PAUSED))
    qtbot.keyClick(slider, Qt.Key.Key_Right)
    assert parts.session.calls[-1] == "seek 7.0"
    slider.setSliderDown(True)
    slider.setSliderPosition(4500)
    # What is being heard meanwhile does not move it out of the hand.
    parts.session.place = SpeechPlace(1, 0.0, 6.0, 8.0, is_complete=True)
    parts.session.post(UtteranceChanged(1, UtteranceState.SPEAKING))
    qtbot.waitUntil(lambda: parts.window.speak_panel.message.text() == "Speaking")
    assert slider.value() == 4500
    slider.setSliderDown(False)
    assert parts.session.calls[-1] == "seek 4.5"


def test_panel_when_the_voice_is_slow_then_says_rendering_first_and_how_far(
    parts: "WindowParts", qtbot: "QtBot"
) -> None:
    panel = parts.window.speak_panel
    parts.session.post(UtteranceChanged(1, UtteranceState.RENDERING, progress=0.4))
    qtbot.waitUntil(panel.progress.isVisible)
    assert panel.progress.value() == 40
    assert panel.message.text() == "Rendering first…"
    parts.session.post(SPEAKING)
    qtbot.waitUntil(lambda: not panel.progress.isVisible())
