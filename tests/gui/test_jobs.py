"""Work on other threads, and its results on the main thread."""

import threading

import pytest
from pytestqt.qtbot import QtBot

from app.jobs import Jobs
from engine.core.errors import EngineError

pytestmark = pytest.mark.gui


def test_jobs_in_order_run_one_after_the_other(qtbot: QtBot) -> None:
    jobs = Jobs(lambda _: None)
    may_go, done = threading.Event(), []
    jobs.run_in_order(lambda: may_go.wait(20) and "first", done.append)
    jobs.run_in_order(lambda: "second", done.append)
    jobs.run(lambda: "aside", done.append)
    qtbot.waitUntil(lambda: done == ["aside"])
    may_go.set()
    qtbot.waitUntil(lambda: done == ["aside", "first", "second"])
    jobs.close()


def test_an_error_goes_where_it_is_asked_for(qtbot: QtBot) -> None:
    errors: list[str] = []
    jobs = Jobs(lambda error: errors.append(f"all: {error}"))

    def fail() -> None:
        raise EngineError("It broke.")

    jobs.run_in_order(fail)
    jobs.run_in_order(fail, on_error=lambda error: errors.append(f"own: {error}"))
    qtbot.waitUntil(lambda: errors == ["all: It broke.", "own: It broke."])
    jobs.close()


def test_a_result_after_the_end_is_dropped(qtbot: QtBot) -> None:
    jobs = Jobs(lambda _: None)
    may_go, told = threading.Event(), []
    jobs.run(lambda: may_go.wait(20), told.append)
    jobs.close()
    may_go.set()
    qtbot.wait(50)
    assert told == []
