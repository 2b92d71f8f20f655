"""Which rows of a list are chosen: one stretch, from where it began to where it was drawn."""

from collections.abc import Sequence


class RowSelection:
    """A stretch of chosen rows."""

    def __init__(self) -> None:
        self._anchor: int | None = None
        self._current: int | None = None

    @property
    def current(self) -> int | None:
        """The row chosen last."""
        return self._current

    def choose(self, row: int, *, extend: bool = False) -> None:
        """Choose a row alone, or everything from the first chosen one to it."""
        if not extend or self._anchor is None:
            self._anchor = row
        self._current = row

    def choose_all(self, num_rows: int) -> None:
        """Choose every row."""
        if num_rows:
            self._anchor, self._current = 0, num_rows - 1

    def clear(self) -> None:
        """Choose nothing."""
        self._anchor = self._current = None

    def limit(self, num_rows: int) -> None:
        """Give up rows that are gone."""
        if self._current is not None and self._anchor is not None:
            if num_rows == 0:
                self.clear()
                return
            self._current = min(self._current, num_rows - 1)
            self._anchor = min(self._anchor, num_rows - 1)

    def has(self, row: int) -> bool:
        """Whether a row is chosen."""
        if self._anchor is None or self._current is None:
            return False
        return min(self._anchor, self._current) <= row <= max(self._anchor, self._current)

    def rows(self, num_rows: int) -> Sequence[int]:
        """Return the chosen rows of `num_rows`, from top to bottom."""
        return [row for row in range(num_rows) if self.has(row)]
