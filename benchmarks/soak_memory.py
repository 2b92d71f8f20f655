"""Whether memory stays flat over hours, and what it grows by if it does not."""

import gc
import tracemalloc

import numpy as np
import psutil

SETTLED_HOURS = 1 / 6
_NUM_TOLD = 12
_MIN_POINTS = 5


class MemoryWatch:
    """Measures the process now and then. Thread: one at a time."""

    def __init__(self) -> None:
        self.points: list[tuple[float, float]] = []
        """(hours, MB) of each measurement."""
        self._early: tracemalloc.Snapshot | None = None

    def measure(self, hours: float) -> None:
        """Take note of what the process holds."""
        gc.collect()
        self.points.append((hours, psutil.Process().memory_info().rss / 1e6))
        if self._early is None and hours >= SETTLED_HOURS and tracemalloc.is_tracing():
            self._early = tracemalloc.take_snapshot()

    def growth(self) -> list[str]:
        """Return the lines of code whose memory grew most since it settled, where traced."""
        if self._early is None:
            return []
        later = tracemalloc.take_snapshot().compare_to(self._early, "lineno")
        return [str(line) for line in later[:_NUM_TOLD]]


def memory_slope(points: list[tuple[float, float]], from_hours: float) -> float | None:
    """Return the growth in MB an hour from then on; None without enough measurements."""
    later = [(hours, mb) for hours, mb in points if hours >= from_hours]
    if len(later) < _MIN_POINTS:
        return None
    hours, megabytes = np.array(later).T
    return float(np.polyfit(hours, megabytes, 1)[0])
