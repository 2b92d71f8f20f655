"""The capture thread: drains the input, writes the journal, feeds the meters. Nothing delays it."""

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from engine.audio.device import InputBlock, InputStream
from engine.audio.level_track import LevelTrack
from engine.audio.levels import LevelMeter, Levels
from engine.audio.resample import StreamResampler
from engine.audio.timeline import AudioTimeline
from engine.core.errors import EngineError
from engine.core.events import Event, Notice, Severity, SpanMarked
from engine.core.sync import Mailbox
from engine.core.timebase import Clock, rescale, samples
from engine.core.types import Pcm, SpanKind

logger = logging.getLogger(__name__)

POLL_S = 0.02
REOPEN_S = 1.0
"""Time between two attempts to get a lost device back."""
MAX_LEAD_S = 2.0
"""How far a source that is not live may run ahead of the slowest lane."""


class AudioSink(Protocol):
    """Where captured audio is kept before any model sees it."""

    def append(self, pcm: Pcm) -> None:
        """Write samples through to the operating system."""
        ...

    def sync_if_due(self, now_s: float) -> object:
        """Make them survive a power cut, at most a second apart."""
        ...


@dataclass(frozen=True, slots=True)
class CaptureHooks:
    """What capture tells others. Thread: called on the capture thread; must return quickly.

    Args:
        post: publishes an event.
        on_first_block: the device really delivers.
        on_end: the source has ended (a file), or cannot go on.
        next_mark_id: numbers marked spans.
        reopen: opens the lost input again, not started; raises DeviceError while it is gone.
    """

    post: Callable[[Event], None]
    on_first_block: Callable[[], None]
    on_end: Callable[[], None]
    next_mark_id: Callable[[], int]
    reopen: Callable[[], InputStream]


class Capture:
    """Moves samples from an input to the journal and the timeline.

    Args:
        stream: opened and not started.
        timeline: the session clock; its rate stays that of the first device.
        track: levels from the beginning on.
        sink: the journal's audio, or None if nothing is kept.
        clock: host time.
        hooks: see `CaptureHooks`.
    """

    def __init__(
        self,
        stream: InputStream,
        timeline: AudioTimeline,
        track: LevelTrack,
        sink: AudioSink | None,
        clock: Clock,
        hooks: CaptureHooks,
    ) -> None:
        self._stream = stream
        self._timeline = timeline
        self._track = track
        self._sink = sink
        self._clock = clock
        self._hooks = hooks
        self._resampler = StreamResampler(stream.sample_rate, timeline.sample_rate)
        self._meter = LevelMeter(timeline.sample_rate, clock.now_s())
        self._stop = threading.Event()
        # NB: written by the session's thread, read by the capture thread.
        self._is_paused = False
        self._has_started = False
        # NB: written by the capture thread alone, read by any.
        self.num_lost_samples = 0
        self.levels: Mailbox[Levels | None] = Mailbox(None)
        self._num_old_overflows = 0
        self._thread = threading.Thread(target=self._run, name="vivavoce-capture", daemon=True)

    @property
    def num_overflows(self) -> int:
        """How often the input lost samples."""
        return self._num_old_overflows + self._stream.num_overflows

    @property
    def input_name(self) -> str:
        """The device's name."""
        return self._stream.name

    def start(self) -> None:
        """Start the device and the thread.

        Raises:
            DeviceError: the device does not start.
        """
        self._stream.start()
        self._meter.restart(self._clock.now_s())
        self._thread.start()

    def pause(self) -> None:
        """Stop the session clock until `resume`."""
        self._is_paused = True

    def resume(self) -> None:
        """Let the session clock run on."""
        self._is_paused = False

    def stop(self) -> None:
        """Take what the device has captured, close it and the timeline, and end the thread."""
        self._stop.set()
        if threading.current_thread() is not self._thread and self._thread.ident is not None:
            self._thread.join()

    def _run(self) -> None:
        try:
            self._loop()
        except Exception as error:
            logger.exception("capture ended")
            self._hooks.post(
                Notice(
                    Severity.ERROR,
                    f"Recording stopped: {error}",
                    "What was recorded so far is kept.",
                )
            )
            self._hooks.on_end()
        finally:
            self._stream.close()
            self._timeline.close()

    def _loop(self) -> None:
        paused = False
        while not self._stop.is_set():
            if self._is_paused != paused:
                paused = self._is_paused
                self._switch(paused)
            if paused:
                self._stop.wait(POLL_S)
                continue
            try:
                block = self._stream.read()
            except EngineError as error:
                if not self._get_device_back(error):
                    break
                continue
            self._take(block)
            if block.is_end:
                self._store(self._resampler.flush())
                self._hooks.on_end()
                return
            if self._stream.is_live:
                self._clock.sleep(POLL_S)
            else:
                self._wait_for_lanes()
        self._take_tail()

    def _switch(self, paused: bool) -> None:
        if paused:
            self._stream.pause()
            self._take(self._stream.read())
            at = self._timeline.end
            self._hooks.post(
                SpanMarked(self._hooks.next_mark_id(), SpanKind.PAUSE, at, at, "paused")
            )
        else:
            self._meter.restart(self._clock.now_s())
            self._stream.start()

    def _take_tail(self) -> None:
        """Read what the device still holds, so that the last word is there."""
        if not self._stream.is_live:
            return
        try:
            if not self._is_paused:
                self._stream.pause()
                self._take(self._stream.read())
        except EngineError as error:
            logger.warning("the end of the recording may be short: %s", error)
        self._store(self._resampler.flush())

    def _wait_for_lanes(self) -> None:
        limit = samples(MAX_LEAD_S, self._timeline.sample_rate)
        while not self._stop.is_set():
            if self._timeline.wait_for_readers(limit, timeout_s=0.25):
                break
        self._clock.sleep(0.0)

    def _take(self, block: InputBlock) -> None:
        if block.lost_samples:
            self._mark_lost(
                rescale(block.lost_samples, self._stream.sample_rate, self._timeline.sample_rate),
                "the computer was too busy to take the microphone's samples",
            )
        if len(block.pcm) == 0:
            self._measure(block.pcm)
            return
        if not self._has_started:
            self._has_started = True
            self._hooks.on_first_block()
        self._store(self._resampler.push(block.pcm))

    def _store(self, pcm: Pcm) -> None:
        if len(pcm) and self._sink is not None:
            self._sink.append(pcm)
        # First the levels: whoever sees that samples are there finds them measured.
        self._track.append(pcm)
        self._timeline.append(pcm)
        if self._sink is not None:
            self._sink.sync_if_due(self._clock.now_s())
        self._measure(pcm)

    def _measure(self, pcm: Pcm) -> None:
        self.levels.put(self._meter.push(pcm, self._clock.now_s()))

    def _mark_lost(self, num_samples: int, reason: str) -> None:
        """Keep the session clock in step with the world: silence where samples were lost."""
        if num_samples <= 0:
            return
        start = self._timeline.end
        rate = self._timeline.sample_rate
        for offset in range(0, num_samples, rate):
            self._store(np.zeros(min(rate, num_samples - offset), dtype=np.float32))
        self.num_lost_samples += num_samples
        mark_id = self._hooks.next_mark_id()
        self._hooks.post(SpanMarked(mark_id, SpanKind.GAP, start, start + num_samples, reason))

    def _get_device_back(self, error: EngineError) -> bool:
        """Wait until the lost input is there again; False if stopped meanwhile."""
        lost_at_s = self._clock.now_s()
        name = self._stream.name
        self._num_old_overflows += self._stream.num_overflows
        self._stream.close()
        self._store(self._resampler.flush())
        self._hooks.post(
            Notice(
                Severity.WARNING,
                f"The microphone {name} was lost: {error.message}",
                "Recording goes on by itself when it is back; or stop and choose another input.",
            )
        )
        while not self._stop.is_set():
            try:
                stream = self._hooks.reopen()
                stream.start()
            except EngineError:
                for _ in range(round(REOPEN_S / POLL_S)):
                    if not self._stop.is_set():
                        self._clock.sleep(POLL_S)
                continue
            self._stream = stream
            self._meter.restart(self._clock.now_s())
            self._resampler = StreamResampler(stream.sample_rate, self._timeline.sample_rate)
            missing_s = self._clock.now_s() - lost_at_s
            self._mark_lost(
                samples(missing_s, self._timeline.sample_rate), f"the microphone {name} was lost"
            )
            self._hooks.post(Notice(Severity.INFO, f"The microphone {stream.name} is back."))
            return True
        return False
