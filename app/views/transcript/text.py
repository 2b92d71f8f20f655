"""The transcript as text: told row by row, and copied."""

from collections.abc import Iterable

from app.names import shown_name
from app.views.transcript.cursor import Part
from app.views.transcript.rows import Row, TranscriptRows
from app.views.transcript.spans import describe_span
from engine.core.timebase import format_time
from engine.text.document import TranscriptDocument


def full_text(document: TranscriptDocument, rows: TranscriptRows, parts: Iterable[Part]) -> str:
    """Return parts of rows with times and speakers, a line each; marked stretches are told."""
    texts = []
    for part in parts:
        row = rows.rows[part.row]
        if row.span is not None or row_words(row, part.first, part.end):
            texts.append(row_text(document, row, part.first, part.end))
    return "\n".join(texts)


def plain_text(rows: TranscriptRows, parts: Iterable[Part]) -> str:
    """Return the words of parts of rows and nothing else, a line for each row."""
    texts = [
        row_words(rows.rows[part.row], part.first, part.end)
        for part in parts
        if rows.rows[part.row].span is None
    ]
    return "\n".join(text for text in texts if text)


def row_text(document: TranscriptDocument, row: Row, first: int = 0, end: int | None = None) -> str:
    """Return a row as it is copied: time, speaker and words.

    Args:
        document: whose row.
        row: what to tell.
        first: the first word to take.
        end: one past the last; None for all.
    """
    if row.span is not None:
        time = format_time(document.seconds(row.start))
        return f"[{time}] ({describe_span(row.span, document.sample_rate)})"
    start = row.word(first).start if first else row.start
    time = format_time(document.seconds(start))
    name = f"{shown_name(document, row.speaker)}: " if row.speaker else ""
    return f"[{time}] {name}{row_words(row, first, end)}"


def row_words(row: Row, first: int = 0, end: int | None = None) -> str:
    """Return the words [first, end) of a row; empty for a stretch, and where all were removed."""
    end = row.num_words if end is None else end
    return "".join(row.word(index).text for index in range(first, end)).strip()
