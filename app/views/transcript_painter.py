"""Paints rows of the transcript."""

from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPen

from app.theme import Appearance
from app.views.speaker_badge import badge_size, paint_badge
from app.views.transcript_layout import LaidOutRow, Metrics
from app.views.transcript_rows import Row, describe_span
from engine.core.timebase import format_time
from engine.core.types import SpanKind
from engine.text.document import TranscriptDocument

_DASHES = {
    SpanKind.GAP: Qt.PenStyle.SolidLine,
    SpanKind.UNTRANSCRIBED: Qt.PenStyle.DashLine,
    SpanKind.OWN_VOICE: Qt.PenStyle.DotLine,
    SpanKind.PAUSE: Qt.PenStyle.DashDotLine,
}


class TranscriptPainter:
    """Paints on one painter for the length of one paint event."""

    def __init__(
        self,
        painter: QPainter,
        document: TranscriptDocument,
        metrics: Metrics,
        appearance: Appearance,
    ) -> None:
        self._painter = painter
        self._document = document
        self._metrics = metrics
        self._theme = appearance.theme

    def fill(self, area: QRect) -> None:
        """Paint the ground."""
        self._painter.fillRect(area, self._theme.color("ground"))

    def paint_placeholder(self, area: QRect, text: str) -> None:
        """Say something where there is nothing."""
        self._painter.setFont(self._metrics.words_font)
        self._painter.setPen(self._theme.color("muted"))
        flags = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
        self._painter.drawText(area.adjusted(40, 0, -40, 0), flags, text)

    def paint(self, row: Row, area: QRect, laid_out: LaidOutRow | None, *, is_chosen: bool) -> None:
        """Paint a row into its area."""
        if is_chosen:
            self._painter.fillRect(area, self._theme.color("selection"))
        if row.span is not None or laid_out is None:
            self._paint_span(row, area)
            return
        if row.has_header:
            self._paint_header(row, area)
        else:
            middle = (self._metrics.line_height - self._metrics.small_height) // 2
            self._paint_time(row, area.top() + laid_out.top + middle)
        self._painter.setPen(self._theme.color("text"))
        laid_out.layout.draw(
            self._painter, QPointF(self._metrics.text_left, area.top() + laid_out.top)
        )

    def _paint_header(self, row: Row, area: QRect) -> None:
        painter, metrics = self._painter, self._metrics
        top = area.top() + 14
        self._paint_time(row, top)
        badge = badge_size(metrics.small_height - 1)
        badge.moveTo(metrics.badge_left, top - 1)
        paint_badge(painter, badge, row.speaker, self._theme, metrics.name_font)
        painter.setFont(metrics.name_font)
        if row.speaker is None:
            painter.setPen(self._theme.color("muted"))
            name = "Speaker not known yet" if row.partial else "Unknown speaker"
        else:
            painter.setPen(self._theme.speaker(row.speaker.slot))
            name = self._document.speaker_name(row.speaker)
        name = QFontMetrics(metrics.name_font).elidedText(
            name, Qt.TextElideMode.ElideRight, metrics.text_width
        )
        place = QRectF(metrics.text_left, top, metrics.text_width, metrics.small_height)
        painter.drawText(place, Qt.AlignmentFlag.AlignVCenter, name)

    def _paint_time(self, row: Row, top: int) -> None:
        metrics = self._metrics
        self._painter.setFont(metrics.small_font)
        self._painter.setPen(self._theme.color("muted"))
        place = QRectF(metrics.time_left, top, metrics.badge_left, metrics.small_height)
        time = format_time(self._document.seconds(row.start))
        self._painter.drawText(place, Qt.AlignmentFlag.AlignVCenter, time)

    def _paint_span(self, row: Row, area: QRect) -> None:
        if row.span is None:
            return
        painter, metrics, span = self._painter, self._metrics, row.span
        self._paint_time(row, area.top() + 8)
        is_loss = span.kind in (SpanKind.GAP, SpanKind.UNTRANSCRIBED)
        color = self._theme.color("warning" if is_loss else "muted")
        text = describe_span(span, self._document.sample_rate)
        font_metrics = QFontMetrics(metrics.small_font)
        right = metrics.text_left + metrics.text_width
        text = font_metrics.elidedText(text, Qt.TextElideMode.ElideRight, metrics.text_width - 48)
        text_right = metrics.text_left + font_metrics.horizontalAdvance(text)
        middle = area.top() + 8 + metrics.small_height // 2
        painter.setPen(color)
        place = QRectF(metrics.text_left, area.top() + 8, metrics.text_width, metrics.small_height)
        painter.drawText(place, Qt.AlignmentFlag.AlignVCenter, text)
        painter.setPen(QPen(color, 1, _DASHES[span.kind]))
        painter.drawLine(text_right + 12, middle, right, middle)
