"""A clock on which several threads sleep: time goes on when all that work have gone to sleep."""

import threading
import time
from collections.abc import Callable

_NUM_LOOKS = 3
_LOOK_S = 0.0001


class LockstepClock:
    """A virtual clock for a session whose backends take time, too.

    Sleepers wait until one thread, which calls `run`, moves the clock to the next of their
    deadlines; it does so once nobody is at work. Thread: any.
    """

    def __init__(self) -> None:
        self._now_s = 0.0
        self._changed = threading.Condition()
        self._deadlines: dict[int, float] = {}
        self._is_free = False

    def now_s(self) -> float:
        """Return the virtual time."""
        return self._now_s

    def sleep(self, seconds: float) -> None:
        """Wait until so much virtual time has passed."""
        me = threading.get_ident()
        with self._changed:
            if self._is_free:
                self._now_s += seconds
                return
            self._deadlines[me] = self._now_s + seconds
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._is_free or self._now_s >= self._deadlines[me])
            del self._deadlines[me]
            self._changed.notify_all()

    def run(self, is_over: Callable[[], bool], is_idle: Callable[[int], bool]) -> None:
        """Let time pass until something is over.

        Args:
            is_over: asked before every step.
            is_idle: told how many threads sleep; returns whether no other is at work.
        """
        num_idle = 0
        while not is_over():
            with self._changed:
                num_asleep = len(self._deadlines)
            # Whoever has just got something to do may not have gone to sleep yet.
            num_idle = num_idle + 1 if num_asleep and is_idle(num_asleep) else 0
            if num_idle < _NUM_LOOKS:
                time.sleep(_LOOK_S)
                continue
            num_idle = 0
            with self._changed:
                self._now_s = max(self._now_s, min(self._deadlines.values()))
                self._changed.notify_all()
                self._changed.wait_for(
                    lambda: all(at_s > self._now_s for at_s in self._deadlines.values())
                )

    def release(self) -> None:
        """Let nobody sleep any more: time passes as fast as it is slept."""
        with self._changed:
            self._is_free = True
            self._changed.notify_all()
