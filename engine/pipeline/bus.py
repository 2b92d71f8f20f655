"""Carries events from every thread to the subscribers, in one total order."""

import logging
import queue
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from engine.core.events import Event, Notice, Severity
from engine.core.unexpected import ADVICE, MESSAGE

logger = logging.getLogger(__name__)

Subscriber = Callable[[Event], None]


@dataclass(frozen=True, slots=True, eq=False)
class _Mark:
    """A place in the order of events, and whether it has been reached."""

    is_for_all: bool
    reached: threading.Event = field(default_factory=threading.Event)


_Queue = queue.SimpleQueue[Event | _Mark | None]


class EventBus:
    """Delivers what any thread posts: to its owner first, to the subscribers on another thread.

    A subscriber should return quickly. One that does not, such as a printer whose reader has
    stopped, holds up the other subscribers, and never the owner: what is recorded goes its way.
    One that raises is logged and kept, and people are told once.

    Memory: what a subscriber is behind. Thread: `post` from any; `prepare` and `take` run on a
    thread that never waits for subscribers, subscribers on the event thread alone.

    Args:
        prepare: what is delivered in an event's place, seen after all events before it were
            taken; the event itself if None.
        take: the owner's: has every event before any subscriber; must never wait for anybody.
    """

    def __init__(
        self,
        prepare: Callable[[Event], Sequence[Event]] | None = None,
        take: Subscriber | None = None,
    ) -> None:
        self._prepare = prepare
        self._take = take
        self._posted: _Queue = queue.SimpleQueue()
        self._taken: _Queue = queue.SimpleQueue()
        self._subscribers: tuple[Subscriber, ...] = ()
        self._lock = threading.Lock()
        # NB: set by whoever closes it, read by any.
        self._is_closed = False
        self._has_told = False
        self._owner = threading.Thread(target=self._run_owner, name="vivavoce-order", daemon=True)
        self._thread = threading.Thread(target=self._run, name="vivavoce-events", daemon=True)
        self._owner.start()
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
        self._posted.put(event)

    def drain(self, timeout_s: float = 10.0) -> bool:
        """Block until everybody has had everything posted so far; False on timeout."""
        if threading.current_thread() is self._thread:
            return True
        return self._wait(_Mark(is_for_all=True), self._thread, timeout_s)

    def drain_owner(self, timeout_s: float = 10.0) -> bool:
        """Block until the owner has had everything posted so far; False on timeout."""
        return self._wait(_Mark(is_for_all=False), self._owner, timeout_s)

    def close(self, timeout_s: float = 10.0) -> bool:
        """Deliver what is queued and end the threads; idempotent.

        Returns:
            Whether they have ended: a subscriber that does not return is not waited for.
        """
        self._is_closed = True
        self._posted.put(None)
        threads = (self._owner, self._thread)
        for thread in threads:
            if thread is not threading.current_thread():
                thread.join(timeout_s)
        return not any(thread.is_alive() for thread in threads)

    def _wait(self, mark: _Mark, thread: threading.Thread, timeout_s: float) -> bool:
        if self._is_closed:
            return not thread.is_alive()
        self._posted.put(mark)
        return mark.reached.wait(timeout_s)

    def _run_owner(self) -> None:
        while (item := self._posted.get()) is not None:
            if not isinstance(item, _Mark):
                for event in self._prepared(item):
                    if self._take is not None:
                        self._hand(event, self._take)
                    self._taken.put(event)
            elif item.is_for_all:
                self._taken.put(item)
            else:
                item.reached.set()
        self._taken.put(None)

    def _run(self) -> None:
        while (item := self._taken.get()) is not None:
            if isinstance(item, _Mark):
                item.reached.set()
                continue
            for subscriber in self._subscribers:
                self._hand(item, subscriber)

    def _prepared(self, event: Event) -> Sequence[Event]:
        if self._prepare is None:
            return (event,)
        try:
            return self._prepare(event)
        except Exception:
            logger.exception("an event could not be prepared")
            self._tell()
            return ()

    def _hand(self, event: Event, subscriber: Subscriber) -> None:
        try:
            subscriber(event)
        except Exception:
            logger.exception("an event subscriber failed")
            self._tell()

    def _tell(self) -> None:
        """Tell people once: what fails at one event fails at the next ones, too."""
        with self._lock:
            is_first, self._has_told = not self._has_told, True
        if is_first:
            self.post(
                Notice(Severity.ERROR, MESSAGE, f"{ADVICE} Some of what follows may be missing.")
            )
