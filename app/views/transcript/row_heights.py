"""Heights of rows, known or estimated, and where each begins."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


class RowHeights:
    """Positions of rows below each other; a query costs little even with thousands of rows."""

    def __init__(self) -> None:
        self._heights: NDArray[np.int64] = np.zeros(256, np.int64)
        self._is_exact: NDArray[np.bool_] = np.zeros(256, np.bool_)
        self._ends: NDArray[np.int64] = np.zeros(256, np.int64)
        self._num_rows = 0
        self._num_known = 0  # rows whose ends are up to date

    @property
    def total(self) -> int:
        """Height of all rows."""
        return int(self._positions()[-1]) if self._num_rows else 0

    def splice(self, first: int, removed: int, estimates: Sequence[int]) -> None:
        """Put rows whose heights are not known yet in the place of others.

        Args:
            first: the first row that gives way.
            removed: how many do.
            estimates: of the rows that come, pixels.
        """
        rest = self._num_rows - first - removed
        end = first + len(estimates)
        self._reserve(end + rest)
        for array in (self._heights, self._is_exact):
            array[end : end + rest] = array[first + removed : first + removed + rest].copy()
        self._heights[first:end] = estimates
        self._is_exact[first:end] = False
        self._num_rows = end + rest
        self._num_known = min(self._num_known, first)

    def set(self, row: int, height: int) -> int:
        """Tell a row's real height; returns how much it grew."""
        growth = height - int(self._heights[row])
        self._is_exact[row] = True
        if growth:
            self._heights[row] = height
            self._num_known = min(self._num_known, row)
        return growth

    def is_exact(self, row: int) -> bool:
        """Whether a row's height was measured."""
        return bool(self._is_exact[row])

    def top(self, row: int) -> int:
        """Return where a row begins."""
        return int(self._positions()[row] - self._heights[row])

    def height(self, row: int) -> int:
        """Return a row's height."""
        return int(self._heights[row])

    def row_at(self, y: int) -> int:
        """Return the row at a height, the nearest outside of them; -1 without rows."""
        if self._num_rows == 0:
            return -1
        found = int(np.searchsorted(self._positions(), y, side="right"))
        return min(found, self._num_rows - 1)

    def _reserve(self, num_rows: int) -> None:
        if num_rows > len(self._heights):
            more = max(num_rows, 2 * len(self._heights)) - len(self._heights)
            self._heights = np.concatenate([self._heights, np.zeros(more, np.int64)])
            self._is_exact = np.concatenate([self._is_exact, np.zeros(more, np.bool_)])
            self._ends = np.concatenate([self._ends, np.zeros(more, np.int64)])

    def _positions(self) -> NDArray[np.int64]:
        known, num_rows = self._num_known, self._num_rows
        if known < num_rows:
            np.cumsum(self._heights[known:num_rows], out=self._ends[known:num_rows])
            if known:
                self._ends[known:num_rows] += self._ends[known - 1]
            self._num_known = num_rows
        return self._ends[:num_rows]
