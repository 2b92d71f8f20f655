"""A speaker's mark: letter, colour and pattern, so that colour alone never tells."""

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QFont, QPainter, QPainterPath, QPen

from app.theme import Theme
from engine.core.types import SpeakerId

PATTERNS = (
    Qt.BrushStyle.SolidPattern,
    Qt.BrushStyle.BDiagPattern,
    Qt.BrushStyle.HorPattern,
    Qt.BrushStyle.Dense5Pattern,
    Qt.BrushStyle.FDiagPattern,
    Qt.BrushStyle.VerPattern,
    Qt.BrushStyle.DiagCrossPattern,
    Qt.BrushStyle.CrossPattern,
)
"""A pattern a speaker slot; see `pattern_of`."""
_STRIPE = 5.0


def pattern_of(speaker: SpeakerId) -> Qt.BrushStyle:
    """Return a speaker's pattern; neighbouring epochs share colours, but not patterns."""
    return PATTERNS[(speaker.slot + 4 * (speaker.epoch % 2)) % len(PATTERNS)]


def shaded(color: QColor) -> QColor:
    """Return what a speaker's pattern is drawn upon: darker, or lighter where that shows more."""
    return color.darker(135) if color.lightness() > 110 else color.lighter(170)


def paint_badge(
    painter: QPainter,
    rect: QRectF,
    speaker: SpeakerId | None,
    theme: Theme,
    font: QFont,
    color: int = -1,
) -> None:
    """Paint a speaker's badge; an open ring where nobody is known.

    Args:
        painter: antialiased or not; its state is kept.
        rect: about square.
        speaker: whose.
        theme: colours.
        font: of the letter; its size is taken from the rectangle.
        color: see `TranscriptDocument.speaker_color`; -1 for the slot's own.
    """
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    if speaker is None:
        painter.setPen(QPen(theme.color("faint"), 1.5, Qt.PenStyle.DotLine))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(rect.adjusted(1, 1, -1, -1), 5, 5)
        painter.restore()
        return
    ink = theme.speaker(speaker.slot if color < 0 else color)
    path = QPainterPath()
    path.addRoundedRect(rect, 5, 5)
    painter.fillPath(path, ink)
    painter.setClipPath(path)
    _paint_pattern(painter, rect, pattern_of(speaker), ink)
    painter.setPen(theme.color("ground"))
    letter_font = QFont(font)
    letter_font.setWeight(QFont.Weight.Bold)
    letter_font.setPixelSize(
        max(8, round(rect.height() * (0.62 if len(speaker.letter) == 1 else 0.5)))
    )
    painter.setFont(letter_font)
    painter.drawText(rect.adjusted(0, 0, -_STRIPE, 0), Qt.AlignmentFlag.AlignCenter, speaker.letter)
    painter.restore()


def badge_size(text_height: int) -> QRectF:
    """Return a badge's rectangle at the origin, for text of a height."""
    return QRectF(QPointF(0, 0), QPointF(text_height + 2 + _STRIPE, text_height + 2))


def _paint_pattern(painter: QPainter, rect: QRectF, pattern: Qt.BrushStyle, color: QColor) -> None:
    """Fill a stripe at the right, where it does not stand behind the letter."""
    stripe = QRectF(rect.right() - _STRIPE, rect.top(), _STRIPE, rect.height())
    painter.fillRect(stripe, shaded(color))
    if pattern is not Qt.BrushStyle.SolidPattern:
        painter.fillRect(stripe, QBrush(color, pattern))
