"""Reads texts aloud, or writes them, spoken, to files."""

from pathlib import Path

from PySide6.QtCore import QObject, Signal, Slot

from app.controller import Controller
from app.jobs import Jobs
from app.state import AppState
from engine.core.errors import EngineError
from engine.core.events import UtteranceChanged, UtteranceState
from engine.core.sync import CancelToken


class Speech(QObject):
    """Commands of the speak panel. Nothing here blocks. Thread: main.

    Signals:
        save_progress: fraction of a sound file written; None when it is done.
        save_ended: a sentence for the user, and whether it is a problem.

    Args:
        state: told when a text cannot be spoken.
        jobs: worker threads.
        controller: holds the session.
    """

    save_progress = Signal(object)
    save_ended = Signal(str, bool)

    def __init__(
        self, state: AppState, jobs: Jobs, controller: Controller, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._state = state
        self._jobs = jobs
        self._controller = controller
        self._cancel = CancelToken()

    @Slot(str)
    def speak(self, text: str) -> None:
        """Read a text aloud."""
        session = self._controller.session
        if session is None:
            return
        try:
            session.speak(text)
        except EngineError as error:
            self._state.take([UtteranceChanged(-1, UtteranceState.FAILED, message=error.text)])

    @Slot()
    def stop_speaking(self) -> None:
        """Be silent."""
        session = self._controller.session
        if session is not None:
            session.stop_speaking()

    @Slot(str, object)
    def save_wav(self, text: str, path: Path) -> None:
        """Write a text, spoken, to a file; one that is being written is given up."""
        session = self._controller.session
        if session is None:
            return
        self.cancel_save()
        cancel = self._cancel = CancelToken()

        def report(fraction: float) -> None:
            self._jobs.call_soon(lambda: self._report(fraction, cancel))

        def work() -> float:
            # Imported late: it draws in what sound files need.
            from engine.session.rendering import render_to_wav

            return render_to_wav(session, text, path, cancel, report)

        self.save_progress.emit(0.0)
        self._jobs.run(work, lambda seconds: self._saved(path, seconds), self._not_saved)

    def cancel_save(self) -> None:
        """Give up the file being written."""
        self._cancel.cancel()

    def _report(self, fraction: float, cancel: CancelToken) -> None:
        if not cancel.is_cancelled:
            self.save_progress.emit(fraction)

    def _saved(self, path: Path, seconds: float) -> None:
        self.save_progress.emit(None)
        self.save_ended.emit(f"{path.name} saved, {seconds:.1f} s", False)

    def _not_saved(self, error: EngineError) -> None:
        self.save_progress.emit(None)
        self.save_ended.emit(error.text, True)
