"""Paints a tile of the timeline: a stretch of it that begins at a whole pixel."""

from collections.abc import Iterator

from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QFontMetrics, QPainter, QPen

from app.i18n import tr
from app.views.timeline.bars import BarPainter
from app.views.timeline.columns import paint_columns
from app.views.timeline.level import paint_level
from app.views.timeline.model import axis_ticks
from app.views.timeline.scene import TimelineScene
from app.views.timeline.tags import TagPainter
from app.views.timeline.tile_part import TilePart
from engine.core.events import SpanMarked
from engine.core.types import SpanKind

_MIN_TICK_PX = 84
_TEXT_PX = 240
"""No text reaches farther right of where it begins."""


class TilePainter(TilePart):
    """Paints one tile. All of it depends on the scene alone, so that neighbours fit together."""

    def __init__(
        self, painter: QPainter, scene: TimelineScene, first_px: int, width_px: int
    ) -> None:
        super().__init__(painter, scene, first_px, width_px)
        self._top = scene.layout.sizes.ruler
        self._bottom = scene.layout.own_rect.bottom()

    def paint(self) -> None:
        """Paint everything that does not move by itself."""
        painter, scene = self._painter, self._scene
        painter.fillRect(
            QRectF(0, 0, self._width_px, scene.layout.height), scene.theme.color("ground")
        )
        painter.setBrushOrigin(QPointF(-(self._first_px % 8), 0))
        self._paint_axis()
        for kind in (SpanKind.UNTRANSCRIBED, SpanKind.GAP, SpanKind.OWN_VOICE, SpanKind.PAUSE):
            self._paint_spans(kind)
        painter.save()
        painter.translate(0, self._top)
        paint_level(painter, scene, self._first_px, self._width_px)
        painter.restore()
        if scene.rows:
            painter.save()
            rows = scene.layout.rows_rect
            top = self._top + scene.layout.sizes.level
            painter.setClipRect(QRectF(0, top, self._width_px, rows.bottom() - top))
            if scene.is_near:
                BarPainter(painter, scene, self._first_px, self._width_px).paint()
            else:
                paint_columns(painter, scene, self._first_px, self._width_px)
            painter.restore()
        if scene.shows_words:
            TagPainter(painter, scene, self._first_px, self._width_px).paint()
        self._paint_labels()

    def _x(self, time_s: float) -> float:
        return time_s / self._scene.px_s - self._first_px

    def _paint_axis(self) -> None:
        painter, scene = self._painter, self._scene
        start_s = (self._first_px - _MIN_TICK_PX) * scene.px_s
        end_s = (self._first_px + self._width_px + _MIN_TICK_PX) * scene.px_s
        metrics = QFontMetrics(scene.small_font)
        painter.setFont(scene.small_font)
        line, muted = QPen(scene.theme.color("line"), 1), scene.theme.color("muted")
        lead = QPen(scene.theme.color("edge"), 1)
        for tick in axis_ticks(start_s, end_s, scene.px_s, max(_MIN_TICK_PX, metrics.height() * 5)):
            x = round(self._x(tick.time_s)) + 0.5
            painter.setPen(line)
            painter.drawLine(QLineF(x, self._top, x, self._bottom))
            painter.setPen(lead)
            painter.drawLine(QLineF(x, self._top - 5, x, self._top - 1))
            if scene.draws_text:
                painter.setPen(muted)
                place = QRectF(x + 4, 0, _TEXT_PX, self._top)
                painter.drawText(place, Qt.AlignmentFlag.AlignVCenter, tick.label)
        y = self._top - 0.5
        painter.setPen(line)
        painter.drawLine(QLineF(0, y, self._width_px, y))

    # --- marked stretches ---

    def _spans(self, kind: SpanKind, margin_px: int = 0) -> list[SpanMarked]:
        scene = self._scene
        start = round((self._first_px - margin_px) * scene.samples_per_px)
        end = round((self._first_px + self._width_px) * scene.samples_per_px)
        return scene.spans.touching(kind, start, end)

    def _paint_spans(self, kind: SpanKind) -> None:
        """Paint what lies behind the bars, at most one mark a pixel however many there are."""
        painter, theme, layout = self._painter, self._scene.theme, self._scene.layout
        top, bottom = self._top + 1.0, layout.rows_rect.bottom()
        warning = theme.color("warning")
        for left, right in self._runs(self._spans(kind)):
            rect = QRectF(left, top, right - left, bottom - top)
            match kind:
                case SpanKind.PAUSE:
                    painter.setPen(QPen(theme.color("muted"), 1, Qt.PenStyle.DashLine))
                    painter.drawLine(QLineF(left + 0.5, top, left + 0.5, bottom))
                case SpanKind.OWN_VOICE:
                    own = layout.own_rect
                    place = QRectF(left, own.top() + 4, right - left, own.height() - 7)
                    painter.fillRect(
                        place, QBrush(theme.color("muted"), Qt.BrushStyle.Dense4Pattern)
                    )
                case SpanKind.GAP:
                    painter.fillRect(rect, _alpha(warning, 30))
                    cross = QBrush(_alpha(warning, 150), Qt.BrushStyle.DiagCrossPattern)
                    painter.fillRect(rect, cross)
                    _paint_sides(painter, rect, warning)
                case SpanKind.UNTRANSCRIBED:
                    painter.fillRect(
                        rect, QBrush(_alpha(warning, 130), Qt.BrushStyle.Dense7Pattern)
                    )
                    _paint_sides(painter, rect, warning)

    def _runs(self, spans: list[SpanMarked]) -> Iterator[tuple[int, int]]:
        """Yield the pixels [left, right) of spans, those that touch made one."""
        per_px, run = self._scene.samples_per_px, None
        last = round(self._scene.duration_s / self._scene.px_s)
        for span in spans:
            left = round(span.start / per_px)
            is_open = span.kind is SpanKind.OWN_VOICE and span.end <= span.start
            right = max(last if is_open else round(span.end / per_px), left + 2)
            if run is not None and left <= run[1]:
                run = (run[0], max(run[1], right))
                continue
            if run is not None:
                yield run[0] - self._first_px, run[1] - self._first_px
            run = (left, right)
        if run is not None:
            yield run[0] - self._first_px, run[1] - self._first_px

    def _paint_labels(self) -> None:
        """Say what the marked stretches are where there is room."""
        scene = self._scene
        if not scene.draws_text:
            return
        metrics = QFontMetrics(scene.small_font)
        labels = {
            SpanKind.GAP: (tr("lost"), "warning"),
            SpanKind.UNTRANSCRIBED: (tr("no text"), "warning"),
            SpanKind.PAUSE: (tr("paused"), "muted"),
        }
        for kind, (label, color) in labels.items():
            width, next_free = metrics.horizontalAdvance(label) + 8, -float(_TEXT_PX)
            for span in self._spans(kind, _TEXT_PX):
                left = round(span.start / scene.samples_per_px) - self._first_px
                room = (span.end - span.start) / scene.samples_per_px
                is_shown = kind is SpanKind.PAUSE or room >= width
                if is_shown and left >= next_free:
                    next_free = left + width
                    place = QRectF(left + 2, self._top + 2, width, metrics.height())
                    self._painter.fillRect(place, scene.theme.color("ground"))
                    self._painter.setFont(scene.small_font)
                    self._painter.setPen(scene.theme.color(color))
                    self._painter.drawText(place, Qt.AlignmentFlag.AlignCenter, label)


def _alpha(color: QColor, alpha: int) -> QColor:
    return QColor(color.red(), color.green(), color.blue(), alpha)


def _paint_sides(painter: QPainter, rect: QRectF, color: QColor) -> None:
    painter.fillRect(QRectF(rect.left(), rect.top(), 1, rect.height()), color)
    painter.fillRect(QRectF(rect.right() - 1, rect.top(), 1, rect.height()), color)
