"""What a killed process loses, and how it is got back."""

import os
import shutil
from pathlib import Path

import numpy as np
import pytest

from benchmarks.crash import run
from benchmarks.crash_child import Mode
from engine.core.config import KeepPolicy
from engine.core.events import FinalWords
from engine.core.types import Word
from engine.store.header import SessionHeader
from engine.store.journal import Journal
from engine.store.library import SessionLibrary
from tests.helpers.cli import run_cli

RATE = 16_000


@pytest.mark.skipif(os.name == "nt", reason="SIGKILL is a signal of POSIX")
def test_recording_when_killed_at_random_then_a_second_and_a_line_are_the_most_that_is_lost(
    tmp_path: Path,
) -> None:
    outcomes = run(2 * len(Mode), 7, tmp_path / "sessions")
    assert [outcome for outcome in outcomes if not outcome.is_good] == []
    assert sum(outcome.recorded_s for outcome in outcomes) > 5
    infos = SessionLibrary(tmp_path / "sessions").list()
    assert all(info.is_closed for info in infos)
    assert len(infos) >= len(Mode)


def _break_off(root: Path, session_id: str, keep: KeepPolicy) -> None:
    header = SessionHeader(session_id, "2026-11-30T14:00:00+01:00", RATE, keep=keep)
    journal = Journal.create(root, header)
    journal.audio.append(np.full(3 * RATE, 0.25, np.float32))
    journal.events.append(FinalWords((Word(" hello", 0, 8000), Word(" there", 9000, 17_000))))
    copy = shutil.copytree(journal.folder, root.with_name("copy"))
    journal.close(KeepPolicy.NOTHING)
    copy.rename(journal.folder)
    with (journal.folder / "events.jsonl").open("ab") as file:
        file.write(b'{"event":"final_wor')


def test_sessions_recover_when_some_broke_off_then_all_are_finished_and_listed_so(
    home: Path,
) -> None:
    root = home / "data" / "sessions"
    _break_off(root, "20261130-1", KeepPolicy.AUDIO_AND_TEXT)
    _break_off(root, "20261130-2", KeepPolicy.TEXT)
    listed = run_cli("sessions", "list")
    assert listed.out.count("broke off") == 2
    assert "vivavoce sessions recover" in listed.err

    one = run_cli("sessions", "recover", "20261130-1")
    assert one.status == 0
    assert "00:00:03 and 2 words are kept" in one.out
    assert "Cut off: a torn line at the end of its text" in one.out
    others = run_cli("sessions", "recover")
    assert len(others.lines) == 1
    assert "20261130-2" in others.out
    assert "its sound (00:00:03) was deleted" in others.out

    listed = run_cli("sessions", "list")
    assert (listed.out.count("recovered"), listed.out.count("broke off")) == (2, 0)
    assert run_cli("sessions", "show", "20261130-1").out.strip().endswith("hello there")
    again = run_cli("sessions", "recover", "all")
    assert (again.status, again.out) == (0, "")
    assert "No recording broke off" in again.err
    assert run_cli("sessions", "recover", "nothing").status == 5
