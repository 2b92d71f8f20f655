"""Kept recordings are found by their words and by the names of their speakers."""

from pathlib import Path

import numpy as np
import pytest

from engine.core.errors import CancelledError
from engine.core.events import (
    ActivityRevised,
    Event,
    FinalWords,
    SpeakerMerged,
    SpeakerRenamed,
    WordsEdited,
)
from engine.core.sync import CancelToken
from engine.core.types import SpeakerId, Word
from engine.store.event_json import EventFile
from engine.store.header import SessionHeader
from engine.store.journal import Journal
from engine.store.session_search import Found, search_session
from engine.store.stored_session import StoredSession

pytestmark = pytest.mark.unit

RATE = 16_000


def _session(root: Path, *events: Event) -> StoredSession:
    journal = Journal.create(root, SessionHeader("a", "2026-11-30T14:00:00+01:00", RATE))
    for event in events:
        journal.events.append(event)
    journal.close()
    return StoredSession(journal.folder)


def _said(text: str) -> FinalWords:
    return FinalWords(
        tuple(Word(f" {word}", at * RATE, at * RATE + 8000) for at, word in enumerate(text.split()))
    )


@pytest.mark.parametrize(
    ("query", "known", "found"),
    [
        ("wonderful", "", Found((("wonderful", 2),))),
        ("  WÓNDERFUL   day ", "", Found((("WÓNDERFUL day", 1),))),  # it is said in one
        ("day wonderful", "", Found((("day", 1), ("wonderful", 2)))),
        ("day nowhere", "", None),
        ("day nowhere", "From Nowhere, 12:03", Found((("day", 1),))),
        ("nowhere", "From Nowhere", Found()),
        ("zoe", "", Found((), ("Zoë",))),
        ("zoe day", "", Found((("day", 1),), ("Zoë",))),
        ("mira", "", None),  # she turned out to be Zoë
        ("rain", "", None),  # corrected to
        ("sun", "", Found((("sun", 1),))),
        ("speaker", "", None),
    ],
)
def test_search_when_a_recording_holds_it_then_says_where(
    tmp_path: Path, query: str, known: str, found: Found | None
) -> None:
    session = _session(
        tmp_path,
        _said("a wonderful rain and Wonderful Day"),
        SpeakerRenamed(0, 0, "Zoe"),
        SpeakerRenamed(0, 0, "Zoë"),
        SpeakerRenamed(0, 1, "Mira"),
        SpeakerMerged(SpeakerId(0, 1), SpeakerId(0, 0)),
        WordsEdited((2,), (" sun",)),
    )
    assert search_session(session, query, CancelToken(), known) == found


def test_search_when_lines_are_damaged_then_the_rest_is_found(tmp_path: Path) -> None:
    session = _session(tmp_path, _said("one two"))
    with session.events_path.open("ab") as file:
        file.write(b'{"event":"activity_revised","first_fra\n\0\0{"event":"final_words"\n')
    assert search_session(session, "two", CancelToken()) == Found((("two", 1),))
    session.events_path.unlink()
    assert search_session(session, "two", CancelToken()) is None


def test_search_when_cancelled_then_it_ends_before_the_next_event(tmp_path: Path) -> None:
    session, cancel = _session(tmp_path, _said("one two")), CancelToken()
    cancel.cancel()
    with pytest.raises(CancelledError):
        search_session(session, "two", cancel)


def test_read_when_kinds_are_passed_over_then_their_lines_are_not_decoded(tmp_path: Path) -> None:
    rows = ActivityRevised(0, 80, np.zeros((5, 2), np.float32), 5)
    session = _session(tmp_path, rows, _said("one"), rows)
    file = EventFile(session.events_path)
    with session.events_path.open("ab") as damaged:
        damaged.write(b'{"event":"activity_revised","first_fra\n')
    assert list(file.read((ActivityRevised,))) == [_said("one")]
    assert file.num_skipped == 0
    assert len(list(file.read())) == 3
    assert file.num_skipped == 1
