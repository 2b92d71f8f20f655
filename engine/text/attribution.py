"""Which speakers said which words, from the overlap of words and speaker activity.

Word times of recognizers are off by a tenth of a second or two, so a word alone is often given to
the wrong side of a change of speakers. Within a phrase (words without a pause or a sentence end
between them) a change of speakers costs evidence; between phrases it is free. Overlap is kept: a
word has every speaker who was active over it.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from engine.core.types import SpeakerId, Word
from engine.text.activity import ActivityTrack

ACTIVE = 0.5
"""Mean probability over a word from which a speaker counts as having said it."""
CHANGE_COST = 2.5
"""Evidence, in nats, that a change of speakers within a phrase must bring."""
PHRASE_PAUSE_S = 0.6
"""A pause of this length ends a phrase."""
PHRASE_CELL_S = 20.0
"""No phrase reaches over a multiple of this, so that its cost is bounded without punctuation."""
SENTENCE_ENDS = (".", "?", "!", "…", "。", "？", "！")
_FLOOR = 0.02
_LEANING = 0.2  # a phrase in which nobody reaches this has no speaker


def ends_phrase(word: Word, following: Word, sample_rate: int) -> bool:
    """Return whether speakers may change freely between two neighbouring words."""
    cell = round(PHRASE_CELL_S * sample_rate)
    return (
        following.start - word.end >= PHRASE_PAUSE_S * sample_rate
        or word.text.rstrip("\"'”’»").endswith(SENTENCE_ENDS)
        or word.start // cell != following.start // cell
    )


def attribute_phrase(
    words: Sequence[Word], sample_rate: int, activity: ActivityTrack
) -> list[tuple[SpeakerId, ...]]:
    """Return who said each word of a phrase, the likeliest first; empty while nobody is known.

    Args:
        words: neighbours without a phrase end between them; times in samples of `sample_rate`.
        sample_rate: Hz.
        activity: the recording's track.
    """
    known_ms = activity.num_frames * activity.frame_ms
    means, epochs = [], []
    for word in words:
        start_ms = word.start * 1000 / sample_rate
        if start_ms >= known_ms:
            break
        mean, epoch = activity.mean(start_ms, max(word.end * 1000 / sample_rate, start_ms + 1))
        means.append(mean)
        epochs.append(epoch)
    if not means or max(float(mean.max()) for mean in means) < _LEANING:
        return [()] * len(words)
    path = _best_path(np.stack(means), epochs)
    speakers: list[tuple[SpeakerId, ...]] = []
    for mean, epoch, slot in zip(means, epochs, path, strict=True):
        order = np.argsort(-mean, kind="stable").tolist()
        others = [other for other in order if other != slot and mean[other] >= ACTIVE]
        speakers.append(tuple(SpeakerId(epoch, each) for each in (slot, *others)))
    return speakers + [()] * (len(words) - len(means))


def _best_path(means: NDArray[np.float32], epochs: Sequence[int]) -> list[int]:
    """Return the cheapest slot for each word (Viterbi over slots with a constant change cost)."""
    costs = -np.log(np.maximum(means, _FLOOR))  # (num_words, num_slots)
    total = costs[0]
    came_from: list[NDArray[np.intp]] = []
    for i in range(1, len(costs)):
        best = int(total.argmin())
        change = total[best] + (CHANGE_COST if epochs[i] == epochs[i - 1] else 0.0)
        stays = total <= change
        came_from.append(np.where(stays, np.arange(len(total)), best))
        total = np.minimum(total, change) + costs[i]
    path = [int(total.argmin())]
    for before in reversed(came_from):
        path.append(int(before[path[-1]]))
    return path[::-1]
