"""Texts are spoken from the window, and saved as sound."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from engine.core.errors import BackendError
from engine.core.events import (
    UtteranceChanged,
    UtteranceState,
)
from tests.helpers.window import (
    WindowParts,
)

pytestmark = pytest.mark.gui


def test_a_text_is_spoken_and_its_sentence_marked(parts: WindowParts, qtbot: QtBot) -> None:
    panel = parts.window.speak_panel
    text = "First 😀 one. Second one."
    panel.text.setPlainText(text)
    qtbot.mouseClick(panel.speak_button, Qt.MouseButton.LeftButton)
    assert parts.session.calls[-1] == f"speak {text}"
    parts.session.post(
        UtteranceChanged(1, UtteranceState.SPEAKING, text.index("Second"), len(text))
    )
    qtbot.waitUntil(lambda: bool(panel.text.extraSelections()))
    assert panel.text.extraSelections()[0].cursor.selectedText() == "Second one."
    qtbot.mouseClick(panel.stop_button, Qt.MouseButton.LeftButton)
    assert parts.session.calls[-1] == "stop speaking"
    parts.session.post(UtteranceChanged(1, UtteranceState.CANCELLED))
    qtbot.waitUntil(lambda: not panel.text.extraSelections())
    assert not panel.stop_button.isEnabled()


def test_ctrl_enter_speaks_and_escape_stops(parts: WindowParts, qtbot: QtBot) -> None:
    panel = parts.window.speak_panel
    parts.window.activateWindow()
    panel.text.setPlainText("Hello.")
    panel.text.setFocus()
    qtbot.waitUntil(panel.text.hasFocus)
    qtbot.keyClick(panel.text, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert parts.session.calls[-1] == "speak Hello."
    qtbot.keyClick(panel.text, Qt.Key.Key_Escape)
    assert parts.session.calls[-1] == "stop speaking"
    assert panel.text.toPlainText() == "Hello."


def test_a_voice_that_fails_says_why(parts: WindowParts, qtbot: QtBot) -> None:
    panel = parts.window.speak_panel
    panel.text.setPlainText("Hello.")
    parts.session.speak_error = BackendError("The voice is gone.", advice="Choose another.")
    panel.speak()
    assert panel.message.text() == "The voice is gone. Choose another."
    parts.session.post(UtteranceChanged(1, UtteranceState.FAILED, message="No loudspeaker."))
    qtbot.waitUntil(lambda: panel.message.text() == "No loudspeaker.")


def test_a_spoken_text_is_saved_and_a_file_that_cannot_be_written_says_so(
    parts: WindowParts, qtbot: QtBot, tmp_path: Path
) -> None:
    panel = parts.window.speak_panel
    path = tmp_path / "speech.wav"
    panel.save_asked.emit("Good morning. How are you?", path)
    assert panel.progress.isVisible()
    qtbot.waitUntil(lambda: "speech.wav saved" in panel.message.text())
    assert not panel.progress.isVisible()
    assert path.read_bytes()[:4] == b"RIFF"
    panel.save_asked.emit("Good morning.", tmp_path / "no folder" / "speech.wav")
    qtbot.waitUntil(lambda: panel.message.property("role") == "problem")
    assert "no folder" in panel.message.text()
