from itertools import pairwise

import numpy as np
import pytest

from engine.backends.fake_diarizer import (
    SAMPLE_RATE,
    DiarizerScript,
    FakeDiarizer,
    FakeDiarizerStream,
    Turn,
    create,
    turns_from_seconds,
)
from engine.core.errors import BackendError, ModelLoadError
from engine.core.events import ActivityRevised
from engine.core.timebase import VirtualClock
from tests.helpers.backends import load, make_context

pytestmark = pytest.mark.unit


def silence(seconds: float) -> np.ndarray:
    return np.zeros(round(seconds * SAMPLE_RATE), dtype=np.float32)


def open_stream(script: DiarizerScript, clock: VirtualClock | None = None) -> FakeDiarizerStream:
    backend = FakeDiarizer(script, (clock or VirtualClock()).sleep)
    load(backend)
    return backend.open_stream()


def last_rows(events: list[ActivityRevised]) -> np.ndarray:
    rows = np.zeros((0, 2), dtype=np.float32)
    for event in events:
        rows = np.concatenate([rows[: event.first_frame], event.probabilities])
    return rows


def test_flush_when_turns_are_scripted_tells_them_with_their_overlap() -> None:
    turns = turns_from_seconds((0, 0.5, 3.0), (1, 2.5, 5.0))
    stream = open_stream(DiarizerScript(turns))
    active = last_rows([*stream.push(silence(6.0)), *stream.flush()]) > 0.5
    assert np.flatnonzero(active[:, 0]).tolist() == list(range(5, 30))
    assert np.flatnonzero(active[:, 1]).tolist() == list(range(25, 50))
    assert len(active) == 60


def test_push_when_a_turn_begins_credits_the_voice_before_and_corrects_it() -> None:
    script = DiarizerScript((Turn(0, 0, 20), Turn(1, 20, 60)), late_frames=5)
    stream = open_stream(script)
    early = last_rows(list(stream.push(silence(2.5))))
    assert early[24].argmax() == 0
    revised = last_rows(list(stream.push(silence(0.5))))
    assert revised[24].argmax() == 1


def test_push_when_rows_grow_old_makes_them_final_and_sure() -> None:
    stream = open_stream(DiarizerScript((Turn(0, 0, 100),), tentative_frames=20))
    *_, event = stream.push(silence(5.0))
    assert event.final_until == 30
    assert event.first_frame == 25
    assert event.probabilities[4, 0] > 0.9 > event.probabilities[5, 0]
    (event,) = stream.push(silence(0.5))
    assert event.first_frame == 30
    assert event.final_until == 35
    assert event.probabilities[4, 0] > 0.9 > event.probabilities[5, 0]


def test_push_when_no_script_is_given_lets_voices_take_turns_for_ever() -> None:
    stream = open_stream(DiarizerScript(num_speakers=3))
    *_, event = stream.push(silence(300))
    assert event.probabilities.shape[1] == 3
    assert event.probabilities.max() > 0.5
    rows = DiarizerScript(num_speakers=3).turns_between(0, 3000)
    assert {turn.slot for turn in rows} == {0, 1, 2}
    assert any(a.end > b.start for a, b in pairwise(rows))


def test_push_when_scripted_to_fail_fails_once_and_loses_no_row() -> None:
    stream = open_stream(DiarizerScript(fail_at=16_000))
    events = [*stream.push(silence(0.9))]
    with pytest.raises(BackendError):
        stream.push(silence(0.9))
    events += [*stream.push(silence(1.0)), *stream.flush()]
    assert len(last_rows(events)) == 28


def test_push_when_scripted_to_cost_sleeps_in_proportion() -> None:
    clock = VirtualClock()
    open_stream(DiarizerScript(cost_s=0.25), clock).push(silence(4.0))
    assert clock.now_s() == pytest.approx(1.0)


def test_load_when_scripted_to_fail_raises() -> None:
    with pytest.raises(ModelLoadError, match="broken"):
        load(FakeDiarizer(DiarizerScript(load_error=ModelLoadError("broken"))))


@pytest.mark.parametrize(
    "wrong",
    [
        {"num_speakers": 9},
        {"num_speakers": 0},
        {"step_frames": 0},
        {"turns": (Turn(2, 0, 1),)},
        {"turns": (Turn(0, 3, 3),)},
    ],
)
def test_script_when_out_of_range_is_refused(wrong: dict) -> None:
    with pytest.raises(ValueError, match=r"must|needs"):
        DiarizerScript(**wrong)


def test_create_when_argument_is_a_number_has_so_many_voices() -> None:
    backend = create(make_context(), "4")
    load(backend)
    (event, *_) = backend.open_stream().push(silence(1.0))
    assert event.probabilities.shape == (5, 4)
    with pytest.raises(BackendError, match="nine"):
        create(make_context(), "nine")
