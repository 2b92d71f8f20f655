"""What the transcript shows, from top to bottom: lines, marked stretches, and the partial tail."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import NamedTuple

from engine.core.events import SpanMarked
from engine.core.types import SpanKind, SpeakerId, Word
from engine.text.document import LINE_PAUSE_S, DocumentWord, TranscriptDocument

MIN_SHOWN_SPAN_S = 0.2
"""A loss shorter than this is in the timeline and the counters, but gets no line here."""


class RowKind(StrEnum):
    """What a row is."""

    LINE = "line"
    SPAN = "span"
    PARTIAL = "partial"


@dataclass(frozen=True, slots=True)
class Row:
    """One row. A row that did not change stays the same object.

    Args:
        kind: what it is.
        start: its first sample.
        words: final words, of a LINE.
        span: the stretch, of a SPAN.
        partial: words that may still change: all of a PARTIAL, or behind the words of a LINE.
        speaker: whose words they are.
        has_header: whether the speaker's name stands above (it does where the speaker changes).
    """

    kind: RowKind
    start: int
    words: tuple[DocumentWord, ...] = ()
    span: SpanMarked | None = None
    partial: tuple[Word, ...] = ()
    speaker: SpeakerId | None = None
    has_header: bool = False

    @property
    def num_words(self) -> int:
        """Words, final and partial."""
        return len(self.words) + len(self.partial)

    def word(self, index: int) -> Word:
        """Return a word, the partial ones counted behind the final ones."""
        final = len(self.words)
        return self.words[index].word if index < final else self.partial[index - final]

    def end(self) -> int:
        """Return one past the last sample of its words or stretch."""
        if self.span is not None:
            return max(self.start, self.span.end)
        return max(self.word(index).end for index in range(self.num_words))


class RowsChange(NamedTuple):
    """Rows [first, first + removed) gave way to `added` new ones; all others only moved."""

    first: int
    removed: int
    added: int


class TranscriptRows:
    """The rows of a document.

    An append costs what it appends; a change further back costs a look at each row behind it, and
    leaves alone those that are as they were.
    """

    def __init__(self, document: TranscriptDocument) -> None:
        self._document = document
        self._rows: list[Row] = []
        self._line_rows: list[int] = []
        self._spans = self._shown_spans()
        self._num_base = 0  # rows that are no partial tail
        self._tail_base: Row | None = None  # the last line without the partial words behind it
        self._tail_spans: list[Row] = []  # stretches that stand among the partial words
        self.update(0)

    @property
    def rows(self) -> Sequence[Row]:
        """From top to bottom."""
        return self._rows

    def update(self, first_line: int) -> RowsChange:
        """Take in changes of the lines from one on, and of the partial words."""
        first_line = min(first_line, len(self._line_rows), len(self._document.lines))
        start = self._row_of_line(first_line)
        # Stretches before the line may have to stand behind it now.
        while start > 0 and self._rows[start - 1].kind is RowKind.SPAN:
            start -= 1
        first = min(start, max(0, self._num_base - 1))
        old = self._rows[first:]
        self._strip_tail()
        self._rows[start:] = self._base_rows(start, first_line)
        self._tail_spans = []
        self._append_partial()
        return self._difference(first, old)

    def update_spans(self) -> RowsChange:
        """Take in changes of the marked stretches."""
        spans = self._shown_spans()
        same = 0
        for known, span in zip(self._spans, spans, strict=False):
            if known != span:
                break
            same += 1
        if same == len(spans) == len(self._spans):
            return RowsChange(len(self._rows), 0, 0)
        changed = [each[same].start for each in (spans, self._spans) if len(each) > same]
        line = bisect_left(self._line_rows, min(changed), key=lambda row: self._rows[row].start)
        self._spans = spans
        return self.update(max(0, line - 1))

    def update_partial(self) -> RowsChange:
        """Take in the partial words."""
        first = max(0, self._num_base - 1)
        old = self._rows[first:]
        self._strip_tail()
        self._append_partial()
        return self._difference(first, old)

    def row_at(self, sample: int) -> int:
        """Return the row that holds, or begins last before, a sample; -1 without rows."""
        if not self._rows:
            return -1
        found = bisect_right(self._rows, sample, hi=self._num_base, key=lambda row: row.start) - 1
        # The partial tail stands at the end, whenever it begins.
        while found + 1 < len(self._rows) and found + 1 >= self._num_base:
            if not self._rows[found].start <= self._rows[found + 1].start <= sample:
                break
            found += 1
        return max(0, found)

    def find_word(self, word_id: int, sample: int) -> tuple[int, int] | None:
        """Return row and place in the row of a final word that begins at a sample."""
        # Several words and rows may begin at once, so that it can be in one before.
        for index in range(self.row_at(sample), -1, -1):
            row = self._rows[index]
            at = bisect_left(row.words, sample, key=lambda entry: entry.word.start)
            while at < len(row.words) and row.words[at].word.start == sample:
                if row.words[at].id == word_id:
                    return index, at
                at += 1
            if row.words and row.words[0].word.start < sample:
                break
        return None

    def header_of(self, index: int) -> int:
        """Return the row above which the speaker's name of a row stands."""
        speaker = self._rows[index].speaker
        while index > 0 and not self._rows[index].has_header:
            if self._rows[index - 1].speaker != speaker:
                break
            index -= 1
        return index

    def _row_of_line(self, line: int) -> int:
        if line < len(self._line_rows):
            return self._line_rows[max(0, line)]
        return self._line_rows[-1] + 1 if self._line_rows else 0

    def _base_rows(self, start: int, first_line: int) -> list[Row]:
        """Return the rows behind `start` anew; those that are as they were are the old ones."""
        document, spans = self._document, self._spans
        known = {_key(row): row for row in self._rows[start:]}
        used = start - bisect_left(self._line_rows, start)
        del self._line_rows[first_line:]
        previous = self._rows[start - 1].speaker if start else None
        is_first = start == 0
        found: list[Row] = []
        for line in document.lines[first_line:]:
            words = tuple(document.line_words(line))
            begin = document.line_start(line)
            while used < len(spans) and spans[used].start <= begin:
                found.append(_span_row(spans[used], known))
                previous, is_first = None, False
                used += 1
            has_header = is_first or previous != line.speaker
            row = known.get(words[0].id)
            if (
                row is None
                or row.words != words
                or row.speaker != line.speaker
                or row.has_header != has_header
            ):
                row = Row(RowKind.LINE, begin, words, speaker=line.speaker, has_header=has_header)
            self._line_rows.append(start + len(found))
            found.append(row)
            previous, is_first = line.speaker, False
        found += [_span_row(span, known) for span in spans[used:]]
        return found

    def _strip_tail(self) -> None:
        """Take the partial words away."""
        del self._rows[self._num_base :]
        if self._tail_base is not None:
            self._rows[-1], self._tail_base = self._tail_base, None
        self._rows += self._tail_spans
        self._tail_spans = []

    def _append_partial(self) -> None:
        groups = self._partial_groups()
        # What was said before a pause stands above it, also while it may still change.
        while groups and self._rows and self._rows[-1].kind is RowKind.SPAN:
            if self._rows[-1].start <= groups[0][0][0].start:
                break
            self._tail_spans.insert(0, self._rows.pop())
        self._num_base = len(self._rows)
        waiting = self._tail_spans[:]
        for words, speaker in groups:
            while waiting and waiting[0].start <= words[0].start:
                self._rows.append(waiting.pop(0))
            last = self._rows[-1] if self._rows else None
            if last is not None and self._continues(last, words[0], speaker):
                if len(self._rows) == self._num_base:
                    self._tail_base = last
                self._rows[-1] = replace(last, partial=(*last.partial, *words))
                continue
            has_header = last is None or last.speaker != speaker
            self._rows.append(
                Row(
                    RowKind.PARTIAL,
                    words[0].start,
                    partial=words,
                    speaker=speaker,
                    has_header=has_header,
                )
            )
        self._rows += waiting

    def _difference(self, first: int, old: Sequence[Row]) -> RowsChange:
        """Return what differs from `old`, which stood from `first` on."""
        rows, shorter = self._rows, min(len(old), len(self._rows) - first)
        head = 0
        while head < shorter and (
            rows[first + head] is old[head] or rows[first + head] == old[head]
        ):
            # Equal rows stay the same object: what was laid out for it is still good.
            rows[first + head] = old[head]
            head += 1
        tail = 0
        while tail < shorter - head and rows[-1 - tail] is old[-1 - tail]:
            tail += 1
        return RowsChange(first + head, len(old) - head - tail, len(rows) - first - head - tail)

    def _partial_groups(self) -> list[tuple[tuple[Word, ...], SpeakerId | None]]:
        groups: list[tuple[list[Word], SpeakerId | None]] = []
        document = self._document
        for word, speakers in zip(document.partial, document.speakers_of_partial(), strict=True):
            speaker = speakers[0] if speakers else None
            if (
                groups
                and (speaker is None or groups[-1][1] in (None, speaker))
                and not document.is_parted(groups[-1][0][-1].start, word.start)
            ):
                words, known = groups[-1]
                words.append(word)
                groups[-1] = (words, known or speaker)
            else:
                groups.append(([word], speaker))
        return [(tuple(words), speaker) for words, speaker in groups]

    def _continues(self, last: Row, word: Word, speaker: SpeakerId | None) -> bool:
        if last.kind is RowKind.SPAN or speaker not in (None, last.speaker):
            return False
        if self._document.is_parted(last.word(last.num_words - 1).start, word.start):
            return False
        if last.kind is RowKind.PARTIAL:
            return True
        end = last.words[-1].word.end
        return word.start - end <= LINE_PAUSE_S * self._document.sample_rate

    def _shown_spans(self) -> tuple[SpanMarked, ...]:
        shortest = MIN_SHOWN_SPAN_S * self._document.sample_rate
        return tuple(
            span
            for span in self._document.spans
            if span.kind is SpanKind.PAUSE or span.end - span.start >= shortest
        )


def _key(row: Row) -> int | tuple[int, int]:
    if row.span is not None:
        return (row.span.mark_id, row.span.start)
    return row.words[0].id if row.words else (-1, row.start)


def _span_row(span: SpanMarked, known: dict[int | tuple[int, int], Row]) -> Row:
    row = known.get((span.mark_id, span.start))
    return row if row is not None and row.span == span else Row(RowKind.SPAN, span.start, span=span)
