"""Faults that nobody foresaw: one notice each, and the rest goes on."""

import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QTimer
from pytestqt.exceptions import capture_exceptions
from pytestqt.qtbot import QtBot

from app.jobs import Jobs
from app.logs import install_hooks
from app.state import AppState
from app.unexpected import unexpected
from engine.core.config import Settings
from engine.core.events import Event, Notice, SessionState, Severity, StateChanged
from engine.text.document import TranscriptDocument
from tests.helpers.window import WindowParts, close_window, make_window

pytestmark = pytest.mark.gui


@pytest.fixture
def hooks() -> Iterator[None]:
    """Hooks of the program are taken away again."""
    before = sys.excepthook, threading.excepthook, sys.unraisablehook
    yield
    sys.excepthook, threading.excepthook, sys.unraisablehook = before


@pytest.fixture
def parts(qtbot: QtBot, tmp_path: Path) -> Iterator[WindowParts]:
    made = make_window(tmp_path)
    yield made
    close_window(made, qtbot)


def test_a_result_that_cannot_be_shown_does_not_take_the_next_ones_with_it(qtbot: QtBot) -> None:
    jobs = Jobs(lambda _: None)
    seen: list[str] = []

    def fail() -> None:
        raise KeyError("a slip")

    with capture_exceptions() as caught:
        jobs.call_soon(fail)
        jobs.call_soon(lambda: seen.append("the next"))
        qtbot.waitUntil(lambda: seen == ["the next"])
    assert [kind for kind, _, _ in caught] == [KeyError]
    jobs.close()


def test_an_event_that_cannot_be_taken_does_not_take_the_next_ones_with_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    state = AppState()
    apply = TranscriptDocument.apply

    def apply_words_alone(document: TranscriptDocument, event: Event) -> object:
        if isinstance(event, Notice):
            raise ZeroDivisionError
        return apply(document, event)

    monkeypatch.setattr(TranscriptDocument, "apply", apply_words_alone)
    events = [Notice(Severity.INFO, "So."), StateChanged(SessionState.PAUSED)]
    with capture_exceptions() as caught:
        state.take(events)
    assert state.session_state is SessionState.PAUSED
    assert len(caught) == 1


@pytest.mark.usefixtures("hooks")
def test_a_slot_that_raises_ends_in_one_notice(
    qtbot: QtBot, caplog: pytest.LogCaptureFixture
) -> None:
    state = AppState()
    jobs = Jobs(lambda _: None)
    error = unexpected(Path("the.log"))
    notice = Notice(Severity.ERROR, error.message, error.advice)
    install_hooks(lambda: jobs.call_soon(lambda: state.add_notice(notice)))
    timer = QTimer()
    ticks: list[int] = []

    def fail() -> None:
        ticks.append(1)
        raise ZeroDivisionError("oops")

    timer.timeout.connect(fail)
    timer.start(1)
    qtbot.waitUntil(lambda: len(ticks) > 5)
    timer.stop()
    qtbot.waitUntil(lambda: len(state.history) == 1)
    assert "the.log" in state.history[0].notice.advice
    assert "oops" in caplog.text
    jobs.close()


@pytest.mark.parametrize("error", [ImportError("no such part"), MemoryError()])
def test_engine_that_cannot_be_made_is_told_with_what_still_works(
    parts: WindowParts, qtbot: QtBot, caplog: pytest.LogCaptureFixture, error: Exception
) -> None:
    def build(*_: object) -> object:
        raise error

    parts.controller.settings = Settings()
    with qtbot.waitSignal(parts.controller.build_ended):
        parts.controller.build(build)  # type: ignore[arg-type]
    (shown,) = parts.state.open_notices
    assert "could not be made ready" in shown.notice.message
    assert "vivavoce doctor" in shown.notice.advice
    assert "a background job failed" in caplog.text
    assert parts.window.isEnabled()
