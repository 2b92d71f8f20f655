"""The first samples after a hole, held back until it is known when they were taken."""

import numpy as np

from engine.core.types import Pcm

_SETTLE_S = 0.3
"""What comes late all at once has come by then."""
_TOLERANCE_S = 0.1
"""A device that kept its samples meanwhile brings them to within this."""
_EMPTY = np.zeros(0, dtype=np.float32)


class Resumption:
    """Measures a hole by when the samples behind it came, and how many.

    Args:
        rate: of the samples, Hz.
        opened_s: when the device was opened, before which nothing can have been taken; None for
            a device that was open all along and brought nothing.
    """

    reason = "the microphone brought nothing"

    def __init__(self, rate: int, opened_s: float | None) -> None:
        self._rate = rate
        self._opened_s = opened_s
        self._blocks: list[Pcm] = []
        self._first_s: float | None = None

    @classmethod
    def after_silence(cls, rate: int) -> "Resumption":
        """Return what follows a silence of an open device."""
        return cls(rate, None)

    def push(self, pcm: Pcm, now_s: float) -> None:
        """Hold samples back."""
        if len(pcm):
            self._blocks.append(pcm)
            if self._first_s is None:
                self._first_s = now_s

    @property
    def has_samples(self) -> bool:
        """Whether any are held back."""
        return bool(self._blocks)

    def is_settled(self, filled_s: float, now_s: float) -> bool:
        """Whether the hole can be measured; see `settle`."""
        if self._first_s is None:
            return False
        if self._opened_s is not None or now_s - self._first_s >= _SETTLE_S:
            return True
        return self._start_s(now_s) - filled_s <= _TOLERANCE_S

    def settle(self, filled_s: float, now_s: float) -> tuple[Pcm, float]:
        """Return (samples, seconds missing before them).

        Args:
            filled_s: time up to which everything is told.
            now_s: when the newest came.
        """
        pcm = np.concatenate([_EMPTY, *self._blocks])
        start_s = self._start_s(now_s)
        if self._opened_s is None:
            hole_s = start_s - filled_s
            return pcm, hole_s if hole_s > _TOLERANCE_S else 0.0
        if self._opened_s >= filled_s:
            return pcm, max(start_s, self._opened_s) - filled_s
        # It was opened while another still brought samples: those are not told twice.
        overlap = round(max(0.0, filled_s - max(start_s, self._opened_s)) * self._rate)
        return pcm[overlap:], max(0.0, start_s - filled_s)

    def _start_s(self, now_s: float) -> float:
        return now_s - sum(map(len, self._blocks)) / self._rate
