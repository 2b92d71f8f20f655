"""Inputs without a device: files, arrays and silence, on any clock."""

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np

from engine.audio.device import InputBlock
from engine.audio.files import AudioFileReader
from engine.core.timebase import Clock
from engine.core.types import Pcm

BLOCK_S = 0.1
"""Length of a read from an input that is not live."""

_EMPTY = np.zeros(0, dtype=np.float32)


class PacedInput:
    """Brings samples from a source at the pace of a clock, or as fast as they are read.

    Args:
        name: shown to people.
        sample_rate: Hz.
        pull: returns the next n samples, fewer at the end of the source.
        clock: gives the pace.
        is_live: whether samples come when they are due.
        release: called once on close.
        is_truncated: returns, at the end of the source, whether it should have gone on.
    """

    def __init__(
        self,
        name: str,
        sample_rate: int,
        pull: Callable[[int], Pcm],
        clock: Clock,
        *,
        is_live: bool = True,
        release: Callable[[], None] | None = None,
        is_truncated: Callable[[], bool] = lambda: False,
    ) -> None:
        self._name = name
        self._rate = sample_rate
        self._pull = pull
        self._clock = clock
        self._is_live = is_live
        self._release = release
        self._is_truncated = is_truncated
        self._started_s: float | None = None
        self._num_due_before = 0
        self._num_read = 0
        self._is_end = False

    @property
    def name(self) -> str:
        """The source's name."""
        return self._name

    @property
    def sample_rate(self) -> int:
        """Hz."""
        return self._rate

    @property
    def is_live(self) -> bool:
        """Whether samples come at the pace of the clock."""
        return self._is_live

    @property
    def num_overflows(self) -> int:
        """Always 0: a source waits."""
        return 0

    def start(self) -> None:
        """Begin, or go on after a pause."""
        if self._started_s is None:
            self._started_s = self._clock.now_s()

    def read(self) -> InputBlock:
        """Return what is due by now (live), or the next 100 ms."""
        if self._is_end:
            return InputBlock(_EMPTY, is_end=True)
        if not self._is_live and self._started_s is None:
            return InputBlock(_EMPTY)
        n = self._num_due() - self._num_read if self._is_live else round(BLOCK_S * self._rate)
        if n <= 0:
            return InputBlock(_EMPTY)
        pcm = self._pull(n)
        self._num_read += len(pcm)
        self._is_end = len(pcm) < n
        return InputBlock(
            pcm, is_end=self._is_end, is_truncated=self._is_end and self._is_truncated()
        )

    def pause(self) -> None:
        """Hold the source where it is; what was due can still be read."""
        self._num_due_before = self._num_due()
        self._started_s = None

    def close(self) -> None:
        """Release the source; idempotent."""
        self.pause()
        self._is_end = True
        release, self._release = self._release, None
        if release is not None:
            release()

    def _num_due(self) -> int:
        if self._started_s is None:
            return self._num_due_before
        elapsed_s = self._clock.now_s() - self._started_s
        return self._num_due_before + int(elapsed_s * self._rate + 1e-6)


class FileInput(PacedInput):
    """An audio file as an input.

    Args:
        path: see `AudioFileReader`.
        clock: gives the pace.
        is_live: whether it takes as long as it plays.

    Raises:
        AudioFileError: it cannot be read.
    """

    def __init__(self, path: str | os.PathLike[str], clock: Clock, *, is_live: bool = True) -> None:
        reader = AudioFileReader(path)
        super().__init__(
            Path(path).name,
            reader.sample_rate,
            reader.read,
            clock,
            is_live=is_live,
            release=reader.close,
            is_truncated=lambda: reader.is_truncated,
        )


class ArrayInput(PacedInput):
    """An array as an input.

    Args:
        pcm: (n,) float32.
        sample_rate: Hz.
        clock: gives the pace.
        is_live: whether it takes as long as it would play.
    """

    def __init__(self, pcm: Pcm, sample_rate: int, clock: Clock, *, is_live: bool = True) -> None:
        self._pcm = pcm
        self._position = 0
        super().__init__("array", sample_rate, self._next, clock, is_live=is_live)

    def _next(self, n: int) -> Pcm:
        block = self._pcm[self._position : self._position + n]
        self._position += len(block)
        return block


class NullInput(PacedInput):
    """An endless input without a device: silence, or what a function makes.

    Args:
        clock: gives the pace.
        sample_rate: Hz.
        generator: returns the samples [start, end); silence when not given.
        is_live: whether samples come when they are due.
    """

    def __init__(
        self,
        clock: Clock,
        sample_rate: int = 16_000,
        generator: Callable[[int, int], Pcm] | None = None,
        *,
        is_live: bool = True,
    ) -> None:
        self._generator = generator
        self._position = 0
        super().__init__("null", sample_rate, self._next, clock, is_live=is_live)

    def _next(self, n: int) -> Pcm:
        start, self._position = self._position, self._position + n
        if self._generator is None:
            return np.zeros(n, dtype=np.float32)
        return self._generator(start, start + n)
