"""Recorded audio as it is played: from anywhere, while it may still grow or go."""

from typing import Protocol

import numpy as np

from engine.core.errors import EngineError
from engine.core.timebase import samples
from engine.core.types import Pcm

_MARGIN_S = 1.0
"""Audio about to be dropped from memory at which nobody begins to play any more."""


class RecordedAudio(Protocol):
    """Samples of one recording, by index. Thread: one at a time."""

    @property
    def sample_rate(self) -> int:
        """Hz."""
        ...

    @property
    def start(self) -> int:
        """First sample that is there now; it grows where old audio is dropped."""
        ...

    @property
    def end(self) -> int:
        """One past the last sample that is there now; it grows while it is being recorded."""
        ...

    def read(self, start: int, num_samples: int) -> Pcm:
        """Return up to `num_samples` from `start` on; none where there are none.

        Raises:
            EngineError: they are gone, or cannot be read.
        """
        ...

    def gone(self) -> EngineError:
        """Return what to tell whoever asks for samples before `start`."""
        ...

    def close(self) -> None:
        """Let it go; idempotent."""
        ...


class Stretch:
    """A stretch of recorded audio as something to play.

    Ends where there is no more at the moment it gets there, though more may be recorded later.

    Args:
        audio: whose.
        start: first sample asked for.
        end: one past the last; None for as far as there is any.

    Raises:
        EngineError: nothing of it is there.
    """

    def __init__(self, audio: RecordedAudio, start: int, end: int | None) -> None:
        self._audio = audio
        self._limit = end
        first = audio.start + samples(_MARGIN_S, audio.sample_rate) if audio.start else 0
        self.begin = max(0, start, first)
        """Where to begin to play."""
        is_gone = self.begin > max(0, start) or audio.end == 0
        if is_gone and self.begin >= self.end and (end is None or start < end):
            raise audio.gone()

    @property
    def sample_rate(self) -> int:
        """Hz."""
        return self._audio.sample_rate

    @property
    def start(self) -> int:
        """First sample that can be read, before the stretch itself."""
        return self._audio.start

    @property
    def end(self) -> int:
        """One past the last."""
        end = self._audio.end
        return max(self.begin, end if self._limit is None else min(end, self._limit))

    @property
    def is_finished(self) -> bool:
        """Always: nobody waits for what is not recorded yet."""
        return True

    def read(self, start: int, num_samples: int) -> Pcm:
        """Return up to `num_samples` from `start` on; fewer at the end.

        Raises:
            EngineError: they are gone, or cannot be read.
        """
        num_samples = min(num_samples, self.end - start)
        if num_samples <= 0:
            return np.zeros(0, dtype=np.float32)
        pcm = self._audio.read(start, num_samples)
        if len(pcm) == 0:
            # The audio is shorter than it says: what is there has been read.
            self._limit = start
        return pcm
