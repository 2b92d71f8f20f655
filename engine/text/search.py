"""Finds texts in a transcript: case, accents and how words are split do not matter."""

import unicodedata
from bisect import bisect_right
from dataclasses import dataclass

from engine.text.document import TranscriptDocument

MAX_HITS = 10_000
"""Nobody looks at more; a single letter in a long session would find them all."""


@dataclass(frozen=True, slots=True)
class Hit:
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
    """Searches one document as it grows. Thread: the one that owns the document."""

    def __init__(self, document: TranscriptDocument) -> None:
        self._document = document
        self._offsets: list[int] = []
        self._texts: list[str] = []
        self._folded: list[str] = []

    def find(self, query: str) -> tuple[Hit, ...]:
        """Return every place of a text in order of time, at most `MAX_HITS`."""
        wanted = " ".join(fold(query).split())
        if not wanted:
            return ()
        text = self._text()
        hits: list[Hit] = []
        at = text.find(wanted)
        while at >= 0 and len(hits) < MAX_HITS:
            first = bisect_right(self._offsets, at) - 1
            end = bisect_right(self._offsets, at + len(wanted) - 1)
            if not hits or first >= hits[-1].end_word:
                hits.append(self._hit(first, end))
            at = text.find(wanted, at + len(wanted))
        return tuple(hits)

    def _hit(self, first: int, end: int) -> Hit:
        words = self._document.words
        start, last = words[first].word.start, words[end - 1].word.end
        if end - first > 1:
            last = max(entry.word.end for entry in words[first:end])
        return Hit(first, end, start, max(last, start))

    def _text(self) -> str:
        """Return all words, folded, and take note of where each begins."""
        words = self._document.words
        known = 0
        for entry, text in zip(words, self._texts, strict=False):
            # Texts are compared by identity first: what did not change costs next to nothing.
            if entry.word.text != text:
                break
            known += 1
        del self._texts[known:], self._folded[known:], self._offsets[known:]
        length = self._offsets[-1] + len(self._folded[-1]) if known else 0
        for entry in words[known:]:
            text = entry.word.text
            # One blank between words at most; none where the language writes none.
            folded = " ".join(fold(text).split())
            if self._folded and (text[:1].isspace() or self._texts[-1][-1:].isspace()):
                folded = f" {folded}" if folded else ""
            self._texts.append(text)
            self._folded.append(folded)
            self._offsets.append(length)
            length += len(folded)
        return "".join(self._folded)


def fold(text: str) -> str:
    """Return a text without case and accents."""
    if text.isascii():
        return text.lower()
    plain = unicodedata.normalize("NFKD", text.casefold())
    # Some signs are spelled out in capitals.
    return "".join(c for c in plain if not unicodedata.combining(c)).casefold()
