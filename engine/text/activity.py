"""Speaker activity over a whole recording, with coarser levels for wide views."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.core.events import ActivityRevised
from engine.core.types import MAX_SPEAKERS, SpeakerId

POOL = 8
"""Rows of one level that make a row of the next; pooled by maximum, so no activity vanishes."""
_NUM_LEVELS = 4
_MAX_CHANGES = 64
_MAX_JUMP_FRAMES = 8_000_000
"""A week of frames of 80 ms at once is damage, and memory for them would not be there."""


@dataclass(frozen=True, slots=True)
class TurnPolicy:
    """How probabilities become turns; it can be applied again at any time, as rows are kept.

    In this order: threshold, pads, bridges, and what is still short is left out.

    Args:
        threshold: a speaker is active where the probability is at least this.
        min_on_ms: shorter turns are left out.
        min_off_ms: pauses of one speaker up to this long are bridged.
        pad_ms: added at both ends of a turn.
    """

    threshold: float = 0.5
    min_on_ms: int = 0
    min_off_ms: int = 240
    pad_ms: int = 0

    def __post_init__(self) -> None:
        if not 0.0 < self.threshold <= 1.0:
            raise ValueError(f"threshold must lie in (0, 1], got {self.threshold}")
        if min(self.min_on_ms, self.min_off_ms, self.pad_ms) < 0:
            raise ValueError("min_on_ms, min_off_ms and pad_ms must be 0 or more")


@dataclass(frozen=True, slots=True)
class Turn:
    """A stretch in which one speaker is active, in milliseconds from the start of the session.

    Args:
        speaker: whose it is.
        start_ms: where it begins.
        end_ms: where it ends.
        is_final: whether nothing that is told later can change it, or join another to it.
    """

    speaker: SpeakerId
    start_ms: int
    end_ms: int
    is_final: bool = True


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
        self._live_until = 0
        self._is_settled = np.zeros(0, np.bool_)
        self._revision = 0
        self._changes: list[tuple[int, int]] = []

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

    @property
    def live_until(self) -> int:
        """One past the last frame that live rows were told of; 0 before any."""
        return self._live_until

    @property
    def revision(self) -> int:
        """How many revisions were taken in; see `changed_since`."""
        return self._revision

    def changed_since(self, revision: int) -> int:
        """Return the first frame that changed after a revision, so that views do only what is new.

        Returns:
            The first frame or one before it; `num_frames` where nothing changed.
        """
        at = bisect_right(self._changes, revision, key=lambda change: change[0])
        return self._changes[at][1] if at < len(self._changes) else self._num_frames

    def is_settled_at(self, frame: int) -> bool:
        """Return whether a slower, better model has replaced the live row of a frame."""
        return 0 <= frame < self._num_frames and bool(self._is_settled[frame])

    def apply(self, event: ActivityRevised) -> tuple[int, int]:
        """Take rows in and return the range of frames that changed.

        Rows of another frame length are brought to that of the first rows. Settled rows stay: live
        ones do not replace them.

        Raises:
            ValueError: they lie before the beginning, or far beyond all that is known.
        """
        self._check(event)
        rows, first, final_until = self.on_grid(event)
        self._frame_ms = self._frame_ms or event.frame_ms
        end = first + len(rows)
        self._reserve(end)
        is_taken = np.ones(len(rows), np.bool_)
        if event.is_settled:
            self._is_settled[first:end] = True
        else:
            is_taken = ~self._is_settled[first:end]
            self._live_until = max(self._live_until, end)
        base = self._levels[0]
        base[first:end, : rows.shape[1]][is_taken] = rows[is_taken]
        base[first:end, rows.shape[1] :][is_taken] = 0
        self._num_frames = max(self._num_frames, end)
        border = self._final_until
        self._final_until = max(border, min(final_until, self._num_frames))
        self._note_epoch(event, first, end)
        self._pool(first, end)
        # Frames that have become final changed as well, though their rows may not be told again.
        self._note_change(min(first, border) if self._final_until > border else first)
        return first, end

    def _check(self, event: ActivityRevised) -> None:
        theirs, first = event.frame_ms, event.first_frame
        ours = self._frame_ms or theirs
        end = (first + len(event.probabilities)) * theirs // max(1, ours)
        if theirs < 1 or first < 0 or end - self._num_frames > _MAX_JUMP_FRAMES:
            raise ValueError(f"rows of {theirs} ms from frame {first} on make no sense")

    def _note_change(self, first: int) -> None:
        # Later changes that begin earlier stand for those before them, so firsts only grow.
        self._revision += 1
        while self._changes and self._changes[-1][1] >= first:
            self._changes.pop()
        self._changes.append((self._revision, first))
        if len(self._changes) > _MAX_CHANGES:
            del self._changes[0]
            self._changes[0] = (self._changes[0][0], 0)

    def _note_epoch(self, event: ActivityRevised, first: int, end: int) -> None:
        # Settled rows over live ones are of the epochs that are there.
        is_old = event.is_settled and first < self._live_until
        if end > first and (not self._epochs or (event.epoch != self._epochs[-1] and not is_old)):
            self._epoch_starts.append(first if self._epochs else 0)
            self._epochs.append(event.epoch)

    def epoch_at(self, frame: int) -> int:
        """Return the epoch whose speakers the columns of a frame are."""
        at = bisect_right(self._epoch_starts, frame) - 1
        return self._epochs[at] if at >= 0 else 0

    def epoch_end(self, frame: int, end: int) -> int:
        """Return where the epoch of a frame ends, at most `end`."""
        at = bisect_right(self._epoch_starts, frame)
        return min(self._epoch_starts[at], end) if at < len(self._epoch_starts) else end

    def live_rows(self, first: int, end: int) -> NDArray[np.float16]:
        """Return the rows of frames [first, end) up to the last one that live rows told of."""
        return self.rows(first, min(end, self._live_until))

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

    def means(
        self, stretches_ms: Sequence[tuple[float, float]]
    ) -> tuple[NDArray[np.float32], list[int]]:
        """Return each speaker's mean probability over stretches, and whose columns they are.

        Args:
            stretches_ms: (start, end) in order of start; at least a frame of each is looked at.

        Returns:
            (means (n, 8) float32, zeros where nothing is known; the epoch of each).
        """
        if self._frame_ms == 0 or not stretches_ms:
            return np.zeros((len(stretches_ms), MAX_SPEAKERS), np.float32), [0] * len(stretches_ms)
        starts = [int(start // self._frame_ms) for start, _ in stretches_ms]
        ends = [
            max(first + 1, int(-(-end // self._frame_ms)))
            for first, (_, end) in zip(starts, stretches_ms, strict=True)
        ]
        low = starts[0]
        sums = np.zeros((max(ends) - low + 1, MAX_SPEAKERS), np.float64)
        rows = self.rows(low, max(ends))
        np.cumsum(rows, axis=0, dtype=np.float64, out=sums[1 : len(rows) + 1])
        sums[len(rows) + 1 :] = sums[len(rows)]
        a, b = np.array(starts) - low, np.array(ends) - low
        counts = np.maximum(1, np.minimum(b, len(rows)) - a)
        means = ((sums[b] - sums[a]) / counts[:, np.newaxis]).astype(np.float32)
        return means, [self.epoch_at(first) for first in starts]

    def turns(self, policy: TurnPolicy | None = None) -> tuple[Turn, ...]:
        """Return the stretches of activity in order of start."""
        policy, found = policy or TurnPolicy(), list[Turn]()
        bounds = [*self._epoch_starts, self._num_frames][1:]
        for first, end, epoch in zip(self._epoch_starts, bounds, self._epochs, strict=True):
            found += self._epoch_turns(first, end, epoch, policy)
        return tuple(sorted(found, key=lambda turn: (turn.start_ms, turn.speaker)))

    def _epoch_turns(self, first: int, end: int, epoch: int, policy: TurnPolicy) -> list[Turn]:
        frame_ms, found = self._frame_ms, list[Turn]()
        active = self._levels[0][first:end] >= policy.threshold
        # A pause is bridged if what the pads leave of it is short enough.
        bridge_ms = policy.min_off_ms + 2 * policy.pad_ms
        is_over = end < self._num_frames
        for slot in np.flatnonzero(active.any(axis=0)).tolist():
            for a, b in _runs(active[:, slot], bridge_ms // frame_ms):
                start_ms = max(first * frame_ms, (first + a) * frame_ms - policy.pad_ms)
                end_ms = min(end * frame_ms, (first + b) * frame_ms + policy.pad_ms)
                quiet_ms = (self._final_until - first - b) * frame_ms
                if end_ms - start_ms >= policy.min_on_ms:
                    is_final = is_over or quiet_ms > bridge_ms
                    found.append(Turn(SpeakerId(epoch, slot), start_ms, end_ms, is_final))
        return found

    def on_grid(self, event: ActivityRevised) -> tuple[NDArray[np.float32], int, int]:
        """Return an event's rows, first frame and final border in frames of this track.

        A frame is given the maximum of the rows that touch it.
        """
        rows, theirs = event.probabilities, event.frame_ms
        ours = self._frame_ms or theirs
        if ours == theirs or len(rows) == 0:
            return rows, event.first_frame * theirs // ours, event.final_until * theirs // ours
        first = event.first_frame * theirs // ours
        end = -(-(event.first_frame + len(rows)) * theirs // ours)
        placed = np.empty((end - first, rows.shape[1]), np.float32)
        for frame in range(first, end):
            low = max(0, frame * ours // theirs - event.first_frame)
            high = -(-(frame + 1) * ours // theirs) - event.first_frame
            placed[frame - first] = rows[low:high].max(axis=0)
        return placed, first, event.final_until * theirs // ours

    def _reserve(self, num_frames: int) -> None:
        if len(self._is_settled) < num_frames:
            num_more = max(num_frames, 64)
            self._is_settled = np.concatenate([self._is_settled, np.zeros(num_more, np.bool_)])
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
