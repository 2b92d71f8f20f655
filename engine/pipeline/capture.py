"""The capture thread: drains the input, writes the journal, feeds the meters. Nothing delays it."""

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from engine.audio.device import InputStream
from engine.audio.files import TRUNCATED_ADVICE, TRUNCATED_TOPIC, truncated_message
from engine.audio.level_track import LevelTrack
from engine.audio.levels import LevelMeter, Levels
from engine.audio.timeline import AudioTimeline
from engine.core.events import Event, Notice, Severity, SpanMarked
from engine.core.sync import Mailbox
from engine.core.timebase import Clock, samples
from engine.core.types import Pcm, SpanKind
from engine.core.unexpected import told
from engine.pipeline.captured import Captured, InputHooks
from engine.pipeline.steady_input import SteadyInput

logger = logging.getLogger(__name__)

POLL_S = 0.02
_GAP_TOLD_STEP = 0.1
"""A gap that lasts is told again each time it has grown by this share."""
MAX_LEAD_S = 2.0
"""How far a source that is not live may run ahead of the slowest lane."""


class AudioSink(Protocol):
    """Where captured audio is kept before any model sees it."""

    def append(self, pcm: Pcm) -> None:
        """Send samples on their way to the disk, and do not wait for it."""
        ...


@dataclass(frozen=True, slots=True)
class CaptureHooks:
    """What capture tells others. Thread: called on the capture thread; must return quickly.

    Args:
        post: publishes an event.
        on_first_block: the device really delivers.
        on_end: the source has ended (a file), or cannot go on.
        next_mark_id: numbers marked spans.
        open_input: opens an input by name, not started; raises EngineError. Thread: any.
        slept_s: seconds that the computer has slept in all, which the clock leaves out.
    """

    post: Callable[[Event], None]
    on_first_block: Callable[[], None]
    on_end: Callable[[], None]
    next_mark_id: Callable[[], int]
    open_input: Callable[[str], InputStream]
    slept_s: Callable[[], float] = lambda: 0.0


class Capture:
    """Moves samples from an input to the journal and the timeline.

    Args:
        stream: opened and not started.
        input_name: what it was opened as.
        timeline: the session clock; its rate stays that of the first device.
        track: levels from the beginning on.
        sink: the journal's audio, or None if nothing is kept.
        clock: host time.
        hooks: see `CaptureHooks`.
    """

    def __init__(
        self,
        stream: InputStream,
        input_name: str,
        timeline: AudioTimeline,
        track: LevelTrack,
        sink: AudioSink | None,
        clock: Clock,
        hooks: CaptureHooks,
    ) -> None:
        self._timeline = timeline
        self._track = track
        self._sink = sink
        self._clock = clock
        self._hooks = hooks
        self._input = SteadyInput(
            stream,
            input_name,
            timeline.sample_rate,
            clock,
            InputHooks(hooks.open_input, hooks.post, hooks.slept_s),
        )
        self._meter = LevelMeter(timeline.sample_rate, clock.now_s())
        self._stop = threading.Event()
        # NB: written by the session's thread, read by the capture thread.
        self._is_paused = False
        self._has_started = False
        # NB: written by the capture thread alone, read by any.
        self.num_lost_samples = 0
        self.levels: Mailbox[Levels | None] = Mailbox(None)
        self._gap = (0, 0, 0)  # mark id, start, and length when it was told last
        self._thread = threading.Thread(target=self._run, name="vivavoce-capture", daemon=True)

    @property
    def num_overflows(self) -> int:
        """How often the input lost samples."""
        return self._input.num_overflows

    @property
    def input_name(self) -> str:
        """The device's name."""
        return self._input.title

    def change_input(self, name: str) -> None:
        """Go over to another input; the one before stays if that cannot be opened."""
        self._input.change(name)

    def start(self) -> None:
        """Start the device and the thread.

        Raises:
            DeviceError: the device does not start.
        """
        self._input.start()
        self._meter.restart(self._clock.now_s())
        self._thread.start()

    def pause(self) -> None:
        """Stop the session clock until `resume`."""
        self._is_paused = True

    def resume(self) -> None:
        """Let the session clock run on."""
        self._is_paused = False

    def stop(self, timeout_s: float | None = None) -> bool:
        """Take what the device has captured, close it and the timeline, and end the thread.

        Returns:
            Whether it has ended. If not, a device does not return; the timeline is closed.
        """
        self._stop.set()
        if threading.current_thread() is self._thread or self._thread.ident is None:
            return True
        self._thread.join(timeout_s)
        if self._thread.is_alive():
            logger.warning("the input %s does not stop; it is left alone", self.input_name)
            self._timeline.close()
            return False
        return True

    def _run(self) -> None:
        try:
            self._loop()
        except Exception as error:
            logger.exception("capture ended")
            self._hooks.post(
                Notice(
                    Severity.ERROR,
                    f"Recording stopped: {told(error).text}",
                    "What was recorded so far is kept.",
                )
            )
            self._hooks.on_end()
        finally:
            self._input.close()
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
            captured = self._input.read()
            self._take(captured)
            if captured.is_end:
                if captured.is_truncated:
                    message = truncated_message(self.input_name)
                    self._hooks.post(
                        Notice(Severity.WARNING, message, TRUNCATED_ADVICE, TRUNCATED_TOPIC)
                    )
                self._hooks.on_end()
                return
            if self._input.is_live:
                self._clock.sleep(POLL_S)
            else:
                self._wait_for_lanes()
        self._take_tail(is_paused=paused)

    def _switch(self, paused: bool) -> None:
        if paused:
            self._take_all(self._input.pause())
            self.levels.put(Levels())
            at = self._timeline.end
            self._timeline.hold()
            self._hooks.post(
                SpanMarked(self._hooks.next_mark_id(), SpanKind.PAUSE, at, at, "paused")
            )
        else:
            self._meter.restart(self._clock.now_s())
            self._input.resume()

    def _take_tail(self, *, is_paused: bool) -> None:
        """Read what the device still holds, so that the last word is there."""
        if self._input.is_live:
            self._take_all(self._input.finish(is_paused=is_paused))

    def _take_all(self, rest: Sequence[Captured]) -> None:
        for captured in rest:
            self._take(captured)

    def _wait_for_lanes(self) -> None:
        limit = samples(MAX_LEAD_S, self._timeline.sample_rate)
        while not self._stop.is_set():
            if self._timeline.wait_for_readers(limit, timeout_s=0.25):
                break
        self._clock.sleep(0.0)

    def _take(self, captured: Captured) -> None:
        if len(captured.pcm) and not self._has_started:
            self._has_started = True
            self._hooks.on_first_block()
        if captured.lost:
            self._mark_lost(captured)
        if len(captured.pcm):
            self._store(captured.pcm)
        self._measure(captured.pcm)

    def _store(self, pcm: Pcm) -> None:
        if len(pcm) and self._sink is not None:
            self._sink.append(pcm)
        # First the levels: whoever sees that samples are there finds them measured.
        self._track.append(pcm)
        self._timeline.append(pcm)

    def _measure(self, pcm: Pcm) -> None:
        self.levels.put(self._meter.push(pcm, self._clock.now_s()))

    def _mark_lost(self, captured: Captured) -> None:
        """Keep the session clock in step with the world: silence where samples were lost."""
        start = self._timeline.end
        rate = self._timeline.sample_rate
        for offset in range(0, captured.lost, rate):
            if self._stop.is_set() and offset:
                break  # who stops does not wait for the rest of a long silence
            self._store(np.zeros(min(rate, captured.lost - offset), dtype=np.float32))
        end = self._timeline.end
        self.num_lost_samples += end - start
        mark_id, gap_start, told = self._gap
        if not captured.is_same_gap:
            mark_id, gap_start, told = self._hooks.next_mark_id(), start, 0
        is_over = len(captured.pcm) > 0 or self._stop.is_set()
        if is_over or end - gap_start >= (1 + _GAP_TOLD_STEP) * told:
            told = end - gap_start
            reason = captured.reason
            self._hooks.post(SpanMarked(mark_id, SpanKind.GAP, gap_start, end, reason))
        self._gap = mark_id, gap_start, told
