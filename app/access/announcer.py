"""Says aloud, through the screen reader, what comes without being asked for."""

from collections.abc import Callable, Sequence
from itertools import groupby

from PySide6.QtCore import QObject, QTimer, Slot
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent
from PySide6.QtWidgets import QWidget

from app.i18n import tr
from app.names import shown_name
from app.state import AppState
from engine.core.events import SessionState, Severity
from engine.core.types import SpanKind, SpeakerId, join_words
from engine.text.attribution import SENTENCE_ENDS
from engine.text.document import DocumentWord

INTERVAL_MS = 2500
"""New lines are said at most this often, those of the time between joined."""
MAX_WORDS = 40
"""More than people say in that time: if so many came, the newest of them are said."""

Say = Callable[[str, bool], None]
"""Says a text; whether it may interrupt what is being said."""


class Announcer(QObject):
    """Tells committed lines politely and what cannot wait at once. Thread: main.

    Lines are told only if that is switched on; recording, loss of sound and problems always are.

    Args:
        state: what happens.
        say: takes what is to be said; see `screen_reader`.
        parent: owns it.
    """

    def __init__(self, state: AppState, say: Say, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._state = state
        self._say = say
        self._is_enabled = False
        self._document = state.live_document
        self._num_told = len(self._document.words)
        self._last_speaker: SpeakerId | None = None
        self._session_state = state.session_state
        self._gaps_told: set[int] = set()
        self._last_notice = state.history[-1] if state.history else None
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(INTERVAL_MS)
        self._timer.timeout.connect(self.tell_lines)
        for signal in (state.document_replaced, state.lines_changed):
            signal.connect(self._take_lines)
        state.session_changed.connect(self._tell_session)
        state.spans_changed.connect(self._tell_losses)
        state.notices_changed.connect(self._tell_notices)

    @property
    def is_enabled(self) -> bool:
        """Whether lines are told."""
        return self._is_enabled

    @Slot(bool)
    def set_enabled(self, is_enabled: bool) -> None:
        """Tell lines from now on, or not any more."""
        self._is_enabled = is_enabled
        self._num_told = len(self._document.words)
        self._timer.stop()

    @Slot()
    def tell_lines(self) -> None:
        """Tell the words that came since the last time; if they are too many, the newest."""
        words = self._document.words[self._num_told :]
        self._num_told = len(self._document.words)
        if not words or not self._is_enabled:
            return
        if len(words) > MAX_WORDS:
            words = _from_a_sentence_on(words[-MAX_WORDS:])
            self._last_speaker = None
        if text := self._spoken(words):
            self._say(text, False)

    @Slot()
    def _take_lines(self) -> None:
        if self._state.live_document is not self._document:
            self._document = self._state.live_document
            self._num_told, self._last_speaker = 0, None
            self._gaps_told.clear()
        if self._is_enabled and not self._timer.isActive():
            self._timer.start()

    @Slot()
    def _tell_session(self) -> None:
        before, self._session_state = self._session_state, self._state.session_state
        if self._session_state is before:
            return
        match self._session_state:
            case SessionState.RECORDING if before is SessionState.PAUSED:
                self._say(tr("Recording goes on"), True)
            case SessionState.RECORDING:
                self._say(tr("Recording"), True)
            case SessionState.PAUSED:
                self._say(tr("Recording is paused"), True)
            case SessionState.IDLE if before is SessionState.STOPPING:
                self._say(tr("The recording has ended"), True)
            case _:
                pass

    @Slot()
    def _tell_losses(self) -> None:
        if not self._state.is_live_shown:
            return
        gaps = [
            span
            for span in self._document.spans
            if span.kind is SpanKind.GAP and span.mark_id not in self._gaps_told
        ]
        if gaps:
            self._gaps_told.update(gap.mark_id for gap in gaps)
            seconds = sum(self._document.seconds(gap.end - gap.start) for gap in gaps)
            self._say(tr("{seconds} seconds of sound were lost", seconds=f"{seconds:.1f}"), True)

    @Slot()
    def _tell_notices(self) -> None:
        newest = self._state.history[-1] if self._state.history else None
        if newest is None or newest is self._last_notice:
            return
        self._last_notice = newest
        notice = newest.notice
        text = " ".join(part for part in (notice.message, notice.advice) if part)
        self._say(text, notice.severity is not Severity.INFO)

    def _spoken(self, words: Sequence[DocumentWord]) -> str:
        parts = []
        for speaker, group in groupby(words, lambda word: next(iter(word.speakers), None)):
            text = join_words(word.word for word in group)
            if not text:
                continue
            if speaker is not None and speaker != self._last_speaker:
                name = shown_name(self._document, speaker)
                text = tr("{speaker}: {words}", speaker=name, words=text)
            self._last_speaker = speaker
            parts.append(text)
        return "\n".join(parts)


def _from_a_sentence_on(words: Sequence[DocumentWord]) -> Sequence[DocumentWord]:
    """Leave out the rest of a sentence at the beginning, if another one begins soon."""
    for index, entry in enumerate(words[: len(words) // 2], 1):
        if entry.word.text.rstrip().endswith(SENTENCE_ENDS):
            return words[index:]
    return words


def screen_reader(window: QWidget) -> Say:
    """Return what says texts in a window's name, if somebody listens."""

    def say(text: str, interrupts: bool) -> None:
        if not QAccessible.isActive():
            return
        event = QAccessibleAnnouncementEvent(window, text)
        if interrupts:
            event.setPoliteness(QAccessible.AnnouncementPoliteness.Assertive)
        QAccessible.updateAccessibility(event)

    return say
