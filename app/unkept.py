"""What is kept nowhere: whoever is about to lose words or corrections is asked first, once."""

from collections.abc import Callable
from typing import NamedTuple

from PySide6.QtCore import QObject, Signal, Slot

from app.state import AppState


class _Mark(NamedTuple):
    """What a transcript that is not kept holds."""

    recording_id: str
    num_words: int
    num_edits: int


class Unkept(QObject):
    """Guards the running or last recording while nothing of it is on disk. Thread: main.

    Signals:
        asked: something wants to go on at the transcript's cost: `export`, `discard` or `cancel`.

    Args:
        state: tells what there is.
        stop: ends the recording once every word of it was told.
    """

    asked = Signal()

    def __init__(
        self, state: AppState, stop: Callable[[], None], parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._state = state
        self._stop = stop
        self._recording_id = ""
        self._demo_id = ""
        self._num_edits = 0
        self._saved: _Mark | None = None
        self._once_whole: Callable[[], None] | None = None
        self.waiting: Callable[[], None] | None = None
        """What goes on once the user has answered."""
        state.document_replaced.connect(self._take_document)
        state.session_changed.connect(self._watch_end)

    @property
    def is_at_risk(self) -> bool:
        """Whether words or corrections would be gone that are saved nowhere."""
        document = self._state.live_document
        if document.recording is None or document.recording.is_kept:
            return False
        if self._recording_id == self._demo_id:
            has_work = self._num_edits > 0
        else:
            has_words = bool(document.partial) or not all(word.is_gone for word in document.words)
            has_work = has_words or self._num_edits > 0
        return has_work and self._mark() != self._saved

    def guard(self, go_on: Callable[[], None]) -> None:
        """Go on at once if nothing is lost by it, else when the user lets the transcript go."""
        if not self.is_at_risk:
            go_on()
            return
        is_asking, self.waiting = self.waiting is not None, go_on
        if not is_asking:
            self.asked.emit()

    def take_edits(self, num_edits: int) -> None:
        """Count changes that the user made."""
        self._num_edits += num_edits

    def take_demo(self) -> None:
        """Take note that the running recording is the demo: it can be played again."""
        self._demo_id = self._recording_id

    def saving(self) -> Callable[[], None]:
        """Return what is to be called once a copy of all there is by now was saved."""
        mark = self._mark()

        def note() -> None:
            self._saved = mark

        return note

    @Slot()
    def discard(self) -> None:
        """Let it go."""
        go_on, self.waiting = self.waiting, None
        if go_on is not None:
            go_on()

    @Slot()
    def cancel(self) -> None:
        """Stay: what waited does not happen."""
        self.waiting = self._once_whole = None

    def export(self, save: Callable[[Callable[[], None]], None]) -> None:
        """Save the transcript once it is whole, then go on; a running recording is stopped first.

        Args:
            save: shall save it and call what it is given once it is on disk.
        """
        # If it cannot be saved, all stays as it is.
        go_on, self.waiting = self.waiting, None

        def save_whole() -> None:
            note = self.saving()

            def done() -> None:
                note()
                if go_on is not None:
                    go_on()

            save(done)

        if not self._state.is_busy:
            save_whole()
            return
        self._once_whole = save_whole
        self._stop()

    def _mark(self) -> _Mark:
        words = self._state.live_document.words
        return _Mark(self._recording_id, len(words), self._num_edits)

    @Slot()
    def _take_document(self) -> None:
        recording = self._state.live_document.recording
        recording_id = recording.recording_id if recording is not None else ""
        if recording_id != self._recording_id:
            self._recording_id, self._num_edits, self._saved = recording_id, 0, None

    @Slot()
    def _watch_end(self) -> None:
        if self._once_whole is not None and not self._state.is_busy:
            save, self._once_whole = self._once_whole, None
            save()
