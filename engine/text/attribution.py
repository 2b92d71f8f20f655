"""Which speakers said a word: its overlap with the speaker activity, never a hard argmax."""

import numpy as np

from engine.core.types import SpeakerId, Word
from engine.text.activity import ActivityTrack

ACTIVE = 0.5
"""Mean probability over a word from which a speaker counts as having said it."""
_LEANING = 0.2
"""Below it nobody is told; between, the likeliest speaker alone."""


def speakers_of(word: Word, sample_rate: int, activity: ActivityTrack) -> tuple[SpeakerId, ...]:
    """Return who said a word, the likeliest first; empty while nobody is known.

    Args:
        word: times in samples of `sample_rate`.
        sample_rate: Hz.
        activity: the recording's track.
    """
    start_ms = word.start * 1000 / sample_rate
    end_ms = max(word.end * 1000 / sample_rate, start_ms + 1)
    mean, epoch = activity.mean(start_ms, end_ms)
    order = np.argsort(-mean, kind="stable")
    best = float(mean[order[0]])
    if best < _LEANING:
        return ()
    active = [int(slot) for slot in order if mean[slot] >= ACTIVE]
    return tuple(SpeakerId(epoch, slot) for slot in active or [int(order[0])])
