"""Rows of the transcript below each other: measured when seen, laid out when painted."""

from collections import OrderedDict

from PySide6.QtGui import QFont

from app.theme import Theme
from app.views.row_heights import RowHeights
from app.views.transcript_layout import LaidOutRow, Metrics, lay_out
from app.views.transcript_rows import Row, RowKind, TranscriptRows
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
        self._layouts: OrderedDict[int, LaidOutRow] = OrderedDict()

    def __len__(self) -> int:
        return len(self.rows.rows)

    def row(self, index: int) -> Row:
        """Return a row."""
        return self.rows.rows[index]

    def set_metrics(self, metrics: Metrics) -> None:
        """Lay everything out anew."""
        self.metrics = metrics
        self.rows_changed(0)

    def rows_changed(self, first: int) -> None:
        """Forget what was measured from a row on."""
        for index in [index for index in self._layouts if index >= first]:
            del self._layouts[index]
        self.heights.keep(first)
        for row in self.rows.rows[first:]:
            self.heights.append(self.metrics.estimate(row, _num_words(row)))

    def measure(self, index: int, theme: Theme) -> int:
        """Make a row's height exact; returns how much it grew."""
        if self.heights.is_exact(index):
            return 0
        laid_out = self.laid_out(index, theme)
        estimate = self.metrics.estimate(self.row(index), 0)
        return self.heights.set(index, laid_out.height if laid_out else estimate)

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
        found = self._layouts.get(index)
        if found is None:
            found = lay_out(row, self.document, self.metrics, theme)
            self._layouts[index] = found
            while len(self._layouts) > _MAX_LAYOUTS:
                self._layouts.popitem(last=False)
        else:
            self._layouts.move_to_end(index)
        return found


def _num_words(row: Row) -> int:
    return (row.line.end - row.line.first if row.line else 0) + len(row.partial)
