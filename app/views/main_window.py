"""The window: what stands where, and which command goes where."""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QSize, Qt, Signal, Slot
from PySide6.QtGui import QCloseEvent, QGuiApplication, QPaintEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QMainWindow,
    QPushButton,
    QSplitter,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from app.controller import Controller
from app.jobs import Jobs
from app.layout import LayoutFile
from app.lifecycle import Lifecycle
from app.pulse import Pulse
from app.report import health_report
from app.shelf import Shelf
from app.speech import Speech
from app.state import AppState
from app.theme import Appearance
from app.views.delays_panel import DelaysPanel
from app.views.dialogs import Dialogs
from app.views.health_strip import HealthStrip
from app.views.menus import show_diarizers
from app.views.notice_bar import NoticeBar
from app.views.placeholder import placeholder
from app.views.sessions_panel import SessionsPanel
from app.views.speak_panel import SpeakPanel
from app.views.speaker_timeline import SpeakerTimeline
from app.views.toolbar import Toolbar
from app.views.transcript_view import TranscriptView
from app.views.welcome import Welcome
from app.views.wiring import connect_commands, make_menus
from engine.core.events import SessionState

_SIZE = QSize(1240, 800)


class MainWindow(QMainWindow):
    """Holds the views and connects them to the commands.

    Signals:
        painted: the window was painted for the first time.

    Args:
        state: what the views show.
        controller: commands on the session.
        shelf: commands on files.
        speech: commands of the speak panel.
        lifecycle: ends the program.
        appearance: colours.
        jobs: worker threads.
        layout_file: remembers what is shown.
    """

    painted = Signal()

    def __init__(
        self,
        state: AppState,
        controller: Controller,
        shelf: Shelf,
        speech: Speech,
        lifecycle: Lifecycle,
        appearance: Appearance,
        jobs: Jobs,
        layout_file: LayoutFile,
    ) -> None:
        super().__init__()
        self._state = state
        self._controller = controller
        self._shelf = shelf
        self._lifecycle = lifecycle
        self.appearance = appearance
        self.layout_file = layout_file
        self._was_painted = False
        self._was_ready = False
        self._diarizers: Sequence[tuple[str, str]] = ()
        settings = controller.settings
        self.toolbar = Toolbar(state, appearance, settings.input, settings.output)
        self.transcript = TranscriptView(state, appearance, settings.text_size_pt)
        self.timeline = SpeakerTimeline(state, appearance)
        self.speak_panel = SpeakPanel(state, appearance)
        self.sessions_panel = SessionsPanel()
        self.welcome = Welcome(state, appearance)
        self.notice_bar = NoticeBar(state, appearance)
        self.health_strip = HealthStrip(state, appearance)
        self.delays_panel = DelaysPanel(appearance, jobs)
        self.alarm_line = QLabel()
        self.banner = QFrame()
        self.banner_text = QLabel()
        self.banner_button = QPushButton("Back to the present recording")
        self.stack = QStackedWidget()
        self.dialogs = Dialogs(self, state, controller, shelf)
        self.pulse = Pulse(self, state, controller)
        self.setWindowTitle("Viva Voce")
        self.resize(_SIZE)
        self.setMinimumHeight(480)
        self._build()
        self.menu_actions = make_menus(self, controller, speech)
        self._connect()
        connect_commands(self, controller, shelf, speech)
        self.refresh()

    # --- Qt events ---

    def closeEvent(self, event: QCloseEvent) -> None:
        if self._lifecycle.is_finished:
            event.accept()
            return
        event.ignore()
        self._lifecycle.close()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if not self._was_painted:
            self._was_painted = True
            self.painted.emit()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.WindowStateChange:
            self.pulse.refresh()

    # --- what is shown ---

    @Slot()
    def refresh(self) -> None:
        """Bring everything that depends on the state of the session in line."""
        state = self._state
        is_idle = state.session_state is SessionState.IDLE
        is_ready = self._controller.session is not None and not self._lifecycle.is_closing
        self.toolbar.set_ready(is_ready)
        self.welcome.set_ready(is_ready and is_idle)
        is_empty = not self.transcript.rows.rows
        show_welcome = is_empty and is_idle and state.is_live_shown
        self._show_page(self.welcome if show_welcome else self.transcript)
        self.transcript.set_placeholder(placeholder(self._state))
        self.timeline.setVisible(not show_welcome)
        self.menu_actions.demo.setEnabled(is_ready and is_idle)
        self.menu_actions.listen_to_file.setEnabled(is_ready and is_idle)
        self.menu_actions.export.setEnabled(not is_empty)
        self.menu_actions.show_live.setEnabled(not state.is_live_shown)
        self.menu_actions.pause.setEnabled(
            state.session_state in (SessionState.RECORDING, SessionState.PAUSED)
        )
        self._show_banner()
        self.pulse.refresh()

    @Slot()
    def _refresh_once_filled(self) -> None:
        if not self.menu_actions.export.isEnabled():
            self.refresh()

    def _show_page(self, page: QWidget) -> None:
        is_new = self.stack.currentWidget() is not page
        self.stack.setCurrentWidget(page)
        # The control that had the focus may be gone or switched off by now.
        if is_new and page is self.transcript:
            self.transcript.setFocus()
            return
        button = self.welcome.record_button
        if page is self.welcome and button.isEnabled() and not self._was_ready:
            self._was_ready = True
            button.setFocus()

    def _show_banner(self) -> None:
        state = self._state
        untrained = [b for b in state.backends.values() if not b.is_trained]
        if not state.is_live_shown:
            self.banner_text.setText(f"Kept recording: {state.stored_title}")
        elif untrained:
            names = ", ".join(b.title or b.backend_id for b in untrained)
            self.banner_text.setText(f"Untrained weights ({names}): what you see means nothing.")
        self.banner.setVisible(bool(untrained) or not state.is_live_shown)
        self.banner_button.setVisible(not state.is_live_shown)

    @Slot()
    def show_live(self) -> None:
        """Show the running or last recording again."""
        self._state.show_live()
        self.sessions_panel.clear_choice()

    @Slot(bool)
    def _show_closing(self, has_recording: bool) -> None:
        if has_recording:
            self.setWindowTitle("Viva Voce: finishing the text…")
            self.refresh()
        else:
            self.hide()

    @Slot(object)
    def show_save_progress(self, fraction: float | None) -> None:
        self.speak_panel.set_save_progress(fraction)

    @Slot(str, bool)
    def show_save_end(self, text: str, is_problem: bool) -> None:
        self.speak_panel.show_message(text, is_problem=is_problem)

    @Slot(object)
    def show_voices(self, voices: list[tuple[str, str]]) -> None:
        self.speak_panel.set_voices(voices, self._controller.settings.synthesizer)

    @Slot(object)
    def show_diarizers(self, choices: Sequence[tuple[str, str]]) -> None:
        self._diarizers = choices
        controller = self._controller
        chosen = controller.settings.diarizer
        show_diarizers(self.menu_actions, choices, chosen, controller.set_diarizer)

    @Slot()
    def take_session(self) -> None:
        self.refresh()
        self._shelf.list_voices()
        self._shelf.list_diarizers()
        self._shelf.list_sessions()
        # Only now: what the plots need would hold the first picture of the window back.
        self.delays_panel.setVisible(self.layout_file.layout.shows_delays)

    @Slot(bool)
    def show_delays(self, is_on: bool) -> None:
        """Show or hide the delays, and remember it."""
        self.delays_panel.setVisible(is_on)
        self.layout_file.change(shows_delays=is_on)

    @Slot()
    def copy_report(self) -> None:
        """Put a report of models, devices and delays on the clipboard."""
        session = self._controller.session
        health = session.health() if session is not None else None
        report = health_report(self._state, self._controller.settings, health)
        QGuiApplication.clipboard().setText(report)
        self.delays_panel.show_message("Copied")

    @Slot()
    def show_choices(self) -> None:
        """Show the settings in force where something else was chosen in vain."""
        self.speak_panel.choose_voice(self._controller.settings.synthesizer)
        self.show_diarizers(self._diarizers)

    # --- building ---

    def _build(self) -> None:
        self.stack.addWidget(self.welcome)
        self.stack.addWidget(self.transcript)
        middle = QSplitter(Qt.Orientation.Horizontal)
        middle.setHandleWidth(1)
        middle.setChildrenCollapsible(False)
        for part in (self.sessions_panel, self.stack, self.speak_panel):
            middle.addWidget(part)
            middle.setStretchFactor(middle.count() - 1, int(part is self.stack))
        middle.setSizes([216, 764, 260])
        self.alarm_line.setObjectName("alarmLine")
        self.alarm_line.setWordWrap(True)
        self.alarm_line.hide()
        self._build_banner()
        central = QWidget()
        column = QVBoxLayout(central)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        for top in (self.toolbar, self.alarm_line, self.banner):
            column.addWidget(top)
        column.addWidget(middle, 1)
        column.addWidget(_rule())
        for bottom in (self.timeline, self.delays_panel, self.notice_bar, self.health_strip):
            column.addWidget(bottom)
        self.delays_panel.hide()
        self.setCentralWidget(central)

    def _build_banner(self) -> None:
        self.banner.setObjectName("banner")
        row = QHBoxLayout(self.banner)
        row.setContentsMargins(16, 4, 12, 4)
        row.addWidget(self.banner_text, 1)
        row.addWidget(self.banner_button)

    @Slot()
    def close_window(self) -> None:
        """Close as the window's own button does."""
        self.close()

    def _connect(self) -> None:
        state = self._state
        for changed in (
            state.session_changed,
            state.document_replaced,
            state.backends_changed,
        ):
            changed.connect(self.refresh)
        state.lines_changed.connect(self._refresh_once_filled)
        self.banner_button.clicked.connect(self.show_live)
        self.transcript.time_chosen.connect(self.timeline.show_sample)
        self.timeline.time_chosen.connect(self.transcript.show_sample)
        self.notice_bar.history_asked.connect(self.dialogs.show_messages)
        self._lifecycle.closing.connect(self._show_closing)


def _rule() -> QFrame:
    rule = QFrame()
    rule.setFixedHeight(1)
    rule.setObjectName("rule")
    return rule
