"""The window's end: in good time, whatever does not return."""

import threading
from concurrent.futures import Future

import pytest
from pytestqt.qtbot import QtBot

from engine.core.events import SessionState
from tests.helpers.window import WindowParts, enter, record

pytestmark = pytest.mark.gui


def test_closing_while_recording_waits_for_every_word(parts: WindowParts, qtbot: QtBot) -> None:
    record(parts, qtbot)
    stopping: Future[None] = Future()
    parts.session.stop = lambda **_: stopping  # type: ignore[method-assign, assignment]
    parts.window.close()
    qtbot.wait(100)
    assert "close" not in parts.session.calls
    stopping.set_result(None)
    qtbot.waitUntil(lambda: parts.lifecycle.is_finished)
    assert parts.session.calls[-1] == "close"


def test_closing_soon_while_recording_does_not_wait(parts: WindowParts, qtbot: QtBot) -> None:
    record(parts, qtbot)
    parts.lifecycle.close_soon()
    qtbot.waitUntil(lambda: parts.lifecycle.is_finished)
    assert not [call for call in parts.session.calls if call.startswith("stop discard")]
    assert parts.session.calls[-1] == "close"


def test_closing_soon_while_the_words_are_waited_for_gives_them_up(
    parts: WindowParts, qtbot: QtBot
) -> None:
    record(parts, qtbot)
    stopping: Future[None] = Future()
    asked: list[bool] = []

    def stop(*, discard_backlog: bool = False) -> "Future[None]":
        asked.append(discard_backlog)
        if discard_backlog and not stopping.done():
            stopping.set_result(None)
        return stopping

    parts.session.stop = stop  # type: ignore[method-assign]
    parts.window.close()
    enter(parts, SessionState.STOPPING, qtbot)
    qtbot.waitUntil(lambda: asked == [False])
    parts.lifecycle.close_soon()
    qtbot.waitUntil(lambda: parts.lifecycle.is_finished)
    assert asked == [False, True]


@pytest.mark.expects_log
def test_a_session_that_does_not_close_keeps_nobody(parts: WindowParts, qtbot: QtBot) -> None:
    may_end = threading.Event()
    parts.session.close_blocks = lambda: may_end.wait(60) and None
    parts.lifecycle._watchdog.setInterval(200)
    parts.window.close()
    qtbot.waitUntil(lambda: parts.lifecycle.is_finished)
    may_end.set()
