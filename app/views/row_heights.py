"""Heights of rows, known or estimated, and where each begins."""

import numpy as np
from numpy.typing import NDArray


class RowHeights:
    """Positions of rows below each other; a query costs little even with thousands of rows."""

    def __init__(self) -> None:
        self._heights: NDArray[np.int64] = np.zeros(256, np.int64)
        self._is_exact: NDArray[np.bool_] = np.zeros(256, np.bool_)
        self._ends: NDArray[np.int64] = np.zeros(0, np.int64)
        self._num_rows = 0
        self._is_dirty = True

    @property
    def total(self) -> int:
        """Height of all rows."""
        ends = self._positions()
        return int(ends[-1]) if len(ends) else 0

    def keep(self, num_rows: int) -> None:
        """Forget the rows from `num_rows` on."""
        self._num_rows = min(self._num_rows, num_rows)
        self._is_dirty = True

    def append(self, estimate: int) -> None:
        """Add a row whose height is not known yet."""
        if self._num_rows == len(self._heights):
            self._heights = np.concatenate([self._heights, np.zeros_like(self._heights)])
            self._is_exact = np.concatenate([self._is_exact, np.zeros_like(self._is_exact)])
        self._heights[self._num_rows] = estimate
        self._is_exact[self._num_rows] = False
        self._num_rows += 1
        self._is_dirty = True

    def set(self, row: int, height: int) -> int:
        """Tell a row's real height; returns how much it grew."""
        growth = height - int(self._heights[row])
        self._is_exact[row] = True
        if growth:
            self._heights[row] = height
            self._is_dirty = True
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

    def _positions(self) -> NDArray[np.int64]:
        if self._is_dirty:
            self._ends = np.cumsum(self._heights[: self._num_rows])
            self._is_dirty = False
        return self._ends
