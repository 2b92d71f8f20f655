"""Something that may take for ever, done on a thread of its own."""

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Attempt(Generic[T]):
    """Runs an action that may hang; whoever waits for it can give it up at any time.

    Sound systems hang when their server does, and nothing can wake the thread that called them.

    Thread: the action runs on its own; one other waits.

    Args:
        action: what to do.
        discard: given a result that nobody waits for any more; called on the action's thread.
        name: of the thread.
    """

    def __init__(
        self,
        action: Callable[[], T],
        discard: Callable[[T], None] | None = None,
        name: str = "vivavoce-attempt",
    ) -> None:
        self._action = action
        self._discard = discard
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._results: list[T] = []
        self._error: Exception | None = None
        self._is_given_up = False
        threading.Thread(target=self._run, name=name, daemon=True).start()

    def wait(self, timeout_s: float) -> bool:
        """Block up to `timeout_s` of real time; return whether the action has ended."""
        return self._ended.wait(timeout_s)

    def result(self) -> T:
        """Return what the action returned, or raise what it raised; it must have ended."""
        if self._error is not None:
            raise self._error
        return self._results[0]

    def give_up(self) -> None:
        """Let the result be discarded, now or when it comes; idempotent."""
        with self._lock:
            if self._is_given_up:
                return
            self._is_given_up = True
            if not self._ended.is_set():
                return
        self._discard_result()

    def _run(self) -> None:
        try:
            self._results.append(self._action())
        except Exception as error:  # noqa: BLE001 - raised again by whoever asks for the result
            self._error = error
        with self._lock:
            self._ended.set()
            if not self._is_given_up:
                return
        self._discard_result()

    def _discard_result(self) -> None:
        if self._discard is not None and self._results:
            self._discard(self._results[0])
