"""Where the parts of the timeline stand, for the font in force and the room there is."""

from dataclasses import dataclass
from functools import cached_property

from PySide6.QtCore import QRectF

_USUAL_FONT_HEIGHT = 18
"""Fonts up to this many pixels high fit the sizes as they are."""
_RULER, _LEVEL, _OVERLAP, _HEADER, _ROW, _OWN = 22, 26, 10, 184, 27, 18
_LEAST_ROW = 18
_MOST_ROW = 44
RIGHT = 14
"""Pixels right of the plot; a scroll bar stands there when there are more rows than fit."""
BOTTOM = 4
_SHOWN_ROWS = 2
"""Room is kept for so many rows from the start, so that the first speakers move nothing."""


@dataclass(frozen=True)
class TimelineSizes:
    """Pixels; larger fonts make everything larger.

    Args:
        font_height: of the names.
    """

    font_height: int = _USUAL_FONT_HEIGHT

    @cached_property
    def ruler(self) -> int:
        """Height of the times."""
        return self.scaled(_RULER)

    @cached_property
    def level(self) -> int:
        """Height of the level strip."""
        return self.scaled(_LEVEL)

    @cached_property
    def overlap(self) -> int:
        """Height of the strip that marks overlaps."""
        return self.scaled(_OVERLAP)

    @cached_property
    def top(self) -> int:
        """Where the rows begin."""
        return self.ruler + self.level + self.overlap

    @cached_property
    def header(self) -> int:
        """Width of the names."""
        return self.scaled(_HEADER)

    @cached_property
    def row(self) -> int:
        """Usual height of a speaker's row."""
        return self.scaled(_ROW)

    @cached_property
    def least_row(self) -> int:
        """Height of a row where room is scarce."""
        return self.scaled(_LEAST_ROW)

    @cached_property
    def most_row(self) -> int:
        """Height of a row where there is more than enough room."""
        return self.scaled(_MOST_ROW)

    @cached_property
    def own(self) -> int:
        """Height of the row of the program's own voice."""
        return self.scaled(_OWN)

    def height(self, num_rows: int, *, has_own_voice: bool, is_least: bool = False) -> int:
        """Return the height that shows all rows as usual, or the least that shows anything."""
        own = self.own if has_own_voice else 0
        rows = _SHOWN_ROWS * self.least_row if is_least else max(_SHOWN_ROWS, num_rows) * self.row
        return self.top + rows + own + BOTTOM

    def scaled(self, size: int) -> int:
        """Return a size for the usual font as one for this font."""
        return round(size * max(1.0, self.font_height / _USUAL_FONT_HEIGHT))


@dataclass(frozen=True)
class TimelineLayout:
    """The parts on the widget.

    Args:
        sizes: for the font in force.
        width: of the widget.
        height: of the widget.
        num_rows: speakers.
        has_own_voice: whether the program's own voice has a row at the bottom.
        scroll_px: how far the rows are moved up.
    """

    sizes: TimelineSizes
    width: int
    height: int
    num_rows: int = 0
    has_own_voice: bool = False
    scroll_px: int = 0

    @cached_property
    def plot(self) -> QRectF:
        """Everything right of the names."""
        header = self.sizes.header
        return QRectF(header, 0, max(1, self.width - header - RIGHT), self.height)

    @cached_property
    def rows_height(self) -> int:
        """How much of the rows is seen."""
        own = self.sizes.own if self.has_own_voice else 0
        return max(0, self.height - self.sizes.top - own - BOTTOM)

    @cached_property
    def row_height(self) -> int:
        """Rows are packed where room is scarce, and as high as there is room for, within reason."""
        if self.num_rows == 0:
            return self.sizes.row
        fair = self.rows_height // max(_SHOWN_ROWS, self.num_rows)
        return min(max(fair, self.sizes.least_row), self.sizes.most_row)

    @cached_property
    def content_height(self) -> int:
        """Height of all rows, seen or not."""
        return self.num_rows * self.row_height

    @cached_property
    def hidden_px(self) -> int:
        """How far the rows can be moved up."""
        return max(0, self.content_height - self.rows_height)

    @cached_property
    def rows_rect(self) -> QRectF:
        """Where rows are seen, with their names."""
        return QRectF(0, self.sizes.top, self.width - RIGHT, self.rows_height)

    @cached_property
    def own_rect(self) -> QRectF:
        """The row of the program's own voice, with its name."""
        height = self.sizes.own if self.has_own_voice else 0
        return QRectF(0, self.height - BOTTOM - height, self.width - RIGHT, height)

    def row_rect(self, index: int) -> QRectF:
        """Return a speaker's row with its name, seen or not."""
        top = self.sizes.top + index * self.row_height - self.scroll_px
        return QRectF(0, top, self.width - RIGHT, self.row_height)

    def row_at(self, y: float) -> int | None:
        """Return the index of the row at a height, counting the own voice's as the last."""
        if self.has_own_voice and self.own_rect.top() <= y < self.own_rect.bottom():
            return self.num_rows
        if not self.sizes.top <= y < self.sizes.top + self.rows_height:
            return None
        index = int((y - self.sizes.top + self.scroll_px) // self.row_height)
        return index if index < self.num_rows else None
