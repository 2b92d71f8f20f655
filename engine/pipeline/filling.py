"""One stretch being filled in: a stream of its own over it, and what of that is new."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from engine.audio.timeline import AudioTimeline
from engine.core.events import ActivityRevised, Event, FinalWords
from engine.core.timebase import samples
from engine.core.types import MAX_SPEAKERS, Pcm, Word
from engine.pipeline.stream_run import LaneBackend, StreamRun, grid_start

WORD_CONTEXT_S = (1.0, 0.6)
"""Audio before and after a stretch that is heard as well, so that words at its edges are whole."""
SPEAKER_CONTEXT_S = (20.0, 20.0)
"""The same for speakers, who are recognized by what was told of them there."""
_PATIENCE_S = 3.0
"""Backlog that a stream which fills in is told of."""
_EPOCHS_FROM = 1_000
"""Epochs of streams that fill in: none that a live stream has. They are matched to the live ones
and never shown."""


@dataclass(slots=True)
class Hole:
    """A stretch of the session that was left out.

    Args:
        mark_id: of the span that shows it.
        start: first sample; moves on as it is filled in.
        end: one past the last.
        why: it was left out.
        num_failures: places in it that could not be decoded.
    """

    mark_id: int
    start: int
    end: int
    why: str
    num_failures: int = 0


class Filling(Protocol):
    """A stretch being filled in. Thread: its lane's."""

    position: int
    """The next sample to push."""
    until: int
    """One past the last sample to push."""

    def push(self, pcm: Pcm) -> Sequence[Event]:
        """Take the next samples; return what to publish, and move the hole's start."""
        ...

    def finish(self) -> Sequence[Event]:
        """Return what is left to publish, and empty the hole."""
        ...

    def close(self) -> None:
        """Release the stream."""
        ...


class WordFilling:
    """Final words of a stretch; those of which more than half lies outside are known already."""

    def __init__(self, hole: Hole, backend: LaneBackend, timeline: AudioTimeline) -> None:
        rate = timeline.sample_rate
        before, after = (samples(length_s, rate) for length_s in WORD_CONTEXT_S)
        self.position = max(hole.start - _unharmed(before, hole), timeline.start, 0)
        self.until = min(hole.end + after, timeline.end)
        self._hole = hole
        self._first = hole.start
        self._patience = samples(_PATIENCE_S, rate)
        self._run = StreamRun(backend, rate, self.position)

    def push(self, pcm: Pcm) -> Sequence[Event]:
        """See `Filling`."""
        self.position += len(pcm)
        # Nobody waits: few readings, but none in haste.
        return self._told(self._run.push(pcm, min(self.until - self.position, self._patience)))

    def finish(self) -> Sequence[Event]:
        """See `Filling`."""
        told = self._told(self._run.flush())
        self._hole.start = self._hole.end
        return told

    def close(self) -> None:
        """See `Filling`."""
        self._run.close()

    def _told(self, events: Sequence[Event]) -> list[Event]:
        told = [
            FinalWords(words)
            for event in events
            if isinstance(event, FinalWords) and (words := self._within(event.words))
        ]
        if told:
            self._hole.start = max(self._hole.start, min(told[-1].words[-1].end, self._hole.end))
        return list(told)

    def _within(self, words: Sequence[Word]) -> tuple[Word, ...]:
        return tuple(w for w in words if self._first <= (w.start + w.end) // 2 < self._hole.end)


class SpeakerFilling:
    """Rows of a stretch and around it, told at once as settled ones.

    They are matched to the speakers of the live rows by where both say that somebody speaks (see
    `engine.text.settling`).
    """

    def __init__(self, hole: Hole, backend: LaneBackend, timeline: AudioTimeline) -> None:
        rate = timeline.sample_rate
        before, after = (samples(length_s, rate) for length_s in SPEAKER_CONTEXT_S)
        wanted = max(hole.start - _unharmed(before, hole), timeline.start, 0)
        self.position = grid_start(backend.spec, wanted, rate)
        self.until = min(hole.end + after, timeline.end)
        self._hole = hole
        self._run = StreamRun(backend, rate, self.position)
        self._frame_ms = backend.spec.frame_ms
        self._first_frame = round(self.position * 1000 / (rate * self._frame_ms))
        num_frames = -(-(self.until - self.position) * 1000 // (rate * self._frame_ms)) + 1
        self._rows = np.zeros((max(0, num_frames), MAX_SPEAKERS), np.float32)
        self._num_told = 0

    def push(self, pcm: Pcm) -> Sequence[Event]:
        """See `Filling`."""
        self.position += len(pcm)
        self._take(self._run.push(pcm, self.until - self.position))
        return ()

    def finish(self) -> Sequence[Event]:
        """See `Filling`."""
        self._take(self._run.flush())
        self._hole.start = self._hole.end
        if not self._num_told:
            return ()
        end = self._first_frame + self._num_told
        return (
            ActivityRevised(
                self._first_frame,
                self._frame_ms,
                self._rows[: self._num_told],
                end,
                epoch=_EPOCHS_FROM + self._hole.mark_id,
                is_settled=True,
            ),
        )

    def close(self) -> None:
        """See `Filling`."""
        self._run.close()

    def _take(self, events: Sequence[Event]) -> None:
        for event in events:
            if isinstance(event, ActivityRevised):
                first = event.first_frame - self._first_frame
                rows = event.probabilities[: max(0, len(self._rows) - first)]
                self._rows[first : first + len(rows)] = 0.0
                self._rows[first : first + len(rows), : rows.shape[1]] = rows
                self._num_told = max(self._num_told, first + len(rows))


def _unharmed(num_samples: int, hole: Hole) -> int:
    """Return how much to hear before a stretch: nothing of what could not be decoded."""
    return 0 if hole.num_failures else num_samples
