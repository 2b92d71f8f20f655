"""What is marked in transcript and timeline alike: cursor, selection, playback, search hits."""

from collections.abc import Sequence

from PySide6.QtCore import QObject, Signal

from engine.text.search import Hit


class Marks(QObject):
    """Marks on the shown document, in samples of its clock; all views show them. Thread: main.

    Signals:
        cursor_changed: `cursor` moved.
        selection_changed: `selection` is another stretch, or none.
        playing_changed: `playing` moved, began or ended.
        hits_changed: `hits` or `current_hit` changed.
    """

    cursor_changed = Signal()
    selection_changed = Signal()
    playing_changed = Signal()
    hits_changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._cursor: int | None = None
        self._selection: tuple[int, int] | None = None
        self._playing: int | None = None
        self._hits: tuple[Hit, ...] = ()
        self._current_hit: int | None = None

    @property
    def cursor(self) -> int | None:
        """The moment the user chose; playing begins there."""
        return self._cursor

    @property
    def selection(self) -> tuple[int, int] | None:
        """The chosen stretch [start, end)."""
        return self._selection

    @property
    def playing(self) -> int | None:
        """The moment that is being heard; None while nothing is played."""
        return self._playing

    @property
    def hits(self) -> tuple[Hit, ...]:
        """What the search found, in order of time."""
        return self._hits

    @property
    def current_hit(self) -> int | None:
        """Index of the hit the user is at."""
        return self._current_hit

    def set_cursor(self, sample: int | None) -> None:
        """Put the cursor at a moment, or nowhere."""
        sample = None if sample is None else max(0, sample)
        if sample != self._cursor:
            self._cursor = sample
            self.cursor_changed.emit()

    def select(self, start: int, end: int) -> None:
        """Choose a stretch, its ends in any order; an empty one is none."""
        low, high = max(0, min(start, end)), max(start, end)
        self._set_selection((low, high) if high > low else None)

    def clear_selection(self) -> None:
        """Choose nothing."""
        self._set_selection(None)

    def set_playing(self, sample: int | None) -> None:
        """Tell which moment is heard."""
        if sample != self._playing:
            self._playing = sample
            self.playing_changed.emit()

    def set_hits(self, hits: Sequence[Hit], current: int | None) -> None:
        """Tell what the search found and which hit is looked at."""
        self._hits, self._current_hit = tuple(hits), current
        self.hits_changed.emit()

    def clear(self) -> None:
        """Mark nothing: another document is shown."""
        self.set_cursor(None)
        self.clear_selection()
        self.set_playing(None)
        if self._hits:
            self.set_hits((), None)

    def _set_selection(self, selection: tuple[int, int] | None) -> None:
        if selection != self._selection:
            self._selection = selection
            self.selection_changed.emit()
