"""Stretches that a lane left out, decoded later from the audio that is kept."""

import logging
from collections import deque
from dataclasses import dataclass

from engine.audio.timeline import AudioTimeline
from engine.core.errors import CancelledError, ComputeDeviceError, EngineError
from engine.core.events import Event, Notice, Severity, SpanMarked
from engine.core.timebase import format_time
from engine.core.types import SpanKind
from engine.pipeline.filling import Filling, Hole, SpeakerFilling, WordFilling
from engine.pipeline.lane_hooks import LaneHooks
from engine.pipeline.own_voice import OwnVoiceGate
from engine.pipeline.stream_run import LaneBackend

logger = logging.getLogger(__name__)

_MAX_FAILURES = 3
"""What is left of a stretch that fails in so many places is given up."""
_LATER = "it will be filled in"
_PERHAPS = "nothing is kept of the audio, so it is filled in only if there is time soon"
_GONE = "the audio is not kept"


@dataclass(frozen=True, slots=True)
class _Words:
    """What people are told of stretches without words: they are marked in the transcript."""

    hooks: LaneHooks

    def tell(self, hole: Hole, reason: str) -> None:
        self.hooks.post(
            SpanMarked(hole.mark_id, SpanKind.UNTRANSCRIBED, hole.start, hole.end, reason)
        )


@dataclass(frozen=True, slots=True)
class _Speakers:
    """What people are told of stretches without speakers: the words are there, so a notice."""

    hooks: LaneHooks
    rate: int

    def tell(self, hole: Hole, reason: str) -> None:
        if hole.end > hole.start:
            start, end = (format_time(at / self.rate) for at in (hole.start, hole.end))
            message = f"Speakers were not told apart from {start} to {end}: {reason}."
            self.hooks.post(Notice(Severity.WARNING, message))


class Backfill:
    """Remembers what was left out, tells it, and fills it in piece by piece. Thread: its lane's.

    Args:
        name: of the lane.
        timeline: the audio.
        gate: own-voice stretches to silence, or None.
        hooks: of the lane.
        has_rows: whether speakers are missing, not words.
    """

    def __init__(
        self,
        name: str,
        timeline: AudioTimeline,
        gate: OwnVoiceGate | None,
        hooks: LaneHooks,
        *,
        has_rows: bool,
    ) -> None:
        self._name = name
        self._timeline = timeline
        self._gate = gate
        self._hooks = hooks
        self._has_rows = has_rows
        self._told = _Speakers(hooks, timeline.sample_rate) if has_rows else _Words(hooks)
        self._holes: deque[Hole] = deque()
        self._filling: Filling | None = None

    @property
    def is_empty(self) -> bool:
        """Whether nothing is left to fill in."""
        return not self._holes

    @property
    def num_left(self) -> int:
        """Samples left to fill in. Thread: any."""
        return sum(hole.end - hole.start for hole in self._holes.copy())

    def add(self, start: int, end: int, why: str) -> None:
        """Take note of a stretch that was left out."""
        if end <= start or not self._hooks.marks_lost:
            return
        hole = Hole(self._hooks.next_mark_id(), start, end, why)
        self._holes.append(hole)
        self._told.tell(hole, f"{why}; {self._outlook}")

    def lose(self, start: int, end: int, why: str) -> None:
        """Tell of a stretch whose audio is gone."""
        if end > start and self._hooks.marks_lost:
            self._told.tell(Hole(self._hooks.next_mark_id(), start, end, why), f"{why} and {_GONE}")

    def step(self, backend: LaneBackend, max_samples: int) -> None:
        """Go on with the oldest stretch; nothing to do where there is none.

        A stretch that cannot be read or decoded stays as it is, and says why.

        Raises:
            ComputeDeviceError: the GPU failed; the stretch is begun again at the next call.
        """
        if not self._holes:
            return
        hole = self._holes[0]
        try:
            is_done = self._go_on(hole, backend, max_samples)
        except (ComputeDeviceError, CancelledError):
            self._drop_filling()
            raise
        except EngineError as error:
            logger.warning("the %s cannot fill a stretch in: %s", self._name, error)
            is_done = self._fail(hole, error)
        if is_done:
            self._drop_filling()
            self._holes.popleft()

    def give_up(self, why: str) -> None:
        """Leave what is left as it is, and say why."""
        self._drop_filling()
        self.tell_left(why)
        self._holes.clear()

    def tell_left(self, why: str) -> None:
        """Say why what is left stays as it is. Thread: any, once the lane's does not return."""
        for hole in self._holes.copy():
            self._told.tell(hole, f"{hole.why}; {why}")

    @property
    def _outlook(self) -> str:
        return _LATER if self._timeline.start == 0 else _PERHAPS

    def _go_on(self, hole: Hole, backend: LaneBackend, max_samples: int) -> bool:
        filling = self._filling
        if filling is None:
            if self._lose_before(hole, self._timeline.start):
                return True
            kind = SpeakerFilling if self._has_rows else WordFilling
            filling = self._filling = kind(hole, backend, self._timeline)
        start, pcm = self._timeline.read(
            filling.position, min(filling.position + max_samples, filling.until)
        )
        if start > filling.position:
            self._drop_filling()
            return self._lose_before(hole, start)
        if self._gate is not None:
            pcm = self._gate.silence(start, pcm)
        before = hole.start
        events: list[Event] = list(filling.push(pcm))
        if filling.position >= filling.until:
            events += filling.finish()
        for event in events:
            self._hooks.post(event)
        if hole.start != before:
            self._show(hole)
        return hole.start >= hole.end

    def _fail(self, hole: Hole, error: EngineError) -> bool:
        """Leave out where a stretch cannot be decoded; return whether that is the rest of it."""
        failed_at = self._filling.position if self._filling is not None else hole.end
        self._drop_filling()
        hole.num_failures += 1
        is_whole = hole.num_failures >= _MAX_FAILURES or not hole.start < failed_at < hole.end
        why = f"{hole.why}; it could not be filled in: {error.message}"
        if is_whole:
            self._told.tell(hole, why)
            return True
        if self._hooks.marks_lost:
            self._told.tell(Hole(self._hooks.next_mark_id(), hole.start, failed_at, why), why)
        hole.start = failed_at
        self._show(hole)
        return False

    def _lose_before(self, hole: Hole, start: int) -> bool:
        """Leave out what is gone of a stretch; return whether nothing is left of it."""
        lost_until = min(start, hole.end)
        if lost_until > hole.start:
            self.lose(hole.start, lost_until, hole.why)
            hole.start = lost_until
            self._show(hole)
        return hole.start >= hole.end

    def _show(self, hole: Hole) -> None:
        """Let a mark shrink with what is left of it."""
        if not self._has_rows:
            self._told.tell(hole, f"{hole.why}; {self._outlook}" if hole.end > hole.start else "")

    def _drop_filling(self) -> None:
        filling, self._filling = self._filling, None
        if filling is not None:
            filling.close()
