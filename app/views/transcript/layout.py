"""Turns a transcript row into laid out text: words, tails, doubts and overlaps told apart."""

from bisect import bisect_right
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QTextCharFormat, QTextLayout, QTextLine, QTextOption

from app.text import utf16_length
from app.theme import Theme
from app.views.transcript.metrics import Metrics
from app.views.transcript.rows import Row
from engine.core.types import SpeakerId, Word
from engine.text.document import TranscriptDocument

DOUBTFUL = 0.5
"""Words the recognizer is less sure of are marked."""
_REACH_PX = 4
"""How far beside a word the pointer still hits it."""


@dataclass(slots=True)
class LaidOutRow:
    """A row ready to be painted.

    Args:
        layout: its words, at (text_left, top) of the row.
        height: of the whole row.
        top: where the words begin.
        line_height: of a line of text.
        starts: where each word begins in the layout's text, in UTF-16 units.
        ends: one past the last of each.
    """

    layout: QTextLayout
    height: int
    top: int
    line_height: int
    starts: list[int]
    ends: list[int]

    def word_rects(self, index: int) -> list[QRectF]:
        """Return where a word is, relative to the layout: a rectangle for each line it is on."""
        if not 0 <= index < len(self.starts):
            return []
        start, end = self.starts[index], self.ends[index]
        first = self.layout.lineForTextPosition(start)
        rects: list[QRectF] = []
        for number in range(max(0, first.lineNumber()), self.layout.lineCount()):
            line = self.layout.lineAt(number)
            low, high = line.textStart(), line.textStart() + line.textLength()
            if low >= end and rects:
                break
            left, right = sorted((_x(line, max(start, low)), _x(line, min(end, high))))
            rects.append(QRectF(left, number * self.line_height, right - left, self.line_height))
        return rects

    def word_at(self, x: float, y: float) -> int | None:
        """Return the word at a point relative to the layout; None beside all words."""
        nearest = self.nearest_word(x, y)
        if nearest is None:
            return None
        for rect in self.word_rects(nearest):
            if rect.adjusted(-_REACH_PX, 0, _REACH_PX, 0).contains(x, y):
                return nearest
        return None

    def nearest_word(self, x: float, y: float) -> int | None:
        """Return the word nearest to a point relative to the layout; None without words."""
        if not self.starts or self.layout.lineCount() == 0:
            return None
        number = min(max(int(y // self.line_height), 0), self.layout.lineCount() - 1)
        line = self.layout.lineAt(number)
        at = line.xToCursor(x, QTextLine.CursorPosition.CursorOnCharacter)
        return max(0, bisect_right(self.starts, at) - 1)


def lay_out(row: Row, document: TranscriptDocument, metrics: Metrics, theme: Theme) -> LaidOutRow:
    """Lay a LINE or PARTIAL row out."""
    builder = _Builder(theme, metrics)
    builder.build(row, document)
    layout = QTextLayout(builder.text, metrics.words_font)
    option = QTextOption()
    option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
    option.setTextDirection(Qt.LayoutDirection.LayoutDirectionAuto)
    layout.setTextOption(option)
    layout.setFormats(builder.formats)
    layout.beginLayout()
    y = 0
    while True:
        line = layout.createLine()
        if not line.isValid():
            break
        line.setLineWidth(metrics.text_width)
        line.setPosition(QPointF(0, y + (metrics.line_height - line.height()) / 2))
        y += metrics.line_height
    layout.endLayout()
    top = metrics.top(row)
    height = top + max(y, metrics.line_height) + 2
    return LaidOutRow(layout, height, top, metrics.line_height, builder.starts, builder.ends)


def format_range(start: int, length: int, style: QTextCharFormat) -> QTextLayout.FormatRange:
    """Return a format for a stretch of a layout's text."""
    part = QTextLayout.FormatRange()
    part.start, part.length, part.format = start, length, style
    return part


class _Builder:
    """Collects the text of a row, the formats of its parts, and where each word is."""

    def __init__(self, theme: Theme, metrics: Metrics) -> None:
        self._theme = theme
        self._metrics = metrics
        self.text = ""
        self.formats: list[QTextLayout.FormatRange] = []
        self.starts: list[int] = []
        self.ends: list[int] = []
        self._length = 0  # in UTF-16 units, as Qt counts

    def build(self, row: Row, document: TranscriptDocument) -> None:
        """Take a row in."""
        voices: tuple[SpeakerId, ...] = ()
        for entry in row.words:
            together = entry.speakers if len(entry.speakers) > 1 else ()
            if together and together != voices and entry.word.text.strip():
                self._add_marker("+".join(sorted(voice.letter for voice in together)))
            voices = together
            self._add_word(entry.word.text, self._word_format(entry.word, voices, document))
        partial = self._partial_format() if row.partial else None
        for word in row.partial:
            self._add_word(word.text, partial)

    def _add_word(self, text: str, style: QTextCharFormat | None) -> None:
        self.starts.append(self._add(text, style))
        self.ends.append(self._length)

    def _add(self, text: str, style: QTextCharFormat | None) -> int:
        """Append a text and return where it begins, behind its blanks."""
        text = text.replace("\n", " ")
        bare = text.lstrip()
        if self.text:
            # Blanks stand outside of what is marked.
            blanks = text[: len(text) - len(bare)]
            self.text += blanks
            self._length += len(blanks)
        start, length = self._length, utf16_length(bare)
        if style is not None and length:
            self.formats.append(format_range(start, length, style))
        self.text += bare
        self._length += length
        return start

    def _add_marker(self, letters: str) -> None:
        style = QTextCharFormat()
        style.setFont(self._metrics.name_font)
        style.setForeground(self._theme.color("muted"))
        self._add(f" ⟨{letters}⟩", style)

    def _word_format(
        self, word: Word, voices: tuple[SpeakerId, ...], document: TranscriptDocument
    ) -> QTextCharFormat | None:
        if not voices and word.probability >= DOUBTFUL:
            return None
        style = QTextCharFormat()
        if voices:
            tint = QColor(self._theme.speaker(document.speaker_color(voices[1])))
            tint.setAlphaF(0.18)
            style.setBackground(tint)
        if word.probability < DOUBTFUL:
            style.setUnderlineStyle(QTextCharFormat.UnderlineStyle.DotLine)
            style.setUnderlineColor(self._theme.color("warning"))
        return style

    def _partial_format(self) -> QTextCharFormat:
        style = QTextCharFormat()
        style.setForeground(self._theme.color("partial"))
        return style


def _x(line: QTextLine, position: int) -> float:
    found: object = line.cursorToX(position)
    # PySide6 6.8 to 6.10 return the position as well.
    x = found[0] if isinstance(found, tuple) else found
    assert isinstance(x, float), x
    return x
