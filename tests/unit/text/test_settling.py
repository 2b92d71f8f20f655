import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.core.events import ActivityRevised
from engine.text.activity import ActivityTrack
from engine.text.settling import SlotSettler, match_slots, overlap

NOBODY = np.zeros(8, np.bool_)


def turns(*slots: int, num_frames: int = 10, width: int = 8) -> np.ndarray:
    """Return rows in which the given slots speak one after the other, -1 for silence."""
    out = np.zeros((len(slots) * num_frames, width), np.float32)
    for index, slot in enumerate(slots):
        if slot >= 0:
            out[index * num_frames : (index + 1) * num_frames, slot] = 0.9
    return out


def track_of(*parts: np.ndarray, frame_ms: int = 80) -> ActivityTrack:
    track, first = ActivityTrack(), 0
    for epoch, rows in enumerate(parts):
        track.apply(ActivityRevised(first, frame_ms, rows, first + len(rows), epoch))
        first += len(rows)
    return track


def settled(rows: np.ndarray, first: int = 0, epoch: int = 0) -> ActivityRevised:
    return ActivityRevised(first, 80, rows, first + len(rows), epoch, is_settled=True)


def active(event: ActivityRevised) -> list[int]:
    """Return who speaks in the middle of each turn of ten frames."""
    middles = event.probabilities[5::10]
    return [int(row.argmax()) if row.max() > 0.5 else -1 for row in middles]


@pytest.mark.unit
@given(st.permutations(range(8)))
def test_match_when_slots_were_shuffled_then_the_shuffle_is_found(order):
    live = turns(*range(8))
    shuffled = live[:, order]

    assert match_slots(overlap(live, shuffled), NOBODY) == tuple(order)


@pytest.mark.unit
def test_match_when_a_speaker_was_missed_live_then_takes_a_slot_that_nobody_has():
    live, heard = turns(1, 1, -1), turns(0, 0, 1)

    match = match_slots(overlap(live, heard), (live > 0.5).any(axis=0))

    assert match[0] == 1
    assert match[1] != 1


@pytest.mark.unit
def test_match_when_nothing_tells_then_stays_what_it_was():
    nothing = np.zeros((3, 8))

    assert match_slots(nothing, NOBODY) == (0, 1, 2)
    assert match_slots(nothing, NOBODY, (4, 0, 2)) == (4, 0, 2)


@pytest.mark.unit
def test_match_when_there_are_too_many_slots_then_an_error():
    with pytest.raises(ValueError, match="at most 2"):
        match_slots(np.zeros((3, 2)), np.zeros(2, np.bool_))


@pytest.mark.unit
def test_settle_when_slots_differ_then_rows_come_on_the_live_slots():
    track = track_of(turns(2, 5, 2))
    (event,) = SlotSettler().settle(settled(turns(0, 1, 0, width=4)), track)

    assert active(event) == [2, 5, 2]
    assert event.probabilities.shape == (30, 8)
    assert event.is_settled


@pytest.mark.unit
def test_settle_when_a_later_window_is_ambiguous_then_the_match_of_before_holds():
    track, settler = track_of(turns(2, 5, -1, -1)), SlotSettler()
    settler.settle(settled(turns(0, 1, width=4)), track)
    (event,) = settler.settle(settled(turns(1, 0, width=4), first=20), track)

    assert active(event) == [5, 2]


@pytest.mark.unit
def test_settle_when_the_window_spans_two_epochs_then_each_part_is_matched_to_its_own():
    track = track_of(turns(0, 1), turns(1, 0))
    first, second = SlotSettler().settle(settled(turns(0, 1, 0, 1)), track)

    assert (first.epoch, second.epoch) == (0, 1)
    assert (first.first_frame, second.first_frame) == (0, 20)
    assert (active(first), active(second)) == ([0, 1], [1, 0])


@pytest.mark.unit
def test_settle_when_live_rows_are_behind_then_only_frames_of_both_tell():
    track = track_of(turns(3))
    (event,) = SlotSettler().settle(settled(turns(0, 1, width=2)), track)

    assert active(event)[0] == 3
    assert active(event)[1] not in (-1, 3)


@pytest.mark.unit
def test_settle_when_frames_have_other_lengths_then_rows_come_on_the_live_grid():
    track = track_of(turns(4, num_frames=8), frame_ms=100)
    (event,) = SlotSettler().settle(settled(turns(0)), track)

    assert (event.frame_ms, len(event.probabilities)) == (100, 8)
    assert int(event.probabilities[3].argmax()) == 4


@pytest.mark.unit
def test_settle_when_there_is_no_live_diarizer_then_rows_stay_as_they_are():
    event = settled(turns(1, 0))
    assert SlotSettler().settle(event, ActivityTrack()) == (event,)
