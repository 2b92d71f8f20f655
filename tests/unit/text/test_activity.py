import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.core.events import ActivityRevised
from engine.core.types import SpeakerId
from engine.text.activity import POOL, ActivityTrack, Turn, TurnPolicy


def rows(*values: float, slot: int = 0, width: int = 8) -> np.ndarray:
    out = np.zeros((len(values), width), np.float32)
    out[:, slot] = values
    return out


@pytest.mark.unit
def test_rows_when_revised_then_the_newest_count():
    track = ActivityTrack()
    track.apply(ActivityRevised(0, 80, rows(0.9, 0.9, 0.9), 0))
    changed = track.apply(ActivityRevised(1, 80, rows(0.1, 0.2), 2))

    assert changed == (1, 3)
    np.testing.assert_allclose(track.rows(0, 9)[:, 0], [0.9, 0.1, 0.2], atol=1e-3)
    assert track.final_until == 2


@pytest.mark.unit
def test_final_until_when_told_an_older_one_then_does_not_go_back():
    track = ActivityTrack()
    track.apply(ActivityRevised(0, 80, rows(1, 1, 1), 3))
    track.apply(ActivityRevised(2, 80, rows(1, 1), 1))

    assert track.final_until == 3


@pytest.mark.unit
def test_narrow_rows_when_they_replace_wide_ones_then_the_other_columns_are_cleared():
    track = ActivityTrack()
    track.apply(ActivityRevised(0, 80, np.ones((2, 8), np.float32), 0))
    track.apply(ActivityRevised(0, 80, np.ones((2, 3), np.float32), 0))

    assert track.rows(0, 2).sum() == 6


@pytest.mark.unit
def test_turns_when_nothing_is_known_then_there_are_none():
    assert ActivityTrack().turns() == ()


@pytest.mark.unit
def test_turns_when_voices_overlap_then_both_are_there():
    track = ActivityTrack()
    both = rows(1, 1, 1, 1, 0, 0) + rows(0, 0, 1, 1, 1, 1, slot=3)
    track.apply(ActivityRevised(0, 100, both, 6))

    assert track.turns(TurnPolicy(min_off_ms=0)) == (
        Turn(SpeakerId(0, 0), 0, 400),
        Turn(SpeakerId(0, 3), 200, 600, is_final=False),
    )


@pytest.mark.unit
def test_turns_when_a_pause_is_short_then_it_is_bridged():
    track = ActivityTrack()
    track.apply(ActivityRevised(0, 100, rows(1, 0, 0, 1, 0, 0, 0, 1), 8))

    starts = [(t.start_ms, t.end_ms) for t in track.turns(TurnPolicy(min_off_ms=200))]
    assert starts == [(0, 400), (700, 800)]


@pytest.mark.unit
@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        (TurnPolicy(threshold=0.5, min_off_ms=0), [(200, 400), (600, 700)]),
        (TurnPolicy(threshold=0.3, min_off_ms=0), [(200, 700)]),
        (TurnPolicy(threshold=0.5, min_off_ms=200), [(200, 700)]),
        (TurnPolicy(threshold=0.5, min_off_ms=0, min_on_ms=150), [(200, 400)]),
        (TurnPolicy(threshold=0.5, min_off_ms=0, pad_ms=50), [(150, 450), (550, 750)]),
        (TurnPolicy(threshold=0.5, min_off_ms=100, pad_ms=50), [(150, 750)]),
        (TurnPolicy(threshold=0.5, min_off_ms=0, pad_ms=300), [(0, 900)]),
        (TurnPolicy(threshold=0.95), []),
    ],
)
def test_turns_when_the_policy_changes_then_the_kept_rows_give_others(policy, expected):
    track = ActivityTrack()
    track.apply(ActivityRevised(0, 100, rows(0, 0, 0.9, 0.9, 0.4, 0.4, 0.9, 0, 0), 9))

    assert [(t.start_ms, t.end_ms) for t in track.turns(policy)] == expected


@pytest.mark.unit
def test_turns_when_a_later_row_could_still_join_them_then_they_are_not_final():
    track = ActivityTrack()
    track.apply(ActivityRevised(0, 100, rows(1, 0, 0, 0, 0), 3))
    policy = TurnPolicy(min_off_ms=200)
    assert [turn.is_final for turn in track.turns(policy)] == [False]

    track.apply(ActivityRevised(4, 100, rows(0), 4))
    assert [turn.is_final for turn in track.turns(policy)] == [True]
    assert [turn.is_final for turn in track.turns(TurnPolicy(min_off_ms=200, pad_ms=50))] == [False]

    track.apply(ActivityRevised(5, 100, rows(0), 5, epoch=1))
    assert all(turn.is_final for turn in track.turns(TurnPolicy(min_off_ms=900)))


@pytest.mark.unit
@pytest.mark.parametrize(
    "wrong", [{"threshold": 0.0}, {"threshold": 1.1}, {"min_on_ms": -1}, {"pad_ms": -1}]
)
def test_policy_when_out_of_range_then_refused(wrong):
    with pytest.raises(ValueError, match="must"):
        TurnPolicy(**wrong)


@pytest.mark.unit
def test_turns_when_the_epoch_changes_then_speakers_are_others():
    track = ActivityTrack()
    track.apply(ActivityRevised(0, 100, rows(1, 1), 2, epoch=0))
    track.apply(ActivityRevised(2, 100, rows(1, 1), 4, epoch=1))

    assert [t.speaker for t in track.turns()] == [SpeakerId(0, 0), SpeakerId(1, 0)]
    assert track.epoch_at(1) == 0
    assert track.epoch_at(2) == 1


@pytest.mark.unit
def test_finer_rows_when_the_track_is_coarse_then_they_are_pooled_by_maximum():
    track = ActivityTrack()
    track.apply(ActivityRevised(0, 80, rows(0, 0, 0), 0))
    fine = rows(*([0.0] * 4 + [0.75] + [0.0] * 11))
    track.apply(ActivityRevised(8, 10, fine, 24, is_settled=True))

    np.testing.assert_allclose(track.rows(0, 3)[:, 0], [0, 0.75, 0], atol=1e-3)


@pytest.mark.unit
def test_rows_when_neither_length_divides_the_other_then_a_frame_has_the_most_that_touches_it():
    track = ActivityTrack()
    track.apply(ActivityRevised(0, 100, rows(0, 0, 0, 0), 0))
    changed = track.apply(ActivityRevised(0, 80, rows(0, 0.5, 0, 0, 0), 5))

    assert changed == (0, 4)
    # The second row lies from 80 to 160 ms.
    np.testing.assert_allclose(track.rows(0, 9)[:, 0], [0.5, 0.5, 0, 0], atol=1e-3)
    assert track.final_until == 4


@pytest.mark.unit
def test_settled_rows_when_live_ones_come_later_then_they_stay():
    track = ActivityTrack()
    track.apply(ActivityRevised(0, 80, rows(0.2, 0.2, 0.2), 0))
    track.apply(ActivityRevised(0, 80, rows(0.9, 0.9), 2, is_settled=True))
    track.apply(ActivityRevised(1, 80, rows(0.4, 0.4, 0.4), 0))

    np.testing.assert_allclose(track.rows(0, 9)[:, 0], [0.9, 0.9, 0.4, 0.4], atol=1e-3)


@pytest.mark.unit
def test_settled_rows_when_they_cover_old_epochs_then_the_epochs_stay():
    track = ActivityTrack()
    track.apply(ActivityRevised(0, 80, rows(1, 1), 2, epoch=0))
    track.apply(ActivityRevised(2, 80, rows(1, 1), 4, epoch=1))
    track.apply(ActivityRevised(0, 80, rows(1, 1), 2, epoch=0, is_settled=True))

    assert [track.epoch_at(frame) for frame in range(4)] == [0, 0, 1, 1]
    assert (track.epoch_end(0, 9), track.epoch_end(2, 9)) == (2, 9)


@pytest.mark.unit
def test_settled_rows_when_there_is_no_live_diarizer_then_they_have_epochs_of_their_own():
    track = ActivityTrack()
    track.apply(ActivityRevised(0, 80, rows(1, 1), 2, epoch=0, is_settled=True))
    track.apply(ActivityRevised(2, 80, rows(1, 1), 4, epoch=1, is_settled=True))

    assert [track.epoch_at(frame) for frame in range(4)] == [0, 0, 1, 1]
    assert track.live_until == 0


@pytest.mark.property
@given(
    pieces=st.lists(
        st.tuples(st.integers(0, 900), st.integers(1, 200), st.integers(0, 7)),
        min_size=1,
        max_size=12,
    )
)
def test_overview_when_rows_are_revised_anyhow_then_is_the_maximum_of_the_rows(pieces):
    track = ActivityTrack()
    rng = np.random.default_rng(0)
    for first, count, slot in pieces:
        track.apply(ActivityRevised(first, 80, rows(*rng.random(count), slot=slot), 0))

    base = track.rows(0, track.num_frames)
    coarse, first, pool = track.overview(0, track.num_frames, max_rows=20)
    assert first == 0
    for i, row in enumerate(coarse):
        cell = base[i * pool : (i + 1) * pool]
        np.testing.assert_array_equal(row, cell.max(axis=0) if len(cell) else 0)
    assert len(coarse) == -(-track.num_frames // pool)
    assert pool in (1, POOL, POOL**2, POOL**3)
