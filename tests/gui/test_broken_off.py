"""Recordings that broke off are offered once, and finished when they are opened."""

from collections.abc import Iterator
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from app.broken_off import BrokenOff
from app.jobs import Jobs
from app.state import AppState
from engine.core.errors import StoreError
from engine.core.events import Severity
from engine.store.header import SessionHeader
from engine.store.journal import Journal
from engine.store.library import SessionInfo, SessionLibrary


@pytest.fixture
def jobs(qtbot: QtBot) -> Iterator[Jobs]:
    made = Jobs(lambda error: pytest.fail(str(error)))
    yield made
    made.close()


def _info(*, is_closed: bool = False, is_active: bool = False) -> SessionInfo:
    return SessionInfo("a", "", "2026-01-02T03:04:05", 1.0, 2, is_closed, is_active, True, 100)


def test_offer_when_some_broke_off_then_told_once(jobs: Jobs) -> None:
    state = AppState()
    broken_off = BrokenOff(state, jobs, lambda: None)
    whole = (_info(is_closed=True), _info(is_active=True))
    broken_off.offer((_info(), *whole, _info()))
    broken_off.offer((_info(),))
    (shown,) = state.open_notices
    assert shown.notice.severity is Severity.WARNING
    assert shown.notice.message.startswith("2 recordings broke off. They are kept")


def test_offer_when_none_broke_off_at_the_start_then_a_later_one_is_not_told(jobs: Jobs) -> None:
    state = AppState()
    broken_off = BrokenOff(state, jobs, lambda: None)
    broken_off.offer((_info(is_closed=True),))
    broken_off.offer((_info(),))
    assert state.open_notices == []


def test_finish_when_a_recording_is_whole_then_nothing_is_told(jobs: Jobs, tmp_path: Path) -> None:
    state = AppState()
    journal = Journal.create(tmp_path, SessionHeader("whole", "", 16_000))
    journal.audio.append(np.zeros(100, np.float32))
    journal.close()
    assert BrokenOff(state, jobs, lambda: None).finish(SessionLibrary(tmp_path), "whole")
    assert state.open_notices == []


def test_finish_when_the_disk_refuses_then_told_and_the_recording_can_be_read(
    jobs: Jobs, qtbot: QtBot
) -> None:
    state = AppState()
    library = Mock(spec=SessionLibrary)
    library.open.return_value.info.return_value = _info()
    library.recover.side_effect = StoreError("It cannot be written.", advice="Free space.")
    assert BrokenOff(state, jobs, lambda: None).finish(library, "a")
    qtbot.waitUntil(lambda: bool(state.open_notices))
    assert state.open_notices[0].notice.advice == "Free space."
