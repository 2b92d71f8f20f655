"""Search in the shown transcript, which may grow meanwhile."""

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from app.marks import Marks
from app.state import AppState
from engine.text.search import TranscriptSearch

_REFRESH_MS = 250
_WORDS_A_SLICE = 2000
"""Words looked through beforehand between two pictures."""


class Search(QObject):
    """Keeps `Marks.hits` in line with what is looked for. Thread: main.

    Signals:
        hit_chosen: the `Hit` the user went to.

    Args:
        state: what is searched.
        marks: told what was found.
    """

    hit_chosen = Signal(object)

    def __init__(self, state: AppState, marks: Marks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._state = state
        self._marks = marks
        self._query = ""
        self._origin = 0
        self._search = TranscriptSearch(state.document)
        self._timer = QTimer(self, singleShot=True, interval=_REFRESH_MS)
        self._timer.timeout.connect(self._refresh)
        self._preparing = QTimer(self, interval=0)
        self._preparing.timeout.connect(self._prepare)
        state.lines_changed.connect(self._refresh_soon)
        state.document_replaced.connect(self._replace_document)

    @property
    def query(self) -> str:
        """What is looked for."""
        return self._query

    def begin(self) -> None:
        """Look from the cursor on, whatever is typed and gone to until a hit is chosen."""
        self._origin = self._marks.cursor or 0
        self._preparing.start()

    def set_query(self, query: str) -> None:
        """Look for a text and go to the first place at or behind where the search began."""
        self._query = query
        hits = self._search.find(query)
        behind = (i for i, hit in enumerate(hits) if hit.end > self._origin)
        current = next(behind, 0) if hits else None
        self._marks.set_hits(hits, current)
        if current is not None:
            self.hit_chosen.emit(hits[current])

    @Slot()
    def clear(self) -> None:
        """Look for nothing."""
        self._query = ""
        self._marks.set_hits((), None)

    @Slot()
    def next(self) -> None:
        """Go to the next place; from the last to the first."""
        self._step(+1)

    @Slot()
    def previous(self) -> None:
        """Go to the place before; from the first to the last."""
        self._step(-1)

    def _step(self, step: int) -> None:
        hits, current = self._marks.hits, self._marks.current_hit
        if not hits:
            return
        current = 0 if current is None else (current + step) % len(hits)
        self._origin = hits[current].start
        self._marks.set_hits(hits, current)
        self._marks.set_cursor(self._origin)
        self.hit_chosen.emit(hits[current])

    @Slot()
    def _refresh_soon(self) -> None:
        if self._query and not self._timer.isActive():
            self._timer.start()

    @Slot()
    def _refresh(self) -> None:
        """Find again; the place the user is at stays, wherever it is counted now."""
        if not self._query:
            return
        hits, current = self._marks.hits, self._marks.current_hit
        at = hits[current].start if current is not None else 0
        hits = self._search.find(self._query)
        index = next((i for i, hit in enumerate(hits) if hit.start >= at), len(hits) - 1)
        self._marks.set_hits(hits, index if hits else None)

    @Slot()
    def _prepare(self) -> None:
        if self._search.prepare(_WORDS_A_SLICE):
            self._preparing.stop()

    @Slot()
    def _replace_document(self) -> None:
        self._search = TranscriptSearch(self._state.document)
        self._origin = 0
        self._marks.clear()
        if self._query:
            self._marks.set_hits(self._search.find(self._query), None)
        elif not self._state.is_live_shown:
            self._preparing.start()
