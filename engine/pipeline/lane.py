"""A lane: one backend stream on one thread, reading the timeline by its own cursor."""

import logging
import threading
from collections.abc import Sequence
from dataclasses import replace

from engine.audio.timeline import AudioTimeline, TimelineCursor
from engine.core.errors import CancelledError, ComputeDeviceError, EngineError
from engine.core.events import Event, Notice, Severity, SpanMarked
from engine.core.sync import CancelToken
from engine.core.timebase import rescale, samples
from engine.core.types import SpanKind
from engine.core.unexpected import told
from engine.pipeline.backfill import Backfill
from engine.pipeline.lane_hooks import LaneHooks
from engine.pipeline.lane_pace import (
    BLOCK_S,
    MAX_BLOCK_S,
    SPEAKERS_LIMIT_S,
    WORDS_LIMIT_S,
    LanePace,
    quiet_moment,
)
from engine.pipeline.own_voice import OwnVoiceGate
from engine.pipeline.stream_run import LaneBackend, StreamRun, grid_ms, grid_start

logger = logging.getLogger(__name__)

__all__ = ["Lane", "LaneBackend", "LaneHooks"]

MAX_FAILURES = 3
"""A lane whose streams fail this often in a row is given up."""
_HEALED_S = 60.0
"""A failure after so much audio is the first of its row."""
_CPU = "CPU"
_NOT_FILLED_IN = "it was not filled in before the end"
_REACH_S = 10.0
"""Audio that a new stream hears again at most, where the one before it has failed."""
_UNTOLD_S = 5.0
"""Audio taken and not told yet, at most, when a lane is given up."""


class Lane:
    """Feeds one recognizer or diarizer and publishes what it says on the session clock.

    Args:
        name: "recognizer" or "diarizer"; names the thread and the notices.
        timeline: the audio.
        gate: own-voice stretches to silence, or None.
        hooks: see `LaneHooks`.
        has_rows: whether it tells speakers, not words.
    """

    def __init__(
        self,
        name: str,
        timeline: AudioTimeline,
        gate: OwnVoiceGate | None,
        hooks: LaneHooks,
        *,
        has_rows: bool = False,
    ) -> None:
        self.name = name
        self._timeline = timeline
        self._gate = gate
        self._hooks = replace(hooks, post=self._post)
        self._publish = hooks.post
        self._has_rows = has_rows
        self._cancel = CancelToken()
        # Rows of speakers need no end: the newest are told all along.
        self._cursor: TimelineCursor = timeline.open_cursor(stops_at_holds=not has_rows)
        limit_s = SPEAKERS_LIMIT_S if has_rows else WORDS_LIMIT_S
        self._pace = LanePace(timeline.sample_rate, limit_s)
        self._backfill = Backfill(name, timeline, gate, self._hooks, has_rows=has_rows)
        self._is_behind = False
        self._failed_at: int | None = None
        # NB: set by the thread that gives the lane up, read by the lane's.
        self.is_abandoned = False
        # NB: written by the lane's thread alone, read by any.
        self.is_running = False
        self.is_waiting = False
        self.busy_s = 0.0
        self.reached = 0
        self.num_steps = 0
        self.unheard_from: int | None = None
        self._thread = threading.Thread(target=self._run, name=f"vivavoce-{name}", daemon=True)

    @property
    def backlog(self) -> int:
        """Samples captured and not taken yet; 0 for a lane without a backend."""
        return self._cursor.backlog if self.is_running else 0

    @property
    def num_left_out(self) -> int:
        """Samples left out, and to be filled in later."""
        return self._backfill.num_left if self.is_running else 0

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

    def abandon(self) -> None:
        """Listen to it no more, whatever it still does: its thread does not come back."""
        self._backfill.tell_left(_NOT_FILLED_IN)
        self.is_abandoned = True
        self._cancel.cancel()
        self._cursor.close()
        if self.unheard_from is None:
            self.unheard_from = self.reached

    def tell_unheard(self, end: int, why: str) -> None:
        """Mark what was never told, once the lane has ended or was given up.

        Args:
            end: one past the last sample of the recording.
            why: it was not.
        """
        start = self.unheard_from
        if start is not None and start < end and self._hooks.marks_lost and not self._has_rows:
            mark_id = self._hooks.next_mark_id()
            self._publish(SpanMarked(mark_id, SpanKind.UNTRANSCRIBED, start, end, why))

    def _post(self, event: Event) -> None:
        if not self.is_abandoned:
            self._publish(event)

    def _run(self) -> None:
        try:
            self.is_waiting = True
            backend = self._hooks.wait_for_backend(self._cancel)
            self.is_waiting = False
            if backend is not None:
                self._work(backend)
        except CancelledError:
            self._give_up()
        except Exception as error:
            self._give_up()
            if not self.is_abandoned:
                logger.exception("the %s lane ended", self.name)
            self._post(
                Notice(
                    Severity.ERROR,
                    f"The {self.name} stopped: {told(error).text}",
                    "Recording goes on; the audio can be transcribed again afterwards.",
                )
            )
        finally:
            self.is_running = False
            self._cursor.close()

    def _give_up(self) -> None:
        if self.unheard_from is None:
            self.unheard_from = self._cursor.position
        self._backfill.give_up(_NOT_FILLED_IN)

    def _work(self, backend: LaneBackend) -> None:
        num_failures = failed_at = 0
        while not self._cursor.is_at_end or not self._backfill.is_empty:
            self._cancel.check()
            try:
                if self._cursor.is_at_end:
                    self._fill_in(backend, MAX_BLOCK_S)
                else:
                    self._listen(backend)
            except CancelledError:
                raise
            except ComputeDeviceError as error:
                if backend.spec.device == _CPU:
                    raise
                self.is_waiting = True
                backend = self._hooks.move_to_cpu(error, self._cancel)
                self.is_waiting = False
            except EngineError as error:
                is_fresh = self._cursor.position - failed_at > samples(
                    _HEALED_S, self._timeline.sample_rate
                )
                num_failures = 1 if is_fresh else num_failures + 1
                failed_at = self._cursor.position
                if not error.recoverable or num_failures >= MAX_FAILURES:
                    raise
                logger.warning("the %s starts anew: %s", self.name, error)

    def _listen(self, backend: LaneBackend) -> None:
        """Run one stream to the end of the audio, or to where audio is gone or it fails."""
        rate = self._timeline.sample_rate
        origin = self._align(backend)
        epoch = self._hooks.next_epoch() if backend.spec.frame_ms else 0
        run = StreamRun(backend, rate, origin, epoch, is_paced=self._hooks.is_live)
        try:
            self._feed(run, backend)
        except CancelledError:
            untold = self._cursor.position - samples(_UNTOLD_S, rate)
            self.unheard_from = max(run.certain_until, untold)
            raise
        except EngineError as error:
            self._go_back(run, error)
            raise
        finally:
            run.close()

    def _go_back(self, run: StreamRun, error: EngineError) -> None:
        """Go to where the next stream begins after a failure.

        It hears once more what was not certain yet. Where that has failed before, it goes on
        behind it, and what is missing is tried again later.
        """
        position, reach = self._cursor.position, samples(_REACH_S, self._timeline.sample_rate)
        failed_at, self._failed_at = self._failed_at, position
        certain = min(run.certain_until, position)
        is_device = isinstance(error, ComputeDeviceError)
        if is_device or failed_at is None or position - failed_at > reach:
            self._cursor.go_back(max(certain, position - reach))
        self._backfill.add(certain, self._cursor.position, _clause(error.message))

    def _feed(self, run: StreamRun, backend: LaneBackend) -> None:
        while not self._cursor.is_at_end:
            self._cancel.check()
            if self._cursor.take_hold():
                self._say(run.hold(self._cursor.position))
            self._leave_out(run)
            expected, block = self._cursor.position, self._pace.block_size(self._cursor.backlog)
            start, pcm = self._cursor.read(block, timeout_s=0.25)
            if start > expected:
                self._say(run.flush())
                self._backfill.lose(expected, start, f"the {self.name} was too slow")
                return
            if len(pcm):
                if self._gate is not None:
                    pcm = self._gate.silence(start, pcm)
                began_s, backlog = self._hooks.now_s(), self._cursor.backlog
                self._say(run.push(pcm, backlog))
                now_s = self._hooks.now_s()
                self._pace.take(len(pcm), now_s - began_s, self._cursor.backlog, now_s)
                self._note_progress(now_s - began_s)
            if self._hooks.is_live and self._pace.has_time(
                self._cursor.backlog, self._hooks.now_s()
            ):
                self._come_to_rest()
                self._fill_in(backend, BLOCK_S * 4)
        self._say(run.flush())

    def _fill_in(self, backend: LaneBackend, block_s: float) -> None:
        if not self._backfill.is_empty:
            self._backfill.step(backend, samples(block_s, self._timeline.sample_rate))
            self.num_steps += 1

    def _note_progress(self, busy_s: float) -> None:
        self.busy_s += busy_s
        self.reached = self._cursor.position
        self.num_steps += 1

    def _leave_out(self, run: StreamRun) -> None:
        """Go on near the present if the lane is too far behind for it to be live."""
        is_due = self._hooks.is_live and self._hooks.marks_lost and not self._timeline.is_closed
        if not is_due or not self._pace.is_too_far_behind(self._cursor.backlog):
            return
        events, left_at = run.break_off(self._cursor.position)
        self._say(events)
        rate, cell_ms = self._timeline.sample_rate, grid_ms(run.spec) if self._has_rows else 10
        distance = quiet_moment(self._timeline) - self._cursor.position
        num_samples = rescale(distance * 1000 // (cell_ms * rate) * cell_ms, 1000, rate)
        if num_samples <= 0:
            return
        self._cursor.skip(num_samples)
        run.leave_out(num_samples)
        self._backfill.add(left_at, self._cursor.position, f"the {self.name} was too slow")
        if not self._is_behind:
            self._is_behind = True
            self._post(
                Notice(
                    Severity.WARNING,
                    f"The {self.name} cannot keep up: audio is left out for now.",
                    "Nothing is lost of the recording. What is missing is filled in when the "
                    "computer has time, at the latest at the end.",
                    topic=f"pace of the {self.name}",
                    ends_with_recording=True,
                )
            )

    def _come_to_rest(self) -> None:
        if self._is_behind:
            self._is_behind = False
            self._post(
                Notice(
                    Severity.INFO,
                    f"The {self.name} keeps up again.",
                    topic=f"pace of the {self.name}",
                )
            )

    def _align(self, backend: LaneBackend) -> int:
        """Go to where a stream may begin, and return it."""
        if not backend.spec.frame_ms:
            return self._cursor.position
        start = grid_start(backend.spec, self._cursor.position, self._timeline.sample_rate)
        while self._cursor.position < start and not self._cursor.is_at_end:
            self._cancel.check()
            self._cursor.read(start - self._cursor.position, timeout_s=0.25)
        return start

    def _say(self, events: Sequence[Event]) -> None:
        for event in events:
            self._post(event)


def _clause(message: str) -> str:
    """Return a sentence as a part of another one."""
    text = message.strip().rstrip(".")
    return text or "it failed"
