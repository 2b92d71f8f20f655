"""A pause is never recorded, and what is missing after it is drawn, whatever the devices do."""

import threading
from collections.abc import Callable

import pytest

from engine.audio.device import InputBlock, InputStream
from engine.audio.live import LiveInput
from engine.core.errors import DeviceError
from engine.core.events import Severity
from engine.core.timebase import VirtualClock
from engine.core.types import Pcm
from tests.helpers.capture import (
    PATIENCE_S,
    RATE,
    TICK_S,
    CaptureBench,
    Microphone,
    assert_in_step,
)

pytestmark = pytest.mark.unit


class Plug:
    """Where a microphone is plugged in; it may be out.

    Args:
        starts_unplugged: whether a stream that was opened before can be started all the same.
    """

    def __init__(self, *, starts_unplugged: bool = False) -> None:
        self.is_in = True
        self._starts_unplugged = starts_unplugged

    def open(self, clock: VirtualClock) -> Microphone:
        self.check()
        plug = self

        class Plugged(Microphone):
            def start(self) -> None:
                if not plug._starts_unplugged:
                    plug.check()
                super().start()

            def read(self) -> InputBlock:
                plug.check()
                return super().read()

        return Plugged(clock)

    def check(self) -> None:
        if not self.is_in:
            raise DeviceError("It was unplugged.", advice="Plug it in.")

    def pull(self) -> None:
        self.is_in = False

    def put_back(self) -> None:
        self.is_in = True


class Driver:
    """A microphone's driver whose sound system hangs when it is started for the second time."""

    num_channels = 1
    sample_rate = RATE
    num_device_overflows = 0

    def __init__(self, clock: VirtualClock) -> None:
        self._source = Microphone(clock)
        self.num_starts = 0
        self.hangs = threading.Event()
        self.answer = threading.Event()
        self.calls: list[str] = []
        self.is_closed = threading.Event()

    def start(self) -> None:
        self.num_starts += 1
        if self.num_starts == 2:
            self.hangs.set()
            self.answer.wait(PATIENCE_S)
        self._source.start()
        self.calls.append("started")

    def stop(self) -> None:
        self._source.pause()

    def close(self) -> None:
        self.calls.append("closed")
        self.is_closed.set()

    def is_active(self) -> bool:
        return True

    def stream_time_s(self) -> float:
        return 0.0

    def drain(self) -> tuple[Pcm, int]:
        return self._source.read().pcm, 0


def wait_until(condition: Callable[[], bool], seconds: float = PATIENCE_S) -> None:
    for _ in range(round(seconds / 0.01)):
        if condition():
            return
        threading.Event().wait(0.01)


# --- another input chosen just before the pause ---


class SlowDevices:
    """Opens an input only when it is told to; what comes then is remembered."""

    def __init__(self) -> None:
        self.is_opening = threading.Event()
        self.may_open = threading.Event()
        self.late: list[Microphone] = []

    def open_late(self, clock: VirtualClock) -> InputStream:
        self.is_opening.set()
        assert self.may_open.wait(PATIENCE_S)
        self.late.append(Microphone(clock, name="Headset"))
        return self.late[0]

    def open_now(self) -> None:
        """Let it be open in the pause; returns when it was closed again, or was not for long."""
        self.may_open.set()
        wait_until(lambda: any(stream.is_closed for stream in self.late), 1.0)


def test_pause_when_another_input_is_being_opened_then_nothing_of_it_is_recorded() -> None:
    devices = SlowDevices()
    bench = CaptureBench(
        Microphone, [devices.open_late, lambda clock: Microphone(clock, name="Headset")]
    )
    bench.clock.at(1.0, lambda: bench.capture.change_input("headset"))
    bench.pause(1.05, for_s=8.0, meanwhile=devices.open_now)
    bench.run(12.0)
    assert_in_step(bench, 4.0)
    assert devices.late[0].is_closed
    # It is not forgotten either.
    assert [name for name, _ in bench.opened] == ["headset", "headset"]
    assert bench.opened[1][1] >= 9.0
    assert bench.capture.input_name == "Headset"


def test_pause_when_yet_another_input_is_chosen_in_it_then_that_one_is_opened() -> None:
    devices = SlowDevices()

    def choose() -> None:
        devices.open_now()
        bench.capture.change_input("spare")

    bench = CaptureBench(
        Microphone, [devices.open_late, lambda clock: Microphone(clock, name="Spare")]
    )
    bench.clock.at(1.0, lambda: bench.capture.change_input("headset"))
    bench.pause(1.05, for_s=8.0, meanwhile=choose)
    bench.run(12.0)
    assert_in_step(bench, 4.0)
    assert [name for name, _ in bench.opened] == ["headset", "spare"]


# --- a microphone that is gone ---


@pytest.mark.parametrize("starts_unplugged", [False, True])
def test_resume_when_the_input_was_unplugged_in_the_pause_then_the_gap_begins_with_it(
    starts_unplugged: bool,
) -> None:
    plug = Plug(starts_unplugged=starts_unplugged)
    bench = CaptureBench(plug.open, [plug.open] * 200)  # type: ignore[list-item]
    bench.pause(2.0, for_s=600.0, meanwhile=plug.pull)
    bench.clock.at(632.0, plug.put_back)
    bench.run(640.0)
    assert_in_step(bench, 40.0)
    ((start_s, end_s, reason),) = bench.gaps()
    assert start_s == pytest.approx(2.0, abs=TICK_S)
    assert end_s - start_s == pytest.approx(30.0, abs=0.6)
    assert reason == "the microphone Microphone was lost"
    assert bench.capture.num_lost_samples == round((end_s - start_s) * RATE)
    back = bench.notices()[-1].message
    assert back == f"The microphone Microphone is back; {end_s - start_s:.1f} s were lost."


def test_resume_when_the_input_was_unplugged_before_the_pause_then_that_is_no_part_of_the_gap() -> (
    None
):
    plug = Plug()
    bench = CaptureBench(plug.open, [plug.open] * 200)  # type: ignore[list-item]
    bench.clock.at(2.0, plug.pull)
    bench.pause(5.0, for_s=600.0)
    bench.clock.at(635.0, plug.put_back)
    bench.run(640.0)
    assert_in_step(bench, 40.0)
    before, after = bench.gaps()
    assert before[:2] == (pytest.approx(2.0, abs=TICK_S), pytest.approx(5.0, abs=TICK_S))
    assert after[0] == pytest.approx(5.0, abs=TICK_S)
    lost_s = (before[1] - before[0]) + (after[1] - after[0])
    assert lost_s == pytest.approx(33.0, abs=0.6)
    back = bench.notices()[-1].message
    assert float(back.split("; ")[1].split()[0]) == pytest.approx(lost_s, abs=0.1)


def test_resume_when_the_device_brings_nothing_then_the_gap_begins_with_it() -> None:
    bench = CaptureBench(
        lambda clock: Microphone(clock, silent=(clock.now_s() + 10.0, clock.now_s() + 13.0))
    )
    bench.pause(2.0, for_s=8.0)
    bench.run(20.0)
    assert_in_step(bench, 12.0)
    ((start_s, end_s, _),) = bench.gaps()
    assert (start_s, end_s) == (pytest.approx(2.0, abs=TICK_S), pytest.approx(5.0, abs=2 * TICK_S))


def test_pause_when_the_input_cannot_be_paused_then_its_rest_is_kept_and_it_is_closed() -> None:
    class Unstoppable(Microphone):
        def pause(self) -> None:
            if not self.is_closed:
                self._clock_.advance(0.5)
                raise DeviceError("It does not answer.")

        def close(self) -> None:
            self.is_closed = True

    first: list[Unstoppable] = []

    def open_first(clock: VirtualClock) -> Microphone:
        first.append(Unstoppable(clock))
        return first[0]

    closed_in_pause: list[bool] = []

    def look() -> None:
        wait_until(lambda: first[0].is_closed)
        closed_in_pause.append(first[0].is_closed)

    bench = CaptureBench(open_first, [Microphone])
    bench.pause(2.0, for_s=8.0, meanwhile=look)
    bench.run(14.0)
    assert closed_in_pause == [True]
    assert_in_step(bench, 6.0)


# --- a sound system that hangs ---


def hanging_bench(monkeypatch: pytest.MonkeyPatch, start_s: float) -> tuple[CaptureBench, Driver]:
    monkeypatch.setattr("engine.audio.live.START_S", start_s)
    drivers: list[Driver] = []

    def open_first(clock: VirtualClock) -> InputStream:
        drivers.append(Driver(clock))
        return LiveInput("Microphone", drivers[0], clock)

    return CaptureBench(open_first, [Microphone]), drivers[0]


def test_resume_when_the_sound_system_hangs_then_that_is_told_and_drawn_and_it_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bench, driver = hanging_bench(monkeypatch, 0.3)
    bench.pause(2.0, for_s=8.0)
    bench.run(14.0)
    assert_in_step(bench, 6.0)
    ((start_s, _, reason),) = bench.gaps()
    assert start_s == pytest.approx(2.0, abs=TICK_S)
    assert reason == "the microphone Microphone was lost"
    lost, back = bench.notices()
    assert lost.severity is Severity.WARNING
    assert "cannot be started: the sound system does not answer" in lost.message
    assert back.message.startswith("The microphone Microphone is back")
    # It would be freed under the call that hangs.
    assert driver.calls == ["started"]
    driver.answer.set()
    assert driver.is_closed.wait(PATIENCE_S)
    assert driver.calls == ["started", "started", "closed"]


def test_pause_when_the_resume_before_hangs_then_the_input_is_given_up_and_nothing_recorded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bench, driver = hanging_bench(monkeypatch, PATIENCE_S)
    bench.pause(2.0, for_s=8.0)

    def answer() -> None:
        driver.answer.set()
        assert driver.is_closed.wait(PATIENCE_S)

    bench.clock.at(10.02, lambda: bench.pause(10.04, for_s=20.0, meanwhile=answer))
    bench.run(34.0)
    assert bench.timeline.end / RATE == pytest.approx(6.0, abs=3 * TICK_S)
    assert [name for name, _ in bench.opened] == ["chosen"]


def test_stop_when_a_resume_hangs_then_ends_within_two_seconds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bench, driver = hanging_bench(monkeypatch, PATIENCE_S)
    bench.pause(2.0, for_s=8.0)
    bench.capture.start()
    assert driver.hangs.wait(PATIENCE_S)
    assert bench.capture.stop(2.0)
    driver.answer.set()
    assert driver.is_closed.wait(PATIENCE_S)
