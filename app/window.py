"""Puts the window together: the composition root of the graphical program."""

import logging
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import psutil
from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QApplication, QWidget

from app.access.install import install_accessibility
from app.captions import CaptionsFile
from app.controller import Controller
from app.editing import Editing
from app.garbage import GarbageCollector
from app.icons import app_icon
from app.jobs import Jobs
from app.layout import LayoutFile
from app.lifecycle import Lifecycle
from app.logs import install_hooks, start_logging
from app.marks import Marks
from app.playback import Playback
from app.shelf import Shelf
from app.single_instance import Claim, SingleInstance
from app.speech import Speech
from app.state import AppState
from app.theme import Appearance
from app.unexpected import unexpected
from app.views.context import ViewContext
from app.views.main_window import MainWindow
from engine.core.config import Settings, folders, load_settings
from engine.core.errors import ConfigError, EngineError
from engine.core.events import BackendState, EditEvent, Notice, Severity

if TYPE_CHECKING:
    from engine.session.session import Session

logger = logging.getLogger(__name__)

NO_ANSWER = "Viva Voce is open already, but does not answer. End that one, then start it again."
NOT_OPENED = 5
"""Exit status where there is no window."""


@dataclass(frozen=True, slots=True)
class Program:
    """The parts of the graphical program, put together and not started."""

    application: QApplication
    state: AppState
    controller: Controller
    lifecycle: Lifecycle
    window: MainWindow

    def run(self) -> int:
        """Show the window and return the exit code once it is closed."""
        self.lifecycle.finished.connect(self.application.quit)
        self.lifecycle.catch_signals()
        collector = GarbageCollector(self.application)
        collector.start()

        def tidy() -> None:
            if is_at_rest(self.state):
                collector.collect_all()

        self.state.session_changed.connect(tidy)
        self.state.backends_changed.connect(tidy)
        self.window.show()
        try:
            return self.application.exec()
        finally:
            collector.stop()
            self.lifecycle.release_signals()


def run_window(environment: Mapping[str, str]) -> int:
    """Open the window and return the exit code once it is closed.

    If it is open already, it is brought to the front instead.
    """
    settings, _ = _settings(environment)
    instance = SingleInstance(folders(settings, environment).state)
    claim = instance.claim()
    if claim is Claim.NO_ANSWER:
        sys.stderr.write(f"{NO_ANSWER}\n")
        return NOT_OPENED
    if claim is Claim.SHOWN:
        return 0
    try:
        program = assemble(environment)
        instance.listen(lambda: bring_up(program.window))
        program.lifecycle.closing.connect(instance.stop_listening)
        return program.run()
    finally:
        instance.close()


def bring_up(window: QWidget) -> None:
    """Show a window in front of the others."""
    window.setWindowState(window.windowState() & ~Qt.WindowState.WindowMinimized)
    window.show()
    window.raise_()
    window.activateWindow()


def assemble(environment: Mapping[str, str]) -> Program:
    """Put the program together; the engine is made once the window has been painted.

    Args:
        environment: see `engine.core.config`.
    """
    application = _application()
    install_accessibility()
    settings, problem = _settings(environment)
    places = folders(settings, environment)
    log = start_logging(places.state)
    state = AppState()
    jobs = Jobs(lambda error: _show(state, error), log=log)
    install_hooks(lambda: jobs.call_soon(lambda: _show(state, unexpected(log))))
    controller = Controller(state, jobs, settings, environment)
    shelf = Shelf(state, jobs, settings, environment)
    speech = Speech(state, jobs, controller)
    lifecycle = Lifecycle(controller, shelf, speech, state, jobs)
    layout_file = LayoutFile(places.config)
    context = make_context(state, controller, shelf, Appearance())
    captions_file = CaptionsFile(places.config)
    window = MainWindow(
        context, controller, shelf, speech, lifecycle, jobs, layout_file, captions_file
    )
    if problem is not None:
        _show(state, problem)
    window.painted.connect(_log_start)
    # Models load behind the first picture of the window, not before it.
    window.painted.connect(lambda: QTimer.singleShot(0, lambda: controller.build(_build)))
    return Program(application, state, controller, lifecycle, window)


def is_at_rest(state: AppState) -> bool:
    """Return whether nothing is recorded and no model is being loaded."""
    loads = any(backend.state is BackendState.LOADING for backend in state.backends.values())
    return not state.is_busy and not loads


def make_context(
    state: AppState, controller: Controller, shelf: Shelf, appearance: Appearance
) -> ViewContext:
    """Return what the views of a transcript work with."""

    def keep(events: Sequence[EditEvent]) -> None:
        (controller.edit_live if state.is_live_shown else shelf.edit_stored)(events)

    marks = Marks()
    playback = Playback(state, controller, marks)
    return ViewContext(state, appearance, marks, Editing(state, keep), playback)


def _application() -> QApplication:
    application = QApplication(["vivavoce"])
    application.setApplicationName("vivavoce")
    application.setApplicationDisplayName("Viva Voce")
    application.setDesktopFileName("vivavoce")
    application.setStyle("Fusion")
    application.setWindowIcon(app_icon())
    application.setQuitOnLastWindowClosed(False)
    return application


def _build(settings: Settings, environment: Mapping[str, str]) -> "Session":
    # Imported late, on the worker thread: devices and backends come with it.
    from engine.session.build import build_session

    return build_session(settings, environment)


def _settings(environment: Mapping[str, str]) -> tuple[Settings, ConfigError | None]:
    try:
        return load_settings(environment), None
    except ConfigError as error:
        return Settings(), error


def _show(state: AppState, error: EngineError) -> None:
    state.add_notice(Notice(Severity.ERROR, error.message, error.advice))


def _log_start() -> None:
    age_s = time.time() - psutil.Process().create_time()
    logger.info("the window is visible %.2f s after the process began", age_s)
