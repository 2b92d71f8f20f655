"""The border between the engine's threads and Qt's main thread."""

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtCore import QObject, Qt, Signal, Slot


class QtEventBridge(QObject):
    """Carries objects from any thread to the main thread, in order and in batches.

    Only a wake-up without payload crosses the threads, and only if none is pending, so a burst of
    events costs one pass of the event loop. Thread: `post` from any; the rest on the main thread.

    Args:
        deliver: takes what has come, in order. Thread: main.
        parent: owns the bridge.
    """

    _wake = Signal()

    def __init__(
        self, deliver: Callable[[Sequence[Any]], None], parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._deliver = deliver
        # NB: appended by any thread, popped by the main thread alone.
        self._items: deque[Any] = deque()
        # NB: set by any thread, cleared by the main thread before it empties the deque, so an
        # item that comes meanwhile wakes it once more at worst.
        self._is_pending = False
        self._wake.connect(self._drain, Qt.ConnectionType.QueuedConnection)

    def post(self, item: object) -> None:
        """Hand an object over; returns at once."""
        self._items.append(item)
        if not self._is_pending:
            self._is_pending = True
            self._wake.emit()

    @Slot()
    def _drain(self) -> None:
        self._is_pending = False
        batch = [self._items.popleft() for _ in range(len(self._items))]
        if batch:
            self._deliver(batch)
