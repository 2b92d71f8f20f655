"""Carries events from every thread to the subscribers, in one total order."""

import logging
import queue
import threading
from collections.abc import Callable, Sequence

from engine.core.events import Event, Notice, Severity
from engine.core.unexpected import ADVICE, MESSAGE

logger = logging.getLogger(__name__)

Subscriber = Callable[[Event], None]


class EventBus:
    """One dispatcher thread delivers what any thread posts.

    A subscriber must return quickly; one that raises is logged and kept, and people are told once.
    Thread: `post` from any; subscribers run on the dispatcher thread alone.

    Args:
        prepare: what is delivered in an event's place, seen after all events before it were
            delivered; the event itself if None. Thread: the dispatcher's.
    """

    def __init__(self, prepare: Callable[[Event], Sequence[Event]] | None = None) -> None:
        self._prepare = prepare
        self._queue: queue.SimpleQueue[Event | threading.Event | None] = queue.SimpleQueue()
        self._subscribers: tuple[Subscriber, ...] = ()
        self._lock = threading.Lock()
        # NB: set by whoever closes it, read by any.
        self._is_closed = False
        self._has_told = False
        self._thread = threading.Thread(target=self._run, name="vivavoce-events", daemon=True)
        self._thread.start()

    def subscribe(self, subscriber: Subscriber) -> Callable[[], None]:
        """Deliver every later event to `subscriber`; returns a function that ends it."""
        with self._lock:
            self._subscribers = (*self._subscribers, subscriber)

        def unsubscribe() -> None:
            with self._lock:
                self._subscribers = tuple(s for s in self._subscribers if s is not subscriber)

        return unsubscribe

    def post(self, event: Event) -> None:
        """Queue an event for delivery."""
        self._queue.put(event)

    def drain(self, timeout_s: float = 10.0) -> bool:
        """Block until everything posted so far was delivered; False on timeout."""
        if threading.current_thread() is self._thread:
            return True
        if self._is_closed:
            return not self._thread.is_alive()
        reached = threading.Event()
        self._queue.put(reached)
        return reached.wait(timeout_s)

    def close(self, timeout_s: float = 10.0) -> bool:
        """Deliver what is queued and end the thread; idempotent.

        Returns:
            Whether it has ended: a subscriber that does not return is not waited for.
        """
        self._is_closed = True
        self._queue.put(None)
        if threading.current_thread() is not self._thread:
            self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def _run(self) -> None:
        while (item := self._queue.get()) is not None:
            if isinstance(item, threading.Event):
                item.set()
                continue
            for event in self._prepared(item):
                self._deliver(event)

    def _prepared(self, event: Event) -> Sequence[Event]:
        if self._prepare is None:
            return (event,)
        try:
            return self._prepare(event)
        except Exception:
            logger.exception("an event could not be prepared")
            self._tell()
            return ()

    def _deliver(self, event: Event) -> None:
        for subscriber in self._subscribers:
            try:
                subscriber(event)
            except Exception:
                logger.exception("an event subscriber failed")
                self._tell()

    def _tell(self) -> None:
        """Tell people once: what fails at one event fails at the next ones, too."""
        if not self._has_told:
            self._has_told = True
            self.post(
                Notice(Severity.ERROR, MESSAGE, f"{ADVICE} Some of what follows may be missing.")
            )
