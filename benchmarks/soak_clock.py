"""A virtual clock that the capture thread drives, and that stands still when it should."""

import threading
import time
from collections.abc import Callable

_STEP_POLL_S = 0.0005
_MAX_STEP_S = 30.0
_STUCK_S = 120.0


class SoakClock:
    """Moves when the capture thread sleeps, once everything else has kept step.

    Thread: `sleep` from the capture thread, `meet`, `advance` and `let_run` from the one that
    directs, `wait` from lanes that are to seem slow.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._now_s = 0.0
        self._meeting_s = float("inf")
        self._is_open = False
        self.is_in_step: Callable[[], bool] = lambda: True
        """Asked before the clock moves on."""
        self.num_late_steps = 0
        """Times it moved on without the others, who took too long."""

    def now_s(self) -> float:
        """Return the virtual time."""
        return self._now_s

    def sleep(self, seconds: float) -> None:
        """Let the others catch up, then move on, and stand still at a meeting."""
        end_s = time.monotonic() + _MAX_STEP_S
        while not self._is_open and not self.is_in_step():
            if time.monotonic() > end_s:
                self.num_late_steps += 1
                break
            time.sleep(_STEP_POLL_S)
        with self._changed:
            self._now_s += seconds
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._now_s < self._meeting_s or self._is_open)

    def advance(self, seconds: float) -> None:
        """Move on while nobody sleeps: during a pause."""
        with self._changed:
            self._now_s += seconds
            self._changed.notify_all()

    def meet(self, at_s: float) -> None:
        """Let the clock run until then; it stands still until the next call.

        Raises:
            TimeoutError: it does not move any more.
        """
        with self._changed:
            self._meeting_s = at_s
            self._changed.notify_all()
            while self._now_s < at_s:
                before_s = self._now_s
                self._changed.wait_for(lambda: self._now_s >= at_s, _STUCK_S)
                if self._now_s == before_s:
                    raise TimeoutError(f"the clock stands still at {before_s:.2f} s")

    def let_run(self) -> None:
        """Let whoever sleeps go on; the clock may be met again."""
        with self._changed:
            self._meeting_s = float("inf")
            self._changed.notify_all()

    def wait(self, seconds: float) -> None:
        """Block until so much virtual time has passed."""
        with self._changed:
            until_s = self._now_s + seconds
            self._changed.wait_for(lambda: self._now_s >= until_s or self._is_open)

    def open_up(self) -> None:
        """Let everybody go on for good: nothing waits any more."""
        with self._changed:
            self._is_open = True
            self._changed.notify_all()
