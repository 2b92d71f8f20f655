"""What is missing between the samples of an input, as far as it was told."""

from engine.core.timebase import samples
from engine.core.types import Pcm
from engine.pipeline.captured import EMPTY, Captured

GROW_S = 1.0
"""A hole is told in steps of so much while it lasts."""
HOLE_S = 0.4
"""A device that was silent for so long may have lost samples without a word."""
MAX_SLEEP_GAP_S = 3600.0
"""A longer sleep is drawn as long as this: silence takes room on disk and time to read."""


class Holes:
    """Knows up to when everything is told, and since when a device is lost.

    All times are world time, see `WorldTime`. Thread: the capture thread.

    Args:
        rate: of the session, Hz.
    """

    def __init__(self, rate: int) -> None:
        self._rate = rate
        self.filled_s: float | None = None
        """Up to when samples or holes were told; None until the first sample came."""
        self._lost_since_s: float | None = None
        self._paused_s = 0.0
        self._reason = ""
        self._is_told = False  # part of the hole that lasts

    @property
    def is_lost(self) -> bool:
        """Whether there is no device, or none that has brought anything yet."""
        return self._lost_since_s is not None

    def lost_s(self, now_s: float) -> float:
        """Return for how long it has been lost, without pauses."""
        return 0.0 if self._lost_since_s is None else now_s - self._lost_since_s

    def is_late(self, now_s: float) -> bool:
        """Whether a device that is there was silent for so long that samples may be missing."""
        return self.filled_s is not None and now_s - self.filled_s > HOLE_S

    def fill(self, now_s: float) -> None:
        """Everything up to now is told."""
        self.filled_s = now_s

    def lose(self, reason: str, now_s: float) -> None:
        """The device is lost; what it brought last was told. Nothing changes if it was already."""
        if self._lost_since_s is None:
            self._lost_since_s = now_s if self.filled_s is None else self.filled_s
            self._reason = reason

    def limit_sleep(self, now_s: float) -> None:
        """Let no more be missing than is drawn of a sleep that has just ended."""
        if self.filled_s is not None:
            self.filled_s = max(self.filled_s, now_s - MAX_SLEEP_GAP_S)

    def pause(self, now_s: float) -> None:
        """Nothing is missing from now on."""
        self._paused_s = now_s

    def resume(self, now_s: float) -> None:
        """Whatever does not come from now on is missing, also if there is no device."""
        if self.filled_s is not None:
            self.filled_s = now_s
        if self._lost_since_s is not None:
            self._lost_since_s += now_s - self._paused_s
        self._is_told = False

    def grow(self, now_s: float, least_s: float) -> Captured:
        """Tell the hole as far as it goes by now, if that is more than `least_s`."""
        if self.filled_s is None or self._lost_since_s is None:
            return Captured(EMPTY)
        hole_s = now_s - self.filled_s
        if hole_s <= least_s:
            return Captured(EMPTY)
        self.filled_s = now_s
        is_same_gap, self._is_told = self._is_told, True
        return Captured(EMPTY, samples(hole_s, self._rate), self._reason, is_same_gap=is_same_gap)

    def end(self, pcm: Pcm, hole_s: float, now_s: float, other_reason: str) -> Captured:
        """Tell the rest of a hole, and the samples behind it, which reach up to now.

        Args:
            pcm: (n,) float32 at the session's rate.
            hole_s: what is missing before them and was not told yet.
            now_s: world time.
            other_reason: why they are missing if the device was not lost.
        """
        reason = other_reason if self._lost_since_s is None else self._reason
        is_same_gap, self._is_told = self._is_told, False
        self.filled_s, self._lost_since_s = now_s, None
        return Captured(pcm, samples(hole_s, self._rate), reason, is_same_gap=is_same_gap)
