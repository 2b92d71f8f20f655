"""Outputs without a device: a WAV file, or nothing, on any clock."""

import os
from pathlib import Path

import numpy as np

from engine.audio.ring import SampleRing
from engine.audio.wav import WavWriter
from engine.core.timebase import Clock
from engine.core.types import Pcm

BUFFER_S = 2.0
"""Room in an output's ring."""

FADE_S = 0.01
"""Length of the fade when an output is stopped at once."""


class NullOutput:
    """An output without a device that takes samples at the pace of a clock.

    Thread: one at a time; time passes for it when it is asked something.

    Args:
        clock: gives the pace.
        sample_rate: Hz.
        is_live: whether samples take as long as they play (False: no time at all).
        name: shown to people.
    """

    def __init__(
        self, clock: Clock, sample_rate: int = 48_000, *, is_live: bool = True, name: str = "null"
    ) -> None:
        self._clock = clock
        self._rate = sample_rate
        self._is_live = is_live
        self._name = name
        self._ring = SampleRing(round(BUFFER_S * sample_rate))
        self._num_played = 0
        self._num_underflows = 0
        self._is_more_promised = False
        self._started_s: float | None = None
        self._num_elapsed = 0

    @property
    def name(self) -> str:
        """Its name."""
        return self._name

    @property
    def sample_rate(self) -> int:
        """Hz."""
        return self._rate

    @property
    def latency_s(self) -> float:
        """Always 0."""
        return 0.0

    @property
    def num_played(self) -> int:
        """Samples taken from the ring by now."""
        self._advance()
        return self._num_played

    @property
    def num_underflows(self) -> int:
        """How often the ring ran dry while more was promised."""
        self._advance()
        return self._num_underflows

    @property
    def num_device_underflows(self) -> int:
        """Always 0: nobody is late."""
        return 0

    def start(self) -> None:
        """Begin to take samples."""
        if self._started_s is None:
            self._started_s = self._clock.now_s()
            self._num_elapsed = 0

    def write(self, pcm: Pcm) -> int:
        """Copy into the ring what fits and return how many samples that was."""
        self._advance()
        n = self._ring.write(pcm)
        self._is_more_promised = self._is_more_promised or n > 0
        self._advance()
        return n

    def end_of_stream(self) -> None:
        """Say that nothing follows for now."""
        self._advance()
        self._is_more_promised = False

    def num_buffered(self) -> int:
        """Samples not taken yet."""
        self._advance()
        return self._ring.num_readable

    def stop_now(self) -> int:
        """Fade out over 10 ms, drop the rest, return samples really played."""
        self._advance()
        tail = self._ring.read(round(FADE_S * self._rate))
        self._ring.skip(self._ring.num_readable)
        self._is_more_promised = False
        if len(tail):
            self._play(tail * np.linspace(1.0, 0.0, len(tail), dtype=np.float32))
        return self._num_played

    def close(self) -> None:
        """Stop taking samples; idempotent."""
        self._advance()
        self._started_s = None

    def _advance(self) -> None:
        if self._started_s is None:
            return
        elapsed_s = self._clock.now_s() - self._started_s
        due = int(elapsed_s * self._rate + 1e-6) - self._num_elapsed
        self._num_elapsed += due
        pcm = self._ring.read(due) if self._is_live else self._ring.read_all()
        if len(pcm):
            self._play(pcm)
        if self._is_live and len(pcm) < due and self._is_more_promised:
            # Counted once for each time it runs dry, as devices do.
            self._num_underflows += 1
            self._is_more_promised = False

    def _play(self, pcm: Pcm) -> None:
        self._num_played += len(pcm)


class FileOutput(NullOutput):
    """A WAV file as an output; it holds what was played and no silence between.

    Args:
        path: made anew.
        clock: gives the pace.
        sample_rate: Hz.
        is_live: whether samples take as long as they play.

    Raises:
        AudioFileError: it cannot be written.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        clock: Clock,
        sample_rate: int = 48_000,
        *,
        is_live: bool = True,
    ) -> None:
        super().__init__(clock, sample_rate, is_live=is_live, name=Path(path).name)
        self._writer = WavWriter(path, sample_rate)

    def close(self) -> None:
        """Write the end of the file; idempotent."""
        super().close()
        self._writer.close()

    def _play(self, pcm: Pcm) -> None:
        super()._play(pcm)
        self._writer.append(pcm)
