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
    ms = 1000 / sample_rate
    # No word, however long it claims to be, is looked for beyond what is known.
    stretches = [(max(0, w.start) * ms, min(w.end * ms, known_ms)) for w in words]
    known = [(start, max(end, start + 1)) for start, end in stretches if start < known_ms]
    means, epochs = activity.means(known)
    if not known or float(means.max()) < _LEANING:
        return [()] * len(words)
    active = means >= ACTIVE
    num_active = active.sum(axis=1).tolist()
    speakers: list[tuple[SpeakerId, ...]] = []
    for i, slot in enumerate(_best_path(means, epochs)):
        who = [slot]
        if num_active[i] > active[i, slot]:
            order = np.argsort(-means[i], kind="stable").tolist()
            who += [other for other in order if other != slot and active[i, other]]
        speakers.append(tuple(SpeakerId(epochs[i], each) for each in who))
    return speakers + [()] * (len(words) - len(known))


def _best_path(means: NDArray[np.float32], epochs: Sequence[int]) -> list[int]:
    """Return the cheapest slot for each word (Viterbi over slots with a constant change cost)."""
    costs = -np.log(np.maximum(means, _FLOOR))  # (num_words, num_slots)
    likeliest = costs.argmin(axis=1).tolist()
    if len(set(likeliest)) == 1:
        # Cheapest word by word and without a change: nothing can be cheaper.
        return list(likeliest)
    # A slot that is silent throughout is on no cheapest path: its neighbour's costs no more.
    slots = np.flatnonzero(means.max(axis=0) > _FLOOR).tolist()
    rows = costs[:, slots].tolist()
    total = rows[0]
    came_from: list[list[int]] = []
    for i in range(1, len(rows)):
        best = min(range(len(slots)), key=total.__getitem__)
        change = total[best] + (CHANGE_COST if epochs[i] == epochs[i - 1] else 0.0)
        came_from.append([k if total[k] <= change else best for k in range(len(slots))])
        total = [min(total[k], change) + rows[i][k] for k in range(len(slots))]
    path = [min(range(len(slots)), key=total.__getitem__)]
    for before in reversed(came_from):
        path.append(before[path[-1]])
    return [slots[k] for k in reversed(path)]
