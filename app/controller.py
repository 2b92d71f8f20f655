"""Carries out what the user asks for, and keeps the settings."""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal, Slot

from app.bridge import QtEventBridge
from app.i18n import tr
from app.jobs import Jobs
from app.settings_saver import SettingsSaver
from app.state import AppState
from app.unexpected import not_started
from app.unkept import Unkept
from engine.core.config import KeepPolicy, Settings
from engine.core.errors import EngineError, reason_of
from engine.core.events import EditEvent, Notice, SessionState, Severity
from engine.core.resources import resource_path
from engine.core.unexpected import UnexpectedError

if TYPE_CHECKING:
    from engine.session.session import Session

logger = logging.getLogger(__name__)
MIN_TEXT_SIZE_PT, DEFAULT_TEXT_SIZE_PT, MAX_TEXT_SIZE_PT = 8, 13, 72

BuildSession = Callable[[Settings, Mapping[str, str]], "Session"]


class Controller(QObject):
    """Commands of the window. Nothing here blocks. Thread: main.

    Signals:
        session_attached: the engine is there.
        build_ended: the making of the engine is over, well or not.
        keep_asked: the user must say what is kept before the first recording.
        devices_listed: the devices there are (a tuple of `engine.audio.device.DeviceInfo`).
        change_refused: the engine did not take a change; `settings` are as before.
        text_size_changed: points.

    Args:
        state: shown by the views.
        jobs: worker threads.
        settings: in force at the start.
        environment: see `engine.core.config`.
    """

    session_attached = Signal()
    build_ended = Signal()
    keep_asked = Signal()
    devices_listed = Signal(object)
    change_refused = Signal()
    text_size_changed = Signal(int)

    def __init__(
        self,
        state: AppState,
        jobs: Jobs,
        settings: Settings,
        environment: Mapping[str, str],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._state = state
        self._jobs = jobs
        self._environment = environment
        self.settings = settings
        self.session: Session | None = None
        self.is_building = False
        self.is_closing = False
        self.bridge = QtEventBridge(state.take, self)
        self._unsubscribe: Callable[[], None] = lambda: None
        self._pending_input: str | None = None
        self._is_listing = False
        self._is_demo = False
        self.unkept = Unkept(state, self.stop, self)
        state.session_changed.connect(self._watch_demo)
        state.document_replaced.connect(self._take_levels)
        self._saver = SettingsSaver(lambda: self.settings, environment, self.show_error, self)

    # --- the engine ---

    def build(self, build_session: BuildSession) -> None:
        """Make the session on a worker thread; `build_ended` follows in any case."""
        settings, environment = self.settings, self._environment
        self.is_building = True
        self._jobs.run(
            lambda: build_session(settings, environment), self._take_session, self._take_no_session
        )

    def attach(self, session: "Session") -> None:
        """Take a session and load its models."""
        self.session = session
        self._unsubscribe = session.subscribe(self.bridge.post)
        session.load()
        self.session_attached.emit()
        self.list_devices()

    def detach(self) -> None:
        """Take no more events."""
        self._unsubscribe()

    def prepare_close(self) -> None:
        """Keep what the user chose, and begin nothing more."""
        self.is_closing = True
        self._saver.save()

    @Slot()
    def list_devices(self) -> None:
        """Look for devices; `devices_listed` follows."""
        if self.session is None or self._is_listing:
            return
        self._is_listing = True
        self._jobs.run(self.session.list_devices, self._take_devices, self._take_no_devices)

    def reload_models(self) -> None:
        """Try again to load what failed."""
        if self.session is not None:
            self.session.load()

    # --- recording ---

    @Slot()
    def toggle_record(self) -> None:
        """Record, or stop what is recorded."""
        if self._state.is_busy:
            self.stop()
        else:
            self.record()

    @Slot()
    def record(self) -> None:
        """Start a recording from the chosen input; asks first what to keep, once."""
        self._start(self.settings.input)

    def listen_to_file(self, path: Path) -> None:
        """Play a sound file into a recording."""
        self._start(f"file:{path}")

    @Slot()
    def try_demo(self) -> None:
        """Play the bundled conversation through everything; nothing of it is kept.

        A transcript that would be gone then is asked about first.
        """
        if self.session is None or self._state.is_busy:
            return
        try:
            path = resource_path("demo/conversation.flac")
        except FileNotFoundError as error:
            self.show_error(
                EngineError(
                    tr("The demo is missing: {reason}.", reason=reason_of(error)),
                    advice=tr("Install the program again."),
                )
            )
            return
        self.unkept.guard(lambda: self._start_demo(path))

    def _start_demo(self, path: Path) -> None:
        self._is_demo = True
        self._order_change({"keep": KeepPolicy.NOTHING.value})
        self._order_start(f"file:{path}")

    def choose_keep(self, policy: str) -> None:
        """Settle what is kept, and go on with the recording that waited for it."""
        self._change(keep=policy)
        pending, self._pending_input = self._pending_input, None
        if pending is not None:
            self._start(pending)

    def forget_pending(self) -> None:
        """Give up the recording that waited for a choice."""
        self._pending_input = None

    @Slot()
    def pause_or_resume(self) -> None:
        """Hold the recording, or go on."""
        if self.session is not None:
            if self._state.session_state is SessionState.PAUSED:
                self.session.resume()
            else:
                self.session.pause()

    @Slot()
    def stop(self) -> None:
        """End the recording; asked again, do without the words that are still missing."""
        if self.session is not None and self._state.is_busy:
            is_stopping = self._state.session_state is SessionState.STOPPING
            self.session.stop(discard_backlog=is_stopping)

    def edit_live(self, events: Sequence[EditEvent]) -> None:
        """Change the running or last recording."""
        if self.session is not None:
            self.unkept.take_edits(len(events))
            self.session.edit(events)

    # --- settings ---

    @Slot(str)
    def set_input(self, name: str) -> None:
        """Choose a microphone."""
        self._change(input=name)

    @Slot(str)
    def set_output(self, name: str) -> None:
        """Choose a loudspeaker."""
        self._change(output=name)

    @Slot(str)
    def set_voice(self, backend_id: str) -> None:
        """Choose a voice."""
        self._change(synthesizer=backend_id)

    @Slot(str)
    def set_diarizer(self, backend_id: str) -> None:
        """Choose what tells speakers apart; "none" for nothing."""
        self._change(diarizer=backend_id)

    @Slot(bool)
    def set_hold_back_own_voice(self, is_on: bool) -> None:
        """Say whether the program's own voice is kept out of the text."""
        self._change(hold_back_own_voice=is_on)

    def change_text_size(self, step: int) -> None:
        """Make words larger or smaller by points; 0 for the usual size."""
        size = self.settings.text_size_pt + step if step else DEFAULT_TEXT_SIZE_PT
        size = min(max(size, MIN_TEXT_SIZE_PT), MAX_TEXT_SIZE_PT)
        if size != self.settings.text_size_pt:
            self._change(text_size_pt=size)
            self.text_size_changed.emit(size)

    def show_error(self, error: EngineError) -> None:
        """Show an error as a notice."""
        self._state.add_notice(Notice(Severity.ERROR, error.message, error.advice))

    def _change(self, **values: Any) -> None:
        settings = replace(self.settings, **values)
        if settings == self.settings:
            return
        before = {name: getattr(self.settings, name) for name in values}
        self.settings = settings
        self._saver.save_soon()
        if not self._is_demo:
            self._order_change(values, lambda: self._take_back(values, before))

    def _take_back(self, values: Mapping[str, Any], before: Mapping[str, Any]) -> None:
        """Undo a refused change, unless the user has changed the same thing again."""
        if all(getattr(self.settings, name) == value for name, value in values.items()):
            self.settings = replace(self.settings, **before)
            self._saver.save_soon()
        self.change_refused.emit()

    def _order_change(
        self, values: Mapping[str, Any], on_refused: Callable[[], None] = lambda: None
    ) -> None:
        """Put values in force off this thread: a model that is let go may take its time."""
        session = self.session
        if session is None:
            return

        def refuse(error: EngineError) -> None:
            self.show_error(error)
            on_refused()

        # They change what is in force by then, so that a refused change before them stays out.
        self._jobs.run_in_order(
            lambda: session.change_settings(replace(session.settings, **values)), on_error=refuse
        )

    def _order_start(self, input_name: str) -> None:
        """Start a recording once the settings before it are in force."""
        session = self.session
        if session is not None:
            self._jobs.run_in_order(lambda: None if self.is_closing else session.start(input_name))

    def _start(self, input_name: str) -> None:
        if self.session is None or self._state.is_busy:
            return
        if not self.settings.keep:
            self._pending_input = input_name
            self.keep_asked.emit()
            return
        self.unkept.guard(lambda: self._order_start(input_name))

    @Slot()
    def _watch_demo(self) -> None:
        """Put the settings back in force once the demo has ended."""
        if self._is_demo and not self._state.is_busy and self.session is not None:
            self._is_demo = False
            self._order_change({f.name: getattr(self.settings, f.name) for f in fields(Settings)})

    @Slot()
    def _take_levels(self) -> None:
        if self._is_demo and self._state.is_busy:
            self.unkept.take_demo()
        if self.session is not None and self._state.live_document.recording is not None:
            self._state.set_live_levels(self.session.level_track())

    def _take_session(self, session: "Session") -> None:
        self.is_building = False
        if self.is_closing:
            self.session = session
        else:
            self.attach(session)
        self.build_ended.emit()

    def _take_no_session(self, error: EngineError) -> None:
        self.is_building = False
        is_foreseen = not isinstance(error, UnexpectedError)
        self.show_error(error if is_foreseen else not_started(self._jobs.log))
        self.build_ended.emit()

    def _take_devices(self, devices: object) -> None:
        self._is_listing = False
        self.devices_listed.emit(devices)

    def _take_no_devices(self, error: EngineError) -> None:
        self._is_listing = False
        self.devices_listed.emit(())
        self._state.add_notice(Notice(Severity.WARNING, error.message, error.advice))
