"""An area that shows a transcript's rows: where each is, and what stays put as they change."""

from collections.abc import Callable

from PySide6.QtCore import QEvent, QPoint, QRect, Qt, Slot
from PySide6.QtGui import QFocusEvent, QHelpEvent, QResizeEvent
from PySide6.QtWidgets import QToolTip, QWidget

from app.state import AppState
from app.theme import Appearance
from app.views.transcript.following_area import FollowingArea
from app.views.transcript.metrics import Metrics
from app.views.transcript.places import Place, Spot, place_of, spot_of
from app.views.transcript.row_stack import RowStack
from app.views.transcript.rows import RowsChange, TranscriptRows
from app.views.transcript.tips import as_rich_text, tip_at

_KEY_REASONS = (
    Qt.FocusReason.TabFocusReason,
    Qt.FocusReason.BacktabFocusReason,
    Qt.FocusReason.ShortcutFocusReason,
)
_MIN_WIDTH_PX, _MIN_HEIGHT_PX = 240, 120
_EDGE_PX = 6
"""What is brought into view keeps this distance from its edges."""


class RowArea(FollowingArea):
    """Rows below each other, of which only what is seen is laid out.

    Attributes:
        stack: the rows and where each is.
        shows_focus: whether the keyboard has brought the focus here.

    Args:
        state: whose document is shown.
        appearance: colours.
        text_size_pt: of the words.
    """

    def __init__(
        self,
        state: AppState,
        appearance: Appearance,
        text_size_pt: int,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.stack = RowStack(state.document)
        self._state = state
        self._appearance = appearance
        self._text_size_pt = text_size_pt
        self.shows_focus = False
        self.setMinimumHeight(_MIN_HEIGHT_PX)
        state.document_replaced.connect(self._replace_document)
        state.session_changed.connect(self._take_session)
        state.lines_changed.connect(self._take_lines)
        state.spans_changed.connect(self._take_spans)
        state.partial_changed.connect(self._take_partial)
        state.speakers_changed.connect(self._repaint_words)
        appearance.changed.connect(self._repaint_words)

    @property
    def rows(self) -> TranscriptRows:
        """What it shows, from top to bottom."""
        return self.stack.rows

    @property
    def readable_width(self) -> int:
        """The width at which lines of some words stand beside their times."""
        return self.stack.metrics.readable

    def row_count(self) -> int:
        """Return how many rows there are."""
        return len(self.stack)

    def row_rect(self, index: int) -> QRect:
        """Return where a row is on the viewport; it may be outside."""
        top = self.stack.heights.top(index) - self.offset
        return QRect(0, top, self.viewport().width(), self.stack.heights.height(index))

    def row_at(self, point: QPoint, *, nearest: bool = False) -> int | None:
        """Return the row at a point of the viewport; None where there is none."""
        y = point.y() + self.offset
        if not self.row_count() or not (nearest or 0 <= y < self.stack.heights.total):
            return None
        return self.stack.heights.row_at(y)

    def spot_at(self, point: QPoint, *, nearest: bool = False) -> Spot | None:
        """Return the word at a point of the viewport, or the nearest; None beside all words."""
        row = self.row_at(point, nearest=nearest)
        if row is None:
            return None
        laid_out = self.stack.laid_out(row, self._appearance.theme)
        if laid_out is None:
            return Spot(row, 0) if nearest else None
        x = point.x() - self.stack.metrics.text_left
        y = point.y() - self.row_rect(row).top() - laid_out.top
        word = laid_out.nearest_word(x, y) if nearest else laid_out.word_at(x, y)
        return Spot(row, word) if word is not None else None

    def is_header(self, point: QPoint) -> bool:
        """Whether a speaker's name is at a point of the viewport."""
        row = self.row_at(point)
        if row is None or not self.stack.row(row).has_header:
            return False
        return point.y() < self.row_rect(row).top() + self.stack.metrics.top(self.stack.row(row))

    def spot_rect(self, spot: Spot) -> QRect:
        """Return where the first line of a word is on the viewport; the row of a stretch."""
        theme = self._appearance.theme
        self.stack.measure(spot.row, theme)
        area, laid_out = self.row_rect(spot.row), self.stack.laid_out(spot.row, theme)
        rects = laid_out.word_rects(spot.word) if laid_out is not None else []
        if laid_out is None or not rects:
            return area
        left_top = QPoint(self.stack.metrics.text_left, area.top() + laid_out.top)
        return rects[0].toAlignedRect().translated(left_top)

    def is_in_view(self, spot: Spot) -> bool:
        """Whether the first line of a word is seen whole."""
        rect = self.spot_rect(spot)
        return rect.top() >= 0 and rect.bottom() < self.viewport().height()

    def reveal(self, spot: Spot) -> None:
        """Bring a word into view, and leave the end for it."""
        # What is measured on the way may push it out again, once.
        for _ in range(2):
            rect, height = self.spot_rect(spot), self.viewport().height()
            if rect.top() >= 0 and rect.bottom() < height:
                break
            self.set_following(False)
            near = max(_EDGE_PX, min(height // 3, height - rect.height() - _EDGE_PX))
            self.set_offset(max(0, self.offset + rect.top() - near))
            self.settle()

    def scroll_into_view(self, row: int) -> None:
        """Show a row's upper edge where it is above the view."""
        above = self.row_rect(row).top()
        if above < 0:
            self.set_offset(self.offset + above)
            self.settle()

    def scroll_by(self, pixels: int) -> None:
        """Scroll as the reader's wish."""
        self.verticalScrollBar().setValue(self.offset + pixels)

    def go_to_beginning(self) -> None:
        """Show the first rows."""
        self.verticalScrollBar().setValue(0)

    def row_to_begin_at(self) -> int:
        """Return the row that reading begins with: the newest, or the first in view."""
        if self.is_following:
            return self.row_count() - 1
        return self.stack.heights.row_at(self.offset + self.stack.metrics.line_height)

    def row_a_page_away(self, row: int, step: int) -> int:
        """Return the row a view's height above (-1) or below (+1) another."""
        heights, page = self.stack.heights, self.viewport().height()
        found = heights.row_at(max(0, heights.top(row) + step * page))
        return found if found != row else min(max(row + step, 0), self.row_count() - 1)

    def held_spot(self) -> Spot | None:
        """Return the word that must not move while rows change; the first in view if None."""
        return None

    def rows_replaced(self) -> None:
        """Take in that another document is shown, before its rows are laid out."""

    def rows_moved(self) -> None:
        """Take in that rows came, went or moved, before they are shown."""

    def set_text_size(self, size_pt: int) -> None:
        """Show words at a size in points."""
        if size_pt != self._text_size_pt:
            self._text_size_pt = size_pt
            self.relayout()

    @Slot()
    def relayout(self) -> None:
        """Lay everything out anew."""
        anchor = None if self.is_following else self._anchor()
        metrics = Metrics(self.font(), self._text_size_pt, self.viewport().width())
        self.setMinimumWidth(max(_MIN_WIDTH_PX, metrics.narrowest))
        self.stack.set_metrics(metrics)
        self.verticalScrollBar().setSingleStep(metrics.line_height)
        self._restore(anchor)

    def _change_rows(self, update: Callable[[], RowsChange]) -> None:
        """Take in a change of rows; unless the end is followed, what is read stays put."""
        anchor = None if self.is_following else self._anchor()
        self.stack.take(update())
        self.rows_moved()
        self._restore(anchor)

    def _anchor(self) -> tuple[Place, int] | None:
        """Return a word that stays put, and where it stands on the viewport."""
        if not self.row_count() or not self.stack.heights.total:
            return None
        spot = self.held_spot() or self.spot_at(QPoint(0, 0), nearest=True)
        if spot is None:
            return None
        return place_of(self.rows, spot), self.spot_rect(spot).top()

    def _restore(self, anchor: tuple[Place, int] | None) -> None:
        spot = spot_of(self.rows, anchor[0]) if anchor else None
        if anchor is not None and spot is not None:
            self.set_offset(self.offset + self.spot_rect(spot).top() - anchor[1])
        self.settle()

    # --- changes of the document ---

    @Slot()
    def _replace_document(self) -> None:
        self.stack = RowStack(self._state.document)
        self.rows_replaced()
        # What is recorded is followed; a whole recording is read from its beginning.
        self.is_growing = self._grows()
        self.set_following(self.is_growing)
        self.relayout()
        if not self.is_following:
            self.set_offset(0)
            self.settle()

    @Slot()
    def _take_session(self) -> None:
        if self.is_growing != self._grows():
            self.is_growing = self._grows()
            self.settle()

    def _grows(self) -> bool:
        return self._state.is_live_shown and not self._state.document.is_complete

    @Slot(int)
    def _take_lines(self, first_line: int) -> None:
        self._change_rows(lambda: self.rows.update(first_line))

    @Slot()
    def _take_spans(self) -> None:
        self._change_rows(self.rows.update_spans)

    @Slot()
    def _take_partial(self) -> None:
        self._change_rows(self.rows.update_partial)

    @Slot()
    def _repaint_words(self) -> None:
        self.stack.forget_layouts()
        self.viewport().update()

    # --- what a FollowingArea asks for ---

    def content_height(self) -> int:
        return self.stack.heights.total

    def measure_end(self, height: int) -> None:
        self.stack.measure_last(height, self._appearance.theme)

    def measure_at(self, offset: int, height: int) -> int:
        return self.stack.measure_from(offset, height, self._appearance.theme)

    # --- Qt events ---

    def viewportEvent(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            QToolTip.showText(event.globalPos(), self.tip(event.pos()), self.viewport())
            return True
        return super().viewportEvent(event)

    def tip(self, point: QPoint) -> str:
        """Return what is told of a point of the viewport, as rich text; empty for nothing."""
        row = self.row_at(point)
        if row is None:
            return ""
        laid_out = self.stack.laid_out(row, self._appearance.theme)
        inside = point - self.row_rect(row).topLeft()
        document, metrics = self.stack.document, self.stack.metrics
        return as_rich_text(tip_at(document, self.stack.row(row), laid_out, metrics, inside))

    def resizeEvent(self, event: QResizeEvent) -> None:
        self.place_button()
        if event.size().width() != event.oldSize().width():
            self.relayout()
        else:
            self.settle()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self.relayout()

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.shows_focus = event.reason() in _KEY_REASONS
        self.viewport().update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.shows_focus = False
        self.viewport().update()
