"""When to begin to play, so that what follows comes in time."""

from collections import deque

from engine.pipeline.render import RenderPace

PREBUFFER_S = 0.3
"""Speech ready before the first sample is played, at least."""
MAX_JITTER_S = 3.0
"""Measured delays of a voice that are made up for beforehand; longer ones are bridged."""
SAFETY = 0.9
"""Share of its measured speed that a voice is trusted to keep."""
_NUM_RECENT = 8
_S_A_CHARACTER = 0.07
_MIN_MEASURED_S = 1.0


class Pacing:
    """Learns from text to text how unevenly a voice works. Thread: the speak thread."""

    def __init__(self) -> None:
        self._lateness_s: deque[float] = deque(maxlen=_NUM_RECENT)

    @property
    def jitter_s(self) -> float:
        """How late pieces of the newest texts came at worst."""
        return min(max(self._lateness_s, default=0.0), MAX_JITTER_S)

    def learn(self, pace: RenderPace) -> None:
        """Take in how a text went; one slower than it plays says nothing of evenness."""
        if pace.audio_s > pace.busy_s:
            self._lateness_s.append(pace.lateness_s)

    def needed_s(self, pace: RenderPace, total_s: float) -> float:
        """Return how much speech must be ready before it can be played without a gap.

        A voice that makes `speed` seconds of speech a second still needs rest / speed seconds
        for the rest, in which rest + ready seconds are played; ready must make up the difference.

        Args:
            pace: so far.
            total_s: of speech in the whole text, as far as it is known.
        """
        wanted_s = PREBUFFER_S + self.jitter_s
        if pace.audio_s <= 0:
            return wanted_s
        slowness = pace.busy_s / (SAFETY * pace.audio_s)
        rest_s = max(0.0, total_s - pace.audio_s)
        needed_s = wanted_s + rest_s * max(0.0, slowness - 1.0)
        return min(needed_s, max(wanted_s, total_s))


def estimate_total_s(pace: RenderPace, text_done: int, text_size: int) -> float:
    """Return the length of the speech of a whole text.

    Args:
        pace: so far.
        text_done: characters of sentences that were rendered whole.
        text_size: characters in all.
    """
    if pace.fraction > 0:
        return pace.audio_s / pace.fraction
    s_a_character = _S_A_CHARACTER
    if text_done > 0 and pace.audio_s > _MIN_MEASURED_S:
        s_a_character = pace.audio_s / text_done
    return max(pace.audio_s, s_a_character * text_size)
