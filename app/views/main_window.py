"""The window: what stands where, and which command goes where."""

from PySide6.QtCore import QEvent, QSize, Signal, Slot
from PySide6.QtGui import QCloseEvent, QGuiApplication, QPaintEvent
from PySide6.QtWidgets import QMainWindow

from app.access.choices import AccessChoices
from app.captions import CaptionsFile
from app.controller import Controller
from app.i18n import tr
from app.jobs import Jobs
from app.layout import LayoutFile
from app.lifecycle import Lifecycle
from app.pulse import Pulse
from app.report import health_report
from app.search import Search
from app.shelf import Shelf
from app.speech import Speech
from app.views.arrangement import arrange
from app.views.captions.opener import CaptionsOpener
from app.views.context import ViewContext
from app.views.dialogs import Dialogs
from app.views.health.delays_panel import DelaysPanel
from app.views.health.health_strip import HealthStrip
from app.views.menu_bar import make_menus
from app.views.model_choices import ModelChoices
from app.views.notice_bar import NoticeBar
from app.views.reading import Reading
from app.views.search_bar import SearchBar
from app.views.sessions_panel import SessionsPanel
from app.views.shown_recording import ShownRecording
from app.views.side_panels import SidePanels
from app.views.speak_panel import SpeakPanel
from app.views.timeline.speaker_timeline import SpeakerTimeline
from app.views.toolbar import Toolbar
from app.views.transcript.view import TranscriptView
from app.views.welcome import Welcome
from app.views.wiring import connect_commands
from engine.core.events import SessionState
from engine.text.search import Hit

_SIZE = QSize(1240, 800)


class MainWindow(QMainWindow):
    """Holds the views and connects them to the commands.

    Signals:
        painted: the window was painted for the first time.

    Args:
        context: what the views show and work with.
        controller: commands on the session.
        shelf: commands on files.
        speech: commands of the speak panel.
        lifecycle: ends the program.
        jobs: worker threads.
        layout_file: remembers what is shown.
        captions_file: remembers how captions look.
    """

    painted = Signal()

    def __init__(
        self,
        context: ViewContext,
        controller: Controller,
        shelf: Shelf,
        speech: Speech,
        lifecycle: Lifecycle,
        jobs: Jobs,
        layout_file: LayoutFile,
        captions_file: CaptionsFile,
    ) -> None:
        super().__init__()
        state, appearance = context.state, context.appearance
        self._state = state
        self._context = context
        self._controller = controller
        self._shelf = shelf
        self._speech = speech
        self._lifecycle = lifecycle
        self.appearance = appearance
        self.layout_file = layout_file
        self._was_painted = False
        settings = controller.settings
        self.toolbar = Toolbar(state, appearance, settings.input, settings.output)
        self.transcript = TranscriptView(context, settings.text_size_pt)
        self.timeline = SpeakerTimeline(context)
        self.search = Search(state, context.marks, self)
        self.search_bar = SearchBar(self.search, context.marks)
        self.speak_panel = SpeakPanel(state, appearance)
        self.sessions_panel = SessionsPanel()
        self.welcome = Welcome(state, appearance)
        self.notice_bar = NoticeBar(state, appearance)
        self.health_strip = HealthStrip(state, appearance)
        self.delays_panel = DelaysPanel(appearance)
        self.reading = Reading(
            state, lambda: controller.settings, self.welcome, self.transcript, self.search_bar
        )
        self.panels = SidePanels(
            self.sessions_panel,
            self.reading,
            self.speak_panel,
            lambda: self.transcript.readable_width,
        )
        self.captions = CaptionsOpener(context, speech, controller, captions_file, self)
        self.access = AccessChoices(state, self.timeline, layout_file)
        self.dialogs = Dialogs(self, context, controller, shelf)
        self.pulse = Pulse(self, state, controller)
        self.setWindowTitle("Viva Voce")
        self.resize(_SIZE)
        self.setMinimumHeight(480)
        self.transcript.hears_clicks = layout_file.layout.hears_clicks
        self._build()
        self.menu_actions = make_menus(self, context, controller, speech)
        self.model_choices = ModelChoices(self, controller)
        self._connect()
        connect_commands(self, controller, shelf, speech)
        self.shown_recording = ShownRecording(self, state, shelf, lifecycle)
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
        self.reading.refresh()
        is_empty, show_welcome = self.reading.is_empty, self.reading.shows_welcome
        self.timeline.setVisible(not show_welcome)
        is_held = state.session_state in (SessionState.RECORDING, SessionState.PAUSED)
        for name, is_enabled in (
            ("demo", is_ready and is_idle),
            ("listen", is_ready and is_idle),
            ("export", not is_empty),
            ("find", not show_welcome),
            ("show_live", not state.is_live_shown),
            ("pause", is_held),
        ):
            self.menu_actions.action(name).setEnabled(is_enabled)
        self._refresh_selection()
        self.pulse.refresh()

    @Slot()
    def _refresh_panels(self) -> None:
        for name, panel in (("sessions", self.sessions_panel), ("speak", self.speak_panel)):
            self.menu_actions.action(name).setChecked(self.panels.is_shown(panel))

    @Slot()
    def _refresh_once_filled(self) -> None:
        if not self.menu_actions.action("export").isEnabled():
            self.refresh()

    @Slot()
    def _refresh_selection(self) -> None:
        is_chosen = self._context.marks.selection is not None
        self.menu_actions.action("excerpt").setEnabled(is_chosen)

    @Slot()
    def show_live(self) -> None:
        """Show the running or last recording again."""
        self._state.show_live()

    @Slot(bool)
    def _show_closing(self, has_recording: bool) -> None:
        # What is being typed into a line, or as a name, belongs to the recording.
        self.transcript.finish_editing()
        self.timeline.commands.finish_editing()
        self.captions.close()
        if has_recording:
            self.setWindowTitle(tr("Viva Voce: finishing the text…"))
            self.refresh()
        else:
            self.hide()

    @Slot(str, bool)
    def show_save_end(self, text: str, is_problem: bool) -> None:
        self.speak_panel.show_message(text, is_problem=is_problem)

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
        self.menu_actions.action("delays").setChecked(is_on)
        self.layout_file.change(shows_delays=is_on)

    def show_sessions(self, is_on: bool) -> None:
        """Show or hide the recordings."""
        self.panels.show_panel(self.sessions_panel, is_on)

    def show_speak_panel(self, is_on: bool) -> None:
        """Show or hide the text that is spoken."""
        self.panels.show_panel(self.speak_panel, is_on)

    @Slot(bool)
    def set_hears_clicks(self, is_on: bool) -> None:
        """Say whether a clicked word is heard, and remember it."""
        self.transcript.hears_clicks = is_on
        self.layout_file.change(hears_clicks=is_on)

    @Slot(object)
    def show_hit(self, hit: Hit) -> None:
        """Show a place the search found, in transcript and timeline."""
        self.transcript.show_hit(hit)
        self.timeline.show_sample(hit.start)

    @Slot(int, int)
    def copy_stretch(self, start: int, end: int) -> None:
        """Put what was said in a stretch on the clipboard."""
        self._context.marks.select(start, end)
        self.transcript.copy()

    @Slot()
    def escape(self) -> None:
        """End what sounds, else the search, else what is chosen."""
        playback = self._context.playback
        is_silent = not (self._speech.is_speaking or playback.is_playing or playback.is_paused)
        playback.stop()
        self._speech.stop_speaking()
        if is_silent and self.search_bar.isVisible():
            self.search_bar.end()
        elif is_silent:
            self._context.marks.clear_selection()

    @Slot()
    def copy_report(self) -> None:
        """Put a report of models, devices and delays on the clipboard."""
        session = self._controller.session
        health = session.health() if session is not None else None
        report = health_report(self._state, self._controller.settings, health)
        QGuiApplication.clipboard().setText(report)
        self.delays_panel.show_message(tr("Copied"))

    # --- building ---

    def _build(self) -> None:
        self.delays_panel.hide()
        self.setCentralWidget(arrange(self))

    def _connect(self) -> None:
        state = self._state
        for changed in (
            state.session_changed,
            state.document_replaced,
            state.backends_changed,
        ):
            changed.connect(self.refresh)
        state.lines_changed.connect(self._refresh_once_filled)
        self.panels.changed.connect(self._refresh_panels)
        self.reading.banner.button.clicked.connect(self.show_live)
        self.transcript.time_chosen.connect(self.timeline.show_sample)
        self.timeline.time_chosen.connect(self.transcript.show_sample)
        self._context.marks.selection_changed.connect(self._refresh_selection)
        self.notice_bar.history_asked.connect(self.dialogs.show_messages)
        self._lifecycle.closing.connect(self._show_closing)
