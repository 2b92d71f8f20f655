"""A file of a recording on its way to the disk, also while the disk refuses it."""

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable

from engine.core.errors import StoreError
from engine.core.events import Event, Notice
from engine.store.journal_files import JournalFile


class KeptFile(ABC):
    """Tells when the disk begins to refuse a file, and when it takes it again.

    Thread: `write` on one disk thread, `sync` on another.

    Args:
        file: of the journal; what is refused is held there.
        post: publishes an event.
    """

    def __init__(self, file: JournalFile, post: Callable[[Event], None]) -> None:
        self._file = file
        self._post = post
        self._lock = threading.Lock()
        self._is_refused = False

    def write(self) -> None:
        """Hand what has come to the operating system; what refuses is left to `sync`."""
        # A disk that refuses is asked once a second, not for every block and event.
        if self._is_refused:
            return
        try:
            self._file.write()
        except StoreError as error:
            self._take_refusal(error)

    def sync(self) -> bool:
        """Bring what is new to the disk; return whether that was done."""
        try:
            is_done = self._file.sync()
        except StoreError as error:
            self._take_refusal(error)
            return False
        with self._lock:
            is_over = is_done and self._is_refused
            self._is_refused = self._is_refused and not is_over
        if is_over:
            self._post(self._taken_again())
        return is_done

    def _take_refusal(self, error: StoreError) -> None:
        with self._lock:
            is_new, self._is_refused = not self._is_refused, True
        if is_new:
            self._post(self._refused(error))

    @abstractmethod
    def _refused(self, error: StoreError) -> Notice:
        """Return what to tell when the disk begins to refuse."""

    @abstractmethod
    def _taken_again(self) -> Notice:
        """Return what to tell when that is over."""
