"""What is known of the recordings on this machine, and their titles."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from app.jobs import Jobs
from app.state import AppState
from engine.core.errors import EngineError

if TYPE_CHECKING:
    from engine.store.library import SessionInfo, SessionLibrary


class Recordings:
    """The recordings as they were listed last, by id. Thread: main.

    Args:
        state: tells what is shown.
        jobs: worker threads.
        library: returns the kept recordings. Thread: a worker.
        list_again: looks for recordings; `take` follows.
        show_error: told what went wrong.
    """

    def __init__(
        self,
        state: AppState,
        jobs: Jobs,
        library: "Callable[[], SessionLibrary]",
        list_again: Callable[[], None],
        show_error: Callable[[EngineError], None],
    ) -> None:
        self._state = state
        self._jobs = jobs
        self._library = library
        self._list_again = list_again
        self._show_error = show_error
        self._infos: dict[str, SessionInfo] = {}

    def take(self, infos: "Sequence[SessionInfo]") -> None:
        """Take what was listed."""
        self._infos = {info.id: info for info in infos}

    def info(self, session_id: str) -> "SessionInfo | None":
        """Return what is known of a recording."""
        return self._infos.get(session_id)

    def rename(self, session_id: str, title: str) -> None:
        """Give a recording a title, or none; it is listed again then."""
        self._jobs.run(
            lambda: self._library().rename(session_id, title),
            lambda _: self._list_again(),
            self._show_error,
        )

    def look_up_live(self) -> None:
        """Look for recordings again if one has begun that is not known yet."""
        recording = self._state.live_document.recording
        if recording is None or not recording.is_kept:
            return
        if recording.recording_id not in self._infos:
            self._list_again()
