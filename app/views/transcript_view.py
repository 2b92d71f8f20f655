"""The transcript: only what is visible is laid out and painted; it follows the end until read."""

from PySide6.QtCore import QEvent, QPoint, QRect, QRectF, Qt, Signal, Slot
from PySide6.QtGui import (
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import QWidget

from app.state import AppState
from app.theme import Appearance
from app.views.following_area import FollowingArea
from app.views.name_editor import NameEditor
from app.views.row_selection import RowSelection
from app.views.row_stack import RowStack
from app.views.transcript_layout import Metrics
from app.views.transcript_painter import TranscriptPainter
from app.views.transcript_rows import TranscriptRows, row_text
from engine.core.types import SpeakerId

_MAX_LAYOUTS = 200


class TranscriptView(FollowingArea):
    """Shows `AppState.document`.

    Signals:
        time_chosen: the start of a row somebody clicked, in samples.
        rename_asked: a speaker and the new name.

    Args:
        state: what to show.
        appearance: colours.
        text_size_pt: of the words.
    """

    time_chosen = Signal(int)
    rename_asked = Signal(object, str)

    def __init__(
        self,
        state: AppState,
        appearance: Appearance,
        text_size_pt: int,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._state = state
        self._appearance = appearance
        self._text_size_pt = text_size_pt
        self._stack = RowStack(state.document)
        self._was_following = False
        self._placeholder = ""
        self.selection = RowSelection()
        self._editor = NameEditor(self.viewport())
        self._editor.accepted.connect(self.rename_asked)
        self._editor.closed.connect(self._end_naming)
        self._prepare_widgets()
        self._connect(state, appearance)
        self._replace_document()

    @property
    def rows(self) -> TranscriptRows:
        """What it shows, from top to bottom."""
        return self._stack.rows

    def set_text_size(self, size_pt: int) -> None:
        """Show words at a size in points."""
        if size_pt != self._text_size_pt:
            self._text_size_pt = size_pt
            self._relayout()

    def set_placeholder(self, text: str) -> None:
        """Say this where there is no row."""
        if text != self._placeholder:
            self._placeholder = text
            self.viewport().update()

    def show_sample(self, sample: int) -> None:
        """Bring the row that holds a moment into view, and leave the end."""
        row = self._stack.rows.row_at(sample)
        if row >= 0:
            self.set_following(False)
            self.selection.choose(row)
            self._show_row(row)

    def selected_text(self) -> str:
        """Return the chosen rows as text with times and names."""
        chosen = self.selection.rows(len(self._stack))
        return "\n".join(row_text(self._state.document, self._stack.row(row)) for row in chosen)

    @Slot()
    def copy(self) -> None:
        """Put the chosen rows on the clipboard."""
        text = self.selected_text()
        if text:
            QGuiApplication.clipboard().setText(text)

    @Slot()
    def select_all(self) -> None:
        """Choose every row."""
        self.selection.choose_all(len(self._stack))
        self.viewport().update()

    @Slot()
    def rename_current(self) -> None:
        """Let the user name the speaker of the chosen row, or of the last one."""
        row = self.selection.current
        self._edit_name(len(self._stack) - 1 if row is None else row)

    # --- Qt events ---

    def paintEvent(self, event: QPaintEvent) -> None:
        painter, theme = QPainter(self.viewport()), self._appearance.theme
        artist = TranscriptPainter(
            painter, self._state.document, self._stack.metrics, self._appearance
        )
        artist.fill(event.rect())
        if not len(self._stack):
            artist.paint_placeholder(self.viewport().rect(), self._placeholder)
        offset, height = self.offset, self.viewport().height()
        first = self._stack.heights.row_at(offset)
        for index in range(max(0, first), len(self._stack)):
            top = self._stack.heights.top(index) - offset
            if top >= height:
                break
            row = self._stack.row(index)
            area = QRect(0, top, self.viewport().width(), self._stack.heights.height(index))
            is_chosen = self.selection.has(index)
            artist.paint(row, area, self._stack.laid_out(index, theme), is_chosen=is_chosen)
        painter.end()

    def resizeEvent(self, event: QResizeEvent) -> None:
        self.place_button()
        if event.size().width() != event.oldSize().width():
            self._relayout()
        else:
            self.settle()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._relayout()

    def scrollContentsBy(self, dx: int, dy: int) -> None:
        super().scrollContentsBy(dx, dy)
        self._editor.cancel()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        row = self._row_at(event.position().toPoint())
        if row is None or event.button() != Qt.MouseButton.LeftButton:
            return
        extend = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        self.selection.choose(row, extend=extend)
        self._tell_current()
        self.time_chosen.emit(self._stack.row(row).start)
        self.viewport().update()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        row = self._row_at(event.position().toPoint())
        if row is not None and event.buttons() & Qt.MouseButton.LeftButton:
            self.selection.choose(row, extend=True)
            self.viewport().update()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        row = self._row_at(event.position().toPoint())
        if row is not None:
            self._edit_name(row)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        last = len(self._stack) - 1
        steps = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}
        key = Qt.Key(event.key())
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy()
        elif event.matches(QKeySequence.StandardKey.SelectAll):
            self.select_all()
        elif key in steps and last >= 0:
            current = self.selection.current
            row = last if current is None else min(max(current + steps[key], 0), last)
            extend = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
            self.selection.choose(row, extend=extend)
            self._show_row(row)
        elif key == Qt.Key.Key_End:
            self.jump_to_latest()
        elif key == Qt.Key.Key_Home:
            self.verticalScrollBar().setValue(0)
        else:
            super().keyPressEvent(event)

    # --- changes of the document ---

    @Slot()
    def _replace_document(self) -> None:
        self._stack = RowStack(self._state.document)
        self.selection.clear()
        # What is recorded is followed; a kept recording is read from its beginning.
        self.is_growing = self._state.is_live_shown
        self.set_following(self.is_growing)
        self._relayout()
        if not self.is_following:
            self.set_offset(0)
            self.settle()

    @Slot(int)
    def _take_lines(self, first_line: int) -> None:
        self._rows_changed(self._stack.rows.update(first_line))

    @Slot()
    def _take_spans(self) -> None:
        self._rows_changed(self._stack.rows.update(len(self._state.document.lines)))

    @Slot()
    def _take_partial(self) -> None:
        self._rows_changed(self._stack.rows.update_partial())

    def _rows_changed(self, first: int) -> None:
        self._stack.rows_changed(first)
        self.selection.limit(len(self._stack))
        self.settle()

    # --- layout ---

    @Slot()
    def _relayout(self) -> None:
        anchor = self._stack.heights.row_at(self.offset) if self._stack.heights.total else -1
        width = self.viewport().width()
        self._stack.set_metrics(Metrics(self.font(), self._text_size_pt, width))
        self.verticalScrollBar().setSingleStep(self._stack.metrics.line_height)
        self.settle()
        if not self.is_following and 0 <= anchor < len(self._stack):
            self.set_offset(self._stack.heights.top(anchor))
            self.settle()

    def content_height(self) -> int:
        return self._stack.heights.total

    def measure_end(self, height: int) -> None:
        self._stack.measure_last(height, self._appearance.theme)

    def measure_at(self, offset: int, height: int) -> int:
        return self._stack.measure_from(offset, height, self._appearance.theme)

    def _show_row(self, row: int) -> None:
        self._stack.measure(row, self._appearance.theme)
        top, height = self._stack.heights.top(row), self.viewport().height()
        if not self.offset <= top <= self.offset + height - self._stack.heights.height(row):
            self.verticalScrollBar().setValue(max(0, top - height // 3))
        self._tell_current()
        self.viewport().update()

    def _row_at(self, point: QPoint) -> int | None:
        y = point.y() + self.offset
        return self._stack.heights.row_at(y) if 0 <= y < self._stack.heights.total else None

    def _edit_name(self, index: int) -> None:
        rows = self._stack.rows.rows
        if not 0 <= index < len(rows) or not self._state.is_live_shown:
            return
        speaker: SpeakerId | None = rows[index].speaker
        if speaker is None:
            return
        while index > 0 and not rows[index].has_header and rows[index - 1].speaker == speaker:
            index -= 1
        self._show_row(index)
        # The words that come meanwhile must not carry the name away.
        self._was_following = self.is_following
        self.set_following(False)
        top = self._stack.heights.top(index) - self.offset + 8
        place = QRectF(
            self._stack.metrics.text_left - 4, top, 220, self._stack.metrics.small_height + 10
        )
        name = self._state.document.speaker_name(speaker)
        self._editor.edit(speaker, name, place.toRect())

    def _tell_current(self) -> None:
        row = self.selection.current
        if row is not None and row < len(self._stack):
            text = row_text(self._state.document, self._stack.row(row))
            self.setAccessibleDescription(text)

    @Slot()
    def _end_naming(self) -> None:
        """Go on following if naming a speaker has interrupted it."""
        if self._was_following:
            self._was_following = False
            self.jump_to_latest()

    def _prepare_widgets(self) -> None:
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("Transcript")
        self.setMinimumSize(240, 120)
        self.viewport().setCursor(Qt.CursorShape.ArrowCursor)

    def _connect(self, state: AppState, appearance: Appearance) -> None:
        state.document_replaced.connect(self._replace_document)
        state.lines_changed.connect(self._take_lines)
        state.spans_changed.connect(self._take_spans)
        state.partial_changed.connect(self._take_partial)
        appearance.changed.connect(self._relayout)
