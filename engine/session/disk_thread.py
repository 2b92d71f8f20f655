"""A thread that waits for the disk, so that nobody else does."""

import logging
import queue
import threading
from collections.abc import Callable
from contextlib import suppress

from engine.core.events import Event, Notice, Severity
from engine.core.timebase import MonotonicClock
from engine.core.unexpected import ADVICE, MESSAGE

logger = logging.getLogger(__name__)


class DiskThread:
    """Does a piece of work at the disk again and again: when asked, and every so often.

    Whoever asks never waits. A disk that hangs holds up this thread alone, which cannot be woken
    then and is left alone. Thread: any.

    Args:
        name: of the thread.
        work: what to do; a fault nobody foresaw is told once, and the work goes on.
        interval_s: at most so long between two turns, of real time.
        post: publishes an event.
        has_last_turn: whether the work is done once more at the end.
    """

    def __init__(
        self,
        name: str,
        work: Callable[[], None],
        interval_s: float,
        post: Callable[[Event], None],
        *,
        has_last_turn: bool = False,
    ) -> None:
        self._work = work
        self._interval_s = interval_s
        self._post = post
        self._has_last_turn = has_last_turn
        self._clock = MonotonicClock()
        # Much cheaper than an event: it is asked for every block.
        self._asked: queue.SimpleQueue[None] = queue.SimpleQueue()
        self._turns = threading.Condition()
        self._num_begun = 0
        self._num_done = 0
        # NB: written by the thread, read by any.
        self._began_s: float | None = None
        self._is_ending = False
        self._has_ended = False
        self._has_told = False
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    @property
    def busy_s(self) -> float:
        """How long the disk has been waited for just now."""
        began_s = self._began_s
        return 0.0 if began_s is None else self._clock.now_s() - began_s

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def ask(self) -> None:
        """Have the work done as soon as can be; returns at once."""
        if self._asked.empty():
            self._asked.put(None)

    def wait(self, timeout_s: float) -> bool:
        """Block until a turn that begins from now on is done; False on timeout."""
        with self._turns:
            number = self._num_begun + 1
            self.ask()
            return self._turns.wait_for(
                lambda: self._num_done >= number or self._has_ended, timeout_s
            )

    def end(self) -> None:
        """Let the thread end after its present or last turn; returns at once; idempotent."""
        self._is_ending = True
        self.ask()

    def join(self, timeout_s: float | None = None) -> bool:
        """Block until it has ended; False on timeout."""
        if self._thread.ident is not None:
            self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def _run(self) -> None:
        while True:
            with suppress(queue.Empty):
                self._asked.get(timeout=self._interval_s)
            with self._turns:
                self._num_begun += 1
            # Looked at last: an end that is told from here on asks once more.
            is_last = self._is_ending
            if is_last and not self._has_last_turn:
                break
            self._began_s = self._clock.now_s()
            try:
                self._work()
            except Exception:
                logger.exception("work at the disk failed")
                self._tell()
            self._began_s = None
            with self._turns:
                self._num_done = self._num_begun
                self._turns.notify_all()
            if is_last:
                break
        with self._turns:
            self._has_ended = True
            self._turns.notify_all()

    def _tell(self) -> None:
        if not self._has_told:
            self._has_told = True
            self._post(Notice(Severity.ERROR, MESSAGE, ADVICE))
