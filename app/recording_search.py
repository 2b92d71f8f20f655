"""Looks for a text in the words of all kept recordings while the window goes on."""

import logging
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from PySide6.QtCore import QObject, Signal, Slot

from app.jobs import Jobs
from engine.core.errors import StoreError
from engine.core.sync import CancelToken
from engine.text.search import fold

if TYPE_CHECKING:
    from engine.store.library import SessionLibrary
    from engine.store.session_search import Found
    from engine.store.stored_session import StoredSession

logger = logging.getLogger(__name__)

_Stamp: TypeAlias = tuple[int, int, str]
"""When the words of a recording changed last, their size, and what else is known of it."""


class RecordingSearch(QObject):
    """One search at a time, one recording after the other. Thread: main.

    Of what was looked through, only this is remembered: in which recordings a text is not. What
    contains it is in none of these either.

    Signals:
        found: the id of a recording, and where it has what is looked for
            (`engine.store.session_search.Found`).
        ended: every recording was looked through.

    Args:
        jobs: worker threads.
        library: returns the kept recordings. Thread: a worker.
    """

    found = Signal(str, object)
    ended = Signal()

    def __init__(
        self,
        jobs: Jobs,
        library: "Callable[[], SessionLibrary]",
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._jobs = jobs
        self._library = library
        self._cancel = CancelToken()
        self._lacking: dict[str, tuple[str, _Stamp]] = {}

    @Slot(str, object)
    def begin(self, query: str, known: Mapping[str, str]) -> None:
        """Give up the search before, and begin one; an empty query begins none.

        Args:
            query: see `engine.store.session_search.search_session`.
            known: ids of recordings in the order they are looked through, and what their entries
                in the list say.
        """
        self._cancel.cancel()
        if not query.strip():
            return
        cancel = self._cancel = CancelToken()
        known, lacking = dict(known), dict(self._lacking)

        def work() -> None:
            library = self._library()
            for session_id, text in known.items():
                cancel.check()
                self._look_through(library, session_id, text, query, lacking, cancel)

        self._jobs.run(work, lambda _: self._end(cancel))

    def cancel(self) -> None:
        """Give up the search."""
        self._cancel.cancel()

    def _look_through(
        self,
        library: "SessionLibrary",
        session_id: str,
        text: str,
        query: str,
        lacking: Mapping[str, tuple[str, _Stamp]],
        cancel: CancelToken,
    ) -> None:
        """Search one recording and tell what was found. Thread: a worker's."""
        from engine.store.session_search import search_session

        try:
            session = library.open(session_id)
            stamp = _stamp(session, text)
            old_query, old_stamp = lacking.get(session_id, ("", stamp))
            if old_query and old_stamp == stamp and fold(query).startswith(old_query):
                return
            found = search_session(session, query, cancel, text)
        except (OSError, StoreError) as error:
            # It was deleted meanwhile, or cannot be read; whoever opens it is told.
            logger.info("a recording is not searched: %s", error)
            return
        self._jobs.call_soon(partial(self._take, session_id, found, query, stamp, cancel))

    def _take(
        self,
        session_id: str,
        found: "Found | None",
        query: str,
        stamp: _Stamp,
        cancel: CancelToken,
    ) -> None:
        if found is None:
            self._lacking[session_id] = fold(query), stamp
        elif not cancel.is_cancelled:
            self.found.emit(session_id, found)

    def _end(self, cancel: CancelToken) -> None:
        if not cancel.is_cancelled:
            self.ended.emit()


def _stamp(session: "StoredSession", text: str) -> _Stamp:
    status = session.events_path.stat()
    return status.st_mtime_ns, status.st_size, text
