"""Paints rows one bar at a time, for views up to some minutes."""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QFont, QFontMetrics, QImage, QPainter, QPen

from app.views.speaker_badge import pattern_of, shaded
from app.views.timeline_scene import TimelineScene

MARGIN_PX = 24
"""Bars are looked up so far beyond a tile, so that their ends are round where they end."""
SHADE = 0.34
"""How opaque a probability of 1 is."""
_ROUND_PX = 5
_LETTER_PX = 22
_PACKED_PX = 22
_FRAMED_PX = 16
"""Narrower overlaps have no sides: many of them side by side would be all that is seen."""


class BarPainter:
    """Paints the rows of one tile, bar by bar.

    Args:
        painter: whose origin is the tile's upper left corner.
        scene: what to paint.
        first_px: pixels from the beginning of the recording to the tile.
        width_px: of the tile.
    """

    def __init__(
        self, painter: QPainter, scene: TimelineScene, first_px: int, width_px: int
    ) -> None:
        self._painter = painter
        self._scene = scene
        self._first_px = first_px
        self._width_px = width_px
        self._frame_px = scene.activity.frame_s / scene.px_s
        first = int((first_px - MARGIN_PX) / self._frame_px)
        end = int((first_px + width_px + MARGIN_PX) / self._frame_px) + 1
        self._first = max(0, first)
        self._end = max(self._first, min(end, scene.activity.num_frames))
        self._tentative_x = scene.final_s / scene.px_s - first_px
        self._letter_font = QFont(scene.small_font)
        self._letter_font.setWeight(QFont.Weight.Bold)
        body = bar_rect(scene, 0).height() - pattern_rect(bar_rect(scene, 0)).height()
        if QFontMetrics(self._letter_font).capHeight() > body - 4:
            self._letter_font.setPixelSize(max(7, round(body * 0.9)))

    def paint(self) -> None:
        """Paint shade, bars, overlaps and the border of what may still change."""
        if self._end == self._first:
            return
        activity, painter = self._scene.activity, self._painter
        active, assigned = activity.frames(self._first, self._end)
        self._paint_shade()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint_bands(active | assigned)
        for row in range(len(self._scene.rows)):
            rect = bar_rect(self._scene, row)
            for left, right in self._stretches(active[row]):
                self._paint_bar(row, QRectF(left, rect.top(), right - left, rect.height()))
            for left, right in self._stretches(assigned[row]):
                self._paint_assigned(row, QRectF(left, rect.top(), right - left, rect.height()))
        self._paint_pins()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        self._paint_border()

    def _x(self, frame: float) -> float:
        return frame * self._frame_px - self._first_px

    def _stretches(self, mask: NDArray[np.bool_]) -> Iterator[tuple[float, float]]:
        for a, b in runs(mask):
            left = self._x(self._first + a)
            yield left, max(self._x(self._first + b), left + 1.0)

    def _paint_shade(self) -> None:
        scene, painter = self._scene, self._painter
        cells, first, pool = scene.activity.shade(self._first, self._end, 4 * self._width_px)
        if cells.shape[1] == 0:
            return
        left, right = self._x(first), self._x(first + cells.shape[1] * pool)
        for row, column in enumerate(cells):
            rect = bar_rect(scene, row).adjusted(0, -2, 0, 2)
            place = QRectF(left, rect.top(), right - left, rect.height())
            painter.drawImage(place, _shade(column, scene.color(row)))

    def _paint_bar(self, row: int, rect: QRectF) -> None:
        split = min(max(self._tentative_x, rect.left()), rect.right())
        if split > rect.left():
            solid = QRectF(rect.left(), rect.top(), split - rect.left(), rect.height())
            self._paint_solid(row, solid)
        if rect.right() > split:
            self._paint_hatched(row, QRectF(split, rect.top(), rect.right() - split, rect.height()))

    def _paint_solid(self, row: int, rect: QRectF) -> None:
        painter, scene = self._painter, self._scene
        color, speaker = scene.color(row), scene.rows[row].speaker
        if rect.width() < _ROUND_PX:
            painter.fillRect(rect, color)
            painter.fillRect(pattern_rect(rect), shaded(color))
            return
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(color)
        painter.drawRoundedRect(rect, 3, 3)
        # The lower edge carries the speaker's pattern, as the badge does.
        band = pattern_rect(rect).adjusted(1, 0, -1, 0)
        painter.fillRect(band, shaded(color))
        pattern = pattern_of(speaker)
        if pattern is not Qt.BrushStyle.SolidPattern:
            painter.fillRect(band, QBrush(color, pattern))
        if rect.width() >= _LETTER_PX and scene.draws_text and not scene.shows_words:
            painter.setFont(self._letter_font)
            painter.setPen(scene.theme.color("ground"))
            place = QRectF(rect.left() + 5, rect.top(), 40, rect.height() - band.height())
            painter.drawText(place, Qt.AlignmentFlag.AlignVCenter, speaker.letter)

    def _paint_hatched(self, row: int, rect: QRectF) -> None:
        """Paint what may still change."""
        painter, color = self._painter, self._scene.color(row)
        painter.setPen(QPen(color, 1.2))
        painter.setBrush(QBrush(color, Qt.BrushStyle.BDiagPattern))
        painter.drawRoundedRect(rect.adjusted(0.6, 0.6, -0.6, -0.6), 3, 3)

    def _paint_assigned(self, row: int, rect: QRectF) -> None:
        """Paint what the user gave to a row: an outline, as no model heard it."""
        painter, color = self._painter, self._scene.color(row)
        painter.setPen(QPen(color, 2))
        painter.setBrush(QColor(color.red(), color.green(), color.blue(), 40))
        painter.drawRoundedRect(rect.adjusted(1, 1, -1, -1), 3, 3)

    def _paint_pins(self) -> None:
        """Mark where words stay with whom the user said."""
        painter, scene = self._painter, self._scene
        for gift in scene.activity.gifts(self._first, self._end):
            for row in gift.rows:
                rect = bar_rect(scene, row)
                if (gift.end - gift.first) * self._frame_px < 8:
                    continue
                x, y = self._x(gift.first) + 5, rect.top() - 1
                painter.setPen(QPen(scene.theme.color("text"), 1.6))
                painter.drawLine(QLineF(x, y, x, y + 8))
                painter.setBrush(scene.theme.color("ground"))
                painter.drawEllipse(QPointF(x, y), 3.0, 3.0)

    def _paint_bands(self, heard: NDArray[np.bool_]) -> None:
        """Mark overlaps: a band through the rows involved, and the strip above them."""
        painter, scene = self._painter, self._scene
        color = scene.theme.color("overlap")
        sizes = scene.layout.sizes
        strip_top = sizes.ruler + sizes.level
        painter.setPen(Qt.PenStyle.NoPen)
        for a, b, rows in overlaps(heard):
            left = self._x(self._first + a)
            width = max(1.0, self._x(self._first + b) - left)
            top, bottom = bar_rect(scene, rows[0]).top(), bar_rect(scene, rows[-1]).bottom()
            band = QRectF(left, strip_top, width, bottom - strip_top)
            painter.fillRect(band, QColor(color.red(), color.green(), color.blue(), 30))
            high = sizes.overlap - 3 if len(rows) > 2 else (sizes.overlap - 3) / 2
            painter.fillRect(QRectF(left, strip_top + sizes.overlap - 1 - high, width, high), color)
            for row in rows:
                rect = bar_rect(scene, row)
                painter.fillRect(QRectF(left, rect.top() - 3, width, 2), color)
                painter.fillRect(QRectF(left, rect.bottom() + 1, width, 2), color)
            if width >= _FRAMED_PX:
                for x in (left, left + width - 1):
                    painter.fillRect(QRectF(x, top - 3, 1, bottom - top + 6), color)

    def _paint_border(self) -> None:
        """Draw the line from which on everything may still change."""
        scene, x = self._scene, round(self._tentative_x) + 0.5
        if 0 <= x < self._width_px and scene.final_s < scene.duration_s:
            self._painter.setPen(QPen(scene.theme.color("muted"), 1, Qt.PenStyle.DotLine))
            rows = scene.layout.rows_rect
            self._painter.drawLine(QLineF(x, rows.top(), x, rows.bottom()))


def bar_rect(scene: TimelineScene, row: int) -> QRectF:
    """Return where a row's bars are: top and height."""
    rect = scene.layout.row_rect(row)
    margin = 4 if rect.height() > _PACKED_PX else 3
    return rect.adjusted(0, margin, 0, -margin)


def pattern_rect(bar: QRectF) -> QRectF:
    """Return the edge of a bar that carries the speaker's pattern."""
    height = round(bar.height() * 0.24)
    return QRectF(bar.left(), bar.bottom() - height, bar.width(), height)


def runs(mask: NDArray[np.bool_]) -> list[list[int]]:
    """Return [start, end) of the runs of True."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], mask, [False]]).astype(np.int8)))
    found: list[list[int]] = edges.reshape(-1, 2).tolist()
    return found


def overlaps(heard: NDArray[np.bool_]) -> Iterator[tuple[int, int, list[int]]]:
    """Yield [start, end) of the runs in which the same two rows or more are heard, and the rows."""
    weights = np.left_shift(np.int64(1), np.arange(len(heard), dtype=np.int64))
    codes = weights @ heard
    codes[heard.sum(axis=0) < 2] = 0
    edges = np.flatnonzero(np.diff(codes)) + 1
    bounds = [0, *edges.tolist(), len(codes)]
    for a, b in pairwise(bounds):
        if codes[a]:
            yield a, b, np.flatnonzero(heard[:, a]).tolist()


def _shade(column: NDArray[np.float32], color: QColor) -> QImage:
    """Return a one pixel high picture of probabilities in a colour."""
    alpha = np.clip(column * SHADE * 255, 0, 255).astype(np.uint32)
    red, green, blue = (alpha * part // 255 for part in (color.red(), color.green(), color.blue()))
    pixels = np.ascontiguousarray(alpha << 24 | red << 16 | green << 8 | blue, dtype=np.uint32)
    image = QImage(
        pixels.data, len(pixels), 1, 4 * len(pixels), QImage.Format.Format_ARGB32_Premultiplied
    )
    return image.copy()
