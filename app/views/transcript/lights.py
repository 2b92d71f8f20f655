"""What is lit upon the words of the rows in view: the selection, search hits, the word heard."""

from bisect import bisect_right
from collections.abc import Iterator

from PySide6.QtGui import QTextCharFormat, QTextLayout

from app.marks import Marks
from app.theme import Theme
from app.views.transcript.cursor import TranscriptCursor
from app.views.transcript.layout import LaidOutRow, format_range
from app.views.transcript.places import Spot, spot_at
from app.views.transcript.rows import Row, TranscriptRows
from engine.text.document import TranscriptDocument
from engine.text.search import Hit

_LINGER_S = 0.25
"""How long a word stays lit behind its end; recognizers end words early."""


def word_heard(
    rows: TranscriptRows, document: TranscriptDocument, sample: int | None
) -> Spot | None:
    """Return the final word that is heard at a moment."""
    if sample is None:
        return None
    spot = spot_at(rows, sample)
    row = rows.rows[spot.row] if spot is not None else None
    if spot is None or row is None or spot.word >= len(row.words):
        return None
    word = row.words[spot.word].word
    linger = round(_LINGER_S * document.sample_rate)
    return spot if word.start <= sample < max(word.end, word.start + 1) + linger else None


def words_of_hit(document: TranscriptDocument, hit: Hit) -> range:
    """Return a hit's words as they are numbered now: late words may have moved them."""
    words = document.words
    if hit.first_word < len(words) and words[hit.first_word].word.start == hit.start:
        return range(hit.first_word, hit.end_word)
    moved = max(0, bisect_right(words, hit.start, key=lambda entry: entry.word.start) - 1)
    return range(moved, moved + hit.end_word - hit.first_word)


class Lights:
    """The marks on words, looked up once for a picture.

    Args:
        document: what is shown.
        marks: hits and what is heard.
        cursor: what is chosen.
        heard: the word to light.
        theme: colours.
    """

    def __init__(
        self,
        document: TranscriptDocument,
        marks: Marks,
        cursor: TranscriptCursor,
        heard: Spot | None,
        theme: Theme,
    ) -> None:
        self._document = document
        self._hits, self._current_hit = marks.hits, marks.current_hit
        self._chosen = cursor.chosen()
        self._heard = heard
        self._theme = theme
        self.caret = cursor.spot

    def is_chosen(self, index: int) -> bool:
        """Whether a row has a part in the selection."""
        return self._chosen is not None and self._chosen[0].row <= index <= self._chosen[1].row

    def of_row(self, index: int, row: Row, laid_out: LaidOutRow) -> list[QTextLayout.FormatRange]:
        """Return the formats that are laid over a row's words."""
        lights = [
            self._format(laid_out, first, end, style) for first, end, style in self._hits_of(row)
        ]
        if self._chosen is not None and self.is_chosen(index):
            low, high = self._chosen
            first = low.word if index == low.row else 0
            end = high.word + 1 if index == high.row else row.num_words
            lights.append(self._format(laid_out, first, end, self._selection()))
        if self._heard is not None and self._heard.row == index:
            word = self._heard.word
            lights.append(self._format(laid_out, word, word + 1, self._lit()))
        return [light for light in lights if light.length]

    def _hits_of(self, row: Row) -> Iterator[tuple[int, int, QTextCharFormat]]:
        if not self._hits or not row.words:
            return
        first = self._document.word_index(row.words[0].id)
        last_start = row.words[-1].word.start
        # The one before may reach into this row.
        at = max(0, bisect_right(self._hits, row.start, key=lambda hit: hit.start) - 1)
        while at > 0 and self._hits[at - 1].end_word > first:
            at -= 1
        while at < len(self._hits) and self._hits[at].start <= last_start:
            words = words_of_hit(self._document, self._hits[at])
            low, high = max(words.start - first, 0), min(words.stop - first, len(row.words))
            if low < high:
                yield low, high, self._hit(is_current=at == self._current_hit)
            at += 1

    def _format(
        self, laid_out: LaidOutRow, first: int, end: int, style: QTextCharFormat
    ) -> QTextLayout.FormatRange:
        if not laid_out.starts or first >= end or first >= len(laid_out.starts):
            return format_range(0, 0, style)
        start = laid_out.starts[first]
        return format_range(start, laid_out.ends[min(end, len(laid_out.ends)) - 1] - start, style)

    def _selection(self) -> QTextCharFormat:
        style = QTextCharFormat()
        style.setBackground(self._theme.color("selection"))
        style.setForeground(self._theme.color("text"))
        return style

    def _hit(self, *, is_current: bool) -> QTextCharFormat:
        style = QTextCharFormat()
        style.setBackground(self._theme.color("hit_current" if is_current else "hit"))
        style.setForeground(self._theme.color("text"))
        if is_current:
            style.setUnderlineStyle(QTextCharFormat.UnderlineStyle.SingleUnderline)
            style.setUnderlineColor(self._theme.color("hit_mark"))
        return style

    def _lit(self) -> QTextCharFormat:
        style = QTextCharFormat()
        style.setBackground(self._theme.color("playing_ground"))
        style.setForeground(self._theme.color("text"))
        style.setUnderlineStyle(QTextCharFormat.UnderlineStyle.SingleUnderline)
        style.setUnderlineColor(self._theme.color("playing"))
        return style
