"""Paints rows of the transcript."""

from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPen, QPolygonF

from app.i18n import tr
from app.names import shown_name
from app.theme import Theme
from app.views.speaker_badge import badge_size, paint_badge
from app.views.transcript.layout import LaidOutRow
from app.views.transcript.lights import Lights
from app.views.transcript.metrics import Metrics
from app.views.transcript.rows import Row
from app.views.transcript.spans import describe_span
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
    """Paints on one painter for the length of one paint event.

    Args:
        painter: on the viewport.
        document: what is shown.
        metrics: sizes.
        theme: colours.
        has_focus: whether keys go to the transcript.
    """

    def __init__(
        self,
        painter: QPainter,
        document: TranscriptDocument,
        metrics: Metrics,
        theme: Theme,
        *,
        has_focus: bool,
    ) -> None:
        self._painter = painter
        self._document = document
        self._metrics = metrics
        self._theme = theme
        self._cursor_color = theme.color("focus" if has_focus else "edge")

    def fill(self, area: QRect) -> None:
        """Paint the ground."""
        self._painter.fillRect(area, self._theme.color("ground"))

    def paint_focus(self, area: QRect) -> None:
        """Frame the view: keys go to it, and no cursor shows where."""
        self._painter.setPen(QPen(self._cursor_color, 2))
        self._painter.drawRect(area.adjusted(1, 1, -1, -1))

    def paint_placeholder(self, area: QRect, text: str) -> None:
        """Say something where there is nothing."""
        self._painter.setFont(self._metrics.words_font)
        self._painter.setPen(self._theme.color("muted"))
        flags = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
        self._painter.drawText(area.adjusted(40, 0, -40, 0), flags, text)

    def paint(
        self, index: int, row: Row, area: QRect, laid_out: LaidOutRow | None, lights: Lights
    ) -> None:
        """Paint a row into its area."""
        is_current = lights.caret is not None and lights.caret.row == index
        if is_current:
            bar = QRect(4, area.top() + 4, 3, max(6, area.height() - 6))
            self._painter.fillRect(bar, self._cursor_color)
        if row.span is not None or laid_out is None:
            if lights.is_chosen(index):
                self._painter.fillRect(area.adjusted(10, 2, 0, -2), self._theme.color("selection"))
            self._paint_span(row, area)
            return
        if row.has_header:
            self._paint_header(row, area)
        elif self._metrics.is_narrow:
            self._paint_time(row, area.top() + 4)
        else:
            middle = (self._metrics.line_height - self._metrics.small_height) // 2
            self._paint_time(row, area.top() + laid_out.top + middle)
        origin = QPointF(self._metrics.text_left, area.top() + laid_out.top)
        self._painter.setPen(self._theme.color("text"))
        laid_out.layout.draw(self._painter, origin, lights.of_row(index, row, laid_out))
        self._paint_marks(row, laid_out, origin)
        if is_current and lights.caret is not None:
            self._paint_cursor(laid_out, origin, lights.caret.word)

    def _paint_cursor(self, laid_out: LaidOutRow, origin: QPointF, word: int) -> None:
        self._painter.setPen(QPen(self._cursor_color, 1.5))
        self._painter.setBrush(Qt.BrushStyle.NoBrush)
        for rect in laid_out.word_rects(word):
            self._painter.drawRoundedRect(rect.translated(origin).adjusted(-2, 1, 2, -1), 3, 3)

    def _paint_marks(self, row: Row, laid_out: LaidOutRow, origin: QPointF) -> None:
        """Mark corrected words with a corner, and a line whose speaker is settled with a pin."""
        size = max(4.0, laid_out.line_height / 5)
        for index, entry in enumerate(row.words):
            if entry.is_edited:
                rect = laid_out.word_rects(index)[-1].translated(origin)
                right, top = rect.right() + 1, rect.top() + 1
                corner = QPolygonF(
                    [QPointF(right - size, top), QPointF(right, top), QPointF(right, top + size)]
                )
                self._fill(corner, self._theme.color("focus"))
        if any(entry.is_locked for entry in row.words):
            self._paint_pin(pin_rect(self._metrics, laid_out).translated(0, origin.y()))

    def _paint_pin(self, rect: QRectF) -> None:
        color, third = self._theme.color("muted"), rect.width() / 3
        middle, neck = rect.center().x(), rect.top() + rect.height() * 0.55
        head = QRectF(rect.left() + third / 2, rect.top(), third * 2, neck - rect.top())
        self._painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._painter.setPen(QPen(color, 1.5))
        self._painter.setBrush(color)
        self._painter.drawRoundedRect(head, 2, 2)
        self._painter.drawLine(QPointF(rect.left(), neck), QPointF(rect.right(), neck))
        self._painter.drawLine(QPointF(middle, neck), QPointF(middle, rect.bottom()))
        self._painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)

    def _fill(self, shape: QPolygonF, color: QColor) -> None:
        self._painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._painter.setPen(Qt.PenStyle.NoPen)
        self._painter.setBrush(color)
        self._painter.drawPolygon(shape)
        self._painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)

    def _paint_header(self, row: Row, area: QRect) -> None:
        painter, metrics = self._painter, self._metrics
        top = area.top() + 14
        self._paint_time(row, top)
        badge = badge_size(metrics.small_height - 1)
        badge.moveTo(metrics.badge_left, top - 1)
        color = 0 if row.speaker is None else self._document.speaker_color(row.speaker)
        paint_badge(painter, badge, row.speaker, self._theme, metrics.name_font, color)
        painter.setFont(metrics.name_font)
        if row.speaker is None:
            painter.setPen(self._theme.color("muted"))
        else:
            painter.setPen(self._theme.speaker(color))
        name = QFontMetrics(metrics.name_font).elidedText(
            header_text(row, self._document), Qt.TextElideMode.ElideRight, metrics.name_width
        )
        place = QRectF(metrics.name_left, top, metrics.name_width, metrics.small_height)
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
        top = area.top() + 8
        self._paint_time(row, top)
        if metrics.is_narrow:
            top += metrics.small_height
        is_loss = span.kind in (SpanKind.GAP, SpanKind.UNTRANSCRIBED)
        color = self._theme.color("warning" if is_loss else "muted")
        text = describe_span(span, self._document.sample_rate)
        font_metrics = QFontMetrics(metrics.small_font)
        right = metrics.text_left + metrics.text_width
        text = font_metrics.elidedText(text, Qt.TextElideMode.ElideRight, metrics.text_width - 48)
        text_right = metrics.text_left + font_metrics.horizontalAdvance(text)
        middle = top + metrics.small_height // 2
        painter.setPen(color)
        place = QRectF(metrics.text_left, top, metrics.text_width, metrics.small_height)
        painter.drawText(place, Qt.AlignmentFlag.AlignVCenter, text)
        painter.setPen(QPen(color, 1, _DASHES[span.kind]))
        painter.drawLine(text_right + 12, middle, right, middle)


def header_text(row: Row, document: TranscriptDocument) -> str:
    """Return whose words a row's header says they are."""
    if row.speaker is not None:
        return shown_name(document, row.speaker)
    return tr("Speaker not known yet") if row.partial else tr("Unknown speaker")


def pin_rect(metrics: Metrics, laid_out: LaidOutRow) -> QRectF:
    """Return where the pin of a settled line is, relative to (0, top of its words)."""
    height = metrics.pin_height
    left = metrics.text_left - 10 - height * 0.6
    return QRectF(left, (laid_out.line_height - height) / 2, height * 0.6, height)
