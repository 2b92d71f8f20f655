"""Paints caption rows: words, and at their side a mark of who says them."""

from dataclasses import dataclass, field

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import (
    QBrush,
    QColor,
    QFont,
    QFontMetricsF,
    QPainter,
    QPainterPath,
    QPen,
    QPolygonF,
    QTextCharFormat,
    QTextLayout,
    QTextOption,
)

from app.captions import MAX_SIZE_PT, CaptionsLook, Scheme
from app.text import utf16_length
from app.views.captions.flow import CaptionRow
from app.views.captions.text import make_layout
from app.views.speaker_badge import PATTERNS

_LEADING = 1.14
_MARGIN_SHARE = 0.02
_BADGE_SHARE = 0.74
_STRIPE_SHARE = 0.16


@dataclass(slots=True)
class CaptionMetrics:
    """Sizes of captions in an area, in pixels.

    Args:
        base: the window's font.
        look: what the user chose.
        num_lines: wanted.
        size_pt: wanted; smaller in an area that is too low for one row.
        area_width: of the captions.
        area_height: of the captions.
    """

    base: QFont
    look: CaptionsLook
    num_lines: int
    size_pt: int
    area_width: int
    area_height: int
    font: QFont = field(init=False)
    row_height: int = field(init=False)
    num_rows: int = field(init=False)
    gutter: int = field(init=False)
    column_left: int = field(init=False)
    column_width: int = field(init=False)
    ascent: float = field(init=False)

    def __post_init__(self) -> None:
        self.font = QFont(self.base)
        if self.look.family:
            self.font.setFamilies([self.look.family, *self.base.families()])
        size_pt = float(min(self.size_pt, MAX_SIZE_PT))
        self.font.setPointSizeF(size_pt)
        height = QFontMetricsF(self.font).height() * _LEADING
        if height > self.area_height > 0:
            self.font.setPointSizeF(max(6.0, size_pt * self.area_height / height))
        metrics = QFontMetricsF(self.font)
        self.row_height = max(1, round(metrics.height() * _LEADING))
        self.ascent = (self.row_height - metrics.height()) / 2 + metrics.ascent()
        self.num_rows = max(1, min(self.num_lines, self.area_height // self.row_height))
        margin = max(12, round(self.area_width * _MARGIN_SHARE))
        room = max(1, self.area_width - 2 * margin)
        self.column_width = max(min(160, room), room * self.look.width_percent // 100)
        spare = room - self.column_width
        shares = {"left": 0, "middle": spare // 2, "right": spare}
        self.column_left = margin + shares[self.look.place]
        self.gutter = round(self.row_height * 0.98)

    @property
    def text_width(self) -> int:
        """Of the words."""
        return max(1, self.column_width - self.gutter)

    def row_rect(self, slot: int) -> QRectF:
        """Return the area of a row, counted from the bottom."""
        top = self.area_height - (slot + 1) * self.row_height
        return QRectF(0, top, self.area_width, self.row_height)


class CaptionsPainter:
    """Paints with one painter for the length of one paint event."""

    def __init__(self, painter: QPainter, metrics: CaptionMetrics, scheme: Scheme) -> None:
        self._painter = painter
        self._metrics = metrics
        self._scheme = scheme

    def paint(
        self,
        row: CaptionRow,
        layout: QTextLayout,
        slot: int,
        *,
        color: int | None,
        has_badge: bool,
    ) -> None:
        """Paint a row.

        Args:
            row: which.
            layout: its words, see `lay_out_row`.
            slot: where, counted from the bottom.
            color: the speaker's, see `TranscriptDocument.speaker_color`; None if nobody's.
            has_badge: whether the speaker's badge stands beside it, not only a bar.
        """
        metrics, area = self._metrics, self._metrics.row_rect(slot)
        text_left, mark_left = metrics.column_left + metrics.gutter, metrics.column_left
        line = layout.lineAt(0)
        if row.is_rtl:
            text_left, mark_left = metrics.column_left, metrics.column_left + metrics.text_width
        self._painter.setPen(QColor(self._scheme.text))
        place = QPointF(text_left, area.top() + metrics.ascent - line.ascent())
        layout.draw(self._painter, place, row_colors(row, self._scheme, color))
        mark = QRectF(mark_left, area.top(), metrics.gutter, area.height())
        if row.is_own:
            self._paint_own(mark, has_badge=has_badge)
        elif has_badge:
            self._paint_badge(mark, row, color)
        elif color is not None:
            self._paint_bar(mark, color)

    def _badge_rect(self, mark: QRectF) -> QRectF:
        side = mark.height() * _BADGE_SHARE
        # A space is left between badge and words on both sides of the gutter, so that it serves
        # both directions of writing.
        left = mark.left() + (mark.width() - side) * 0.35
        return QRectF(left, mark.center().y() - side / 2, side, side)

    def _paint_badge(self, mark: QRectF, row: CaptionRow, color: int | None) -> None:
        painter, rect = self._painter, self._badge_rect(mark)
        radius = rect.height() * 0.16
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if row.speaker is None or color is None:
            width = max(1.5, rect.height() * 0.03)
            painter.setPen(QPen(QColor(self._scheme.quiet), width, Qt.PenStyle.DotLine))
            painter.drawRoundedRect(rect.adjusted(width, width, -width, -width), radius, radius)
            painter.restore()
            return
        fill = QColor(self._scheme.speakers[color % len(self._scheme.speakers)])
        path = QPainterPath()
        path.addRoundedRect(rect, radius, radius)
        painter.fillPath(path, fill)
        painter.setClipPath(path)
        stripe = QRectF(rect)
        stripe.setLeft(rect.right() - rect.width() * _STRIPE_SHARE)
        self._paint_stripe(stripe, fill, row.speaker.slot)
        font = QFont(self._metrics.font)
        font.setWeight(QFont.Weight.Bold)
        share = 0.66 if len(row.speaker.letter) == 1 else 0.46
        font.setPixelSize(max(6, round(rect.height() * share)))
        painter.setFont(font)
        painter.setPen(QColor(self._scheme.ground))
        room = rect.adjusted(0, 0, -stripe.width(), 0)
        painter.drawText(room, Qt.AlignmentFlag.AlignCenter, row.speaker.letter)
        painter.restore()

    def _paint_stripe(self, stripe: QRectF, fill: QColor, slot: int) -> None:
        is_bright = fill.lightness() > 110
        pattern = PATTERNS[slot % len(PATTERNS)]
        self._painter.fillRect(stripe, fill.darker(150) if is_bright else fill.lighter(170))
        if pattern is not Qt.BrushStyle.SolidPattern:
            brush = QBrush(fill, pattern)
            transform = brush.transform()
            scale = max(1.0, stripe.width() / 8)
            brush.setTransform(transform.scale(scale, scale))
            self._painter.fillRect(stripe, brush)

    def _paint_bar(self, mark: QRectF, color: int) -> None:
        rect = self._badge_rect(mark)
        width = max(3.0, rect.width() * 0.09)
        bar = QRectF(rect.center().x() - width / 2, mark.top(), width, mark.height())
        fill = QColor(self._scheme.speakers[color % len(self._scheme.speakers)])
        self._painter.fillRect(bar, fill)

    def _paint_own(self, mark: QRectF, *, has_badge: bool) -> None:
        """Paint the sign of the program's own voice: a loudspeaker's triangle."""
        painter, rect = self._painter, self._badge_rect(mark)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if has_badge:
            radius = rect.height() * 0.16
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(self._scheme.text))
            painter.drawRoundedRect(rect, radius, radius)
            painter.setBrush(QColor(self._scheme.ground))
            side, middle = rect.width(), rect.center()
            left = middle.x() - side * 0.16
            painter.drawPolygon(
                QPolygonF(
                    [
                        QPointF(left, middle.y() - side * 0.24),
                        QPointF(left, middle.y() + side * 0.24),
                        QPointF(left + side * 0.4, middle.y()),
                    ]
                )
            )
        else:
            width = max(3.0, rect.width() * 0.09)
            bar = QRectF(rect.center().x() - width / 2, mark.top(), width, mark.height())
            painter.fillRect(bar, QColor(self._scheme.text))
        painter.restore()


def lay_out_row(row: CaptionRow, metrics: CaptionMetrics) -> QTextLayout:
    """Return a row's words as one line."""
    layout = make_layout(row.text, metrics.font, row.name_length, is_rtl=row.is_rtl)
    option = layout.textOption()
    # The row was measured already: rounding must not break it again.
    option.setWrapMode(QTextOption.WrapMode.NoWrap)
    layout.setTextOption(option)
    layout.beginLayout()
    layout.createLine().setLineWidth(metrics.text_width)
    layout.endLayout()
    return layout


def row_colors(row: CaptionRow, scheme: Scheme, color: int | None) -> list[QTextLayout.FormatRange]:
    """Return what of a row is not in the colour of committed words."""
    ranges = []
    if row.name_length and color is not None:
        name = scheme.speakers[color % len(scheme.speakers)]
        ranges.append(_range(0, row.name_length, name))
    length = utf16_length(row.text)
    if row.partial_from < length:
        ranges.append(_range(row.partial_from, length - row.partial_from, scheme.partial))
    return ranges


def _range(start: int, length: int, color: str) -> QTextLayout.FormatRange:
    part, style = QTextLayout.FormatRange(), QTextCharFormat()
    style.setForeground(QColor(color))
    part.start, part.length, part.format = start, length, style
    return part
