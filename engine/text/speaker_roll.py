"""Who has words, in order of appearance, kept while words come and change hands."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from typing import Protocol

from engine.core.types import SpeakerId, Word


class SpokenWord(Protocol):
    """What the roll looks at."""

    @property
    def id(self) -> int:
        """Tells words of one start apart."""

    @property
    def word(self) -> Word:
        """Says when it began."""

    @property
    def speakers(self) -> tuple[SpeakerId, ...]:
        """The likeliest first."""


_Key = tuple[int, int]


def place_key(entry: SpokenWord) -> _Key:
    """Return what words are ordered by."""
    return entry.word.start, entry.id


class SpeakerRoll:
    """Counts the words of each speaker and knows the first of each.

    Args:
        words: in order of `place_key`; the roll looks into them, its owner changes them.
    """

    def __init__(self, words: Sequence[SpokenWord]) -> None:
        self._words = words
        self._counts: dict[SpeakerId, int] = {}
        # Nobody's first word is earlier; where a first word changed hands it may be later.
        self._firsts: dict[SpeakerId, _Key] = {}
        self._stale: set[SpeakerId] = set()
        self._order: tuple[SpeakerId, ...] | None = ()

    @property
    def speakers(self) -> tuple[SpeakerId, ...]:
        """Everybody who has a word, in order of appearance."""
        if self._order is None:
            for speaker in self._stale:
                self._firsts[speaker] = self._find_first(speaker)
            self._stale.clear()
            self._order = tuple(sorted(self._firsts, key=self._appearance))
        return self._order

    def add(self, entry: SpokenWord) -> None:
        """Count a word in."""
        key = place_key(entry)
        for speaker in entry.speakers:
            self._counts[speaker] = self._counts.get(speaker, 0) + 1
            first = self._firsts.get(speaker)
            if first is None or key <= first:
                self._firsts[speaker] = key
                self._stale.discard(speaker)
                self._order = None

    def remove(self, entry: SpokenWord) -> None:
        """Count a word out."""
        key = place_key(entry)
        for speaker in entry.speakers:
            self._counts[speaker] -= 1
            if self._counts[speaker] == 0:
                del self._counts[speaker], self._firsts[speaker]
                self._stale.discard(speaker)
                self._order = None
            elif key == self._firsts[speaker]:
                self._stale.add(speaker)
                self._order = None

    def recount(self) -> None:
        """Count all words anew."""
        self._counts.clear()
        self._firsts.clear()
        self._stale.clear()
        # By identity: few tuples, each many times.
        counts = Counter(id(entry.speakers) for entry in self._words)
        for entry in self._words:
            count = counts.pop(id(entry.speakers), 0)
            for speaker in entry.speakers if count else ():
                self._firsts.setdefault(speaker, place_key(entry))
                self._counts[speaker] = self._counts.get(speaker, 0) + count
        self._order = None

    def _find_first(self, speaker: SpeakerId) -> _Key:
        at = bisect_left(self._words, self._firsts[speaker], key=place_key)
        while speaker not in self._words[at].speakers:
            at += 1
        return place_key(self._words[at])

    def _appearance(self, speaker: SpeakerId) -> tuple[_Key, int]:
        key = self._firsts[speaker]
        entry = self._words[bisect_left(self._words, key, key=place_key)]
        return key, entry.speakers.index(speaker)
