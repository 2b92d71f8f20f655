"""What the views show: a replica of the engine's state, kept on the main thread."""

import time
from collections.abc import Callable, Sequence
from datetime import datetime

from PySide6.QtCore import QObject, Signal

from app.changes import Changes
from app.levels import LevelHistory
from app.notices import MAX_NOTICES, DatedNotice, OpenNotices, leaves_at_s
from app.unexpected import report
from engine.core.events import (
    ActivityRevised,
    BackendChanged,
    BackendState,
    EditEvent,
    Event,
    Notice,
    PartialWords,
    PlayChanged,
    RecordingStarted,
    SessionState,
    SpanMarked,
    StateChanged,
    UtteranceChanged,
)
from engine.core.types import BackendKind
from engine.text.document import TranscriptDocument


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
        notices_changed: something the user should know came or went.

    Attributes:
        is_wordless: nothing writes the words of the running or last recording: what does that
            could not be had when it began.

    Args:
        now_s: the clock by which notices go.
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

    def __init__(
        self, parent: QObject | None = None, *, now_s: Callable[[], float] = time.monotonic
    ) -> None:
        super().__init__(parent)
        self._now_s = now_s
        self.session_state = SessionState.IDLE
        self.state_detail = ""
        self.is_wordless = False
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
        self._notices = OpenNotices()

    @property
    def open_notices(self) -> list[DatedNotice]:
        """What the user has not put away; the last is to be read first."""
        return self._notices.in_order

    @property
    def is_live_shown(self) -> bool:
        """Whether the views show the running or last recording, not a stored one."""
        return self.document is self.live_document

    @property
    def shown_id(self) -> str:
        """The id of the recording that is shown; "" before the first."""
        recording = self.live_document.recording
        live_id = recording.recording_id if recording is not None else ""
        return live_id if self.is_live_shown else self.stored_id

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
        """Show a notice until it is dismissed or over, and keep it in the history."""
        self._note(notice)
        self.notices_changed.emit()

    def dismiss_notice(self) -> None:
        """Put away the notice that is to be read first."""
        if self._notices.dismiss():
            self.notices_changed.emit()

    def dismiss_notices(self) -> None:
        """Put all notices away."""
        if self._notices.clear():
            self.notices_changed.emit()

    def end_notices(self, topic: str) -> None:
        """Put away what was told of something that is well now."""
        if self._notices.end_topic(topic):
            self.notices_changed.emit()

    def expire_notices(self) -> float | None:
        """Let information go that was there long enough; return the seconds until the next."""
        if self._notices.expire(self._now_s()):
            self.notices_changed.emit()
        next_s = self._notices.next_leaves_at_s
        return None if next_s is None else max(0.0, next_s - self._now_s())

    def apply_edits(self, events: Sequence[EditEvent]) -> None:
        """Change the stored session that is shown."""
        changes = Changes()
        for event in events:
            changes.take_line(self.document.apply(event))
            changes.take_edit(event)
        self._tell_document(changes)

    def take(self, events: Sequence[Event]) -> None:
        """Apply a batch of events and tell what changed, each once."""
        changes = Changes()
        for event in events:
            try:
                self._apply(event, changes)
            except Exception as error:  # noqa: BLE001 - those behind it are as good as before
                report(error)
        self._tell(changes)

    def _apply(self, event: Event, changes: Changes) -> None:
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
                if event.state is SessionState.STARTING:
                    self.is_wordless = False
                elif not self.is_busy:
                    changes.has_notices |= self._notices.end_recording()
            case BackendChanged():
                self.backends[event.kind] = event
                changes.has_backends = True
                if event.state is BackendState.READY:
                    changes.has_notices |= self._notices.end_topic(event.kind)
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
                self.is_wordless |= event.topic == BackendKind.RECOGNIZER
            case _:
                pass

    def _go_live(self) -> None:
        self.document, self.stored_title, self.stored_id = self.live_document, "", ""
        self._stored_levels = None

    def _note(self, notice: Notice) -> None:
        time_text = f"{datetime.now():%H:%M:%S}"
        dated = DatedNotice(time_text, notice, leaves_at_s(notice, self._now_s()))
        self.history = [*self.history[-MAX_NOTICES + 1 :], dated]
        self._notices.add(dated)

    def _tell(self, changes: Changes) -> None:
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

    def _tell_document(self, changes: Changes) -> None:
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
