"""The first samples after a hole, held back until it is known when they were taken."""

import numpy as np

from engine.core.types import Pcm

_SETTLE_S = 0.3
"""What comes late all at once has come by then."""
_TOLERANCE_S = 0.1
"""Devices bring their samples to within this: less is no hole."""
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
        self._num_samples = 0
        self._first_s = 0.0
        self._start_s = float("inf")

    @classmethod
    def after_silence(cls, rate: int) -> "Resumption":
        """Return what follows a silence of an open device."""
        return cls(rate, None)

    def push(self, pcm: Pcm, now_s: float) -> None:
        """Hold samples back."""
        if not len(pcm):
            return
        if not self._blocks:
            self._first_s = now_s
        self._blocks.append(pcm)
        self.count(len(pcm), now_s)

    def count(self, num_samples: int, now_s: float) -> None:
        """Measure by samples behind those held back, which are there, or were lost, by now."""
        self._num_samples += num_samples
        # Samples come late, never early: whichever came least late tells most.
        self._start_s = min(self._start_s, now_s - self._num_samples / self._rate)

    @property
    def has_samples(self) -> bool:
        """Whether any are held back."""
        return bool(self._blocks)

    def is_settled(self, filled_s: float | None, now_s: float) -> bool:
        """Whether the hole can be measured; see `settle`."""
        if not self._blocks:
            return False
        if now_s - self._first_s >= _SETTLE_S:
            return True
        if filled_s is None:
            return True
        return self._opened_s is None and self._start_s - filled_s <= _TOLERANCE_S

    def settle(self, filled_s: float | None) -> tuple[Pcm, float]:
        """Return (samples, seconds missing before them).

        Args:
            filled_s: time up to which everything is told; None where nothing can be missing.
        """
        pcm = np.concatenate(self._blocks)
        if filled_s is None:
            return pcm, 0.0
        if self._opened_s is None:
            hole_s = self._start_s - filled_s
            return pcm, hole_s if hole_s > _TOLERANCE_S else 0.0
        start_s = max(self._start_s, self._opened_s)
        if self._opened_s >= filled_s:
            return pcm, start_s - filled_s
        # It was opened while another still brought samples: those are not told twice.
        overlap = round(max(0.0, filled_s - start_s) * self._rate)
        hole_s = start_s - filled_s
        return pcm[overlap:], hole_s if hole_s > _TOLERANCE_S else 0.0
