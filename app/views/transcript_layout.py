"""Turns a transcript row into laid out text: words, tails, doubts and overlaps told apart."""

from dataclasses import dataclass, field

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetrics,
    QTextCharFormat,
    QTextLayout,
    QTextOption,
)

from app.theme import Theme, tabular
from app.views.speaker_badge import badge_size
from app.views.transcript_rows import Row, RowKind
from engine.core.types import SpeakerId, Word
from engine.text.document import TranscriptDocument

DOUBTFUL = 0.5
"""Words the recognizer is less sure of are marked."""
_MAX_CHARACTERS = 88
"""Lines longer than this tire the eye."""


@dataclass(slots=True)
class Metrics:
    """Sizes of a transcript for a font, a width and a text size.

    Args:
        base: the window's font.
        text_size_pt: of the words.
        viewport_width: pixels.
    """

    base: QFont
    text_size_pt: int
    viewport_width: int
    words_font: QFont = field(init=False)
    small_font: QFont = field(init=False)
    name_font: QFont = field(init=False)
    time_left: int = field(init=False, default=16)
    badge_left: int = field(init=False)
    text_left: int = field(init=False)
    text_width: int = field(init=False)
    line_height: int = field(init=False)
    header_height: int = field(init=False)
    small_height: int = field(init=False)

    def __post_init__(self) -> None:
        self.words_font = QFont(self.base)
        self.words_font.setPointSizeF(self.text_size_pt)
        small = QFont(self.base)
        # Names and times grow more slowly, so that large words keep their room.
        small.setPointSizeF(max(8.0, min(self.text_size_pt * 0.78, 5.5 + self.text_size_pt * 0.42)))
        self.small_font = tabular(small)
        self.name_font = QFont(self.small_font)
        self.name_font.setWeight(QFont.Weight.DemiBold)
        small_metrics = QFontMetrics(self.small_font)
        self.small_height = small_metrics.height()
        self.badge_left = self.time_left + small_metrics.horizontalAdvance("00:00:00") + 16
        self.text_left = self.badge_left + round(badge_size(self.small_height).width()) + 8
        words = QFontMetrics(self.words_font)
        room = self.viewport_width - self.text_left - 20
        self.text_width = max(80, min(room, words.averageCharWidth() * _MAX_CHARACTERS))
        self.line_height = round(words.height() * 1.18)
        self.header_height = self.small_height + 6

    def estimate(self, row: Row, num_words: int) -> int:
        """Return a row's height before it is laid out."""
        if row.kind is RowKind.SPAN:
            return self.small_height + 16
        per_line = max(1.0, self.text_width / (self.line_height * 2.1))
        num_lines = 1 + int(num_words / per_line)
        return self.top(row) + num_lines * self.line_height + 2

    def top(self, row: Row) -> int:
        """Return where a row's words begin below its top."""
        return (14 + self.header_height) if row.has_header else 2


@dataclass(slots=True)
class LaidOutRow:
    """A row ready to be painted.

    Args:
        layout: its words, at (text_left, top) of the row.
        height: of the whole row.
        top: where the words begin.
    """

    layout: QTextLayout
    height: int
    top: int


def lay_out(row: Row, document: TranscriptDocument, metrics: Metrics, theme: Theme) -> LaidOutRow:
    """Lay a LINE or PARTIAL row out."""
    text, formats = _Builder(theme, metrics).build(row, document)
    layout = QTextLayout(text, metrics.words_font)
    option = QTextOption()
    option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
    option.setTextDirection(Qt.LayoutDirection.LayoutDirectionAuto)
    layout.setTextOption(option)
    layout.setFormats(formats)
    layout.beginLayout()
    y = 0.0
    while True:
        line = layout.createLine()
        if not line.isValid():
            break
        line.setLineWidth(metrics.text_width)
        line.setPosition(QPointF(0, y + (metrics.line_height - line.height()) / 2))
        y += metrics.line_height
    layout.endLayout()
    top = metrics.top(row)
    return LaidOutRow(layout, top + max(round(y), metrics.line_height) + 2, top)


class _Builder:
    """Collects the text of a row and the formats of its parts."""

    def __init__(self, theme: Theme, metrics: Metrics) -> None:
        self._theme = theme
        self._metrics = metrics
        self._text = ""
        self._length = 0  # in UTF-16 units, as Qt counts
        self._formats: list[QTextLayout.FormatRange] = []

    def build(
        self, row: Row, document: TranscriptDocument
    ) -> tuple[str, list[QTextLayout.FormatRange]]:
        """Return text and formats."""
        voices: tuple[SpeakerId, ...] = ()
        for entry in document.line_words(row.line) if row.line else ():
            together = entry.speakers if len(entry.speakers) > 1 else ()
            if together and together != voices:
                self._add_marker("+".join(sorted(voice.letter for voice in together)))
            voices = together
            self._add(entry.word.text, self._word_format(entry.word, voices))
        for word in row.partial:
            self._add(word.text, self._partial_format())
        return self._text, self._formats

    def _add(self, text: str, style: QTextCharFormat | None) -> None:
        bare = text.lstrip()
        if self._text:
            # Blanks stand outside of what is marked.
            blanks = text[: len(text) - len(bare)]
            self._text += blanks
            self._length += len(blanks)
        text = bare
        length = len(text.encode("utf-16-le")) // 2
        if style is not None and length:
            part = QTextLayout.FormatRange()
            part.start, part.length, part.format = self._length, length, style
            self._formats.append(part)
        self._text += text
        self._length += length

    def _add_marker(self, letters: str) -> None:
        style = QTextCharFormat()
        style.setFont(self._metrics.name_font)
        style.setForeground(self._theme.color("muted"))
        self._add(f" ⟨{letters}⟩", style)

    def _word_format(self, word: Word, voices: tuple[SpeakerId, ...]) -> QTextCharFormat | None:
        if not voices and word.probability >= DOUBTFUL:
            return None
        style = QTextCharFormat()
        if voices:
            tint = QColor(self._theme.speaker(voices[1].slot))
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
