"""Paints what moves over the timeline: cursor, selection, playing, hits and the pointer's line."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QPen, QPolygonF

from app.i18n import tr
from app.theme import Theme
from app.views.timeline.sizes import TimelineLayout
from engine.core.timebase import format_time

_TICK_PX = 6
_CURRENT_PX = 12


@dataclass(frozen=True, slots=True)
class OverlayMarks:
    """Where the marks are, in pixels of the plot; None where there is none.

    Args:
        cursor: the moment the user chose.
        selection: left, right and length in seconds.
        playing: the moment that is heard.
        pointer: pixel and time under the pointer.
        newest: the newest moment.
        hits: (n,) pixels of what the search found, each once.
        current_hit: the one the user is at.
    """

    cursor: float | None
    selection: tuple[float, float, float] | None
    playing: float | None
    pointer: tuple[float, float] | None
    newest: float
    hits: NDArray[np.int64]
    current_hit: float | None


class OverlayPainter:
    """Paints over the tiles.

    Args:
        painter: whose origin is the plot's upper left corner.
        layout: of the widget.
        theme: colours.
        small_font: of times.
    """

    def __init__(
        self, painter: QPainter, layout: TimelineLayout, theme: Theme, small_font: QFont
    ) -> None:
        self._painter = painter
        self._theme = theme
        self._font = small_font
        self._ruler = layout.sizes.ruler
        self._bottom = layout.own_rect.bottom()
        self._width = layout.plot.width()

    def paint(self, marks: OverlayMarks) -> None:
        """Paint all marks that are in view."""
        self._painter.setFont(self._font)
        if marks.selection is not None:
            self._paint_selection(*marks.selection)
        self._paint_hits(marks.hits, marks.current_hit)
        self._line(marks.newest, self._theme.color("muted"), 1)
        if marks.pointer is not None:
            self._paint_pointer(*marks.pointer)
        if marks.cursor is not None:
            self._paint_cursor(marks.cursor)
        if marks.playing is not None:
            self._paint_playing(marks.playing)

    def _line(
        self, x: float, color: QColor, width: float, style: Qt.PenStyle = Qt.PenStyle.SolidLine
    ) -> None:
        self._painter.setPen(QPen(color, width, style, Qt.PenCapStyle.FlatCap))
        x = round(x) + 0.5
        self._painter.drawLine(QLineF(x, self._ruler, x, self._bottom))

    def _paint_selection(self, left: float, right: float, length_s: float) -> None:
        painter, focus = self._painter, self._theme.color("focus")
        rect = QRectF(left, 0, max(1.0, right - left), self._bottom)
        painter.fillRect(rect, QColor(focus.red(), focus.green(), focus.blue(), 44))
        for x in (rect.left(), rect.right() - 2):
            painter.fillRect(QRectF(x, 0, 2, self._bottom), focus)
        text = tr("{length} s", length=f"{length_s:.1f}")
        width = QFontMetrics(self._font).horizontalAdvance(text) + 12
        middle = (max(left, 0) + min(right, self._width)) / 2
        place = QRectF(middle - width / 2, 2, width, self._ruler - 4)
        if right - left < width + 6:
            place.moveLeft(right + 3 if right + width + 3 < self._width else left - width - 3)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(focus)
        painter.drawRoundedRect(place, 4, 4)
        painter.setPen(self._theme.color("on_focus"))
        painter.drawText(place, Qt.AlignmentFlag.AlignCenter, text)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)

    def _paint_hits(self, hits: NDArray[np.int64], current: float | None) -> None:
        painter, color = self._painter, self._theme.color("hit_mark")
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(color)
        top = self._ruler - _TICK_PX - 1
        painter.drawRects([QRectF(x - 1, top, 2, _TICK_PX) for x in hits.tolist()])
        if current is not None:
            self._line(current, color, 1, Qt.PenStyle.DashLine)
            place = QRectF(current - 3, self._ruler - _CURRENT_PX - 1, 6, _CURRENT_PX)
            painter.setPen(QPen(self._theme.color("text"), 1))
            painter.drawRect(place)

    def _paint_pointer(self, x: float, time_s: float) -> None:
        self._line(x, self._theme.color("muted"), 1, Qt.PenStyle.DotLine)
        text = format_time(max(0.0, time_s), decimals=1)
        width = QFontMetrics(self._font).horizontalAdvance(text) + 8
        left = min(max(0.0, x - width / 2), self._width - width)
        place = QRectF(left, 2, width, self._ruler - 5)
        self._painter.fillRect(place, self._theme.color("pressed"))
        self._painter.setPen(self._theme.color("text"))
        self._painter.drawText(place, Qt.AlignmentFlag.AlignCenter, text)

    def _paint_cursor(self, x: float) -> None:
        color, x = self._theme.color("text"), round(x) + 0.5
        self._line(x - 0.5, color, 1)
        top = self._ruler - 9
        head = [QPointF(x - 5, top), QPointF(x + 5, top), QPointF(x, self._ruler)]
        self._fill(QPolygonF(head), color)

    def _paint_playing(self, x: float) -> None:
        """Paint what is heard: broader than the cursor, and its head is round."""
        color, x = self._theme.color("playing"), round(x) + 0.5
        self._painter.fillRect(
            QRectF(x - 1.5, self._ruler - 6, 3, self._bottom - self._ruler + 6), color
        )
        self._painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._painter.setPen(QPen(self._theme.color("ground"), 1))
        self._painter.setBrush(color)
        self._painter.drawEllipse(QPointF(x, self._ruler - 7), 6.0, 6.0)
        self._painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)

    def _fill(self, shape: QPolygonF, color: QColor) -> None:
        self._painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._painter.setPen(Qt.PenStyle.NoPen)
        self._painter.setBrush(color)
        self._painter.drawPolygon(shape)
        self._painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
