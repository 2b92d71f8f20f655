"""What the views show: a replica of the engine's state, kept on the main thread."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from PySide6.QtCore import QObject, Signal

from app.levels import LevelHistory
from app.unexpected import report
from engine.core.events import (
    ActivityRevised,
    BackendChanged,
    EditEvent,
    Event,
    Notice,
    PartialWords,
    PlayChanged,
    RecordingStarted,
    SessionState,
    SpanMarked,
    SpeakerColored,
    SpeakerMerged,
    SpeakerRenamed,
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
        live_changed: words, speakers or spans of `live_document`, be it shown or not.
        lines_changed: lines from this index on changed, appeared or vanished.
        partial_changed: the words that may still change.
        activity_changed: rows of speaker activity.
        speakers_changed: names, colours, or who is one person.
        levels_replaced: `levels` is another track, or none.
        spans_changed: marked stretches.
        utterance_changed: the text being spoken.
        play_changed: recorded audio is being heard, or not any more.
        notices_changed: something the user should know came or was dismissed.
    """

    session_changed = Signal()
    backends_changed = Signal()
    document_replaced = Signal()
    live_changed = Signal()
    lines_changed = Signal(int)
    partial_changed = Signal()
    activity_changed = Signal()
    speakers_changed = Signal()
    levels_replaced = Signal()
    spans_changed = Signal()
    utterance_changed = Signal()
    play_changed = Signal()
    notices_changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.session_state = SessionState.IDLE
        self.state_detail = ""
        self.backends: dict[BackendKind, BackendChanged] = {}
        self.live_document = TranscriptDocument()
        self.document = self.live_document
        self.stored_title = ""
        self.stored_id = ""
        self._live_levels: LevelHistory | None = None
        self._stored_levels: LevelHistory | None = None
        self.utterance: UtteranceChanged | None = None
        self.play: PlayChanged | None = None
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

    @property
    def levels(self) -> LevelHistory | None:
        """Levels of the shown recording over time; None if its audio is not there."""
        return self._live_levels if self.is_live_shown else self._stored_levels

    def show_stored(self, document: TranscriptDocument, title: str, stored_id: str) -> None:
        """Show a stored session; its levels may follow."""
        self.document, self.stored_title, self.stored_id = document, title, stored_id
        self._stored_levels = None
        self.document_replaced.emit()
        self.levels_replaced.emit()

    def set_stored_levels(self, stored_id: str, levels: LevelHistory | None) -> None:
        """Take the levels of a stored session; those of one not shown any more are left."""
        if stored_id == self.stored_id and not self.is_live_shown:
            self._stored_levels = levels
            self.levels_replaced.emit()

    def set_live_levels(self, levels: LevelHistory | None) -> None:
        """Take the levels of the running or last recording."""
        if levels is not self._live_levels:
            self._live_levels = levels
            if self.is_live_shown:
                self.levels_replaced.emit()

    def show_live(self) -> None:
        """Show the running or last recording again."""
        if not self.is_live_shown:
            self._go_live()
            self.document_replaced.emit()
            self.levels_replaced.emit()

    def forget_live(self) -> None:
        """Show the last recording no more: it was deleted."""
        was_shown = self.is_live_shown
        self.live_document = TranscriptDocument()
        self._live_levels = None
        if was_shown:
            self._go_live()
            self.document_replaced.emit()
            self.levels_replaced.emit()
        self.live_changed.emit()

    def add_notice(self, notice: Notice) -> None:
        """Show a notice until it is dismissed, and keep it in the history."""
        self._note(notice)
        self.notices_changed.emit()

    def dismiss_notice(self) -> None:
        """Put the newest notice away."""
        if self.open_notices:
            self.open_notices.pop()
            self.notices_changed.emit()

    def apply_edits(self, events: Sequence[EditEvent]) -> None:
        """Change the stored session that is shown."""
        changes = _Changes()
        for event in events:
            changes.take_line(self.document.apply(event))
            changes.take_edit(event)
        self._tell_document(changes)

    def take(self, events: Sequence[Event]) -> None:
        """Apply a batch of events and tell what changed, each once."""
        changes = _Changes()
        for event in events:
            try:
                self._apply(event, changes)
            except Exception as error:  # noqa: BLE001 - those behind it are as good as before
                report(error)
        self._tell(changes)

    def _apply(self, event: Event, changes: "_Changes") -> None:
        if isinstance(event, RecordingStarted):
            self.live_document = TranscriptDocument()
            self._go_live()
            changes.is_replaced = True
        changes.take_line(self.live_document.apply(event))
        changes.take_edit(event)
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
            case PlayChanged():
                self.play = event
                changes.has_play = True
            case Notice():
                self._note(event)
                changes.has_notices = True
            case _:
                pass

    def _go_live(self) -> None:
        self.document, self.stored_title, self.stored_id = self.live_document, "", ""
        self._stored_levels = None

    def _note(self, notice: Notice) -> None:
        dated = DatedNotice(f"{datetime.now():%H:%M:%S}", notice)
        self.history = [*self.history[-MAX_NOTICES + 1 :], dated]
        same = [shown for shown in self.open_notices if shown.notice != notice]
        self.open_notices = [*same[-MAX_NOTICES + 1 :], dated]

    def _tell(self, changes: "_Changes") -> None:
        if changes.has_words:
            self.live_changed.emit()
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
        if changes.has_play:
            self.play_changed.emit()
        if changes.has_notices:
            self.notices_changed.emit()

    def _tell_document(self, changes: "_Changes") -> None:
        if changes.has_speakers:
            self.speakers_changed.emit()
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
        self.has_speakers = False
        self.has_utterance = False
        self.has_play = False
        self.has_notices = False

    @property
    def has_words(self) -> bool:
        """Whether what is read, or who said it, may be different."""
        has_line = self.first_line is not None
        has_new = self.has_partial or self.has_activity or self.has_spans
        return self.is_replaced or has_line or has_new or self.has_speakers

    def take_line(self, first: int | None) -> None:
        """Take note of the first line that an event changed, if any."""
        if first is not None:
            self.first_line = first if self.first_line is None else min(self.first_line, first)

    def take_edit(self, event: Event) -> None:
        """Take note of an event that changes names, colours, or who is one person."""
        if isinstance(event, SpeakerRenamed | SpeakerMerged | SpeakerColored):
            self.has_speakers = True
