"""Clocks, and the arithmetic between sample counts of different rates."""

import threading
import time
from typing import Protocol


class Clock(Protocol):
    """Host time that can be injected, so that an hour takes seconds in tests."""

    def now_s(self) -> float:
        """Return seconds since an arbitrary, fixed start; never decreases."""
        ...

    def sleep(self, seconds: float) -> None:
        """Let `seconds` of this clock pass."""
        ...


class MonotonicClock:
    """The host's monotonic clock."""

    def now_s(self) -> float:
        """Return `time.monotonic()`."""
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        """Block the calling thread."""
        time.sleep(seconds)


class VirtualClock:
    """A clock that moves only when somebody sleeps on it or advances it.

    Meant for one sleeper (the capture thread); any thread may read it.
    """

    def __init__(self, start_s: float = 0.0) -> None:
        self._now_s = start_s
        self._lock = threading.Lock()

    def now_s(self) -> float:
        """Return the virtual time."""
        with self._lock:
            return self._now_s

    def sleep(self, seconds: float) -> None:
        """Advance at once by `seconds`."""
        self.advance(seconds)

    def advance(self, seconds: float) -> None:
        """Move the clock forward.

        Raises:
            ValueError: seconds is negative.
        """
        if seconds < 0:
            raise ValueError(f"a clock cannot go back, got {seconds} s")
        with self._lock:
            self._now_s += seconds


def rescale(index: int, from_rate: int, to_rate: int) -> int:
    """Return the sample index at `to_rate` nearest to `index` at `from_rate` (half rounds up)."""
    return (2 * index * to_rate + from_rate) // (2 * from_rate)


def samples(seconds: float, rate: int) -> int:
    """Return the whole number of samples nearest to `seconds` at `rate` Hz."""
    return round(seconds * rate)


def frame_start(frame: int, frame_ms: int, rate: int) -> int:
    """Return the first sample at `rate` Hz of frame number `frame` of `frame_ms` milliseconds."""
    return rescale(frame * frame_ms, 1000, rate)


def format_time(seconds: float, *, decimals: int = 0) -> str:
    """Return h:mm:ss with the given decimals, as transcripts print it."""
    scale = 10**decimals
    units = round(max(0.0, seconds) * scale)
    whole, fraction = divmod(units, scale)
    text = f"{whole // 3600:02d}:{whole // 60 % 60:02d}:{whole % 60:02d}"
    return f"{text}.{fraction:0{decimals}d}" if decimals else text
