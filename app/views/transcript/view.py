"""The transcript: read, heard, chosen, corrected and given to speakers word by word."""

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import (
    QContextMenuEvent,
    QGuiApplication,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
)
from PySide6.QtWidgets import QWidget

from app.i18n import tr
from app.views.context import ViewContext
from app.views.transcript.cursor import TranscriptCursor
from app.views.transcript.editors import TranscriptEditors
from app.views.transcript.hearing import Hearing
from app.views.transcript.keys import press_key, speaker_in_slot
from app.views.transcript.lights import Lights, words_of_hit
from app.views.transcript.menu import open_menu
from app.views.transcript.mouse import TranscriptMouse
from app.views.transcript.painter import TranscriptPainter
from app.views.transcript.places import Place, Spot, spot_of
from app.views.transcript.row_area import RowArea
from app.views.transcript.text import full_text, plain_text, row_text
from engine.text.search import Hit


class TranscriptView(RowArea):
    """Shows `AppState.document`.

    Signals:
        time_chosen: where somebody put the cursor here, in samples.
        current_row_changed: the cursor is in another row, or the row has another index; -1: none.

    Attributes:
        hears_clicks: whether a click on a word lets it be heard.
        cursor_at: the word cursor and the selection.
        editors: what is being written over it.
        hearing: plays words, and lights the one that is heard.

    Args:
        context: what is shown, and what takes commands.
        text_size_pt: of the words.
    """

    time_chosen = Signal(int)
    current_row_changed = Signal(int)

    def __init__(
        self, context: ViewContext, text_size_pt: int, parent: QWidget | None = None
    ) -> None:
        super().__init__(context.state, context.appearance, text_size_pt, parent)
        self._context = context
        self._was_following = False
        self._placeholder = ""
        self.hears_clicks = True
        self.cursor_at = TranscriptCursor(context.marks, self)
        self.editors = TranscriptEditors(self, context, self)
        self.hearing = Hearing(self, context)
        self._mouse = TranscriptMouse(self)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(tr("Transcript"))
        self.viewport().setCursor(Qt.CursorShape.ArrowCursor)
        self._connect()
        self._replace_document()

    @property
    def current_row(self) -> int:
        """The row the cursor is in; -1 for none."""
        return self.cursor_at.row

    @property
    def placeholder(self) -> str:
        """What stands where there is no row."""
        return self._placeholder

    def row_text(self, index: int) -> str:
        """Return a row as people hear it told: time, speaker and words."""
        return row_text(self._state.document, self.stack.row(index))

    def choose_row(self, index: int) -> None:
        """Choose a row and bring it into view."""
        if 0 <= index < self.row_count():
            self.cursor_at.choose_row(index)

    def set_placeholder(self, text: str) -> None:
        """Say this where there is no row."""
        if text != self._placeholder:
            self._placeholder = text
            self.viewport().update()

    def show_sample(self, sample: int) -> None:
        """Put the cursor at a moment, bring its word into view, and leave the end."""
        self.cursor_at.put_at(sample)

    def show_hit(self, hit: Hit) -> None:
        """Put the cursor at a found text and bring it into view."""
        document = self._state.document
        if not document.words:
            return
        entry = document.words[words_of_hit(document, hit).start]
        spot = spot_of(self.rows, Place(entry.id, entry.word.start))
        if spot is not None:
            self.cursor_at.put(spot)

    # --- copying ---

    def selected_text(self) -> str:
        """Return the chosen words, or the row of the cursor, with times and speakers."""
        return full_text(self._state.document, self.rows, self.cursor_at.parts())

    def selected_words(self) -> str:
        """Return the chosen words, or those of the row of the cursor, a line for each row."""
        return plain_text(self.rows, self.cursor_at.parts())

    @Slot()
    def copy(self) -> None:
        """Put what is chosen on the clipboard, with times and speakers."""
        _copy(self.selected_text())

    @Slot()
    def copy_plain(self) -> None:
        """Put the chosen words on the clipboard."""
        _copy(self.selected_words())

    @Slot()
    def select_all(self) -> None:
        """Choose everything, and stay where the reader is."""
        self.cursor_at.choose_all()

    # --- changing ---

    @Slot()
    def edit_current(self) -> None:
        """Let the user correct the row of the cursor."""
        if self.current_row >= 0:
            self.edit_row(self.current_row)

    def edit_row(self, index: int) -> None:
        """Let the user correct a row."""
        if self.stack.row(index).words:
            self._hold_still()
            spot = self.cursor_at.spot
            word = spot.word if spot is not None and spot.row == index else 0
            self.reveal(Spot(index, word))
            self.editors.edit_line(index, word)

    @Slot()
    def rename_current(self) -> None:
        """Let the user name the speaker of the row of the cursor, or of the last one."""
        row = self.current_row
        if self.row_count():
            self.rename_row(row if row >= 0 else self.row_count() - 1)

    def rename_row(self, index: int) -> None:
        """Let the user name the speaker of a row, where the name stands."""
        if self.stack.row(index).speaker is not None:
            index = self.rows.header_of(index)
            self._hold_still()
            self.reveal(Spot(index, 0))
            self.scroll_into_view(index)
            self.editors.edit_name(index)

    @Slot()
    def finish_editing(self) -> None:
        """Take what is being written, if anything is: before closing, exporting or undoing."""
        self.editors.finish()

    def assign_slot(self, slot: int | None) -> None:
        """Give what is chosen to a speaker of its time; None for somebody new."""
        word_ids, document = self.cursor_at.word_ids(), self._state.document
        if word_ids:
            speaker = None if slot is None else speaker_in_slot(document, word_ids[0], slot)
            self._context.editing.assign(word_ids, speaker)

    @Slot()
    def hear_from_here(self) -> None:
        """Let the recording be heard from the cursor on."""
        self.hearing.hear_from(self.cursor_at.spot)

    # --- Qt events ---

    def paintEvent(self, event: QPaintEvent) -> None:
        document, theme = self._state.document, self._appearance.theme
        painter = QPainter(self.viewport())
        artist = TranscriptPainter(
            painter, document, self.stack.metrics, theme, has_focus=self.hasFocus()
        )
        artist.fill(event.rect())
        if self.shows_focus and self.cursor_at.spot is None:
            artist.paint_focus(self.viewport().rect())
        if not self.row_count():
            artist.paint_placeholder(self.viewport().rect(), self._placeholder)
        heard = self.hearing.spot()
        lights = Lights(document, self._context.marks, self.cursor_at, heard, theme)
        first = self.stack.heights.row_at(self.offset + event.rect().top())
        for index in range(max(0, first), self.row_count()):
            area = self.row_rect(index)
            if area.top() > event.rect().bottom():
                break
            laid_out = self.stack.laid_out(index, theme)
            artist.paint(index, self.stack.row(index), area, laid_out, lights)
        painter.end()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._mouse.press(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._mouse.move(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self._mouse.release(event)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self._mouse.double_click(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not press_key(self, event):
            super().keyPressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        open_menu(self, self._context, event)

    def settle(self) -> None:
        super().settle()
        self.editors.place()

    def scrolled_by_reader(self) -> None:
        self.hearing.leave()

    # --- what changes under it ---

    def held_spot(self) -> Spot | None:
        if self.editors.spot is not None:
            return self.editors.spot
        spot = self.cursor_at.spot
        return spot if spot is not None and self.is_in_view(spot) else None

    def rows_replaced(self) -> None:
        self.editors.abandon()
        self.cursor_at.reset(self.rows, self._state.document)

    def rows_moved(self) -> None:
        self.cursor_at.rows_changed()
        self._describe()

    @Slot()
    def _go_to_cursor(self) -> None:
        """Bring the cursor into view, which holds still from then on."""
        self.set_following(False)
        if self.cursor_at.spot is not None and not self._mouse.is_pressed:
            self.reveal(self.cursor_at.spot)
        self.settle()

    @Slot()
    def _tell_moment(self) -> None:
        sample = self._context.marks.cursor
        if sample is not None:
            self.time_chosen.emit(sample)

    @Slot()
    def _describe(self) -> None:
        row = self.current_row
        self.setAccessibleDescription(self.row_text(row) if row >= 0 else "")

    def _hold_still(self) -> None:
        """Follow no more, until what is being written is written."""
        self._was_following = self.is_following
        self.set_following(False)

    @Slot()
    def _go_on(self) -> None:
        """Go on following if writing has interrupted it."""
        if self._was_following:
            self._was_following = False
            self.jump_to_latest()

    def _connect(self) -> None:
        self.cursor_at.moved.connect(self._go_to_cursor)
        self.cursor_at.moved.connect(self._tell_moment)
        self.cursor_at.shown.connect(self._go_to_cursor)
        self.cursor_at.changed.connect(self.viewport().update)
        self.cursor_at.changed.connect(self._describe)
        self.cursor_at.row_changed.connect(self.current_row_changed)
        self.editors.closed.connect(self._go_on)
        self._context.marks.hits_changed.connect(self.viewport().update)


def _copy(text: str) -> None:
    if text:
        QGuiApplication.clipboard().setText(text)
