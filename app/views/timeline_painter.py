"""Paints speaker activity: shade for probability, bars where active, texture for what may change.

Cost does not depend on the length of the recording: rows come pooled from
`ActivityTrack.overview`, about one a pixel.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QFont, QFontMetrics, QImage, QPainter, QPen

from app.theme import Appearance, Theme
from app.views.speaker_badge import badge_size, paint_badge
from app.views.timeline_model import TimelineModel
from app.views.timeline_sizes import TOP, TimelineSizes
from engine.core.events import SpanMarked
from engine.core.types import SpanKind, SpeakerId
from engine.text.document import TranscriptDocument

_MIN_TICK_PX = 84


@dataclass(frozen=True, slots=True)
class TimelineRows:
    """What stands below each other.

    Args:
        slots: speaker slots, top to bottom.
        has_own_voice: whether the program's own voice has a row at the bottom.
    """

    slots: tuple[int, ...] = ()
    has_own_voice: bool = False


class TimelinePainter:
    """Paints on one painter for the length of one paint event.

    Args:
        painter: of the widget.
        area: the plot and the axis, without the row headers.
        document: what to paint.
        model: which stretch of it.
        rows: whose rows.
        sizes: of the parts.
        appearance: colours.
        threshold: a speaker is active where the probability is at least this.
    """

    def __init__(
        self,
        painter: QPainter,
        area: QRectF,
        document: TranscriptDocument,
        model: TimelineModel,
        rows: TimelineRows,
        sizes: TimelineSizes,
        appearance: Appearance,
        threshold: float,
    ) -> None:
        self._painter = painter
        self._area = area
        self._document = document
        self._model = model
        self._rows = rows
        self._sizes = sizes
        self._theme: Theme = appearance.theme
        self._threshold = threshold
        self._bottom = area.bottom() - sizes.axis

    def paint(self, font: QFont, small_font: QFont) -> None:
        """Paint everything."""
        self._painter.fillRect(self._painter.viewport(), self._theme.color("ground"))
        self._paint_axis(small_font)
        self._painter.save()
        self._painter.setClipRect(self._area)
        for span in self._document.spans:
            self._paint_span(span, small_font)
        self._paint_activity()
        self._paint_now()
        self._painter.restore()
        self._paint_headers(font)

    def row_rect(self, index: int) -> QRectF:
        """Return a speaker row's place in the plot."""
        height = self._sizes.row
        return QRectF(self._area.left(), TOP + index * height, self._area.width(), height)

    def _x(self, time_s: float) -> float:
        return self._area.left() + self._model.x_of(time_s)

    def _paint_axis(self, font: QFont) -> None:
        painter = self._painter
        painter.setFont(font)
        for tick in self._model.ticks(_MIN_TICK_PX):
            x = self._area.left() + tick.x
            painter.setPen(QPen(self._theme.color("line"), 1))
            painter.drawLine(QLineF(x, TOP, x, self._bottom + 4))
            painter.setPen(self._theme.color("muted"))
            place = QRectF(x - 60, self._bottom + 3, 120, self._sizes.axis - 4)
            half_px = QFontMetrics(font).horizontalAdvance(tick.label) / 2
            if x + half_px <= painter.viewport().right():
                painter.drawText(place, Qt.AlignmentFlag.AlignCenter, tick.label)

    def _paint_activity(self) -> None:
        activity, model = self._document.activity, self._model
        if activity.frame_ms == 0:
            return
        frame_s = activity.frame_ms / 1000
        first = int(max(0.0, model.start_s) / frame_s)
        end = int(model.end_s / frame_s) + 2
        cells, first, pool = activity.overview(first, end, int(model.width_px))
        if len(cells) == 0:
            return
        cell_s = frame_s * pool
        edges = self._area.left() + np.array(
            [model.x_of(first * frame_s + i * cell_s) for i in (0, len(cells))]
        )
        known_end = activity.num_frames * frame_s
        tentative_x = self._x(activity.final_until * frame_s)
        for index, slot in enumerate(self._rows.slots):
            column = cells[:, slot].astype(np.float32)
            rect = self.row_rect(index).adjusted(0, 3, 0, -3)
            place = QRectF(edges[0], rect.top(), edges[1] - edges[0], rect.height())
            color = self._theme.speaker(slot)
            self._painter.drawImage(place, _shade(column, color))
            bars = self._bars(column, first * frame_s, cell_s, known_end)
            self._paint_bars(bars, rect.adjusted(0, 4, 0, -4), color, tentative_x)

    def _bars(
        self, column: NDArray[np.float32], start_s: float, cell_s: float, end_s: float
    ) -> list[tuple[float, float]]:
        """Return where a speaker is active, as pairs of pixels."""
        active = np.concatenate([[False], column >= self._threshold, [False]])
        edges = np.flatnonzero(np.diff(active.astype(np.int8))).reshape(-1, 2)
        return [
            (self._x(start_s + a * cell_s), self._x(min(start_s + b * cell_s, end_s)))
            for a, b in edges.tolist()
        ]

    def _paint_bars(
        self,
        bars: list[tuple[float, float]],
        rect: QRectF,
        color: QColor,
        tentative_x: float,
    ) -> None:
        painter = self._painter
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        hatch = QBrush(color, Qt.BrushStyle.BDiagPattern)
        for left, right in bars:
            right = max(right, left + 1.0)
            split = min(max(tentative_x, left), right)
            if split > left:
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(color)
                painter.drawRoundedRect(QRectF(left, rect.top(), split - left, rect.height()), 2, 2)
            if right > split:
                painter.setPen(QPen(color, 1))
                painter.setBrush(hatch)
                box = QRectF(split, rect.top(), right - split, rect.height())
                painter.drawRect(box.adjusted(0.5, 0.5, -0.5, -0.5))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)

    def _paint_span(self, span: SpanMarked, font: QFont) -> None:
        start_s, end_s = self._document.seconds(span.start), self._document.seconds(span.end)
        if span.kind is SpanKind.OWN_VOICE and span.end <= span.start:
            end_s = max(end_s, self._model.duration_s)  # the program is still speaking
        if end_s < self._model.start_s or start_s > self._model.end_s:
            return
        painter, theme = self._painter, self._theme
        left, right = self._x(start_s), max(self._x(end_s), self._x(start_s) + 2)
        rect = QRectF(left, TOP, right - left, self._bottom - TOP)
        label, color = "", theme.color("warning")
        match span.kind:
            case SpanKind.PAUSE:
                painter.setPen(QPen(theme.color("muted"), 1, Qt.PenStyle.DashLine))
                painter.drawLine(QLineF(left, TOP, left, self._bottom))
                rect.setRight(left + 80)
                label, color = "paused", theme.color("muted")
            case SpanKind.OWN_VOICE:
                rect.setTop(self._bottom - self._sizes.own + 3)
                rect.setBottom(self._bottom - 3)
                painter.fillRect(rect, QBrush(theme.color("muted"), Qt.BrushStyle.Dense5Pattern))
            case SpanKind.GAP:
                painter.fillRect(rect, QBrush(color, Qt.BrushStyle.DiagCrossPattern))
                label = "lost"
            case SpanKind.UNTRANSCRIBED:
                painter.fillRect(rect, QBrush(color, Qt.BrushStyle.Dense7Pattern))
                label = "no text"
        if label and rect.width() >= QFontMetrics(font).horizontalAdvance(label) + 8:
            metrics = QFontMetrics(font)
            place = QRectF(
                left + 2, TOP, metrics.horizontalAdvance(label) + 6, metrics.height() + 2
            )
            painter.fillRect(place, theme.color("ground"))
            painter.setFont(font)
            painter.setPen(color)
            painter.drawText(place, Qt.AlignmentFlag.AlignCenter, label)

    def _paint_now(self) -> None:
        """Mark the newest moment."""
        if self._model.duration_s > 0:
            x = self._x(self._model.duration_s)
            self._painter.setPen(QPen(self._theme.color("muted"), 1))
            self._painter.drawLine(QLineF(x, TOP, x, self._bottom))

    def _paint_headers(self, font: QFont) -> None:
        painter, activity = self._painter, self._document.activity
        metrics = QFontMetrics(font)
        frame_ms = activity.frame_ms or 80
        epoch = activity.epoch_at(int(self._model.end_s * 1000 / frame_ms))
        painter.fillRect(
            QRectF(0, 0, self._sizes.header, self._bottom), self._theme.color("ground")
        )
        for index, slot in enumerate(self._rows.slots):
            rect = self.row_rect(index)
            speaker = SpeakerId(epoch, slot)
            badge = badge_size(metrics.height() - 1)
            badge.moveTopLeft(QPointF(12, rect.center().y() - badge.height() / 2))
            paint_badge(painter, badge, speaker, self._theme, font)
            name = self._document.speaker_name(speaker)
            self._paint_name(name, badge.right() + 8, rect, font, self._theme.speaker(slot))
        if self._rows.has_own_voice:
            rect = QRectF(0, self._bottom - self._sizes.own, self._sizes.header, self._sizes.own)
            self._paint_name("Own voice", 12, rect, font, self._theme.color("muted"))

    def _paint_name(self, name: str, left: float, rect: QRectF, font: QFont, color: QColor) -> None:
        room = self._sizes.header - left - 8
        elided = QFontMetrics(font).elidedText(name, Qt.TextElideMode.ElideRight, int(room))
        self._painter.setFont(font)
        self._painter.setPen(color)
        place = QRectF(left, rect.top(), room, rect.height())
        self._painter.drawText(place, Qt.AlignmentFlag.AlignVCenter, elided)


def _shade(column: NDArray[np.float32], color: QColor) -> QImage:
    """Return a one pixel high picture of probabilities in a colour."""
    alpha = np.clip(column * 0.42 * 255, 0, 255).astype(np.uint32)
    red, green, blue = (alpha * part // 255 for part in (color.red(), color.green(), color.blue()))
    pixels = np.ascontiguousarray(alpha << 24 | red << 16 | green << 8 | blue, dtype=np.uint32)
    image = QImage(
        pixels.data, len(pixels), 1, 4 * len(pixels), QImage.Format.Format_ARGB32_Premultiplied
    )
    return image.copy()
