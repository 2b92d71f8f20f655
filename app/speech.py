"""Reads texts aloud, or writes them, spoken, to files."""

from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from app.controller import Controller
from app.i18n import tr
from app.jobs import Jobs
from app.state import AppState
from engine.core.errors import EngineError
from engine.core.events import UtteranceChanged, UtteranceState
from engine.core.sync import CancelToken

_PLACE_MS = 100
_AT_WORK = (
    UtteranceState.QUEUED,
    UtteranceState.RENDERING,
    UtteranceState.SPEAKING,
    UtteranceState.PAUSED,
)


class Speech(QObject):
    """Commands of the speak panel. Nothing here blocks. Thread: main.

    Signals:
        text_taken: a text will be spoken: the number of its utterance, and the text.
        save_progress: fraction of a sound file written; None when it is done.
        save_ended: a sentence for the user, and whether it is a problem.
        place_changed: the SpeechPlace that is being heard; told while a text is spoken.

    Args:
        state: told when a text cannot be spoken.
        jobs: worker threads.
        controller: holds the session.
    """

    text_taken = Signal(int, str)
    save_progress = Signal(object)
    save_ended = Signal(str, bool)
    place_changed = Signal(object)

    def __init__(
        self, state: AppState, jobs: Jobs, controller: Controller, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._state = state
        self._jobs = jobs
        self._controller = controller
        self._cancel = CancelToken()
        self._timer = QTimer(self)
        self._timer.setInterval(_PLACE_MS)
        self._timer.timeout.connect(self._tell_place)
        state.utterance_changed.connect(self._follow)

    @property
    def is_speaking(self) -> bool:
        """Whether a text is spoken, will be, or is paused."""
        utterance = self._state.utterance
        return utterance is not None and utterance.state in _AT_WORK

    @Slot(str)
    def speak(self, text: str) -> None:
        """Read a text aloud."""
        session = self._controller.session
        if session is None:
            return
        try:
            number = session.speak(text)
        except EngineError as error:
            self._state.take([UtteranceChanged(-1, UtteranceState.FAILED, message=error.text)])
            return
        self.text_taken.emit(number, text)

    @Slot()
    def stop_speaking(self) -> None:
        """Be silent."""
        session = self._controller.session
        if session is not None:
            session.stop_speaking()

    @Slot(bool)
    def pause_speaking(self, is_paused: bool) -> None:
        """Pause, or go on."""
        session = self._controller.session
        if session is not None:
            (session.pause_speaking if is_paused else session.resume_speaking)()

    @Slot()
    def replay(self) -> None:
        """Play the newest text again."""
        session = self._controller.session
        if session is not None:
            session.replay_speech()

    @Slot(float)
    def seek(self, position_s: float) -> None:
        """Go to a place in the newest text."""
        session = self._controller.session
        if session is not None:
            session.seek_speech(position_s)

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

    @Slot()
    def _follow(self) -> None:
        if self.is_speaking:
            self._timer.start()
        else:
            self._timer.stop()
        self._tell_place()

    @Slot()
    def _tell_place(self) -> None:
        session = self._controller.session
        place = session.speech_place() if session is not None else None
        if place is not None:
            self.place_changed.emit(place)

    def _report(self, fraction: float, cancel: CancelToken) -> None:
        if not cancel.is_cancelled:
            self.save_progress.emit(fraction)

    def _saved(self, path: Path, seconds: float) -> None:
        self.save_progress.emit(None)
        self.save_ended.emit(
            tr("{file} saved, {seconds} s", file=path.name, seconds=f"{seconds:.1f}"), False
        )

    def _not_saved(self, error: EngineError) -> None:
        self.save_progress.emit(None)
        self.save_ended.emit(error.text, True)
