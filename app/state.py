"""What the views show: a replica of the engine's state, kept on the main thread."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from PySide6.QtCore import QObject, Signal

from engine.core.events import (
    ActivityRevised,
    BackendChanged,
    Event,
    Notice,
    PartialWords,
    RecordingStarted,
    SessionState,
    SpanMarked,
    StateChanged,
    UtteranceChanged,
)
from engine.core.types import BackendKind
from engine.text.document import TranscriptDocument

MAX_NOTICES = 200


class DatedNotice(NamedTuple):
    """A notice and the local time it came, HH:MM:SS."""

    time: str
    notice: Notice


class AppState(QObject):
    """One truth for all views; each change is told once a batch of events. Thread: main.

    Signals:
        session_changed: the life of the session (`session_state`, `state_detail`).
        backends_changed: models are loading, ready or failed.
        document_replaced: `document` is another one.
        lines_changed: lines from this index on changed, appeared or vanished.
        partial_changed: the words that may still change.
        activity_changed: rows of speaker activity.
        spans_changed: marked stretches.
        utterance_changed: the text being spoken.
        notices_changed: something the user should know came or was dismissed.
    """

    session_changed = Signal()
    backends_changed = Signal()
    document_replaced = Signal()
    lines_changed = Signal(int)
    partial_changed = Signal()
    activity_changed = Signal()
    spans_changed = Signal()
    utterance_changed = Signal()
    notices_changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.session_state = SessionState.IDLE
        self.state_detail = ""
        self.backends: dict[BackendKind, BackendChanged] = {}
        self.live_document = TranscriptDocument()
        self.document = self.live_document
        self.stored_title = ""
        self.utterance: UtteranceChanged | None = None
        self.history: list[DatedNotice] = []
        self.open_notices: list[DatedNotice] = []

    @property
    def is_live_shown(self) -> bool:
        """Whether the views show the running or last recording, not a stored one."""
        return self.document is self.live_document

    @property
    def is_recording(self) -> bool:
        """Whether sound is being captured right now."""
        return self.session_state is SessionState.RECORDING

    @property
    def is_busy(self) -> bool:
        """Whether a recording exists that has not ended."""
        return self.session_state not in (SessionState.IDLE, SessionState.CLOSED)

    def show_stored(self, document: TranscriptDocument, title: str) -> None:
        """Show a stored session."""
        self.document, self.stored_title = document, title
        self.document_replaced.emit()

    def show_live(self) -> None:
        """Show the running or last recording again."""
        if not self.is_live_shown:
            self.document, self.stored_title = self.live_document, ""
            self.document_replaced.emit()

    def add_notice(self, notice: Notice) -> None:
        """Show a notice until it is dismissed, and keep it in the history."""
        self._note(notice)
        self.notices_changed.emit()

    def dismiss_notice(self) -> None:
        """Put the newest notice away."""
        if self.open_notices:
            self.open_notices.pop()
            self.notices_changed.emit()

    def take(self, events: Sequence[Event]) -> None:
        """Apply a batch of events and tell what changed, each once."""
        changes = _Changes()
        for event in events:
            self._apply(event, changes)
        self._tell(changes)

    def _apply(self, event: Event, changes: "_Changes") -> None:
        if isinstance(event, RecordingStarted):
            self.live_document = self.document = TranscriptDocument()
            self.stored_title = ""
            changes.is_replaced = True
        first = self.live_document.apply(event)
        if first is not None:
            known = changes.first_line
            changes.first_line = first if known is None else min(known, first)
        match event:
            case StateChanged():
                self.session_state, self.state_detail = event.state, event.detail
                changes.has_session = True
            case BackendChanged():
                self.backends[event.kind] = event
                changes.has_backends = True
            case PartialWords():
                changes.has_partial = True
            case ActivityRevised():
                changes.has_activity = True
            case SpanMarked():
                changes.has_spans = True
            case UtteranceChanged():
                self.utterance = event
                changes.has_utterance = True
            case Notice():
                self._note(event)
                changes.has_notices = True
            case _:
                pass

    def _note(self, notice: Notice) -> None:
        dated = DatedNotice(f"{datetime.now():%H:%M:%S}", notice)
        self.history = [*self.history[-MAX_NOTICES + 1 :], dated]
        same = [shown for shown in self.open_notices if shown.notice != notice]
        self.open_notices = [*same[-MAX_NOTICES + 1 :], dated]

    def _tell(self, changes: "_Changes") -> None:
        if changes.is_replaced:
            self.document_replaced.emit()
        elif self.is_live_shown:
            self._tell_document(changes)
        if changes.has_session:
            self.session_changed.emit()
        if changes.has_backends:
            self.backends_changed.emit()
        if changes.has_utterance:
            self.utterance_changed.emit()
        if changes.has_notices:
            self.notices_changed.emit()

    def _tell_document(self, changes: "_Changes") -> None:
        if changes.first_line is not None:
            self.lines_changed.emit(changes.first_line)
        if changes.has_spans:
            self.spans_changed.emit()
        if changes.has_partial or changes.has_activity:
            self.partial_changed.emit()
        if changes.has_activity:
            self.activity_changed.emit()


class _Changes:
    """What a batch of events touched."""

    def __init__(self) -> None:
        self.is_replaced = False
        self.first_line: int | None = None
        self.has_session = False
        self.has_backends = False
        self.has_partial = False
        self.has_activity = False
        self.has_spans = False
        self.has_utterance = False
        self.has_notices = False
