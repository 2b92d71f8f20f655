"""Fonts derived from the window's own."""

from PySide6.QtGui import QFont, QFontMetrics

SMALL = 0.85
"""Size of what stands beside the words: times, scales, figures."""


def tabular(font: QFont) -> QFont:
    """Return a font whose digits all have one width, so that times stand still."""
    result = QFont(font)
    metrics = QFontMetrics(result)
    if len({metrics.horizontalAdvance(digit) for digit in "0123456789"}) > 1:
        result.setFeature(QFont.Tag("tnum"), 1)
    return result


def scaled(font: QFont, factor: float) -> QFont:
    """Return a font of another size."""
    result = QFont(font)
    result.setPointSizeF(font.pointSizeF() * factor)
    return result
