"""Speaker activity over a whole recording, with coarser levels for wide views."""

from bisect import bisect_right
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.core.events import ActivityRevised
from engine.core.types import MAX_SPEAKERS, SpeakerId

POOL = 8
"""Rows of one level that make a row of the next; pooled by maximum, so no activity vanishes."""
_NUM_LEVELS = 4


@dataclass(frozen=True, slots=True)
class Turn:
    """A stretch in which one speaker is active, in milliseconds from the start of the session."""

    speaker: SpeakerId
    start_ms: int
    end_ms: int


class ActivityTrack:
    """Probabilities of every speaker for every frame, and which of them are final.

    Memory: 18 bytes a frame and 8 speakers (float16, pyramid included): 0.8 MB an hour at 80 ms.
    Thread: the one that applies events.
    """

    def __init__(self) -> None:
        self._frame_ms = 0
        self._num_frames = 0
        self._levels = [np.zeros((0, MAX_SPEAKERS), np.float16) for _ in range(_NUM_LEVELS)]
        self._epoch_starts: list[int] = []
        self._epochs: list[int] = []
        self._final_until = 0

    @property
    def frame_ms(self) -> int:
        """Length of a frame in milliseconds, 0 before the first rows."""
        return self._frame_ms

    @property
    def num_frames(self) -> int:
        """Frames known so far."""
        return self._num_frames

    @property
    def final_until(self) -> int:
        """Frames before it do not change any more."""
        return self._final_until

    def apply(self, event: ActivityRevised) -> tuple[int, int]:
        """Take rows in and return the range of frames that changed.

        Rows of another frame length are brought to that of the first rows: finer ones by
        maximum, coarser ones by repetition.
        """
        if self._frame_ms == 0:
            self._frame_ms = event.frame_ms
        rows, first, final_until = self._on_grid(event)
        end = first + len(rows)
        self._reserve(end)
        base = self._levels[0]
        base[first:end, : rows.shape[1]] = rows
        base[first:end, rows.shape[1] :] = 0
        self._num_frames = max(self._num_frames, end)
        self._final_until = max(self._final_until, min(final_until, self._num_frames))
        if len(rows) and (not self._epochs or event.epoch != self._epochs[-1]):
            self._epoch_starts.append(first if self._epochs else 0)
            self._epochs.append(event.epoch)
        self._pool(first, end)
        return first, end

    def epoch_at(self, frame: int) -> int:
        """Return the epoch whose speakers the columns of a frame are."""
        at = bisect_right(self._epoch_starts, frame) - 1
        return self._epochs[at] if at >= 0 else 0

    def rows(self, first: int, end: int) -> NDArray[np.float16]:
        """Return (end - first, 8) float16 probabilities, cut to the frames known."""
        end = min(end, self._num_frames)
        return self._levels[0][max(0, first) : max(0, end)]

    def overview(self, first: int, end: int, max_rows: int) -> tuple[NDArray[np.float16], int, int]:
        """Return rows for drawing: at most about `max_rows`, pooled by maximum where more.

        Returns:
            (rows, frame of the first row, frames a row covers).
        """
        first, end = max(0, first), min(end, self._num_frames)
        level, pool = 0, 1
        while level + 1 < _NUM_LEVELS and (end - first) > max_rows * pool:
            level, pool = level + 1, pool * POOL
        low, high = first // pool, -(-end // pool)
        return self._levels[level][low : max(low, high)], low * pool, pool

    def mean(self, start_ms: float, end_ms: float) -> tuple[NDArray[np.float32], int]:
        """Return each speaker's mean probability over a stretch and the epoch; zeros if unknown."""
        if self._frame_ms == 0:
            return np.zeros(MAX_SPEAKERS, np.float32), 0
        first = int(start_ms // self._frame_ms)
        end = max(first + 1, int(-(-end_ms // self._frame_ms)))
        rows = self.rows(first, end)
        if len(rows) == 0:
            return np.zeros(MAX_SPEAKERS, np.float32), self.epoch_at(first)
        return rows.mean(axis=0, dtype=np.float32), self.epoch_at(first)

    def turns(
        self, threshold: float = 0.5, *, bridge_ms: int = 240, min_turn_ms: int = 0
    ) -> tuple[Turn, ...]:
        """Return the stretches of activity in order of start.

        Args:
            threshold: a speaker is active where the probability is at least this.
            bridge_ms: pauses of one speaker up to this long are bridged.
            min_turn_ms: shorter stretches are left out.
        """
        found: list[Turn] = []
        bounds = [*self._epoch_starts, self._num_frames][1:]
        for first, end, epoch in zip(self._epoch_starts, bounds, self._epochs, strict=True):
            active = self._levels[0][first:end] >= threshold
            for slot in np.flatnonzero(active.any(axis=0)):
                speaker = SpeakerId(epoch, int(slot))
                for a, b in _runs(active[:, slot], bridge_ms // self._frame_ms):
                    turn = Turn(speaker, (first + a) * self._frame_ms, (first + b) * self._frame_ms)
                    if turn.end_ms - turn.start_ms >= min_turn_ms:
                        found.append(turn)
        return tuple(sorted(found, key=lambda turn: (turn.start_ms, turn.speaker)))

    def _on_grid(self, event: ActivityRevised) -> tuple[NDArray[np.float32], int, int]:
        rows, ratio = event.probabilities, event.frame_ms / self._frame_ms
        if ratio == 1:
            return rows, event.first_frame, event.final_until
        if ratio > 1 and ratio.is_integer():
            factor = int(ratio)
            return (
                np.repeat(rows, factor, axis=0),
                event.first_frame * factor,
                (event.final_until * factor),
            )
        factor = round(1 / ratio)
        if factor * event.frame_ms != self._frame_ms:
            raise ValueError(
                f"rows of {event.frame_ms} ms do not fit a track of {self._frame_ms} ms"
            )
        lead = event.first_frame % factor
        tail = -(lead + len(rows)) % factor
        padded = np.pad(rows, ((lead, tail), (0, 0)))
        pooled = padded.reshape(-1, factor, rows.shape[1]).max(axis=1)
        return pooled, event.first_frame // factor, event.final_until // factor

    def _reserve(self, num_frames: int) -> None:
        for level, array in enumerate(self._levels):
            need = num_frames // POOL**level + 2
            if len(array) < need:
                grown = np.zeros((max(need, 2 * len(array), 64), MAX_SPEAKERS), np.float16)
                grown[: len(array)] = array
                self._levels[level] = grown

    def _pool(self, first: int, end: int) -> None:
        for level in range(1, _NUM_LEVELS):
            first, end = first // POOL, -(-end // POOL)
            below = self._levels[level - 1]
            need = end * POOL
            if len(below) < need:
                below = np.pad(below, ((0, need - len(below)), (0, 0)))
            cells = below[first * POOL : need].reshape(end - first, POOL, MAX_SPEAKERS)
            self._levels[level][first:end] = cells.max(axis=1)


def _runs(active: NDArray[np.bool_], bridge: int) -> list[tuple[int, int]]:
    """Return [start, end) of the runs of True, joining runs at most `bridge` frames apart."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], active, [False]]).astype(np.int8)))
    runs: list[tuple[int, int]] = []
    for start, end in edges.reshape(-1, 2).tolist():
        if runs and start - runs[-1][1] <= bridge:
            runs[-1] = (runs[-1][0], end)
        else:
            runs.append((start, end))
    return runs
