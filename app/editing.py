"""Changes the user makes to the shown transcript, each of them undoable."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, Slot
from PySide6.QtGui import QUndoCommand, QUndoStack

from app.edit_titles import edit_title
from app.names import letter_name
from app.state import AppState
from engine.core.errors import EngineError
from engine.core.events import EditEvent, Notice, Severity
from engine.core.types import SpeakerId
from engine.text import edits
from engine.text.edits import Edit

Keep = Callable[[Sequence[EditEvent]], None]
"""Takes changes of the shown document in, and brings them to disk."""


class Editing(QObject):
    """Edits of the shown document; their history ends when another one is shown. Thread: main.

    Args:
        state: what is shown.
        keep: carries changes out; see `Keep`.
    """

    def __init__(self, state: AppState, keep: Keep, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._state = state
        self._keep = keep
        self.history = QUndoStack(self)
        state.document_replaced.connect(self.history.clear)

    def rename(self, speaker: SpeakerId, name: str) -> None:
        """Name a speaker; an empty name gives the letter back."""
        document = self._state.document
        is_letter = name.strip() == letter_name(document, speaker)
        self._push(edits.rename_speaker(document, speaker, "" if is_letter else name))

    def merge(self, speaker: SpeakerId, target: SpeakerId) -> None:
        """Make one person of two speakers."""
        self._push(edits.merge_speakers(self._state.document, speaker, target))

    def part(self, speaker: SpeakerId) -> None:
        """Take back every merging into a speaker."""
        self._push(edits.part_speaker(self._state.document, speaker))

    def color(self, speaker: SpeakerId, color: int) -> None:
        """Give a speaker one of the eight colours; -1 for the usual one."""
        self._push(edits.color_speaker(self._state.document, speaker, color))

    def assign(self, word_ids: Sequence[int], speaker: SpeakerId | None) -> None:
        """Say who said words; None for somebody who has no row yet."""
        document = self._state.document
        if speaker is None:
            try:
                speaker = edits.new_speaker(document)
            except EngineError as error:
                self._state.add_notice(Notice(Severity.ERROR, error.message, error.advice))
                return
        self._push(edits.assign_words(document, word_ids, speaker))

    def lock(self, word_ids: Sequence[int], *, is_locked: bool) -> None:
        """Keep words with who has them now, or give them back to the diarizer."""
        self._push(edits.lock_words(self._state.document, word_ids, is_locked=is_locked))

    def edit(self, word_ids: Sequence[int], text: str) -> None:
        """Correct consecutive words."""
        self._push(edits.edit_words(self._state.document, word_ids, text))

    @Slot()
    def undo(self) -> None:
        """Take the last change back."""
        self.history.undo()

    @Slot()
    def redo(self) -> None:
        """Make the change last taken back again."""
        self.history.redo()

    def _push(self, edit: Edit | None) -> None:
        if edit is not None:
            title = edit_title(self._state.document, edit)
            self.history.push(_Command(title, edit, self._keep))


class _Command(QUndoCommand):
    def __init__(self, title: str, edit: Edit, keep: Keep) -> None:
        super().__init__(title)
        self._edit = edit
        self._keep = keep

    def redo(self) -> None:
        self._keep(self._edit.do)

    def undo(self) -> None:
        self._keep(self._edit.undo)
