"""A lane: one backend stream on one thread, reading the timeline by its own cursor."""

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from engine.audio.resample import StreamResampler
from engine.audio.timeline import AudioTimeline, TimelineCursor
from engine.backends.protocols import BackendSpec, PacedStream, Stream
from engine.core.errors import CancelledError, EngineError
from engine.core.events import (
    ActivityRevised,
    Event,
    FinalWords,
    Notice,
    PartialWords,
    Severity,
    SpanMarked,
    StreamEvent,
    StreamNotice,
)
from engine.core.sync import CancelToken
from engine.core.timebase import rescale, samples
from engine.core.types import Pcm, SpanKind, Word
from engine.pipeline.own_voice import OwnVoiceGate

logger = logging.getLogger(__name__)

BLOCK_S = 0.1
"""What a lane that keeps up takes at a time."""
MAX_BLOCK_S = 1.0
"""What a lane that is behind takes at a time."""
MAX_FAILURES = 3
"""A stream that fails this often in one recording is given up."""


@dataclass(frozen=True, slots=True)
class LaneBackend:
    """A loaded backend as a lane sees it."""

    spec: BackendSpec
    open_stream: Callable[[], Stream]


@dataclass(frozen=True, slots=True)
class LaneHooks:
    """What a lane needs from its session. Thread: called on the lane's thread.

    Args:
        wait_for_backend: blocks until the backend is ready; None if there is none or it failed.
        post: publishes an event.
        next_mark_id: numbers marked spans.
        next_epoch: numbers speaker epochs (see `engine.core.types.SpeakerId`).
        is_live: whether audio comes at its own pace: only then is a backlog a delay to cut.
        now_s: host time, for delays.
        marks_lost: whether audio that the lane has missed is marked: not if the recording is
            complete without it.
    """

    wait_for_backend: Callable[[CancelToken], LaneBackend | None]
    post: Callable[[Event], None]
    next_mark_id: Callable[[], int]
    next_epoch: Callable[[], int]
    now_s: Callable[[], float]
    is_live: bool = True
    marks_lost: bool = True


class Lane:
    """Feeds one recognizer or diarizer and publishes what it says on the session clock.

    Args:
        name: "recognizer" or "diarizer"; names the thread and the notices.
        timeline: the audio.
        gate: own-voice stretches to silence, or None.
        hooks: see `LaneHooks`.
    """

    def __init__(
        self,
        name: str,
        timeline: AudioTimeline,
        gate: OwnVoiceGate | None,
        hooks: LaneHooks,
    ) -> None:
        self.name = name
        self._timeline = timeline
        self._gate = gate
        self._hooks = hooks
        self._cancel = CancelToken()
        self._cursor: TimelineCursor = timeline.open_cursor()
        # NB: written by the lane's thread alone, read by any.
        self.is_running = False
        self.busy_s = 0.0
        self.reached = 0
        self._thread = threading.Thread(target=self._run, name=f"vivavoce-{name}", daemon=True)

    @property
    def backlog(self) -> int:
        """Samples captured and not taken yet; 0 for a lane without a backend."""
        return self._cursor.backlog if self.is_running else 0

    def start(self) -> None:
        """Start the thread."""
        self.is_running = True
        self._thread.start()

    def cancel(self) -> None:
        """Give up what is left; `join` then returns soon."""
        self._cancel.cancel()

    def join(self, timeout_s: float | None = None) -> bool:
        """Wait until everything captured was said; False on timeout."""
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def _run(self) -> None:
        try:
            backend = self._hooks.wait_for_backend(self._cancel)
            if backend is not None:
                self._work(backend)
        except CancelledError:
            pass
        except Exception as error:
            logger.exception("the %s lane ended", self.name)
            self._hooks.post(
                Notice(
                    Severity.ERROR,
                    f"The {self.name} stopped: {error}",
                    "Recording goes on; the audio can be transcribed again afterwards.",
                )
            )
        finally:
            self.is_running = False
            self._cursor.close()

    def _work(self, backend: LaneBackend) -> None:
        num_failures = 0
        while not self._cursor.is_at_end and not self._cancel.is_cancelled:
            run = _StreamRun(
                backend.spec, backend.open_stream(), self._timeline.sample_rate, self._hooks
            )
            try:
                self._feed(run)
            except CancelledError:
                raise
            except EngineError as error:
                num_failures += 1
                lost_from = min(run.certain_until, self._cursor.position)
                self._mark_untranscribed(lost_from, self._cursor.position, error.message)
                if not error.recoverable or num_failures >= MAX_FAILURES:
                    raise
                logger.warning("the %s starts anew: %s", self.name, error)
            finally:
                run.close()

    def _feed(self, run: "_StreamRun") -> None:
        """Push audio until its end; returns early where audio is gone and a new stream is due."""
        run.begin(self._align(run.spec))
        while not self._cursor.is_at_end:
            self._cancel.check()
            expected = self._cursor.position
            start, pcm = self._cursor.read(self._block_size(), timeout_s=0.25)
            if start > expected:
                self._say(run.flush())
                self._mark_untranscribed(
                    expected, start, f"the {self.name} was too slow and the audio is not kept"
                )
                return
            if len(pcm) == 0:
                continue
            if self._gate is not None:
                pcm = self._gate.silence(start, pcm)
            began_s = self._hooks.now_s()
            self._say(run.push(pcm, self._cursor.backlog))
            self.busy_s += self._hooks.now_s() - began_s
            self.reached = self._cursor.position
        self._say(run.flush())

    def _align(self, spec: BackendSpec) -> int:
        """Return where a stream begins: on the grid of its frames (2 for rates like 22.05 kHz)."""
        grid = 2 * spec.frame_ms or 1000
        position = self._cursor.position
        rate = self._timeline.sample_rate
        frame = -(-position * 1000 // (grid * rate))
        start = rescale(frame * grid, 1000, rate) if position else 0
        self._skip(start - position)
        return start

    def _skip(self, num_samples: int) -> None:
        while num_samples > 0 and not self._cursor.is_at_end:
            self._cancel.check()
            _, pcm = self._cursor.read(num_samples, timeout_s=0.25)
            num_samples -= len(pcm)

    def _block_size(self) -> int:
        rate = self._timeline.sample_rate
        wanted = max(samples(BLOCK_S, rate), self._cursor.backlog // 2)
        return min(wanted, samples(MAX_BLOCK_S, rate))

    def _say(self, events: Sequence[Event]) -> None:
        for event in events:
            self._hooks.post(event)

    def _mark_untranscribed(self, start: int, end: int, reason: str) -> None:
        if end > start and self._hooks.marks_lost:
            self._hooks.post(
                SpanMarked(self._hooks.next_mark_id(), SpanKind.UNTRANSCRIBED, start, end, reason)
            )


class _StreamRun:
    """One stream from where it began: resampling in, session time out."""

    def __init__(
        self, spec: BackendSpec, stream: Stream, session_rate: int, hooks: LaneHooks
    ) -> None:
        self.spec = spec
        self._stream = stream
        self._rate = session_rate
        self._hooks = hooks
        self._origin = 0
        self._epoch = 0
        self._resampler = StreamResampler(session_rate, spec.sample_rate)
        self.certain_until = 0

    def begin(self, origin: int) -> None:
        """Say which sample of the session is the stream's first."""
        self._origin = self.certain_until = origin
        if self.spec.frame_ms:
            self._epoch = self._hooks.next_epoch()

    def push(self, pcm: Pcm, backlog: int) -> tuple[Event, ...]:
        if self._hooks.is_live and isinstance(self._stream, PacedStream):
            self._stream.set_backlog(rescale(backlog, self._rate, self.spec.sample_rate))
        return self._map(self._stream.push(self._resampler.push(pcm)))

    def flush(self) -> tuple[Event, ...]:
        tail = self._resampler.flush()
        events = [*self._stream.push(tail)] if len(tail) else []
        return self._map([*events, *self._stream.flush()])

    def close(self) -> None:
        self._stream.close()

    def _map(self, events: Sequence[StreamEvent]) -> tuple[Event, ...]:
        return tuple(self._on_session_clock(event) for event in events)

    def _on_session_clock(self, event: StreamEvent) -> Event:
        match event:
            case PartialWords():
                heard_until = self._session_sample(event.heard_until)
                return PartialWords(self._words(event.words), heard_until)
            case FinalWords():
                words = self._words(event.words)
                self.certain_until = max([self.certain_until, *(word.end for word in words)])
                return FinalWords(words)
            case ActivityRevised():
                first = round(self._origin * 1000 / (self._rate * event.frame_ms))
                frame_samples = event.frame_ms * self._rate // 1000
                self.certain_until = max(
                    self.certain_until, (first + event.final_until) * frame_samples
                )
                return replace(
                    event,
                    first_frame=event.first_frame + first,
                    final_until=event.final_until + first,
                    epoch=event.epoch + self._epoch,
                    probabilities=np.asarray(event.probabilities, dtype=np.float32),
                )
            case StreamNotice():
                return Notice(Severity.INFO, event.message)

    def _words(self, words: Sequence[Word]) -> tuple[Word, ...]:
        return tuple(
            replace(
                word,
                start=self._session_sample(word.start),
                end=self._session_sample(word.end),
            )
            for word in words
        )

    def _session_sample(self, sample: int) -> int:
        return self._origin + rescale(sample, self.spec.sample_rate, self._rate)
