"""The column in the middle: the words, or what stands in their place, and what is said of them."""

from collections.abc import Callable

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QLabel, QStackedWidget, QVBoxLayout, QWidget

from app.state import AppState
from app.views.banner import Banner
from app.views.missing_models import MissingModels
from app.views.placeholder import lacks_recognizer, placeholder
from app.views.transcript.view import TranscriptView
from app.views.welcome import Welcome
from engine.core.config import KeepPolicy, Settings
from engine.core.events import SessionState


class Reading(QWidget):
    """Shows the transcript once there is a recording, and a welcome before.

    What comes and goes above the words stands in here, so that it moves nothing beside them: a
    list that moved under the pointer would make a double click hit two of its lines.

    Attributes:
        stack: the pages.
        alarm_line: what is wrong with the microphone.
        banner: what must not be mistaken.
        missing_models: offered where words are missing because of them.

    Args:
        state: what is shown.
        settings: in force now.
        welcome: the page before the first recording.
        transcript: the page of words.
        search_bar: finds some of them.
    """

    def __init__(
        self,
        state: AppState,
        settings: Callable[[], Settings],
        welcome: Welcome,
        transcript: TranscriptView,
        search_bar: QWidget,
    ) -> None:
        super().__init__()
        self._state = state
        self._settings = settings
        self._welcome = welcome
        self._transcript = transcript
        self._was_ready = False
        self.alarm_line = QLabel()
        self.banner = Banner(state)
        self.missing_models = MissingModels()
        self.stack = QStackedWidget()
        self.stack.addWidget(welcome)
        self.stack.addWidget(transcript)
        self.alarm_line.setObjectName("alarmLine")
        self.alarm_line.setWordWrap(True)
        self.alarm_line.hide()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        parts = (self.alarm_line, self.banner, search_bar, self.stack, self.missing_models)
        for part in parts:
            column.addWidget(part, int(part is self.stack))
        state.levels_replaced.connect(self._refresh_placeholder)

    @property
    def is_empty(self) -> bool:
        """Whether there is not a word, nor a mark, to be read."""
        return not self._transcript.rows.rows

    @property
    def shows_welcome(self) -> bool:
        """Whether there is no recording to be shown at all."""
        state = self._state
        is_live_idle = state.is_live_shown and state.session_state is SessionState.IDLE
        return is_live_idle and self.is_empty and state.document.recording is None

    @Slot()
    def refresh(self) -> None:
        """Bring it in line with the session and with what is shown."""
        self._show_page(self._welcome if self.shows_welcome else self._transcript)
        self.missing_models.set_wanted(
            self.is_empty and not self.shows_welcome and lacks_recognizer(self._state)
        )
        self._refresh_placeholder()
        self.banner.refresh()

    @Slot()
    def _refresh_placeholder(self) -> None:
        state, recording = self._state, self._state.live_document.recording
        keeps_sound = self._settings().keep == KeepPolicy.AUDIO_AND_TEXT
        is_heard = keeps_sound and recording is not None and recording.is_kept
        self._transcript.set_placeholder(
            placeholder(
                state,
                has_models=self.missing_models.has_models,
                has_sound=is_heard if state.is_live_shown else state.levels is not None,
            )
        )

    def _show_page(self, page: QWidget) -> None:
        is_new = self.stack.currentWidget() is not page
        self.stack.setCurrentWidget(page)
        # The control that had the focus may be gone or switched off by now.
        if is_new and page is self._transcript:
            self._transcript.setFocus()
            return
        button = self._welcome.record_button
        if page is self._welcome and button.isEnabled() and not self._was_ready:
            self._was_ready = True
            button.setFocus()
