"""Rows of the transcript below each other: measured when seen, laid out when painted."""

from collections import OrderedDict

from PySide6.QtGui import QFont

from app.theme import Theme
from app.views.transcript.layout import LaidOutRow, lay_out
from app.views.transcript.metrics import Metrics
from app.views.transcript.row_heights import RowHeights
from app.views.transcript.rows import Row, RowKind, RowsChange, TranscriptRows
from engine.text.document import TranscriptDocument

_MAX_LAYOUTS = 200


class RowStack:
    """Where each row stands; heights of rows nobody has seen are estimates.

    Args:
        document: whose rows.
    """

    def __init__(self, document: TranscriptDocument) -> None:
        self.document = document
        self.rows = TranscriptRows(document)
        self.heights = RowHeights()
        self.metrics = Metrics(QFont(), 13, 400)
        # By the row itself, held here so that its id is nobody else's.
        self._layouts: OrderedDict[int, tuple[Row, LaidOutRow]] = OrderedDict()

    def __len__(self) -> int:
        return len(self.rows.rows)

    @property
    def num_layouts(self) -> int:
        """How many rows are kept laid out."""
        return len(self._layouts)

    def row(self, index: int) -> Row:
        """Return a row."""
        return self.rows.rows[index]

    def set_metrics(self, metrics: Metrics) -> None:
        """Lay everything out anew."""
        self.metrics = metrics
        self.forget_layouts()
        self.heights = RowHeights()
        self.heights.splice(0, 0, [metrics.estimate(row) for row in self.rows.rows])

    def forget_layouts(self) -> None:
        """Lay out anew what is seen; heights stay."""
        self._layouts.clear()

    def take(self, change: RowsChange) -> None:
        """Take in that rows gave way to others."""
        first, removed, added = change
        estimates = [self.metrics.estimate(row) for row in self.rows.rows[first : first + added]]
        self.heights.splice(first, removed, estimates)

    def measure(self, index: int, theme: Theme) -> int:
        """Make a row's height exact; returns how much it grew."""
        if self.heights.is_exact(index):
            return 0
        laid_out = self.laid_out(index, theme)
        height = laid_out.height if laid_out else self.metrics.estimate(self.row(index))
        return self.heights.set(index, height)

    def measure_last(self, height: int, theme: Theme) -> None:
        """Make the heights exact of the last rows that fill a view."""
        index = len(self) - 1
        while index >= 0 and height > 0:
            self.measure(index, theme)
            height -= self.heights.height(index)
            index -= 1

    def measure_from(self, y: int, height: int, theme: Theme) -> int:
        """Make the heights exact of the rows that are seen in a view at `y`.

        Returns:
            How much the rows that begin above the view grew.
        """
        index, grown = max(0, self.heights.row_at(y)), 0
        while index < len(self) and self.heights.top(index) < y + grown + height:
            is_above = self.heights.top(index) < y
            growth = self.measure(index, theme)
            grown += growth if is_above else 0
            index += 1
        return grown

    def laid_out(self, index: int, theme: Theme) -> LaidOutRow | None:
        """Return a row's words; None for a marked stretch."""
        row = self.row(index)
        if row.kind is RowKind.SPAN:
            return None
        found = self._layouts.get(id(row))
        if found is not None:
            self._layouts.move_to_end(id(row))
            return found[1]
        laid_out = lay_out(row, self.document, self.metrics, theme)
        self._layouts[id(row)] = (row, laid_out)
        while len(self._layouts) > _MAX_LAYOUTS:
            self._layouts.popitem(last=False)
        return laid_out
