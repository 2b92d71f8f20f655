"""Text as captions need it: measured as Qt counts, on one line, in its direction of writing."""

import unicodedata

from PySide6.QtCore import Qt
from PySide6.QtGui import QFont, QTextCharFormat, QTextLayout, QTextOption


def make_layout(text: str, font: QFont, name_length: int, *, is_rtl: bool) -> QTextLayout:
    """Return a layout without lines, the name in its own weight."""
    layout = QTextLayout(text, font)
    option = QTextOption()
    option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
    direction = Qt.LayoutDirection.RightToLeft if is_rtl else Qt.LayoutDirection.LeftToRight
    option.setTextDirection(direction)
    layout.setTextOption(option)
    if name_length:
        part, style = QTextLayout.FormatRange(), QTextCharFormat()
        style.setFont(name_font(font))
        part.start, part.length, part.format = 0, name_length, style
        layout.setFormats([part])
    return layout


def name_font(font: QFont) -> QFont:
    """Return the font of names."""
    result = QFont(font)
    result.setWeight(QFont.Weight.Bold)
    return result


def reads_rtl(text: str) -> bool:
    """Return whether the first letter that has a direction is read from right to left."""
    kinds = (unicodedata.bidirectional(char) for char in text)
    return next((kind for kind in kinds if kind in ("L", "R", "AL")), "L") != "L"
