"""Rows of the timeline from probabilities: thresholds, merges, gifts, wide views, epochs."""

import math
from itertools import pairwise

import numpy as np
import pytest

from app.views.timeline.activity import POOL, RowActivity
from app.views.timeline.data import TimelineData
from engine.core.events import (
    ActivityRevised,
    FinalWords,
    RecordingStarted,
    SpanMarked,
    SpeakerMerged,
    WordsAssigned,
)
from engine.core.types import MAX_SPEAKERS, SpanKind, SpeakerId, Word
from engine.text.document import TranscriptDocument

pytestmark = pytest.mark.unit
RATE, FRAME_MS = 16_000, 80
A, B, C = (SpeakerId(0, slot) for slot in range(3))


def _rows(*turns: tuple[int, int, int], num_frames: int = 100) -> np.ndarray:
    rows = np.zeros((num_frames, MAX_SPEAKERS), np.float32)
    for slot, first, end in turns:
        rows[first:end, slot] = 0.9
    return rows


def _document(rows: np.ndarray, **more: int) -> TranscriptDocument:
    document = TranscriptDocument()
    document.apply(RecordingStarted("r", RATE, "2026-01-02T03:04:05", "Microphone", True))
    document.apply(ActivityRevised(0, FRAME_MS, rows, len(rows), **more))
    return document


def _word(text: str, first_frame: int, end_frame: int) -> Word:
    samples = RATE * FRAME_MS // 1000
    return Word(text, first_frame * samples, end_frame * samples, 0.9)


def test_a_row_is_active_where_its_probability_reaches_the_threshold() -> None:
    rows = _rows((0, 10, 20))
    rows[20:30, 0] = 0.4
    data = TimelineData(_document(rows), 0.5)
    assert np.flatnonzero(data.activity.frames(0, 100)[0][0]).tolist() == list(range(10, 20))
    data.set_threshold(0.3)
    assert np.flatnonzero(data.activity.frames(0, 100)[0][0]).tolist() == list(range(10, 30))


def test_a_lower_threshold_brings_rows_that_had_no_bar() -> None:
    rows = _rows((0, 10, 20))
    rows[50:60, 1] = 0.3
    data = TimelineData(_document(rows), 0.5)
    assert [row.speaker for row in data.rows] == [A]
    data.set_threshold(0.2)
    assert [row.speaker for row in data.rows] == [A, B]


def test_merged_speakers_share_a_row_and_do_not_overlap_with_themselves() -> None:
    document = _document(_rows((0, 10, 20), (1, 15, 30), (2, 18, 25)))
    data = TimelineData(document, 0.5)
    edges = np.array([0, 100])
    assert data.activity.columns(edges).overlap[0] == pytest.approx(0.10)  # 15 to 25
    document.apply(SpeakerMerged(B, A))
    data.take_speakers()
    assert [row.speaker for row in data.rows] == [A, C]
    active, _ = data.activity.frames(0, 100)
    assert np.flatnonzero(active[0]).tolist() == list(range(10, 30))
    assert data.activity.columns(edges).overlap[0] == pytest.approx(0.07)


def test_words_given_away_are_the_new_rows_and_leave_only_shade_on_the_old_one() -> None:
    document = _document(_rows((0, 10, 40), (1, 60, 70)))
    document.apply(FinalWords((_word(" one", 10, 18), _word(" two", 20, 28), _word(" x", 62, 66))))
    data = TimelineData(document, 0.5)
    document.apply(WordsAssigned((0,), (B,)))
    data.take_lines(0)
    active, assigned = data.activity.frames(0, 100)
    assert np.flatnonzero(active[0]).tolist() == list(range(18, 40))
    assert np.flatnonzero(assigned[1]).tolist() == list(range(10, 18))
    shade, first, pool = data.activity.shade(0, 100, 1000)
    assert (first, pool) == (0, 1)
    assert shade[0, 12] == pytest.approx(0.9, abs=0.01)


def test_words_kept_with_who_is_heard_there_stay_solid() -> None:
    document = _document(_rows((0, 10, 40)))
    document.apply(FinalWords((_word(" one", 10, 18),)))
    document.apply(WordsAssigned((0,), (A,)))
    data = TimelineData(document, 0.5)
    active, assigned = data.activity.frames(0, 100)
    assert active[0, 10:40].all()
    assert not assigned.any()
    assert [gift.rows for gift in data.activity.gifts(0, 100)] == [frozenset([0])]


def test_a_person_the_user_made_has_a_row_of_the_words_given() -> None:
    document = _document(_rows((0, 10, 40)))
    document.apply(FinalWords((_word(" one", 10, 18), _word(" two", 18, 26))))
    document.apply(WordsAssigned((1,), (SpeakerId(-1, 0),)))
    data = TimelineData(document, 0.5)
    assert [row.speaker for row in data.rows] == [A, SpeakerId(-1, 0)]
    assert np.flatnonzero(data.activity.frames(0, 100)[1][1]).tolist() == list(range(18, 26))


@pytest.mark.parametrize("num_frames", [37, 5_000, 70_000])
def test_wide_views_count_what_frames_say(num_frames: int) -> None:
    rng = np.random.default_rng(4)
    rows = (rng.random((num_frames, MAX_SPEAKERS)) > 0.7).astype(np.float32)
    activity = TimelineData(_document(rows), 0.5).activity
    # What is counted beforehand lies at multiples of its own length.
    size = 1 if num_frames < POOL**2 else POOL**2
    for num_columns in (1, 7, 15):
        edges = np.linspace(0, num_frames, num_columns + 1).astype(np.int64) // size * size
        columns = activity.columns(edges)
        for column, (first, end) in enumerate(pairwise(edges.tolist())):
            part = rows[first:end] > 0
            assert columns.active[:, column] == pytest.approx(part.mean(axis=0), abs=1e-6)
            overlap = (part.sum(axis=1) > 1).mean()
            assert columns.overlap[column] == pytest.approx(overlap, abs=1e-6)


def test_live_rows_are_counted_as_if_all_had_been_there_at_once() -> None:
    rng = np.random.default_rng(5)
    rows = (rng.random((3_000, MAX_SPEAKERS)) > 0.6).astype(np.float32)
    whole = TimelineData(_document(rows), 0.5)
    document = TranscriptDocument()
    grown = TimelineData(document, 0.5)
    for first in range(0, 3_000, 13):
        low = max(0, first - 5)  # tentative rows are told again
        document.apply(ActivityRevised(low, FRAME_MS, rows[low : first + 13], first))
        grown.take_activity()
    edges = np.arange(0, 3_001, 16)
    assert np.array_equal(
        grown.activity.columns(edges).active, whole.activity.columns(edges).active
    )
    assert np.array_equal(grown.activity.frames(0, 3_000)[0], whole.activity.frames(0, 3_000)[0])


def test_only_what_is_new_is_out_of_date() -> None:
    document = _document(_rows((0, 10, 90)))
    data = TimelineData(document, 0.5)
    document.apply(ActivityRevised(95, FRAME_MS, _rows((0, 0, 5), num_frames=10), 100))
    assert data.take_activity() == pytest.approx(95 * 0.08)


def test_settled_rows_are_taken_in_where_they_lie() -> None:
    document = _document(_rows((0, 10, 90), (1, 20, 30)))
    data = TimelineData(document, 0.5)
    settled = ActivityRevised(0, FRAME_MS, _rows((1, 10, 90)), 100, is_settled=True)
    document.apply(settled)
    data.take_activity()
    assert [row.speaker for row in data.rows] == [B]
    assert document.activity.is_settled_at(50)


def test_rows_are_those_of_the_epochs_in_view() -> None:
    document = _document(_rows((0, 10, 90)))
    document.apply(ActivityRevised(100, FRAME_MS, _rows((0, 0, 50), (1, 20, 60)), 200, epoch=1))
    data = TimelineData(document, 0.5)
    first, second = SpeakerId(0, 0), (SpeakerId(1, 0), SpeakerId(1, 1))
    assert data.set_view(0.0, 4.0)
    assert [row.speaker for row in data.rows] == [first]
    assert data.set_view(9.0, 16.0)
    assert [row.speaker for row in data.rows] == [*second]
    assert data.set_view(6.0, 10.0)
    assert [row.speaker for row in data.rows] == [first, *second]


def test_a_speaker_merged_over_epochs_is_one_row_with_both_columns() -> None:
    document = _document(_rows((0, 10, 90)))
    document.apply(ActivityRevised(100, FRAME_MS, _rows((0, 0, 50)), 200, epoch=1))
    document.apply(SpeakerMerged(SpeakerId(1, 0), SpeakerId(0, 0)))
    data = TimelineData(document, 0.5)
    for view_s in ((0.0, 4.0), (9.0, 16.0)):
        data.set_view(*view_s)
        assert [row.speaker for row in data.rows] == [SpeakerId(0, 0)]
    active, _ = data.activity.frames(0, 200)
    assert np.flatnonzero(active[0]).tolist() == [*range(10, 90), *range(100, 150)]


def test_without_rows_or_frames_nothing_is_active() -> None:
    activity = RowActivity(TranscriptDocument(), 0.5)
    active, assigned = activity.frames(0, 10)
    assert active.shape == assigned.shape == (0, 10)
    assert activity.num_frames == 0
    assert TimelineData(TranscriptDocument(), 0.5).rows == ()


def test_only_what_lies_after_a_new_mark_is_out_of_date() -> None:
    document = _document(_rows((0, 10, 90)))
    data = TimelineData(document, 0.5)
    document.apply(SpanMarked(1, SpanKind.GAP, 2 * RATE, 3 * RATE))
    assert data.take_spans() == 2.0
    document.apply(SpanMarked(2, SpanKind.OWN_VOICE, 5 * RATE, 5 * RATE))
    assert data.take_spans() == 5.0
    assert data.spans.is_speaking
    document.apply(SpanMarked(2, SpanKind.OWN_VOICE, 5 * RATE, 6 * RATE))
    assert data.take_spans() == 5.0
    assert not data.spans.is_speaking
    assert data.take_spans() == math.inf
    assert [s.mark_id for s in data.spans.touching(SpanKind.GAP, 2 * RATE, 9 * RATE)] == [1]
