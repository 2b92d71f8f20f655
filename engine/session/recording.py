"""One recording: an input, its timeline and journal, and the lanes that read it."""

import itertools
import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol, cast

from engine.audio.device import InputStream
from engine.audio.level_track import LevelTrack
from engine.audio.levels import Levels
from engine.audio.provider import FILE_PREFIX
from engine.audio.timeline import AudioTimeline
from engine.backends.protocols import Backend, Diarizer, Encoder, Recognizer
from engine.core.errors import CancelledError, ComputeDeviceError, EngineError
from engine.core.events import Event, Notice, RecordingStarted, RecordingStopped, Severity
from engine.core.sync import CancelToken
from engine.core.timebase import Clock, samples
from engine.core.types import BackendKind, Pcm
from engine.pipeline.capture import AudioSink, Capture, CaptureHooks
from engine.pipeline.lane import Lane, LaneBackend, LaneHooks
from engine.pipeline.own_voice import OwnVoiceGate
from engine.session.finishing import LaneFinish
from engine.session.health import LOAD_SPAN_S, DelayMeter, Health, LoadMeter
from engine.session.pool import NO_BACKEND, BackendPool

logger = logging.getLogger(__name__)

MEMORY_S = 60.0
"""Audio in memory; older audio is read from the journal where one is kept."""
WINDOW_S = 40.0
"""About what an encoder takes at a time."""
CAPTURE_END_S = 5.0
"""How long an input may take to stop."""


class RecordingJournal(AudioSink, Protocol):
    """Where a recording is kept while it happens."""

    def read_audio(self, start: int, end: int) -> Pcm:
        """Return the samples [start, end), written or on their way."""
        ...


@dataclass(frozen=True, slots=True)
class RecordingParts:
    """What a recording is made of; the session owns all of it.

    Args:
        clock: host time.
        pool: the backends.
        post: publishes an event.
        input_name: what the input was opened as.
        open_input: opens an input by name, not started. Thread: any.
        slept_s: seconds that the computer has slept in all.
        on_started: the first block has come. Thread: capture.
        on_end: the source has ended by itself. Thread: capture.
    """

    clock: Clock
    pool: BackendPool
    post: Callable[[Event], None]
    input_name: str
    open_input: Callable[[str], InputStream]
    slept_s: Callable[[], float]
    on_started: Callable[[], None]
    on_end: Callable[[], None]


class Recording:
    """Captures and understands until it is stopped.

    Args:
        started: what `RecordingStarted` will tell.
        stream: opened and not started.
        journal: None if nothing is kept.
        parts: see `RecordingParts`.
    """

    def __init__(
        self,
        started: RecordingStarted,
        stream: InputStream,
        journal: RecordingJournal | None,
        parts: RecordingParts,
    ) -> None:
        self.started = started
        self._parts = parts
        # Held while something is told: nothing of it is told once it has ended.
        self._told_lock = threading.Lock()
        self._is_silent = False
        self._is_live = stream.is_live
        self._input_name = parts.input_name
        self._mark_ids = itertools.count()
        self._epochs = itertools.count()
        rate = started.sample_rate
        self.timeline = AudioTimeline(
            rate, samples(MEMORY_S, rate), journal.read_audio if journal else None
        )
        self.level_track = LevelTrack(rate)
        self.gate = OwnVoiceGate(
            rate, lambda: self.timeline.end, self._tell, self._mark_ids.__next__
        )
        self.delays = DelayMeter(rate)
        self.capture = Capture(
            stream,
            parts.input_name,
            self.timeline,
            self.level_track,
            journal,
            parts.clock,
            CaptureHooks(
                post=self._tell,
                on_first_block=self._begin,
                on_end=parts.on_end,
                next_mark_id=self._mark_ids.__next__,
                open_input=parts.open_input,
                slept_s=parts.slept_s,
            ),
        )
        self.recognizer = self._make_lane(BackendKind.RECOGNIZER)
        self.diarizer = self._make_lane(BackendKind.DIARIZER)
        has_encoder = parts.pool.backend_id(BackendKind.ENCODER) != NO_BACKEND
        self.encoder = self._make_lane(BackendKind.ENCODER) if has_encoder else None
        self._lanes = [self.recognizer, self.diarizer, *([self.encoder] if self.encoder else ())]
        # An encoder works a window at a time: less than two of them are no measure of its pace.
        self._loads = {
            lane: LoadMeter(2 * WINDOW_S if lane is self.encoder else LOAD_SPAN_S)
            for lane in self._lanes
        }
        self._finish = LaneFinish(self._lanes)
        # NB: set by the capture thread, read once that has ended.
        self.has_begun = False
        self._end_lock = threading.Lock()
        self._has_ended = False
        # NB: each lane's thread may set it to False, never back; read once they have ended.
        self.is_trained = True

    def change_input(self, name: str) -> None:
        """Go over to another input; the one before stays if that cannot be opened."""
        if self.can_change_input:
            self.capture.change_input(name)

    @property
    def can_change_input(self) -> bool:
        """Whether it can go over to another input: not while it reads a file."""
        return not self._input_name.startswith(FILE_PREFIX)

    @property
    def levels(self) -> Levels | None:
        """The newest input levels."""
        return self.capture.levels.get()

    def add_health(self, health: Health) -> Health:
        """Return `health` with what this recording knows filled in."""
        rate = self.timeline.sample_rate
        return replace(
            health,
            recorded_s=self.timeline.end / rate,
            partial_delay_s=self.delays.partial_delay_s,
            final_delay_s=self.delays.final_delay_s,
            speaker_delay_s=self.delays.speaker_delay_s,
            recognizer_backlog_s=self.recognizer.backlog / rate,
            diarizer_backlog_s=self.diarizer.backlog / rate,
            encoder_backlog_s=self.encoder.backlog / rate if self.encoder else None,
            left_out_s=max(lane.num_left_out for lane in self._lanes) / rate,
            recognizer_load=self._load(self.recognizer),
            diarizer_load=self._load(self.diarizer),
            encoder_load=self._load(self.encoder) if self.encoder else None,
            num_overflows=self.capture.num_overflows,
            lost_s=self.capture.num_lost_samples / rate,
        )

    def start(self) -> None:
        """Start the device and the lanes.

        Raises:
            DeviceError: the device does not start.
        """
        try:
            self.capture.start()
        except EngineError:
            self.timeline.close()
            raise
        for lane in self._lanes:
            lane.start()

    def stop(self, on_wait: Callable[[float], None]) -> None:
        """Stop capturing, let the lanes say everything, and publish that it is complete.

        Args:
            on_wait: called about every half second with the seconds of audio still to be worked
                through.
        """
        if not self.capture.stop(CAPTURE_END_S):
            self._tell(
                Notice(
                    Severity.WARNING,
                    f"The input {self.capture.input_name} did not stop when asked to.",
                    "What it gave so far is kept. Plug it in again before you use it.",
                )
            )
        self.gate.close()
        rate = self.timeline.sample_rate
        stuck = self._finish.run(lambda num_samples: on_wait(num_samples / rate))
        for lane in stuck:
            self._parts.pool.forget(BackendKind(lane.name))
            self._tell(
                Notice(
                    Severity.ERROR,
                    f"The {lane.name} does not answer any more and was given up.",
                    "The recording is kept as far as you chose that; what is missing is marked.",
                )
            )
        self.tell_end()

    def tell_end(self) -> None:
        """Publish what was never written down, and that the recording is complete; once."""
        with self._end_lock:
            if self._has_ended:
                return
            self._has_ended = True
            if self.has_begun:
                for lane in self._lanes:
                    lane.tell_unheard(self.timeline.end, f"the {lane.name} was stopped before")
            with self._told_lock:
                self._is_silent = True
                if self.has_begun:
                    stopped = RecordingStopped(self.started.recording_id, self.timeline.end)
                    self._parts.post(stopped)

    def discard_backlog(self) -> None:
        """Make a running `stop` give up what the lanes have not worked through."""
        self._finish.discard()

    @property
    def is_discarding(self) -> bool:
        """Whether what is not worked through is given up."""
        return self._finish.is_discarding

    def break_off(self) -> None:
        """End at once, whatever does not return: nothing more is told of it. Thread: any."""
        self.timeline.close()
        self.gate.close()
        for lane in self._lanes:
            if lane.is_running:
                lane.abandon()
                self._parts.pool.forget(BackendKind(lane.name))
        self.tell_end()

    def _tell(self, event: Event) -> None:
        # A device or a model may come back long after it was given up.
        with self._told_lock:
            if not self._is_silent:
                self._parts.post(event)

    def _load(self, lane: Lane) -> float:
        return self._loads[lane].take(lane.reached / self.timeline.sample_rate, lane.busy_s)

    def _begin(self) -> None:
        with self._told_lock:
            if self._is_silent:
                return
            self.has_begun = True
            self._parts.post(self.started)
        self._parts.on_started()

    def _make_lane(self, kind: BackendKind) -> Lane:
        def wait_for_backend(cancel: CancelToken) -> LaneBackend | None:
            try:
                backend = self._parts.pool.wait(kind, cancel)
            except CancelledError:
                raise
            except EngineError as error:
                self._tell(
                    Notice(
                        Severity.ERROR,
                        f"There is no {kind}: {error.message}",
                        f"{error.advice} Recording goes on.".strip(),
                        topic=str(kind),
                        ends_with_recording=True,
                    )
                )
                return None
            return None if backend is None else opened(backend)

        def opened(backend: Backend) -> LaneBackend:
            source = cast("Recognizer | Diarizer | Encoder", backend)
            self.is_trained = self.is_trained and source.spec.is_trained
            return LaneBackend(source.spec, source.open_stream)

        def move_to_cpu(error: ComputeDeviceError, cancel: CancelToken) -> LaneBackend:
            self._tell(
                Notice(
                    Severity.WARNING,
                    f"The {kind} goes on without the GPU: {error.message}",
                    "It is slower that way. Start the program again to use the GPU again.",
                )
            )
            backend = self._parts.pool.move_to_cpu(kind, cancel)
            if backend is None:
                raise error
            return opened(backend)

        # An encoder numbers speakers by itself; they are matched to the diarizer's afterwards.
        epochs = itertools.count() if kind is BackendKind.ENCODER else self._epochs
        return Lane(
            str(kind),
            self.timeline,
            self.gate,
            LaneHooks(
                wait_for_backend=wait_for_backend,
                post=self._tell,
                next_mark_id=self._mark_ids.__next__,
                next_epoch=epochs.__next__,
                now_s=self._parts.clock.now_s,
                is_live=self._is_live,
                marks_lost=kind is not BackendKind.ENCODER,
                move_to_cpu=move_to_cpu,
            ),
            has_rows=kind is not BackendKind.RECOGNIZER,
        )
