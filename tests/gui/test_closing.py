"""The window closes in order, whatever is going on."""

import threading
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.views.name_editor import NameEditor
from engine.core.config import Settings
from engine.core.errors import StoreError
from engine.core.events import (
    SessionState,
)
from engine.session.session import Session
from tests.helpers.window import (
    WindowParts,
    close_window,
    conversation,
    enter,
    make_window,
    record,
)

pytestmark = pytest.mark.gui


def test_closing_while_recording_finishes_first_and_never_blocks(
    parts: WindowParts, qtbot: QtBot
) -> None:
    record(parts, qtbot)
    may_end = threading.Event()
    parts.session.close_blocks = lambda: may_end.wait(20) and None
    parts.window.close()
    assert parts.window.isVisible()
    assert "finishing the text" in parts.window.windowTitle()
    qtbot.wait(50)
    assert not parts.lifecycle.is_finished
    enter(parts, SessionState.STOPPING, qtbot)
    parts.window.close()
    assert parts.session.calls[-1] == "stop discard=True"
    may_end.set()
    qtbot.waitUntil(lambda: parts.lifecycle.is_finished)
    assert parts.session.calls[-1] == "close"


def test_a_session_still_being_made_is_closed_after_the_window(
    qtbot: QtBot, tmp_path: Path
) -> None:
    parts = make_window(tmp_path)
    parts.window.show()
    may_come = threading.Event()

    def build(settings: Settings, environment: object) -> Session:
        assert settings
        assert environment
        may_come.wait(20)
        return parts.session.as_session()

    parts.controller.build(build)
    parts.window.close()
    assert not parts.window.isVisible()
    qtbot.wait(30)
    assert not parts.lifecycle.is_finished
    may_come.set()
    close_window(parts, qtbot)
    assert parts.session.calls == ["close"]


def test_an_engine_that_cannot_be_made_is_a_notice_and_the_window_still_closes(
    qtbot: QtBot, tmp_path: Path
) -> None:
    parts = make_window(tmp_path)
    parts.window.show()

    def build(settings: Settings, environment: object) -> Session:
        raise StoreError(f"The list of models is damaged ({settings.recognizer}, {environment}).")

    parts.controller.build(build)
    qtbot.waitUntil(lambda: bool(parts.state.open_notices))
    assert not parts.window.toolbar.record_button.isEnabled()
    close_window(parts, qtbot)


def test_closing_while_idle_hides_at_once(parts: WindowParts, qtbot: QtBot) -> None:
    parts.window.close()
    assert not parts.window.isVisible()
    qtbot.waitUntil(lambda: parts.lifecycle.is_finished)
    assert parts.session.calls[-1] == "close"


@pytest.mark.parametrize("state", [SessionState.IDLE, SessionState.RECORDING])
def test_closing_takes_the_line_and_the_name_that_are_being_written(
    parts: WindowParts, qtbot: QtBot, state: SessionState
) -> None:
    window = parts.window
    enter(parts, state, qtbot)
    parts.session.post(*conversation())
    qtbot.waitUntil(lambda: window.transcript.row_count() > 0)
    if state is SessionState.IDLE:
        window.transcript.edit_row(0)
        window.transcript.editors.line.setPlainText("Something else.")
        expected = "edit WordsEdited"
    else:
        window.timeline.choose_row(0)
        window.timeline.commands.rename_current()
        (editor,) = [e for e in window.timeline.findChildren(NameEditor) if e.is_open]
        editor.setText("Maria")
        expected = "edit SpeakerRenamed"
    window.close()
    qtbot.waitUntil(lambda: parts.lifecycle.is_finished)
    calls = parts.session.calls
    assert calls.index(expected) < calls.index("close")
