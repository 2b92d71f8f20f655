"""Which rows are active when, at a threshold, from the kept probabilities; wide views included."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from app.views.timeline.rows import EpochStretch, TimelineRow, epoch_stretches
from app.views.timeline.words import Stretches
from engine.text.document import TranscriptDocument

POOL = 16
"""Frames counted together for wide views, and once more for the widest."""
_EXACT_FRAMES = 4096
"""Up to so many frames are looked at one by one."""
_USUAL_FRAME_MS = 80
_JOINED_FRAMES = 8
"""Words given to the same people are one stretch over pauses of so many frames."""
_HEARD = 0.5
"""Share of a word in which a row must be active to count as heard by the diarizer as well."""

Counts = NDArray[np.uint16]


@dataclass(frozen=True, slots=True)
class Columns:
    """Rows as columns of pixels.

    Args:
        active: (num_rows, n) float32, share of a column's time in which a row is active.
        assigned: (num_rows, n) float32, share that the user gave to a row.
        overlap: (n,) float32, share in which two rows or more are active.
    """

    active: NDArray[np.float32]
    assigned: NDArray[np.float32]
    overlap: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Gift:
    """Frames [first, end) of words that the user gave to rows, or keeps with them.

    Args:
        first: frame.
        end: one past the last.
        rows: indices.
        is_moved: whether the diarizer heard somebody else there.
    """

    first: int
    end: int
    rows: frozenset[int]
    is_moved: bool


class RowActivity:
    """Activity of the rows of one document.

    Probabilities become bits once; what is new costs, not what there is. What wide views need is
    counted beforehand.

    Args:
        document: whose activity.
        threshold: a row is active where the probability is at least this.
    """

    def __init__(self, document: TranscriptDocument, threshold: float) -> None:
        self._document = document
        self._track = document.activity
        self.threshold = threshold
        self._bits = np.zeros(0, np.uint8)
        self._revision = 0
        self._rows: tuple[TimelineRow, ...] = ()
        self._epochs: list[tuple[EpochStretch, NDArray[np.uint8], list[list[int]]]] = []
        self._locked: Stretches | None = None
        self._gifts: list[Gift] = []
        self._gift_ends: list[int] = []
        self._levels: list[Counts] = []

    @property
    def frame_s(self) -> float:
        """Length of a frame."""
        return (self._track.frame_ms or _USUAL_FRAME_MS) / 1000

    @property
    def num_frames(self) -> int:
        """Frames that are known, or belong to words somebody was given."""
        return max(self._track.num_frames, self._gift_ends[-1] if self._gift_ends else 0)

    def set_threshold(self, threshold: float) -> None:
        """Draw the line between active and not elsewhere."""
        self.threshold = threshold
        self._revision = 0
        self._take_bits(0)
        self._count(0)

    def set_rows(self, rows: Sequence[TimelineRow], locked: Stretches) -> None:
        """Tell whose rows there are, and what the user gave to whom."""
        self._rows = tuple(rows)
        self._take_bits(self._track.changed_since(self._revision))
        self._take_epochs()
        self._locked = locked
        self._take_gifts()
        self._count(0)

    def update(self) -> int:
        """Take in what is new and return the first frame that changed."""
        first = self._track.changed_since(self._revision)
        if first < self._track.num_frames:
            self._take_bits(first)
            self._take_epochs()
            if self._gifts and first < self._gift_ends[-1]:
                self._take_gifts()
                self._count(0)
            else:
                self._count(first)
        return first

    def frames(self, first: int, end: int) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return which rows are active and which were given the words, (num_rows, n) each."""
        active = np.zeros((len(self._rows), end - first), np.bool_)
        for stretch, masks, _ in self._epochs:
            low, high = max(first, stretch.first), min(end, stretch.end)
            for row, mask in enumerate(masks if low < high else ()):
                bits = self._bits[low:high] & mask
                np.not_equal(bits, 0, out=active[row, low - first : high - first])
        assigned = np.zeros_like(active)
        for gift in self.gifts(first, end):
            if gift.is_moved:
                where = slice(max(0, gift.first - first), gift.end - first)
                rows = list(gift.rows)
                active[[row for row in range(len(active)) if row not in gift.rows], where] = False
                assigned[rows, where] = ~active[rows, where]
        return active, assigned

    def gifts(self, first: int, end: int) -> list[Gift]:
        """Return the words in frames [first, end) that the user gave to rows, or keeps there."""
        low = bisect_right(self._gift_ends, first)
        found = []
        for gift in self._gifts[low:]:
            if gift.first >= end:
                break
            if gift.end > first:
                found.append(gift)
        return found

    def shade(self, first: int, end: int, max_cells: int) -> tuple[NDArray[np.float32], int, int]:
        """Return the rows' probabilities (num_rows, n), their first frame and frames a cell."""
        cells, start, pool = self._track.overview(first, end, max_cells)
        shade = np.zeros((len(self._rows), len(cells)), np.float32)
        for stretch, _, slots in self._epochs:
            low = max(0, stretch.first - start) // pool
            high = max(0, -(-(stretch.end - start) // pool))
            for row, columns in enumerate(slots):
                if columns and low < min(high, len(cells)):
                    shade[row, low:high] = cells[low:high, columns].max(axis=1)
        return shade, start, pool

    def columns(self, edges: NDArray[np.int64]) -> Columns:
        """Return columns of pixels.

        Args:
            edges: (n + 1,) frames between which the columns lie, growing.
        """
        num_rows, num_frames = len(self._rows), int(edges[-1] - edges[0])
        per_column = num_frames / (len(edges) - 1)
        level = 0 if per_column < POOL else 1 if per_column < POOL**2 else 2
        level = level if num_frames > _EXACT_FRAMES else 0
        cells = edges // POOL**level
        low, high = int(cells[0]), max(int(cells[-1]), int(cells[0]) + 1)
        counts = self._counts(level, low, high)
        at = np.minimum(cells[:-1] - low, high - low - 1)
        lengths = np.maximum(1, np.diff(cells)) * POOL**level
        sums = np.add.reduceat(counts, at, axis=1, dtype=np.uint32) / lengths
        shares = sums.astype(np.float32)
        return Columns(shares[:num_rows], shares[num_rows:-1], shares[-1])

    def _counts(self, level: int, low: int, high: int) -> Counts:
        """Return counts of active frames, of given ones, and of overlap, a row each; one a cell."""
        if level == 0:
            return self._stack(low, high).astype(np.uint16)
        known = self._levels[level - 1][:, low:high]
        return np.pad(known, ((0, 0), (0, high - low - known.shape[1])))

    def _stack(self, first: int, end: int) -> NDArray[np.bool_]:
        active, assigned = self.frames(first, end)
        overlap = (active | assigned).sum(axis=0, dtype=np.uint8) > 1
        return np.concatenate([active, assigned, overlap[np.newaxis]])

    def _count(self, first: int) -> None:
        """Count anew from a frame on."""
        num_counts = 2 * len(self._rows) + 1
        for level in (1, 2):
            size = POOL**level
            low, high = first // size, -(-self.num_frames // size)
            fresh = self._pooled(level, low, high)
            if first == 0 or len(self._levels) < level:
                del self._levels[level - 1 :]
                self._levels.append(np.zeros((num_counts, 2 * high + 64), np.uint16))
            elif self._levels[level - 1].shape[1] < high:
                more = np.zeros((num_counts, high), np.uint16)
                self._levels[level - 1] = np.concatenate([self._levels[level - 1], more], axis=1)
            self._levels[level - 1][:, low:high] = fresh

    def _pooled(self, level: int, low: int, high: int) -> Counts:
        if level == 1:
            # Bits are counted a byte at a time: a threshold is dragged over hours at once.
            packed = np.packbits(self._stack(low * POOL, high * POOL), axis=1)
            eights = np.bitwise_count(packed).astype(np.uint16)
            return eights[:, 0::2] + eights[:, 1::2]
        below = self._counts(level - 1, low * POOL, high * POOL)
        pooled: Counts = below.reshape(len(below), high - low, POOL).sum(axis=2, dtype=np.uint16)
        return pooled

    def _take_bits(self, first: int) -> None:
        track = self._track
        end = track.num_frames
        if len(self._bits) < end:
            more = np.zeros(end + 64, np.uint8)
            self._bits = np.concatenate([self._bits, more])
        # Half floats that are not negative have the order of the integers they are stored as.
        limit = np.float16(self.threshold).view(np.int16)
        rows = np.ascontiguousarray(track.rows(first, end)).view(np.int16)
        self._bits[first:end] = np.packbits((rows >= limit).ravel(), bitorder="little")
        self._revision = track.revision

    def _take_epochs(self) -> None:
        self._epochs = []
        for stretch in epoch_stretches(self._track):
            slots = [
                [c.slot for c in row.columns if c.epoch == stretch.epoch] for row in self._rows
            ]
            masks = np.array([sum(1 << slot for slot in row) for row in slots], np.uint8)
            self._epochs.append((stretch, masks, slots))

    def _take_gifts(self) -> None:
        """Find the frames of the words that users gave away, or keep where they are."""
        self._gifts, self._gift_ends = [], []
        if self._locked is None or len(self._locked[0]) == 0:
            return
        starts, ends, speakers = self._locked
        per_frame = self.frame_s * self._document.sample_rate
        firsts = (starts / per_frame).astype(np.int64)
        stops = np.maximum(firsts + 1, np.ceil(ends / per_frame).astype(np.int64))
        index = {row.speaker: at for at, row in enumerate(self._rows)}
        who = [frozenset(index[each] for each in all_ if each in index) for all_ in speakers]
        heard = np.zeros((len(self._rows), len(firsts)))
        active = self.frames(0, int(stops.max()))[0]
        for row in frozenset[int]().union(*who):
            sums = np.concatenate([[0], np.cumsum(active[row])])
            heard[row] = (sums[stops] - sums[firsts]) / (stops - firsts)
        for at, (first, stop) in enumerate(zip(firsts.tolist(), stops.tolist(), strict=True)):
            if who[at]:
                is_moved = bool(heard[list(who[at]), at].max() < _HEARD)
                self._add_gift(Gift(first, stop, who[at], is_moved))
        # Ends that only grow can be searched, also where words lie over each other.
        self._gift_ends = np.maximum.accumulate([0, *(gift.end for gift in self._gifts)])[
            1:
        ].tolist()

    def _add_gift(self, gift: Gift) -> None:
        last = self._gifts[-1] if self._gifts else None
        is_near = last is not None and gift.first - last.end <= _JOINED_FRAMES
        if last and is_near and (last.rows, last.is_moved) == (gift.rows, gift.is_moved):
            self._gifts[-1] = replace(last, end=max(last.end, gift.end))
        else:
            self._gifts.append(gift)
