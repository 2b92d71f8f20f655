"""A transcript that is kept nowhere goes only when the user lets it go."""

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog, QMessageBox
from pytestqt.qtbot import QtBot

from engine.core.events import FinalWords, PartialWords, SessionState, SpeakerRenamed
from tests.helpers.window import (
    WindowParts,
    enter,
    started,
    wait_for_call,
    words,
)

pytestmark = pytest.mark.gui


def _record(parts: WindowParts, qtbot: QtBot, *, is_kept: bool = False, text: str = "") -> None:
    """Begin a recording, and say something."""
    enter(parts, SessionState.STARTING, qtbot)
    parts.session.post(replace(started(), is_kept=is_kept))
    enter(parts, SessionState.RECORDING, qtbot)
    if text:
        parts.session.post(FinalWords(words(text, 0.0, 2.0)))
        qtbot.waitUntil(lambda: bool(parts.state.live_document.words))


def _question(parts: WindowParts) -> QMessageBox | None:
    found = [box for box in parts.window.findChildren(QMessageBox) if box.isVisible()]
    return found[0] if found else None


def _answer(parts: WindowParts, qtbot: QtBot, text: str) -> None:
    box = _question(parts)
    assert box is not None
    (button,) = (b for b in box.buttons() if b.text().replace("&", "") == text)
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: _question(parts) is None)


def _let_go(parts: WindowParts, qtbot: QtBot) -> None:
    """Let the fixture close the window without a question."""
    parts.controller.unkept.saving()()
    assert not parts.controller.unkept.is_at_risk
    qtbot.wait(1)


def _starts(parts: WindowParts) -> list[str]:
    return [call for call in parts.session.calls if call.startswith("start")]


def test_a_new_recording_asks_first_and_begins_once_the_old_one_may_go(
    parts: WindowParts, qtbot: QtBot
) -> None:
    _record(parts, qtbot, text="Said and kept nowhere.")
    enter(parts, SessionState.IDLE, qtbot)
    parts.controller.toggle_record()
    box = _question(parts)
    assert box is not None
    assert box.defaultButton() is box.button(QMessageBox.StandardButton.Cancel)
    qtbot.keyClick(box, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: _question(parts) is None)
    qtbot.wait(30)
    assert _starts(parts) == []

    parts.controller.toggle_record()
    _answer(parts, qtbot, "Discard")
    wait_for_call(parts, qtbot, "start default keep=text")
    _let_go(parts, qtbot)


def test_a_file_and_the_demo_ask_as_well(parts: WindowParts, qtbot: QtBot) -> None:
    _record(parts, qtbot, text="Said and kept nowhere.")
    enter(parts, SessionState.IDLE, qtbot)
    for command in (
        lambda: parts.controller.listen_to_file(Path("/tmp/talk.wav")),
        parts.controller.try_demo,
    ):
        command()
        _answer(parts, qtbot, "Cancel")
    assert _starts(parts) == []
    parts.controller.try_demo()
    _answer(parts, qtbot, "Discard")
    qtbot.waitUntil(lambda: len(_starts(parts)) == 1)
    _let_go(parts, qtbot)


@pytest.mark.parametrize("text", ["", "It is kept."])
def test_nothing_is_asked_where_nothing_was_said_or_it_is_kept(
    parts: WindowParts, qtbot: QtBot, text: str
) -> None:
    _record(parts, qtbot, is_kept=bool(text), text=text)
    enter(parts, SessionState.IDLE, qtbot)
    parts.controller.record()
    assert _question(parts) is None
    qtbot.waitUntil(lambda: len(_starts(parts)) == 1)


def test_the_demo_asks_only_once_something_was_changed_in_it(
    parts: WindowParts, qtbot: QtBot
) -> None:
    parts.controller.try_demo()
    qtbot.waitUntil(lambda: len(_starts(parts)) == 1)
    _record(parts, qtbot, text="Good morning. What does this program do?")
    enter(parts, SessionState.IDLE, qtbot)
    unkept = parts.controller.unkept
    assert not unkept.is_at_risk

    parts.controller.edit_live([SpeakerRenamed(0, 0, "Maria")])
    parts.controller.record()
    _answer(parts, qtbot, "Cancel")
    assert len(_starts(parts)) == 1
    _let_go(parts, qtbot)


def test_closing_while_recording_asks_and_recording_goes_on_meanwhile(
    parts: WindowParts, qtbot: QtBot
) -> None:
    _record(parts, qtbot)
    parts.session.post(PartialWords(words("Just being", 0.0, 1.0)))
    qtbot.waitUntil(lambda: bool(parts.state.live_document.partial))
    parts.window.close()
    box = _question(parts)
    assert box is not None
    assert "Recording goes on" in box.informativeText()
    assert not parts.lifecycle.is_closing
    parts.session.post(FinalWords(words("Just being said.", 0.0, 1.0)))
    qtbot.waitUntil(lambda: bool(parts.state.live_document.words))
    assert "stop discard=False" not in parts.session.calls
    _answer(parts, qtbot, "Cancel")
    assert not parts.lifecycle.is_closing
    assert parts.window.isVisible()

    parts.window.close()
    _answer(parts, qtbot, "Discard")
    qtbot.waitUntil(lambda: parts.lifecycle.is_finished)


def test_an_export_in_answer_waits_for_the_last_word_and_then_closes(
    parts: WindowParts, qtbot: QtBot, tmp_path: Path
) -> None:
    _record(parts, qtbot, text="The first sentence.")
    parts.window.close()
    _answer(parts, qtbot, "Export…")
    (dialog,) = parts.window.findChildren(QFileDialog)
    path = tmp_path / "saved.txt"
    dialog.fileSelected.emit(str(path))
    dialog.done(QFileDialog.DialogCode.Accepted)
    assert parts.session.calls[-1] == "stop discard=False"
    assert not path.exists()
    enter(parts, SessionState.STOPPING, qtbot)
    parts.session.post(FinalWords(words("And the last one.", 2.2, 3.0)))
    parts.session.enter(SessionState.IDLE)
    qtbot.waitUntil(lambda: parts.lifecycle.is_finished)
    assert "The first sentence. And the last one." in path.read_text()


def test_an_export_that_is_given_up_or_fails_leaves_all_as_it_is(
    parts: WindowParts, qtbot: QtBot, tmp_path: Path
) -> None:
    _record(parts, qtbot, text="The first sentence.")
    enter(parts, SessionState.IDLE, qtbot)
    parts.window.close()
    _answer(parts, qtbot, "Export…")
    (dialog,) = parts.window.findChildren(QFileDialog)
    dialog.reject()
    qtbot.waitUntil(lambda: not parts.window.findChildren(QFileDialog))
    assert not parts.lifecycle.is_closing

    parts.window.close()
    _answer(parts, qtbot, "Export…")
    (dialog,) = parts.window.findChildren(QFileDialog)
    dialog.fileSelected.emit(str(tmp_path / "missing" / "saved.txt"))
    dialog.done(QFileDialog.DialogCode.Accepted)
    qtbot.waitUntil(lambda: bool(parts.state.open_notices))
    assert not parts.lifecycle.is_closing
    assert parts.controller.unkept.is_at_risk
    parts.window.close()
    _answer(parts, qtbot, "Cancel")
    _let_go(parts, qtbot)


def test_what_was_exported_is_asked_about_only_once_it_is_another(
    parts: WindowParts, qtbot: QtBot, tmp_path: Path
) -> None:
    _record(parts, qtbot, text="The first sentence.")
    enter(parts, SessionState.IDLE, qtbot)
    parts.window.dialogs.export_shown()
    (dialog,) = parts.window.findChildren(QFileDialog)
    dialog.fileSelected.emit(str(tmp_path / "saved.txt"))
    dialog.done(QFileDialog.DialogCode.Accepted)
    unkept = parts.controller.unkept
    qtbot.waitUntil(lambda: not unkept.is_at_risk)
    parts.controller.edit_live([SpeakerRenamed(0, 0, "Maria")])
    assert unkept.is_at_risk
    _let_go(parts, qtbot)


def test_the_system_is_not_asked(
    parts: WindowParts, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    _record(parts, qtbot, text="The first sentence.")
    monkeypatch.setattr(QGuiApplication, "isSavingSession", lambda _: True)
    parts.window.close()
    assert _question(parts) is None
    qtbot.waitUntil(lambda: parts.lifecycle.is_finished)


def test_an_urgent_end_overrides_the_question(parts: WindowParts, qtbot: QtBot) -> None:
    _record(parts, qtbot, text="The first sentence.")
    parts.window.close()
    assert _question(parts) is not None
    parts.lifecycle.close_soon()
    qtbot.waitUntil(lambda: parts.lifecycle.is_finished)


def test_an_end_asked_for_twice_from_a_terminal_comes(parts: WindowParts, qtbot: QtBot) -> None:
    _record(parts, qtbot, text="The first sentence.")
    parts.lifecycle.close()
    assert not parts.lifecycle.is_closing
    parts.lifecycle.close()
    qtbot.waitUntil(lambda: parts.lifecycle.is_finished)


def test_a_recording_that_is_not_kept_says_so_beside_its_length(
    parts: WindowParts, qtbot: QtBot
) -> None:
    label = parts.window.toolbar.unkept_label
    assert not label.isVisible()
    _record(parts, qtbot, is_kept=True)
    assert not label.isVisible()
    enter(parts, SessionState.IDLE, qtbot)
    _record(parts, qtbot)
    assert label.isVisible()
    assert "Export it to keep it." in label.toolTip()
