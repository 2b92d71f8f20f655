"""What the virtual microphone hears: samples that tell when they were made."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.core.types import Pcm

RATE = 16_000
PERIOD = 65_521
"""Samples until the code repeats; a prime below 2**16."""
_FACTOR = 40_503
_INVERSE = pow(_FACTOR, -1, PERIOD)
_MIDDLE = PERIOD // 2
_NUM_TONES = 24
_MIN_HZ, _MAX_HZ = 100.0, 3000.0

Counts = NDArray[np.int64]


def coded(start: int, end: int) -> Pcm:
    """Return the samples [start, end) of the world at `RATE`: each tells its own index."""
    values = np.arange(start, end, dtype=np.int64) % PERIOD * _FACTOR % PERIOD - _MIDDLE
    return (values / 32767.0).astype(np.float32)


def decoded(recorded: NDArray[np.int16]) -> Counts:
    """Return the index modulo `PERIOD` that 16-bit samples tell."""
    return (recorded.astype(np.int64) + _MIDDLE) % PERIOD * _INVERSE % PERIOD


@dataclass(frozen=True, slots=True)
class Tones:
    """A sound that survives resampling, as all of it is well below half of any rate.

    Args:
        hertz: of its tones.
        phases: of each at time 0.
    """

    hertz: NDArray[np.float64]
    phases: NDArray[np.float64]

    def at(self, seconds: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return its value at each time."""
        angles = 2 * np.pi * seconds[:, None] * self.hertz + self.phases
        return np.asarray(np.sin(angles).sum(axis=1) * (0.5 / _NUM_TONES))


def make_tones() -> Tones:
    """Return the tones that devices of another rate hear."""
    rng = np.random.default_rng(5)
    return Tones(rng.uniform(_MIN_HZ, _MAX_HZ, _NUM_TONES), rng.uniform(0, 6.28, _NUM_TONES))
