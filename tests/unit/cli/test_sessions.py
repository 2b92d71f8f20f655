"""`vivavoce sessions`: titles on the command line."""

from pathlib import Path

import pytest

from engine.cli.main import main
from engine.core.config import KeepPolicy
from engine.core.events import FinalWords
from engine.core.types import Word
from engine.store.header import SessionHeader
from engine.store.journal import Journal

pytestmark = pytest.mark.unit

FIRST, SECOND = "20260101-000000-aaaa", "20260102-000000-bbbb"


@pytest.fixture
def kept(home: Path) -> None:
    for session_id, text in ((FIRST, " alpha"), (SECOND, " beta")):
        started_at = f"2026-01-0{session_id[7]}T00:00:00+00:00"
        header = SessionHeader(session_id, started_at, 16_000, keep=KeepPolicy.TEXT)
        journal = Journal.create(home / "data" / "sessions", header)
        journal.events.append(FinalWords((Word(text, 0, 800),)))
        journal.close()


@pytest.mark.usefixtures("kept")
def test_rename_when_given_a_title_then_it_is_listed_and_stands_for_the_id(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["sessions", "rename", "20260101", "Tea with Zoë"]) == 0
    assert capsys.readouterr().out == f"{FIRST} is called Tea with Zoë\n"
    assert main(["sessions", "list"]) == 0
    listed = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in listed] == [SECOND, FIRST]
    assert listed[1].endswith("  Tea with Zoë")
    assert main(["sessions", "show", "tea with zoe"]) == 0
    assert "alpha" in capsys.readouterr().out
    assert main(["sessions", "rename", "Tea with Zoë", ""]) == 0
    assert capsys.readouterr().out == f"{FIRST} has no title\n"
    assert main(["sessions", "show", "Tea with Zoë"]) == 5
    assert "There is no session 'Tea with Zoë'" in capsys.readouterr().err


@pytest.mark.usefixtures("kept")
def test_show_when_two_have_the_title_then_both_ids_are_told(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for session_id in (FIRST, SECOND):
        assert main(["sessions", "rename", session_id, "Tea"]) == 0
    assert main(["sessions", "show", "Tea"]) == 5
    told = capsys.readouterr().err
    assert "2 sessions are called 'Tea'" in told
    assert f"{FIRST}, {SECOND}" in told
