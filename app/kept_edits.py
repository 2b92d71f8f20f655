"""Changes of kept recordings on their way to disk: none is lost, none is read over."""

import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from engine.core.events import EditEvent

if TYPE_CHECKING:
    from engine.store.library import SessionLibrary


class KeptEdits:
    """Holds changes until they are written. Thread: any.

    Args:
        library: returns the kept recordings.
    """

    def __init__(self, library: "Callable[[], SessionLibrary]") -> None:
        self._library = library
        self._writing = threading.Lock()
        # NB: appended by the main thread; popped by whoever holds the lock.
        self._waiting: deque[tuple[str, Sequence[EditEvent]]] = deque()

    def add(self, session_id: str, events: Sequence[EditEvent]) -> None:
        """Take changes of a recording; `write` brings them to disk. Thread: main."""
        self._waiting.append((session_id, events))

    def write(self) -> None:
        """Write what waits, in order; when it returns, all that was added before is on disk.

        Raises:
            EngineError: a change could not be written, and does not wait any more.
        """
        with self._writing:
            while self._waiting:
                self._library().append_edits(*self._waiting.popleft())
