"""Input levels, and what is wrong when no sound arrives."""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from engine.core.types import Pcm

FLOOR_DB = -100.0
"""What silence reads."""


class LevelAlarm(StrEnum):
    """What is wrong with an input, worst first."""

    NO_BLOCKS = "no_blocks"  # the device has stopped delivering
    ALL_ZERO = "all_zero"  # it delivers nothing but zeros: muted, or not allowed
    SILENT = "silent"  # it delivers noise only: the wrong microphone, or a low gain
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Levels:
    """A meter's reading.

    Args:
        peak_db: dBFS, held for a moment and then falling.
        rms_db: dBFS, of a sine at full scale -3, rising at once and falling slowly.
        is_clipped: whether samples touched full scale within the last second.
        alarm: what is wrong, if anything.
    """

    peak_db: float = FLOOR_DB
    rms_db: float = FLOOR_DB
    is_clipped: bool = False
    alarm: LevelAlarm = LevelAlarm.NONE


@dataclass(frozen=True, slots=True)
class LevelConfig:
    """Ballistics and limits of a meter."""

    peak_hold_s: float = 0.6
    fall_db_per_s: float = 24.0
    clip_level: float = 0.999
    clip_hold_s: float = 1.0
    silent_db: float = -60.0
    idle_after_s: float = 0.5
    zero_after_s: float = 2.0
    no_blocks_after_s: float = 4.0
    silent_after_s: float = 8.0


class LevelMeter:
    """Measures blocks as they come and watches the health of the input.

    Falls, holds and silences are counted in samples; only the lack of blocks is measured on the
    caller's clock: where none come, nothing is heard. Thread: one at a time.

    Args:
        sample_rate: of the blocks, Hz.
        now_s: the caller's clock when the input was started.
        config: ballistics and limits.
    """

    def __init__(self, sample_rate: int, now_s: float, config: LevelConfig | None = None) -> None:
        if sample_rate < 1:
            raise ValueError(f"sample_rate must be positive, got {sample_rate}")
        self._rate = sample_rate
        self._config = config or LevelConfig()
        self.restart(now_s)

    def restart(self, now_s: float) -> None:
        """Forget levels and alarms: the input was started (again)."""
        self._last_block_s = now_s
        self._peak_db = self._rms_db = FLOOR_DB
        self._num_since_peak = 0
        self._num_since_clip: int | None = None
        self._num_zero = 0
        self._num_silent = 0

    def push(self, pcm: Pcm, now_s: float) -> Levels:
        """Measure a block ((n,) float32, n may be 0: then only time passes)."""
        n = len(pcm)
        if n == 0:
            return self.read(now_s)
        self._last_block_s = now_s
        peak = max(float(pcm.max()), -float(pcm.min()))
        rms = float(np.sqrt(np.dot(pcm, pcm) / n))
        self._follow(_decibels(peak), _decibels(rms), n)
        if peak >= self._config.clip_level:
            self._num_since_clip = 0
        elif self._num_since_clip is not None:
            self._num_since_clip += n
        self._num_zero = self._num_zero + n if peak == 0.0 else 0
        is_silent = _decibels(rms) < self._config.silent_db
        self._num_silent = self._num_silent + n if is_silent else 0
        return self.read(now_s)

    def read(self, now_s: float) -> Levels:
        """Return the reading now, without a new block."""
        if now_s - self._last_block_s >= self._config.idle_after_s:
            return Levels(alarm=self._alarm(now_s))
        return Levels(self._peak_db, self._rms_db, self._is_clipped(), self._alarm(now_s))

    def _follow(self, peak_db: float, rms_db: float, n: int) -> None:
        fall_db = self._config.fall_db_per_s * n / self._rate
        self._num_since_peak += n
        if peak_db >= self._peak_db:
            self._peak_db, self._num_since_peak = peak_db, 0
        elif self._num_since_peak > self._config.peak_hold_s * self._rate:
            self._peak_db = max(peak_db, self._peak_db - fall_db)
        self._rms_db = max(rms_db, self._rms_db - fall_db, FLOOR_DB)

    def _is_clipped(self) -> bool:
        since = self._num_since_clip
        return since is not None and since <= self._config.clip_hold_s * self._rate

    def _alarm(self, now_s: float) -> LevelAlarm:
        if now_s - self._last_block_s >= self._config.no_blocks_after_s:
            return LevelAlarm.NO_BLOCKS
        if self._num_zero >= self._config.zero_after_s * self._rate:
            return LevelAlarm.ALL_ZERO
        if self._num_silent >= self._config.silent_after_s * self._rate:
            return LevelAlarm.SILENT
        return LevelAlarm.NONE


def _decibels(amplitude: float) -> float:
    return max(FLOOR_DB, 20.0 * float(np.log10(max(amplitude, 1e-9))))
