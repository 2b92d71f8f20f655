"""Rows of the transcript: grown step by step they equal rows made at once."""

import random

import numpy as np
import pytest

from app.views.transcript.rows import RowKind, TranscriptRows
from app.views.transcript.spans import describe_span
from app.views.transcript.text import row_text
from engine.core.events import (
    ActivityRevised,
    Event,
    FinalWords,
    PartialWords,
    RecordingStarted,
    SpanMarked,
    SpeakerRenamed,
)
from engine.core.types import MAX_SPEAKERS, SpanKind, Word
from engine.text.document import TranscriptDocument

pytestmark = pytest.mark.unit

RATE = 16_000


def _words(text: str, start_s: float, step_s: float = 0.4) -> tuple[Word, ...]:
    return tuple(
        Word(
            f" {part}",
            round((start_s + i * step_s) * RATE),
            round((start_s + (i + 0.8) * step_s) * RATE),
        )
        for i, part in enumerate(text.split())
    )


def _speech(slot: int, start_s: float, end_s: float) -> ActivityRevised:
    first, end = round(start_s * 10), round(end_s * 10)
    rows = np.zeros((end - first, MAX_SPEAKERS), np.float32)
    rows[:, slot] = 0.9
    return ActivityRevised(first, 100, rows, end)


def _document(*events: Event) -> TranscriptDocument:
    document = TranscriptDocument()
    document.apply(RecordingStarted("r", RATE, "2026-01-01T00:00:00", "mic", True))
    for event in events:
        document.apply(event)
    return document


def test_partial_words_of_the_same_speaker_stand_behind_the_last_line() -> None:
    document = _document(
        _speech(0, 0, 4),
        FinalWords(_words("one two", 0.2)),
        PartialWords(_words("three", 1.2)),
    )
    rows = TranscriptRows(document).rows
    assert [row.kind for row in rows] == [RowKind.LINE]
    assert rows[0].partial == document.partial


def test_partial_words_of_another_speaker_get_a_row_with_a_name() -> None:
    document = _document(
        _speech(0, 0, 1),
        _speech(1, 1, 4),
        FinalWords(_words("one two", 0.1)),
        PartialWords(_words("three four", 1.4)),
    )
    rows = TranscriptRows(document).rows
    assert [row.kind for row in rows] == [RowKind.LINE, RowKind.PARTIAL]
    assert rows[1].has_header
    assert rows[1].speaker is not None
    assert rows[1].speaker.letter == "B"


def test_final_words_replace_the_partial_ones_they_came_from() -> None:
    document = _document(PartialWords(_words("hello wor", 0.1)))
    rows = TranscriptRows(document)
    assert rows.rows[0].kind is RowKind.PARTIAL
    first = document.apply(FinalWords(_words("hello world", 0.1)))
    document.apply(PartialWords(()))
    assert first is not None
    rows.update(first)
    assert [row.kind for row in rows.rows] == [RowKind.LINE]
    assert row_text(document, rows.rows[0]) == "[00:00:00] hello world"


def test_spans_stand_where_they_happened() -> None:
    document = _document(
        FinalWords(_words("before it", 0.1)),
        FinalWords(_words("after it", 8.0)),
        SpanMarked(1, SpanKind.GAP, 4 * RATE, 5 * RATE, "late"),
        SpanMarked(2, SpanKind.GAP, 6 * RATE, 6 * RATE + 100),
    )
    rows = TranscriptRows(document).rows
    assert [row.kind for row in rows] == [RowKind.LINE, RowKind.SPAN, RowKind.LINE]
    assert row_text(document, rows[1]) == "[00:00:04] (1.0 s of sound lost: late)"


@pytest.mark.parametrize("kind", SpanKind)
def test_every_kind_of_span_is_described(kind: SpanKind) -> None:
    assert describe_span(SpanMarked(1, kind, 0, RATE), RATE)


def test_a_line_is_copied_with_time_and_name() -> None:
    document = _document(
        _speech(0, 0, 3), FinalWords(_words("hello there", 1.0)), SpeakerRenamed(0, 0, "Maria")
    )
    rows = TranscriptRows(document).rows
    assert row_text(document, rows[0]) == "[00:00:01] Maria: hello there"


@pytest.mark.parametrize("seed", range(12))
def test_rows_grown_by_events_equal_rows_made_at_once(seed: int) -> None:
    rng = random.Random(seed)
    document = _document()
    grown = TranscriptRows(document)
    time_s = 0.0
    for number in range(60):
        event = _random_event(rng, number, time_s)
        first = document.apply(event)
        before = list(grown.rows)
        if isinstance(event, SpanMarked):
            change = grown.update_spans()
        elif first is not None:
            change = grown.update(first)
        else:
            change = grown.update_partial()
        rows = list(grown.rows)
        assert rows == list(TranscriptRows(document).rows)
        # What the change does not name is as it was, object for object.
        rest, behind = before[change.first + change.removed :], rows[change.first + change.added :]
        assert len(rest) == len(behind)
        assert all(row is old for row, old in zip(rows[: change.first], before, strict=False))
        assert all(row is old for row, old in zip(behind, rest, strict=True))
        for index, row in enumerate(grown.rows):
            for place, entry in enumerate(row.words):
                assert grown.find_word(entry.id, entry.word.start) == (index, place)
        time_s += rng.choice((0.5, 1.0, 3.0))


def _random_event(rng: random.Random, number: int, time_s: float) -> Event:
    match rng.randrange(6):
        case 0:
            start_s = max(0.0, time_s - rng.choice((0.0, 4.0)))
            return _speech(rng.randrange(3), start_s, time_s + 1.0)
        case 1 | 2:
            return FinalWords(_words("one two three"[: rng.choice((3, 7, 13))], time_s))
        case 3:
            start = round(max(0.0, time_s - rng.choice((0.0, 5.0))) * RATE)
            return SpanMarked(number, rng.choice(list(SpanKind)), start, start + RATE)
        case _:
            start_s = max(0.0, time_s - rng.choice((0.0, 0.0, 2.0)))
            return PartialWords(_words("maybe this", start_s) if rng.random() < 0.8 else ())


def test_a_decision_far_back_changes_the_rows_it_is_about_alone() -> None:
    document = _document(
        *(FinalWords(_words(f"Sentence {n} is here.", n * 5.0)) for n in range(600))
    )
    rows = TranscriptRows(document)
    first = document.apply(_speech(2, 500.0, 504.0))
    assert first is not None
    change = rows.update(first)
    assert change.first >= 98
    assert change.removed <= 4
    assert change.added <= 4


def test_a_row_is_found_by_time_also_between_and_outside_of_rows() -> None:
    document = _document(*(FinalWords(_words(f"Line {n}.", 1 + n * 5.0)) for n in range(50)))
    rows = TranscriptRows(document)
    assert rows.row_at(0) == 0
    assert rows.row_at(RATE) == 0
    assert rows.row_at(9 * RATE) == 1
    assert rows.row_at(11 * RATE) == 2
    assert rows.row_at(10**9) == 49
    assert TranscriptRows(_document()).row_at(5) == -1


def test_words_around_a_pause_stand_on_their_sides_of_it() -> None:
    document = _document(
        _speech(0, 0, 9),
        FinalWords(_words("gets its own color so you can see", 0.2)),
        SpanMarked(1, SpanKind.PAUSE, 2 * RATE, 2 * RATE),
    )
    rows = TranscriptRows(document).rows
    assert [row_text(document, row) for row in rows] == [
        "[00:00:00] Speaker A: gets its own color so",
        "[00:00:02] (Recording paused here)",
        "[00:00:02] Speaker A: you can see",
    ]


def test_partial_words_from_before_a_pause_stand_above_it() -> None:
    document = _document(
        _speech(0, 0, 9),
        FinalWords(_words("gets its own", 0.2)),
        PartialWords(_words("color so you can", 1.4)),
    )
    rows = TranscriptRows(document)
    document.apply(SpanMarked(1, SpanKind.PAUSE, 3 * RATE, 3 * RATE))
    rows.update_spans()
    assert [row.kind for row in rows.rows] == [RowKind.LINE, RowKind.SPAN]
    assert rows.rows[0].partial == document.partial

    document.apply(PartialWords(_words("color so you can see what happens", 1.4)))
    rows.update_partial()
    assert [row.kind for row in rows.rows] == [RowKind.LINE, RowKind.SPAN, RowKind.PARTIAL]
    assert [word.text for word in rows.rows[2].partial] == [" see", " what", " happens"]
    assert rows.row_at(3 * RATE) == 2

    document.apply(PartialWords(()))
    rows.update_partial()
    assert [row.kind for row in rows.rows] == [RowKind.LINE, RowKind.SPAN]
    assert rows.rows[0].partial == ()
