import pytest

from engine.core.errors import DeviceError
from engine.core.events import Event, Notice
from engine.core.timebase import VirtualClock
from engine.pipeline.lost_output import LostOutput

pytestmark = pytest.mark.unit

ERROR = DeviceError("The output is gone.", advice="Plug it in.")


def test_loudspeaker_when_lost_then_is_tried_at_once_and_less_and_less_often() -> None:
    clock, events = VirtualClock(), list[Event]()
    lost = LostOutput(clock.now_s, events.append)
    lost.lose(ERROR)
    waits, told_at = [], []
    for _ in range(8):
        waits.append(lost.wait_s)
        clock.advance(lost.wait_s)
        if lost.fail(ERROR):
            told_at.append(clock.now_s())
    assert waits == [0.0, 0.25, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5]
    assert told_at == [2.25]
    assert [e.message for e in events if isinstance(e, Notice)] == [
        "Nothing can be heard: The output is gone."
    ]
    lost.take_opened("Speaker")
    assert not lost.is_lost
    assert len(events) == 1
    lost.take_heard()
    assert events[-1].message == "The sound goes on with the loudspeaker Speaker."  # type: ignore[union-attr]


def test_loudspeaker_when_back_within_two_seconds_then_nothing_is_told() -> None:
    clock, events = VirtualClock(), list[Event]()
    lost = LostOutput(clock.now_s, events.append)
    lost.lose(ERROR)
    clock.advance(1.0)
    assert not lost.fail(ERROR)
    lost.take_opened("Speaker")
    lost.take_heard()
    assert events == []


def test_loudspeaker_when_it_comes_and_goes_then_is_given_time() -> None:
    clock = VirtualClock()
    lost = LostOutput(clock.now_s, lambda _: None)
    waits = []
    for _ in range(6):
        lost.lose(ERROR)
        waits.append(lost.wait_s)
        clock.advance(lost.wait_s)
        lost.take_opened("Speaker")
        lost.take_heard()
        clock.advance(0.5)
    assert waits == [0.0, 1.0, 2.0, 4.0, 8.0, 8.0]


def test_loudspeaker_when_it_opens_and_never_plays_then_that_is_told_as_well() -> None:
    clock, events = VirtualClock(), list[Event]()
    lost = LostOutput(clock.now_s, events.append)
    lost.lose(ERROR)
    for _ in range(10):
        clock.advance(lost.wait_s)
        lost.take_opened("Speaker")
        lost.lose(ERROR)
    assert len(events) == 1


def test_loudspeaker_when_another_is_chosen_then_is_tried_at_once() -> None:
    clock = VirtualClock()
    lost = LostOutput(clock.now_s, lambda _: None)
    lost.lose(ERROR)
    lost.fail(ERROR)
    lost.hurry()
    assert lost.wait_s == 0.0
