"""Errors of libraries, which nobody foresaw: they never end a recording."""

import errno

import pytest

from engine.core.timebase import VirtualClock
from tests.helpers.capture import (
    TICK_S,
    CaptureBench,
    Microphone,
    assert_in_step,
    lost_after,
)

pytestmark = pytest.mark.unit

FOREIGN = OSError(errno.EMFILE, "Too many open files")


def test_input_when_opening_it_again_fails_in_a_library_then_is_tried_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    bench = CaptureBench(lost_after(1.0), [*[FOREIGN] * 4, Microphone])
    bench.run(6.0)
    assert not bench.ended.is_set()
    assert_in_step(bench, 6.0)
    assert len(bench.opened) == 5
    # Once, not at each attempt.
    assert [record.exc_info[1] for record in caplog.records if record.exc_info] == [FOREIGN]


def test_input_when_it_stays_away_for_a_fault_of_a_library_then_that_is_told(
    caplog: pytest.LogCaptureFixture,
) -> None:
    bench = CaptureBench(lost_after(1.0), [FOREIGN] * 100)
    bench.run(10.0)
    assert_in_step(bench, 10.0)
    assert "is not back yet: Something unexpected happened" in bench.notices()[-1].message


def test_input_when_it_is_opened_but_a_library_fails_to_start_it_then_is_closed(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Unstartable(Microphone):
        def start(self) -> None:
            raise FOREIGN

    bench = CaptureBench(lost_after(1.0), [Unstartable, Microphone])
    bench.run(4.0)
    assert_in_step(bench, 4.0)
    assert all(stream.is_closed for stream in bench.streams)  # type: ignore[attr-defined]


def test_input_when_another_is_chosen_and_a_library_fails_then_the_old_one_goes_on(
    caplog: pytest.LogCaptureFixture,
) -> None:
    bench = CaptureBench(Microphone, [FOREIGN])
    bench.clock.at(1.0, lambda: bench.capture.change_input("headset"))
    bench.run(3.0)
    assert_in_step(bench, 3.0)
    assert bench.gaps() == []
    (notice,) = bench.notices()
    assert notice.advice.endswith("Recording goes on with Microphone.")


def test_input_when_a_library_fails_while_it_is_read_then_is_lost_and_comes_back(
    caplog: pytest.LogCaptureFixture,
) -> None:
    bench = CaptureBench(lost_after(1.0, error=FOREIGN), [Microphone])
    bench.run(4.0)
    assert not bench.ended.is_set()
    assert_in_step(bench, 4.0)
    assert "was lost: Something unexpected happened" in bench.notices()[0].message
    assert FOREIGN in [record.exc_info[1] for record in caplog.records if record.exc_info]


@pytest.mark.parametrize("failing", ["pause", "start"])
def test_pause_when_a_library_fails_in_it_then_the_recording_goes_on_afterwards(
    failing: str, caplog: pytest.LogCaptureFixture
) -> None:
    class Faulty(Microphone):
        num_starts = 0

        def start(self) -> None:
            self.num_starts += 1
            if failing == "start" and self.num_starts == 2:
                raise FOREIGN
            super().start()

        def pause(self) -> None:
            if failing == "pause" and not self.is_closed:
                raise FOREIGN
            super().pause()

        def close(self) -> None:
            self.is_closed = True
            super().close()

    def open_first(clock: VirtualClock) -> Microphone:
        return Faulty(clock)

    bench = CaptureBench(open_first, [Microphone])
    bench.pause(2.0, for_s=8.0)
    bench.run(14.0)
    assert_in_step(bench, 6.0)
    assert sum(end - start for start, end, _ in bench.gaps()) <= 3 * TICK_S
