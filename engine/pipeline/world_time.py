"""The time that passes in the world, also while the computer sleeps."""

from collections.abc import Callable

from engine.core.timebase import Clock

SLEEP_S = 1.0
"""Less is the error of two clocks."""


class WorldTime:
    """A clock and the sleep that it leaves out; the wall clock has no part in it.

    Thread: one takes sleeps; any may ask for the time.

    Args:
        clock: host time.
        slept_s: seconds that the computer has slept in all.
    """

    def __init__(self, clock: Clock, slept_s: Callable[[], float]) -> None:
        self._clock = clock
        self._slept_s = slept_s
        # NB: written by the thread that takes sleeps, read by any.
        self._taken_s = slept_s()

    def now_s(self) -> float:
        """Return seconds since a fixed start, with the sleeps taken so far."""
        return self._clock.now_s() + self._taken_s

    def take_sleep(self) -> float:
        """Return how long the computer has slept since the last call; 0 if it has not."""
        slept_s = self._slept_s()
        since_s = slept_s - self._taken_s
        if since_s < SLEEP_S:
            return 0.0
        self._taken_s = slept_s
        return since_s
