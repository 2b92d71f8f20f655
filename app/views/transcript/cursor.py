"""The word cursor of the transcript and the selection that reaches from it."""

from collections.abc import Iterator
from typing import NamedTuple

from PySide6.QtCore import QObject, Signal, Slot

from app.marks import Marks
from app.views.transcript.places import (
    Place,
    Spot,
    first_word,
    last_word,
    place_of,
    spot_at,
    spot_of,
    spots_between,
)
from app.views.transcript.rows import TranscriptRows
from engine.text.document import TranscriptDocument


class Part(NamedTuple):
    """Words [first, end) of a row."""

    row: int
    first: int
    end: int


class TranscriptCursor(QObject):
    """Where the reader is and what is chosen, held by word, shared as samples with other views.

    Signals:
        moved: the reader put the cursor somewhere here.
        shown: the cursor or a selection was put somewhere in another view.
        changed: what is marked looks different.
        row_changed: the cursor is in another row, or its row has another index; -1 for none.

    Args:
        marks: shared with the other views.
    """

    moved = Signal()
    shown = Signal()
    changed = Signal()
    row_changed = Signal(int)

    def __init__(self, marks: Marks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._marks = marks
        self._document = TranscriptDocument()
        self._rows = TranscriptRows(self._document)
        self._caret: Place | None = None
        # What is chosen reaches from the anchor to the head, which is the cursor unless another
        # view has moved that.
        self._anchor: Place | None = None
        self._head: Place | None = None
        self._is_stretch = False
        self._is_void = False  # a stretch without words is chosen in another view
        self._is_telling = False
        self._row = -1
        marks.cursor_changed.connect(self._take_cursor)
        marks.selection_changed.connect(self._take_selection)

    @property
    def spot(self) -> Spot | None:
        """The word the cursor is at."""
        return self._find(self._caret)

    @property
    def row(self) -> int:
        """The row the cursor is in; -1 for none."""
        spot = self.spot
        return spot.row if spot is not None else -1

    def reset(self, rows: TranscriptRows, document: TranscriptDocument) -> None:
        """Begin without a cursor in another document."""
        self._rows, self._document = rows, document
        self._anchor = self._head = self._caret = None
        self._is_stretch = self._is_void = False
        self.rows_changed()

    def rows_changed(self) -> None:
        """Take in that rows came, went or moved."""
        row = self.row
        if row != self._row:
            self._row = row
            self.row_changed.emit(row)

    def chosen(self) -> tuple[Spot, Spot] | None:
        """Return the first and the last chosen word; None if none is."""
        if not self._is_stretch:
            return None
        anchor, head = self._find(self._anchor), self._find(self._head)
        return (min(anchor, head), max(anchor, head)) if anchor and head else None

    def parts(self) -> Iterator[Part]:
        """Yield what is meant by a command: the chosen words, else the row of the cursor."""
        chosen, row = self.chosen(), self.row
        if chosen is None:
            if row >= 0 and not self._is_void:
                yield Part(row, 0, self._rows.rows[row].num_words)
            return
        low, high = chosen
        for index in range(low.row, high.row + 1):
            first = low.word if index == low.row else 0
            num_words = self._rows.rows[index].num_words
            yield Part(index, first, high.word + 1 if index == high.row else num_words)

    def word_ids(self) -> tuple[int, ...]:
        """Return the ids of the final words that are meant by a command."""
        return tuple(
            entry.id
            for part in self.parts()
            for entry in self._rows.rows[part.row].words[part.first : part.end]
        )

    def put(self, spot: Spot, *, extend: bool = False) -> None:
        """Put the cursor at a word; what lies between is chosen if it extends."""
        self._set(None if extend and self._anchor is not None else spot, spot, is_stretch=extend)

    def put_at(self, sample: int) -> None:
        """Put the cursor at a moment, as another view does: what is chosen stays chosen."""
        self._is_telling = True
        self._marks.set_cursor(sample)
        self._is_telling = False
        self._show(sample)

    def choose_row(self, row: int, *, extend: bool = False) -> None:
        """Choose a whole row, or everything up to it."""
        anchor = self._find(self._anchor) if extend else None
        first, last = first_word(self._rows, row), last_word(self._rows, row)
        if anchor is None:
            # The cursor stands at the beginning: from there it is heard, read and extended.
            self._set(last, first, is_stretch=True)
        else:
            is_below = row >= anchor.row
            whole = last_word(self._rows, anchor.row), first_word(self._rows, anchor.row)
            self._set(whole[is_below], last if is_below else first, is_stretch=True)

    def choose_all(self) -> None:
        """Choose everything; what is in view stays."""
        last = len(self._rows.rows) - 1
        if last >= 0:
            self._mark(last_word(self._rows, last), first_word(self._rows, 0), is_stretch=True)

    def _set(self, anchor: Spot | None, caret: Spot, *, is_stretch: bool) -> None:
        self._mark(anchor, caret, is_stretch=is_stretch)
        self.moved.emit()

    def _mark(self, anchor: Spot | None, caret: Spot, *, is_stretch: bool) -> None:
        if anchor is not None:
            self._anchor = place_of(self._rows, anchor)
        self._head = self._caret = place_of(self._rows, caret)
        self._is_stretch, self._is_void = is_stretch, False
        self._tell_marks()
        self.changed.emit()
        self.rows_changed()

    def _tell_marks(self) -> None:
        self._is_telling = True
        chosen = self.chosen()
        if chosen is None:
            self._marks.clear_selection()
        else:
            self._marks.select(*self._samples(*chosen))
        if self._caret is not None:
            self._marks.set_cursor(self._caret.sample)
        self._is_telling = False

    def _samples(self, low: Spot, high: Spot) -> tuple[int, int]:
        rows = self._rows.rows
        start = rows[low.row].start if rows[low.row].span else rows[low.row].word(low.word).start
        last = rows[high.row]
        words = range(low.word if low.row == high.row else 0, high.word + 1)
        end = last.end() if last.span else max(last.word(index).end for index in words)
        # A word may outlast the one chosen last; at least a sample, so that it is a stretch.
        return start, max(end, start + 1)

    @Slot()
    def _take_cursor(self) -> None:
        if not self._is_telling and self._marks.cursor is not None:
            self._show(self._marks.cursor)

    def _show(self, sample: int) -> None:
        spot = spot_at(self._rows, sample)
        if spot is None:
            return
        self._caret = place_of(self._rows, spot)
        if not self._is_stretch:
            self._anchor = self._head = self._caret
        self.shown.emit()
        self.changed.emit()
        self.rows_changed()

    @Slot()
    def _take_selection(self) -> None:
        if self._is_telling:
            return
        selection = self._marks.selection
        found = selection and spots_between(self._rows, self._document, *selection)
        self._is_stretch = bool(found)
        self._is_void = selection is not None and not found
        if found:
            low, high = found
            self._anchor, self._head = place_of(self._rows, high), place_of(self._rows, low)
            self._caret = self._head
            self.shown.emit()
        else:
            self._anchor = self._head = self._caret
        self.changed.emit()
        self.rows_changed()

    def _find(self, place: Place | None) -> Spot | None:
        return spot_of(self._rows, place) if place is not None else None
