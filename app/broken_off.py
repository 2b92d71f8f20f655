"""Recordings that broke off: offered once after the start, finished when they are opened."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from app.i18n import tr_n
from app.jobs import Jobs
from app.state import AppState
from engine.core.errors import EngineError
from engine.core.events import Notice, Severity

if TYPE_CHECKING:
    from engine.store.library import SessionInfo, SessionLibrary


class BrokenOff:
    """Tells the user of recordings that nobody finished, and finishes them.

    Args:
        state: where notices are shown.
        jobs: brings what a worker finds back to the main thread.
        on_finished: a recording is whole now, or was empty and is gone. Thread: main.
    """

    def __init__(self, state: AppState, jobs: Jobs, on_finished: Callable[[], None]) -> None:
        self._state = state
        self._jobs = jobs
        self._on_finished = on_finished
        self._has_offered = False

    def offer(self, infos: Sequence["SessionInfo"]) -> None:
        """Say once how many there are. Thread: main."""
        num_broken = sum(info.is_broken_off for info in infos)
        if num_broken and not self._has_offered:
            text = tr_n(
                "1 recording broke off. It is kept.",
                "{n} recordings broke off. They are kept.",
                num_broken,
            )
            advice = tr_n(
                "Open it in Recordings, and it is finished.",
                "Open them in Recordings, and they are finished.",
                num_broken,
            )
            self._state.add_notice(Notice(Severity.WARNING, text, advice))
        self._has_offered = True

    def finish(self, library: "SessionLibrary", session_id: str) -> bool:
        """Finish a recording if it broke off; return whether there is one. Thread: a worker's."""
        if not library.open(session_id).info().is_broken_off:
            return True
        try:
            report = library.recover(session_id)
        except EngineError as error:
            # It can be read as it is.
            notice, is_there = Notice(Severity.ERROR, error.message, error.advice), True
        else:
            notice, is_there = Notice(Severity.INFO, report.text), report.is_there
        self._jobs.call_soon(lambda: self._tell(notice))
        return is_there

    def _tell(self, notice: Notice) -> None:
        self._state.add_notice(notice)
        self._on_finished()
