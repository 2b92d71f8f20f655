"""Sizes of the transcript."""

from dataclasses import dataclass, field

from PySide6.QtGui import QFont, QFontMetrics

from app.fonts import tabular
from app.views.speaker_badge import badge_size
from app.views.transcript.rows import Row, RowKind

_MAX_CHARACTERS = 88
"""Lines longer than this tire the eye."""
_MIN_TEXT_PX, _MIN_CHARACTERS, _RIGHT_PX = 80, 4, 20


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
    narrowest_text: int = field(init=False)
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
        room = self.viewport_width - self.text_left - _RIGHT_PX
        self.narrowest_text = max(_MIN_TEXT_PX, words.averageCharWidth() * _MIN_CHARACTERS)
        widest = words.averageCharWidth() * _MAX_CHARACTERS
        self.text_width = max(self.narrowest_text, min(room, widest))
        self.line_height = round(words.height() * 1.18)
        self.header_height = self.small_height + 6

    @property
    def narrowest(self) -> int:
        """The least width of a view in which nothing is cut off, its scroll bar included."""
        return self.text_left + self.narrowest_text + 2 * _RIGHT_PX

    def estimate(self, row: Row) -> int:
        """Return a row's height before it is laid out; that of a marked stretch is exact."""
        if row.kind is RowKind.SPAN:
            return self.small_height + 16
        per_line = max(1.0, self.text_width / (self.line_height * 2.1))
        num_lines = 1 + int(row.num_words / per_line)
        return self.top(row) + num_lines * self.line_height + 2

    def top(self, row: Row) -> int:
        """Return where a row's words begin below its top."""
        return (14 + self.header_height) if row.has_header else 2
