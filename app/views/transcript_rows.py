"""What the transcript shows, from top to bottom: lines, marked stretches, and the partial tail."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from engine.core.events import SpanMarked
from engine.core.timebase import format_time
from engine.core.types import SpanKind, SpeakerId, Word
from engine.text.document import LINE_PAUSE_S, Line, TranscriptDocument

MIN_SHOWN_SPAN_S = 0.2
"""A loss shorter than this is in the timeline and the counters, but gets no line here."""


class RowKind(StrEnum):
    """What a row is."""

    LINE = "line"
    SPAN = "span"
    PARTIAL = "partial"


@dataclass(frozen=True, slots=True)
class Row:
    """One row.

    Args:
        kind: what it is.
        start: its first sample.
        line: the line, of a LINE.
        span: the stretch, of a SPAN.
        partial: words that may still change: all of a PARTIAL, or behind the words of a LINE.
        speaker: whose words they are.
        has_header: whether the speaker's name stands above (it does where the speaker changes).
    """

    kind: RowKind
    start: int
    line: Line | None = None
    span: SpanMarked | None = None
    partial: tuple[Word, ...] = ()
    speaker: SpeakerId | None = None
    has_header: bool = False


class TranscriptRows:
    """The rows of a document; a change costs what lies behind it."""

    def __init__(self, document: TranscriptDocument) -> None:
        self._document = document
        self._rows: list[Row] = []
        self._line_rows: list[int] = []
        self._spans: tuple[SpanMarked, ...] = ()
        self._partial_from = 0
        self._tail_row: int | None = None
        self.update(0)

    @property
    def rows(self) -> Sequence[Row]:
        """From top to bottom."""
        return self._rows

    def update(self, first_line: int) -> int:
        """Take in changes from a line on, of spans, and of the partial words.

        Returns:
            Index of the first row that may have changed.
        """
        spans = tuple(span for span in self._document.spans if self._is_shown(span))
        if spans != self._spans:
            self._spans, first_line = spans, 0
        first_changed = self._strip_tail()
        known = len(self._line_rows)
        start = self._line_rows[first_line] if first_line < known else self._end_of_lines()
        del self._rows[start:]
        del self._line_rows[first_line:]
        lines = self._document.lines
        used = sum(row.kind is RowKind.SPAN for row in self._rows) if self._spans else 0
        previous = self._rows[-1] if self._rows else None
        for line in lines[len(self._line_rows) :]:
            begin = self._document.words[line.first].word.start
            while used < len(self._spans) and self._spans[used].start <= begin:
                previous = self._append_span(self._spans[used])
                used += 1
            has_header = previous is None or previous.speaker != line.speaker
            self._line_rows.append(len(self._rows))
            previous = Row(
                RowKind.LINE, begin, line=line, speaker=line.speaker, has_header=has_header
            )
            self._rows.append(previous)
        for span in self._spans[used:]:
            self._append_span(span)
        self._partial_from = len(self._rows)
        return min(start, first_changed, self.update_partial())

    def update_partial(self) -> int:
        """Take in the partial words; returns as `update` does."""
        first = min(self._partial_from, self._strip_tail())
        del self._rows[self._partial_from :]
        for words, speaker in self._partial_groups():
            last = self._rows[-1] if self._rows else None
            if last is not None and self._continues(last, words[0], speaker):
                first = min(first, len(self._rows) - 1)
                self._rows[-1] = replace(last, partial=(*last.partial, *words))
                if last.kind is RowKind.LINE:
                    self._tail_row = len(self._rows) - 1
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
        return first

    def row_at(self, sample: int) -> int:
        """Return the row that holds, or begins last before, a sample; -1 without rows."""
        starts = [row.start for row in self._rows]
        found = sum(start <= sample for start in starts) - 1
        return max(found, 0) if starts else -1

    def _strip_tail(self) -> int:
        """Take the partial words off the line that has them; returns the row that changed."""
        row, self._tail_row = self._tail_row, None
        if row is None:
            return self._partial_from
        self._rows[row] = replace(self._rows[row], partial=())
        return row

    def _end_of_lines(self) -> int:
        # Spans behind the last line are placed anew as well.
        return self._line_rows[-1] + 1 if self._line_rows else 0

    def _append_span(self, span: SpanMarked) -> Row:
        row = Row(RowKind.SPAN, span.start, span=span)
        self._rows.append(row)
        return row

    def _partial_groups(self) -> list[tuple[tuple[Word, ...], SpeakerId | None]]:
        groups: list[tuple[list[Word], SpeakerId | None]] = []
        document = self._document
        for word, speakers in zip(document.partial, document.speakers_of_partial(), strict=True):
            speaker = speakers[0] if speakers else None
            if groups and (speaker is None or groups[-1][1] in (None, speaker)):
                words, known = groups[-1]
                words.append(word)
                groups[-1] = (words, known or speaker)
            else:
                groups.append(([word], speaker))
        return [(tuple(words), speaker) for words, speaker in groups]

    def _continues(self, last: Row, word: Word, speaker: SpeakerId | None) -> bool:
        if last.kind is RowKind.SPAN or speaker not in (None, last.speaker):
            return False
        if last.line is None:
            return last.kind is RowKind.PARTIAL
        end = self._document.words[last.line.end - 1].word.end
        return word.start - end <= LINE_PAUSE_S * self._document.sample_rate

    def _is_shown(self, span: SpanMarked) -> bool:
        if span.kind is SpanKind.PAUSE:
            return True
        return span.end - span.start >= MIN_SHOWN_SPAN_S * self._document.sample_rate


def describe_span(span: SpanMarked, sample_rate: int) -> str:
    """Return what a marked stretch is, for people."""
    length = f"{(span.end - span.start) / sample_rate:.1f} s"
    reason = f": {span.reason}" if span.reason else ""
    match span.kind:
        case SpanKind.GAP:
            return f"{length} of sound lost{reason}"
        case SpanKind.UNTRANSCRIBED:
            return f"{length} not transcribed{reason}"
        case SpanKind.OWN_VOICE:
            return f"{length} of this program's own voice"
        case SpanKind.PAUSE:
            return "Recording paused here"


def row_text(document: TranscriptDocument, row: Row) -> str:
    """Return a row as it is copied: time, speaker and words."""
    time = format_time(document.seconds(row.start))
    if row.span is not None:
        return f"[{time}] ({describe_span(row.span, document.sample_rate)})"
    words = [entry.word for entry in document.line_words(row.line)] if row.line else []
    text = "".join(word.text for word in (*words, *row.partial)).strip()
    name = f"{document.speaker_name(row.speaker)}: " if row.speaker else ""
    return f"[{time}] {name}{text}"
