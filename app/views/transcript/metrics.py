"""Sizes of the transcript."""

from dataclasses import dataclass, field

from PySide6.QtGui import QFont, QFontMetrics

from app.fonts import tabular
from app.views.speaker_badge import badge_size
from app.views.transcript.rows import Row, RowKind

_MAX_CHARACTERS = 88
"""Lines longer than this tire the eye."""
_MIN_TEXT_PX, _MIN_CHARACTERS, _LEFT_PX, _RIGHT_PX = 80, 10, 16, 20
_LONG_WORD_CHARACTERS = 18
"""Where a line beside times has no room for these, times stand above it."""
_READABLE_CHARACTERS = 26
_PIN_PX = 10
"""What is left free on either side of a pin."""


@dataclass(slots=True)
class Metrics:
    """Sizes of a transcript for a font, a width and a text size.

    Times stand in a column beside the words. In a narrow view, where that would break words,
    they stand above them.

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
    time_left: int = field(init=False)
    badge_left: int = field(init=False)
    name_left: int = field(init=False)
    name_width: int = field(init=False)
    is_narrow: bool = field(init=False)
    text_left: int = field(init=False)
    text_width: int = field(init=False)
    narrowest_text: int = field(init=False)
    line_height: int = field(init=False)
    readable: int = field(init=False)
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
        to_badge = small_metrics.horizontalAdvance("00:00:00") + 16
        to_name = to_badge + round(badge_size(self.small_height).width()) + 8
        words = QFontMetrics(self.words_font)
        character = words.averageCharWidth()
        room = self.viewport_width - _RIGHT_PX
        beside_words = _LEFT_PX + to_name
        self.is_narrow = room - beside_words < character * _LONG_WORD_CHARACTERS
        self.time_left = self._narrow_left if self.is_narrow else _LEFT_PX
        self.badge_left, self.name_left = self.time_left + to_badge, self.time_left + to_name
        self.text_left = self.time_left if self.is_narrow else self.name_left
        self.narrowest_text = max(_MIN_TEXT_PX, character * _MIN_CHARACTERS)
        widest = character * _MAX_CHARACTERS
        self.text_width = max(self.narrowest_text, min(room - self.text_left, widest))
        self.name_width = max(0, self.text_left + self.text_width - self.name_left)
        self.readable = beside_words + character * _READABLE_CHARACTERS + 2 * _RIGHT_PX
        self.line_height = round(words.height() * 1.18)
        self.header_height = self.small_height + 6

    @property
    def narrowest(self) -> int:
        """The least width of a view in which nothing is cut off, its scroll bar included."""
        return self._narrow_left + self.narrowest_text + 2 * _RIGHT_PX

    @property
    def pin_height(self) -> int:
        """Of the mark before a line whose speaker is settled; it is 0.6 times as wide."""
        return round(self.small_height * 0.8)

    @property
    def span_height(self) -> int:
        """Of a marked stretch."""
        num_lines = 2 if self.is_narrow else 1
        return num_lines * self.small_height + 16

    def estimate(self, row: Row) -> int:
        """Return a row's height before it is laid out; that of a marked stretch is exact."""
        if row.kind is RowKind.SPAN:
            return self.span_height
        per_line = max(1.0, self.text_width / (self.line_height * 2.1))
        num_lines = 1 + int(row.num_words / per_line)
        return self.top(row) + num_lines * self.line_height + 2

    def top(self, row: Row) -> int:
        """Return where a row's words begin below its top."""
        if row.has_header:
            return 14 + self.header_height
        return 4 + self.header_height if self.is_narrow else 2

    @property
    def _narrow_left(self) -> int:
        return max(_LEFT_PX, 2 * _PIN_PX + round(self.pin_height * 0.6))
