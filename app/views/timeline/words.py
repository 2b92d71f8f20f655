"""The words of a document as arrays, so that a plot finds those of a stretch at once."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from engine.core.types import SpeakerId
from engine.text.document import DocumentWord, TranscriptDocument

_CHUNK = 512

Stretches = tuple[NDArray[np.int64], NDArray[np.int64], tuple[tuple[SpeakerId, ...], ...]]
"""Starts and ends in samples, and who has each stretch."""


class WordIndex:
    """Where the final words of one document are. Thread: the one that applies events."""

    def __init__(self, document: TranscriptDocument) -> None:
        self._document = document
        self._seen: list[DocumentWord] = []
        self._starts = np.zeros(_CHUNK, np.int64)
        self._ends = np.zeros(_CHUNK, np.int64)
        self._is_locked = np.zeros(_CHUNK, np.bool_)
        self._longest = 0
        self.locked: Stretches = _stretches([])
        """Words that the user gave to somebody, or keeps with who has them."""

    def __len__(self) -> int:
        return len(self._seen)

    def update(self, first: int) -> tuple[int, bool] | None:
        """Take note of words from an index on.

        Returns:
            (sample from which on words changed, whether locked words did); None if none did.
        """
        words = self._document.words
        low, high = self._changed(words, min(first, len(self._seen)))
        if low == high == len(words) == len(self._seen):
            return None
        had_locked = bool(self._is_locked[low : len(self._seen)].any())
        sample = self._store(words, low, high)
        has_locked = had_locked or bool(self._is_locked[low:high].any())
        if has_locked:
            places = np.flatnonzero(self._is_locked[: len(words)]).tolist()
            self.locked = _stretches([words[place] for place in places])
        return sample, has_locked

    def between(self, start: int, end: int) -> tuple[int, int]:
        """Return indices [low, high) of words among which are all that touch [start, end)."""
        starts = self._starts[: len(self._seen)]
        low = int(np.searchsorted(starts, start - self._longest))
        return low, int(np.searchsorted(starts, end))

    def touching(self, start: int, end: int) -> list[int]:
        """Return indices of the words that touch [start, end)."""
        low, high = self.between(start, end)
        return (low + np.flatnonzero(self._ends[low:high] > start)).tolist()

    def _changed(self, words: Sequence[DocumentWord], low: int) -> tuple[int, int]:
        """Return the range [low, high) of words that are not as they were seen."""
        # Whole stretches are compared first: what did not change is the same object, and cheap.
        seen = self._seen
        while low < len(seen) and words[low : low + _CHUNK] == seen[low : low + _CHUNK]:
            low += _CHUNK
        low = min(low, len(seen), len(words))
        while low < min(len(seen), len(words)) and words[low] == seen[low]:
            low += 1
        high = len(words)
        if len(words) == len(seen):
            while high - low > _CHUNK and words[high - _CHUNK : high] == seen[high - _CHUNK : high]:
                high -= _CHUNK
        return low, high

    def _store(self, words: Sequence[DocumentWord], low: int, high: int) -> int:
        if len(self._starts) < len(words):
            num_more = len(words)
            self._starts = np.concatenate([self._starts, np.zeros(num_more, np.int64)])
            self._ends = np.concatenate([self._ends, np.zeros(num_more, np.int64)])
            self._is_locked = np.concatenate([self._is_locked, np.zeros(num_more, np.bool_)])
        new = words[low:high]
        before = self._seen[low : low + 1]
        self._starts[low:high] = [entry.word.start for entry in new]
        self._ends[low:high] = [entry.word.end for entry in new]
        self._is_locked[low:high] = [entry.is_locked for entry in new]
        self._seen[low : high if len(words) == len(self._seen) else None] = new
        self._longest = max(self._longest, int((self._ends - self._starts).max(initial=0)))
        return min((entry.word.start for entry in (*new, *before)), default=0)


def _stretches(words: Sequence[DocumentWord]) -> Stretches:
    return (
        np.array([entry.word.start for entry in words], np.int64),
        np.array([entry.word.end for entry in words], np.int64),
        tuple(entry.speakers for entry in words),
    )
