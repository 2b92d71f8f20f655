"""Small tools for threads: cancel tokens and last-value mailboxes."""

import threading
from typing import Generic, TypeVar

from engine.core.errors import CancelledError

T = TypeVar("T")


class CancelToken:
    """A flag that any thread sets once and workers check at every frame."""

    def __init__(self) -> None:
        self._event = threading.Event()

    @property
    def is_cancelled(self) -> bool:
        """Whether cancel was called."""
        return self._event.is_set()

    def cancel(self) -> None:
        """Ask the operation to end; idempotent."""
        self._event.set()

    def check(self) -> None:
        """Raise if cancelled.

        Raises:
            CancelledError: cancel was called.
        """
        if self._event.is_set():
            raise CancelledError("The operation was cancelled.")

    def wait(self, timeout_s: float) -> bool:
        """Block up to `timeout_s`; return whether cancelled."""
        return self._event.wait(timeout_s)


class Mailbox(Generic[T]):
    """Holds the last value put in; readers pull it when they like.

    NB: one reference assignment each way, atomic in CPython; any thread may put or get.
    """

    __slots__ = ("_value",)

    def __init__(self, value: T) -> None:
        self._value = value

    def put(self, value: T) -> None:
        """Replace the value."""
        self._value = value

    def get(self) -> T:
        """Return the newest value."""
        return self._value
