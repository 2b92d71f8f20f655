"""Finds texts in a transcript: case, accents and how words are split do not matter."""

import re
import unicodedata
from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np

from engine.text.document import DocumentWord, TranscriptDocument

MAX_HITS = 2000
"""Nobody looks at more; a single letter in a long session would find them all."""
_MAX_PLACES = 4 * MAX_HITS
"""A word may hold a letter several times."""


class Hit(NamedTuple):
    """A found text.

    Args:
        first_word: index in `TranscriptDocument.words`.
        end_word: one past the last.
        start: sample at which its first word begins.
        end: sample at which its last word ends.
    """

    first_word: int
    end_word: int
    start: int
    end: int


class TranscriptSearch:
    """Searches one document as it grows; what did not change is not looked at again.

    Memory: about 100 bytes a word. Thread: the one that owns the document.
    """

    def __init__(self, document: TranscriptDocument) -> None:
        self._document = document
        self._entries: list[DocumentWord] = []
        self._folded: list[str] = []
        self._places: list[tuple[int, int, int]] = []  # length of the text, start, end
        self._is_joined = True
        self._text = ""
        # Where each word begins in the text, and when it was said.
        self._offsets = self._starts = self._ends = np.zeros(0, np.int64)

    def prepare(self, max_words: int) -> bool:
        """Take in at most so many words, so that the first search finds them known.

        Returns:
            Whether all words there are now are known.
        """
        words = list(self._document.words)
        known = _num_common(words, self._entries)
        end = min(len(words), known + max_words)
        self._take(words[:end], known)
        if end < len(words):
            return False
        self._join()
        return True

    def find(self, query: str) -> tuple[Hit, ...]:
        """Return every place of a text in order of time, at most `MAX_HITS`."""
        wanted = " ".join(fold(query).split())
        if not wanted:
            return ()
        self._refresh()
        found = islice(re.finditer(re.escape(wanted), self._text), _MAX_PLACES)
        at = np.array([match.start() for match in found], np.int64)
        firsts = np.searchsorted(self._offsets, at, "right") - 1
        ends = np.searchsorted(self._offsets, at + len(wanted) - 1, "right")
        places: list[tuple[int, int]] = []
        passed = 0
        for first, end in zip(firsts.tolist(), ends.tolist(), strict=True):
            if first >= passed:
                places.append((first, end))
                passed = end
            if len(places) == MAX_HITS:
                break
        return tuple(self._hits(places))

    def _hits(self, places: Sequence[tuple[int, int]]) -> list[Hit]:
        if not places:
            return []
        firsts, ends = np.array(places, np.int64).T
        starts, lasts = self._starts[firsts], self._ends[ends - 1]
        for index in np.flatnonzero(ends - firsts > 1).tolist():
            lasts[index] = self._ends[firsts[index] : ends[index]].max()
        lasts = np.maximum(starts, lasts)
        columns = (firsts.tolist(), ends.tolist(), starts.tolist(), lasts.tolist())
        return list(map(Hit._make, zip(*columns, strict=True)))

    def _refresh(self) -> None:
        """Take in what the document has told since the last time."""
        words = list(self._document.words)
        if words != self._entries:  # compared by identity first: next to nothing
            self._take(words, _num_common(words, self._entries))
        self._join()

    def _join(self) -> None:
        if not self._is_joined:
            self._is_joined = True
            self._text = "".join(self._folded)
            lengths, starts, ends = np.array(self._places, np.int64).reshape(-1, 3).T
            self._offsets = np.concatenate([[0], np.cumsum(lengths)[:-1]])
            self._starts, self._ends = starts.copy(), ends.copy()

    def _take(self, words: list[DocumentWord], known: int) -> None:
        """Fold words, of which the first `known` are as they were."""
        if known == len(words) == len(self._entries):
            self._entries = words
            return
        del self._folded[known:], self._places[known:]
        for index, entry in enumerate(words[known:], start=known):
            # One blank between words at most; none where the language writes none.
            folded = " ".join(fold(entry.word.text).split())
            before = words[index - 1].word.text if index else ""
            if index and folded and (entry.word.text[:1].isspace() or before[-1:].isspace()):
                folded = f" {folded}"
            self._folded.append(folded)
            self._places.append((len(folded), entry.word.start, entry.word.end))
        self._entries, self._is_joined = words, False


def _num_common(words: Sequence[DocumentWord], known: Sequence[DocumentWord]) -> int:
    """Return how many words at the beginning have the text they had."""
    for index, (entry, old) in enumerate(zip(words, known, strict=False)):
        if entry is not old and entry.word.text != old.word.text:
            return index
    return min(len(words), len(known))


def fold(text: str) -> str:
    """Return a text without case and accents."""
    if text.isascii():
        return text.lower()
    plain = unicodedata.normalize("NFKD", text.casefold())
    # Some signs are spelled out in capitals.
    return "".join(c for c in plain if not unicodedata.combining(c)).casefold()
