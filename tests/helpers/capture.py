"""A capture on inputs that come and go as a script says, in virtual time."""

import threading
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from engine.audio.device import InputBlock, InputStream
from engine.audio.level_track import LevelTrack
from engine.audio.timeline import AudioTimeline
from engine.audio.virtual import NullInput
from engine.core.errors import DeviceError
from engine.core.events import Event, Notice, SpanMarked
from engine.core.timebase import VirtualClock
from engine.core.types import Pcm, SpanKind
from engine.pipeline.capture import POLL_S, Capture, CaptureHooks

RATE = 16_000
TICK_S = 2 * POLL_S
PATIENCE_S = 20.0


class Microphone(NullInput):
    """A live input of ones that is lost, or falls silent, at times of the clock."""

    def __init__(
        self,
        clock: VirtualClock,
        rate: int = RATE,
        *,
        name: str = "Microphone",
        lost_at_s: float | None = None,
        silent: tuple[float, float] | None = None,
        error: Exception | None = None,
    ) -> None:
        super().__init__(clock, rate, lambda start, end: np.full(end - start, 0.5, np.float32))
        self.title = name
        self.is_closed = False
        self._clock_ = clock
        self._lost_at_s = lost_at_s
        self._silent = silent
        self._error = error or DeviceError("It was unplugged.", advice="Plug it in.")

    @property
    def name(self) -> str:
        return self.title

    def read(self) -> InputBlock:
        now_s = self._clock_.now_s()
        if self._lost_at_s is not None and now_s >= self._lost_at_s:
            raise self._error
        block = super().read()
        if self._silent is not None and self._silent[0] <= now_s < self._silent[1]:
            return InputBlock(np.zeros(0, np.float32))
        return block

    def close(self) -> None:
        super().close()
        self.is_closed = True


class Sink:
    """Keeps everything in memory."""

    def __init__(self) -> None:
        self.blocks: list[Pcm] = []

    def append(self, pcm: Pcm) -> None:
        self.blocks.append(pcm.copy())

    def sync_if_due(self, now_s: float) -> None:
        pass

    @property
    def pcm(self) -> Pcm:
        return np.concatenate([np.zeros(0, np.float32), *self.blocks])


class SteppedClock(VirtualClock):
    """A clock on which things happen at given times; it stops at the last until told to go on."""

    def __init__(self) -> None:
        super().__init__(100.0)
        self._actions: list[tuple[float, Callable[[], None]]] = []
        self.start_s = self.now_s()

    def at(self, seconds: float, action: Callable[[], None]) -> None:
        self._actions.append((self.start_s + seconds, action))
        self._actions.sort(key=lambda item: item[0])

    def sleep(self, seconds: float) -> None:
        super().sleep(seconds)
        while self._actions and self.now_s() >= self._actions[0][0]:
            self._actions.pop(0)[1]()


class CaptureBench:
    """A capture on scripted inputs.

    Args:
        first: makes the input it begins with.
        others: opened in order; an exception is raised.
        input_name: what the first was opened as.
    """

    def __init__(
        self,
        first: Callable[[VirtualClock], InputStream],
        others: Sequence[Callable[[VirtualClock], InputStream] | Exception] = (),
        input_name: str = "chosen",
    ) -> None:
        self.clock = SteppedClock()
        self.events: list[Event] = []
        self.sink = Sink()
        self.slept_s = 0.0
        self.opened: list[tuple[str, float]] = []
        self.streams: list[InputStream] = [first(self.clock)]
        self._others = list(others)
        self.ended = threading.Event()
        self._is_paused = threading.Event()
        self.timeline = AudioTimeline(self.streams[0].sample_rate, 60 * RATE)
        marks = iter(range(10_000))
        self.capture = Capture(
            self.streams[0],
            input_name,
            self.timeline,
            LevelTrack(self.streams[0].sample_rate),
            self.sink,
            self.clock,
            CaptureHooks(
                post=self._post,
                on_first_block=lambda: None,
                on_end=self.ended.set,
                next_mark_id=lambda: next(marks),
                open_input=self._open,
                slept_s=lambda: self.slept_s,
            ),
        )

    def run(self, seconds: float) -> None:
        """Capture for so long."""
        done = threading.Event()
        go_on = threading.Event()

        def hold() -> None:
            done.set()
            go_on.wait(PATIENCE_S)

        self.clock.at(seconds, hold)
        self.capture.start()
        assert done.wait(PATIENCE_S), "virtual time stands still"
        self.capture._stop.set()
        go_on.set()
        assert self.capture.stop(PATIENCE_S)

    def pause(
        self, at_s: float, for_s: float, meanwhile: Callable[[], None] = lambda: None
    ) -> None:
        """Pause at a time of the clock; it goes on by `for_s` before the recording does.

        Args:
            at_s: since the beginning.
            for_s: how long the pause is.
            meanwhile: what happens in it.
        """

        def end() -> None:
            assert self._is_paused.wait(PATIENCE_S)
            meanwhile()
            self.clock.advance(for_s)
            self.capture.resume()

        def begin() -> None:
            self._is_paused.clear()
            self.capture.pause()
            threading.Thread(target=end).start()

        self.clock.at(at_s, begin)

    def after(self, seconds: float) -> float:
        """Return a time of the clock."""
        return self.clock.start_s + seconds

    def notices(self) -> list[Notice]:
        return [event for event in self.events if isinstance(event, Notice)]

    def gaps(self) -> list[tuple[float, float, str]]:
        """Return (start, end, reason) of the gaps as told last, in seconds."""
        marks = {e.mark_id: e for e in self.events if isinstance(e, SpanMarked)}
        rate = self.timeline.sample_rate
        gaps = [mark for mark in marks.values() if mark.kind is SpanKind.GAP]
        return [(gap.start / rate, gap.end / rate, gap.reason) for gap in gaps]

    def _post(self, event: Event) -> None:
        self.events.append(event)
        if isinstance(event, SpanMarked) and event.kind is SpanKind.PAUSE:
            self._is_paused.set()

    def _open(self, name: str) -> InputStream:
        self.opened.append((name, self.clock.now_s() - self.clock.start_s))
        if not self._others:
            raise DeviceError(f"There is no {name}.", advice="Choose one: Spare.")
        item = self._others.pop(0)
        if isinstance(item, Exception):
            raise item
        self.streams.append(item(self.clock))
        return self.streams[-1]


def lost_after(seconds: float, **options: object) -> Callable[[VirtualClock], Microphone]:
    return lambda clock: Microphone(clock, lost_at_s=clock.now_s() + seconds, **options)  # type: ignore[arg-type]


def gone(times: int) -> list[DeviceError]:
    return [DeviceError("There is no such device.", advice="Choose one: Spare.")] * times


def assert_in_step(bench: CaptureBench, seconds: float) -> None:
    """The recording is as long as it took, and silent in its gaps alone."""
    rate = bench.timeline.sample_rate
    assert bench.timeline.end / rate == pytest.approx(seconds, abs=TICK_S)
    pcm = bench.sink.pcm
    assert len(pcm) == bench.timeline.end
    silent = np.zeros(len(pcm), np.bool_)
    for start, end, _ in bench.gaps():
        silent[round(start * rate) : round(end * rate)] = True
    assert not pcm[silent].any()
    # A resampler rings at the edges.
    assert (np.abs(pcm[~silent]) > 0.1).mean() > 0.99
