"""How far behind a lane is, and what it does about it.

In this order: it takes more at a time, its stream is told to work more cheaply, and at last it
leaves audio out, which is decoded later, when there is time.
"""

import math

import numpy as np

from engine.audio.timeline import AudioTimeline
from engine.core.timebase import samples

BLOCK_S = 0.1
"""What a lane that keeps up takes at a time."""
MAX_BLOCK_S = 1.0
"""What a lane that is behind takes at a time."""
WORDS_LIMIT_S = 16.0
"""Backlog from which words go on near the present: a machine that is three times as fast as speech
works off less within ten seconds."""
SPEAKERS_LIMIT_S = 35.0
"""The same for speakers: a step of their slowest profile alone may take twenty seconds."""
RESUME_S = (3.0, 0.5)
"""How far before the present a lane goes on: at the quietest moment between them."""

_CALM_BACKLOG_S = 0.5
_CALM_S = 3.0
_MAX_LOAD = 0.6
_LOAD_SPAN_S = 5.0
_CELL_S = 0.05


class LanePace:
    """Decides for one lane. Thread: the lane's.

    Args:
        rate: of the session, Hz.
        limit_s: backlog from which audio is left out.
    """

    def __init__(self, rate: int, limit_s: float) -> None:
        self._rate = rate
        self._limit = samples(limit_s, rate)
        self._load = 0.0
        self._calm_since_s: float | None = None

    @property
    def load(self) -> float:
        """Seconds that a second of audio takes, of late."""
        return self._load

    def block_size(self, backlog: int) -> int:
        """Return how many samples to take at a time."""
        wanted = max(samples(BLOCK_S, self._rate), backlog // 2)
        return min(wanted, samples(MAX_BLOCK_S, self._rate))

    def take(self, num_samples: int, busy_s: float, backlog: int, now_s: float) -> None:
        """Take in how a block went."""
        audio_s = num_samples / self._rate
        keep = math.exp(-audio_s / _LOAD_SPAN_S)
        self._load = keep * self._load + (1.0 - keep) * busy_s / audio_s
        if backlog > samples(_CALM_BACKLOG_S, self._rate):
            self._calm_since_s = None
        elif self._calm_since_s is None:
            self._calm_since_s = now_s

    def is_too_far_behind(self, backlog: int) -> bool:
        """Return whether audio has to be left out."""
        return backlog > self._limit

    def has_time(self, backlog: int, now_s: float) -> bool:
        """Return whether there is time for what was left out."""
        return (
            self._calm_since_s is not None
            and now_s - self._calm_since_s >= _CALM_S
            and backlog <= samples(_CALM_BACKLOG_S, self._rate)
            and self._load <= _MAX_LOAD
        )


def quiet_moment(timeline: AudioTimeline) -> int:
    """Return a sample near the present at which nobody speaks, or the least is said."""
    rate, end = timeline.sample_rate, timeline.end
    early, late = (max(0, end - samples(before_s, rate)) for before_s in RESUME_S)
    start, pcm = timeline.read(early, late)
    cell = max(1, samples(_CELL_S, rate))
    num_cells = len(pcm) // cell
    if num_cells < 3:
        return late
    power = np.square(pcm[: num_cells * cell]).reshape(num_cells, cell).mean(axis=1)
    # Three cells together: a single quiet one may be within a word.
    power = np.convolve(power, np.ones(3), "valid")
    return start + (int(power.argmin()) + 1) * cell + cell // 2
