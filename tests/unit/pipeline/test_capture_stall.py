"""A capture thread that is held up for longer than the ring: what is missing, and where."""

from collections.abc import Sequence

import numpy as np
import pytest

from engine.audio.callback import CallbackInput, StreamCallback
from engine.audio.live import LiveInput
from engine.audio.stream import OpenStream, StreamFormat
from engine.core.errors import DeviceError
from engine.core.events import Event
from engine.core.timebase import VirtualClock
from engine.core.types import Pcm
from engine.pipeline.captured import Captured, InputHooks
from engine.pipeline.intake import BUSY_REASON
from engine.pipeline.steady_input import SteadyInput

pytestmark = pytest.mark.unit

RATE = 16_000
BLOCK_S = 0.02


class Flags:
    input_overflow = False
    output_underflow = False


class Stream:
    """A microphone whose samples tell the time, in seconds, at which they were taken."""

    def __init__(self, clock: VirtualClock, callback: StreamCallback) -> None:
        self._clock = clock
        self._callback = callback
        self._num_sent = 0
        self.is_running = False
        self.is_silent = False

    def start(self) -> None:
        self.is_running = True

    def stop(self) -> None:
        self.is_running = False

    def close(self) -> None:
        self.is_running = False

    def is_active(self) -> bool:
        return self.is_running

    def time_s(self) -> float:
        return self._clock.now_s()

    def latency_s(self) -> float:
        return 0.1

    def bring(self) -> None:
        n = round(BLOCK_S * RATE)
        if self.is_running and not self.is_silent:
            times = np.arange(self._num_sent, self._num_sent + n, dtype=np.float32) / RATE
            self._callback(times.reshape(-1, 1), n, None, Flags())
        self._num_sent += n


class Bench:
    """A steady input on that microphone, and the recording that comes of it."""

    def __init__(self) -> None:
        self.clock = VirtualClock()
        self.stream: Stream
        driver = CallbackInput(StreamFormat(0, "Microphone", 1, RATE), self._open)
        hooks = InputHooks(self._open_another, self.post, lambda: 0.0)
        source = LiveInput("Microphone", driver, self.clock)
        self.input = SteadyInput(source, "Microphone", RATE, self.clock, hooks)
        self.input.start()
        self.events: list[Event] = []
        self.recorded: Pcm = np.zeros(0, np.float32)
        self.gaps: list[tuple[float, float, str]] = []

    def post(self, event: Event) -> None:
        self.events.append(event)

    def pass_by(self, seconds: float, *, reads: bool = True) -> None:
        for _ in range(round(seconds / BLOCK_S)):
            self.clock.advance(BLOCK_S)
            self.stream.bring()
            if reads:
                self.take([self.input.read()])

    def take(self, captured: Sequence[Captured]) -> None:
        for one in captured:
            if one.lost:
                start_s = len(self.recorded) / RATE
                self.gaps.append((start_s, start_s + one.lost / RATE, one.reason))
                silence = np.full(one.lost, np.nan, np.float32)
                self.recorded = np.concatenate((self.recorded, silence))
            self.recorded = np.concatenate((self.recorded, one.pcm))

    def assert_in_place(self) -> None:
        """Every sample stands where it was taken; what is missing is no number."""
        true_s = np.arange(len(self.recorded)) / RATE
        heard = ~np.isnan(self.recorded)
        assert np.abs(self.recorded - true_s)[heard].max() <= 2 * BLOCK_S

    def _open(self, callback: StreamCallback) -> OpenStream:
        self.stream = Stream(self.clock, callback)
        return self.stream

    def _open_another(self, name: str) -> LiveInput:
        raise DeviceError(f"There is no {name}.")


@pytest.fixture
def bench() -> Bench:
    return Bench()


def test_stall_when_longer_than_the_ring_then_the_hole_is_behind_what_the_ring_held(
    bench: Bench,
) -> None:
    bench.pass_by(1.0)
    bench.pass_by(40.0, reads=False)
    bench.pass_by(2.0)
    bench.assert_in_place()
    assert len(bench.recorded) / RATE == pytest.approx(43.0, abs=2 * BLOCK_S)
    ((start_s, end_s, reason),) = bench.gaps
    ring_s = 2**19 / RATE
    assert start_s == pytest.approx(1.0 + ring_s, abs=2 * BLOCK_S)
    assert end_s == pytest.approx(41.0, abs=2 * BLOCK_S)
    assert reason == BUSY_REASON


def test_stall_when_shorter_than_the_ring_then_nothing_is_missing(bench: Bench) -> None:
    bench.pass_by(1.0)
    bench.pass_by(27.0, reads=False)
    bench.pass_by(2.0)
    bench.assert_in_place()
    assert len(bench.recorded) / RATE == pytest.approx(30.0, abs=2 * BLOCK_S)
    assert bench.gaps == []


def test_stall_when_paused_in_it_then_the_hole_is_before_the_pause(bench: Bench) -> None:
    bench.pass_by(1.0)
    bench.pass_by(40.0, reads=False)
    bench.take(bench.input.pause())
    bench.assert_in_place()
    ((_, end_s, reason),) = bench.gaps
    assert end_s == pytest.approx(41.0, abs=2 * BLOCK_S)
    assert len(bench.recorded) / RATE == pytest.approx(41.0, abs=2 * BLOCK_S)
    assert reason == BUSY_REASON


def test_stall_when_the_device_was_silent_before_then_each_hole_has_its_place(
    bench: Bench,
) -> None:
    bench.pass_by(1.0)
    bench.stream.is_silent = True
    bench.pass_by(2.0)
    bench.stream.is_silent = False
    bench.pass_by(40.0, reads=False)
    bench.pass_by(2.0)
    bench.assert_in_place()
    silent, busy = bench.gaps
    assert silent[:2] == pytest.approx((1.0, 3.0), abs=2 * BLOCK_S)
    assert silent[2] == "the microphone brought nothing"
    assert busy[1] == pytest.approx(43.0, abs=3 * BLOCK_S)
    assert busy[2] == BUSY_REASON
    assert len(bench.recorded) / RATE == pytest.approx(45.0, abs=3 * BLOCK_S)


def test_device_when_silent_then_brings_a_little_and_is_lost_then_that_is_kept(
    bench: Bench,
) -> None:
    bench.pass_by(1.0)
    bench.stream.is_silent = True
    bench.pass_by(2.0)
    bench.stream.is_silent = False
    bench.pass_by(0.1)
    bench.stream.is_running = False
    bench.pass_by(0.1)
    bench.input.close()
    bench.assert_in_place()
    assert np.isfinite(bench.recorded).sum() / RATE == pytest.approx(1.1)
    assert len(bench.events) == 1
