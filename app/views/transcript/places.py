"""Places in a transcript that stay where they are while rows come, part and join around them."""

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from typing import NamedTuple

from app.views.transcript.rows import Row, RowKind, TranscriptRows
from engine.text.document import TranscriptDocument

_LONG_WORDS = 8
"""How many words before a moment may still reach over it."""


class Spot(NamedTuple):
    """A word by row and place in it, as rows stand now; word 0 of a marked stretch is itself."""

    row: int
    word: int


@dataclass(frozen=True, slots=True)
class Place:
    """A word, by what never changes.

    Args:
        word_id: of a final word; -1 for a stretch or a word that may still change.
        sample: where it begins.
        is_span: whether it is a marked stretch.
    """

    word_id: int
    sample: int
    is_span: bool = False


def place_of(rows: TranscriptRows, spot: Spot) -> Place:
    """Return the place of a spot."""
    row = rows.rows[spot.row]
    if row.span is not None:
        return Place(-1, row.start, is_span=True)
    if spot.word < len(row.words):
        entry = row.words[spot.word]
        return Place(entry.id, entry.word.start)
    return Place(-1, row.word(spot.word).start)


def spot_of(rows: TranscriptRows, place: Place) -> Spot | None:
    """Return where a place is now, or what is nearest to it; None without rows."""
    if place.word_id >= 0:
        found = rows.find_word(place.word_id, place.sample)
        if found is not None:
            return Spot(*found)
    return spot_at(rows, place.sample, is_span=place.is_span)


def spot_at(rows: TranscriptRows, sample: int, *, is_span: bool = False) -> Spot | None:
    """Return the word that holds, or begins last before, a sample; None without rows."""
    index = rows.row_at(sample)
    if index < 0:
        return None
    # A stretch may begin where a word does, and stands before it.
    while is_span and index > 0 and rows.rows[index].span is None:
        if rows.rows[index].start < sample:
            break
        index -= 1
    row = rows.rows[index]
    if not is_span and row.span is not None and row.span.end <= sample:
        index = _nearest_line(rows, index)
        row = rows.rows[index]
    return Spot(index, word_at(row, sample))


def word_at(row: Row, sample: int) -> int:
    """Return the word of a row that holds, or begins last before, a sample."""
    if row.span is not None:
        return 0
    found = bisect_right(range(row.num_words), sample, key=lambda index: row.word(index).start)
    return max(0, found - 1)


def spots_between(
    rows: TranscriptRows, document: TranscriptDocument, start: int, end: int
) -> tuple[Spot, Spot] | None:
    """Return the first and last final word that is heard in [start, end); None if none is."""
    words = document.words
    low = bisect_left(words, start, key=lambda entry: entry.word.start)
    for before in range(max(0, low - _LONG_WORDS), low):
        if words[before].word.end > start:
            low = before
            break
    high = bisect_left(words, end, key=lambda entry: entry.word.start)
    if low >= high:
        return None
    spots = [
        spot_of(rows, Place(entry.id, entry.word.start)) for entry in (words[low], words[high - 1])
    ]
    first, last = spots
    return (first, last) if first is not None and last is not None else None


def is_visible_word(row: Row, word: int) -> bool:
    """Whether a word has any text; one that was removed has none."""
    return row.kind is RowKind.SPAN or bool(row.word(word).text.strip())


def step_word(rows: TranscriptRows, spot: Spot, step: int) -> Spot:
    """Return the next word before (-1) or behind (+1) a spot that has a text; else the spot."""
    row, word = spot
    while True:
        word += step
        if word < 0 or word >= max(1, rows.rows[row].num_words):
            row += step
            if not 0 <= row < len(rows.rows):
                return spot
            word = 0 if step > 0 else max(0, rows.rows[row].num_words - 1)
        if is_visible_word(rows.rows[row], word):
            return Spot(row, word)


def first_word(rows: TranscriptRows, row: int) -> Spot:
    """Return the first word of a row that has a text, else the first."""
    shown = rows.rows[row]
    for word in range(shown.num_words):
        if is_visible_word(shown, word):
            return Spot(row, word)
    return Spot(row, 0)


def last_word(rows: TranscriptRows, row: int) -> Spot:
    """Return the last word of a row that has a text, else the last."""
    shown = rows.rows[row]
    for word in reversed(range(shown.num_words)):
        if is_visible_word(shown, word):
            return Spot(row, word)
    return Spot(row, max(0, shown.num_words - 1))


def _nearest_line(rows: TranscriptRows, index: int) -> int:
    """Return the last row of words at or before `index`; `index` itself if there is none."""
    for before in range(index, -1, -1):
        if rows.rows[before].span is None:
            return before
    return index
