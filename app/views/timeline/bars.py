"""Paints rows one bar at a time, for views up to some minutes."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QLineF, QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QFont, QFontMetrics, QImage, QPainter, QPen

from app.views.speaker_badge import pattern_of, shaded
from app.views.timeline.scene import TimelineScene
from app.views.timeline.tile_part import TilePart

MARGIN_PX = 24
"""Bars are looked up so far beyond a tile, so that their ends are round where they end."""
SHADE = 0.34
"""How opaque a probability of 1 is."""
_ROUND_PX = 5
_PACKED_PX = 22
_FRAMED_PX = 16
"""Narrower overlaps have no sides: many of them side by side would be all that is seen."""


class BarPainter(TilePart):
    """Paints the rows of one tile, bar by bar."""

    def __init__(
        self, painter: QPainter, scene: TimelineScene, first_px: int, width_px: int
    ) -> None:
        super().__init__(painter, scene, first_px, width_px)
        self._frame_px = scene.activity.frame_s / scene.px_s
        first = int((first_px - MARGIN_PX) / self._frame_px)
        end = int((first_px + width_px + MARGIN_PX) / self._frame_px) + 1
        self._first = max(0, first)
        self._end = max(self._first, min(end, scene.activity.num_frames))
        self._tentative_x = scene.final_s / scene.px_s - first_px
        self._rects = [bar_rect(scene, row) for row in range(len(scene.rows))]
        self._colors = [scene.color(row) for row in range(len(scene.rows))]
        self._letter_font = QFont(scene.small_font)
        self._letter_font.setWeight(QFont.Weight.Bold)
        metrics = QFontMetrics(self._letter_font)
        body = self._rects[0].height() - pattern_rect(self._rects[0]).height()
        if metrics.capHeight() > body - 4:
            self._letter_font.setPixelSize(max(7, round(body * 0.9)))
        self._letter_px = metrics.horizontalAdvance("M") + 10

    def paint(self) -> None:
        """Paint shade, bars, overlaps and the border of what may still change."""
        if self._end == self._first:
            return
        activity, painter = self._scene.activity, self._painter
        active, assigned = activity.frames(self._first, self._end)
        self._paint_shade()
        self._paint_bands(active | assigned)
        for row in range(len(self._scene.rows)):
            self._paint_row(row, active[row], assigned[row])
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
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
        pixels = np.ascontiguousarray(tints(cells, self._colors))
        kind, length = QImage.Format.Format_ARGB32_Premultiplied, pixels.shape[1]
        for row, column in enumerate(pixels):
            rect = self._rects[row].adjusted(0, -2, 0, 2)
            place = QRectF(left, rect.top(), right - left, rect.height())
            painter.drawImage(place, QImage(column.data, length, 1, 4 * length, kind))

    def _paint_row(self, row: int, active: NDArray[np.bool_], assigned: NDArray[np.bool_]) -> None:
        painter, color, rect = self._painter, self._colors[row], self._rects[row]
        solid, hatched = list[QRectF](), list[QRectF]()
        for left, right in self._stretches(active):
            split = min(max(self._tentative_x, left), right)
            if split > left:
                solid.append(QRectF(left, rect.top(), split - left, rect.height()))
            if right > split:
                hatched.append(QRectF(split, rect.top(), right - split, rect.height()))
        # Ends that are too narrow to be round are drawn all at once: there may be hundreds.
        wide = [bar for bar in solid if bar.width() >= _ROUND_PX]
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(color)
        painter.drawRects([bar.toRect() for bar in solid if bar.width() < _ROUND_PX])
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for bar in wide:
            painter.drawRoundedRect(bar, 3, 3)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        self._paint_patterns(row, [pattern_rect(bar) for bar in solid])
        if self._scene.draws_text and not self._scene.shows_words:
            self._paint_letters(row, wide)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint_hatched(row, hatched)
        for left, right in self._stretches(assigned):
            self._paint_assigned(row, QRectF(left, rect.top(), right - left, rect.height()))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)

    def _paint_patterns(self, row: int, bands: list[QRectF]) -> None:
        """Paint the lower edges of bars, which carry the speaker's pattern as the badge does."""
        painter, color = self._painter, self._colors[row]
        inner = [
            (band.adjusted(1, 0, -1, 0) if band.width() > _ROUND_PX else band).toRect()
            for band in bands
        ]
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(shaded(color))
        painter.drawRects(inner)
        pattern = pattern_of(self._scene.rows[row].speaker)
        if pattern is not Qt.BrushStyle.SolidPattern:
            painter.setBrush(QBrush(color, pattern))
            painter.drawRects(inner)

    def _paint_letters(self, row: int, bars: list[QRectF]) -> None:
        painter, letter = self._painter, self._scene.rows[row].speaker.letter
        painter.setFont(self._letter_font)
        painter.setPen(self._scene.theme.color("ground"))
        for bar in bars:
            if bar.width() >= self._letter_px:
                place = QRectF(bar.left() + 5, bar.top(), bar.width(), bar.height())
                place.setBottom(pattern_rect(bar).top())
                painter.drawText(place, Qt.AlignmentFlag.AlignVCenter, letter)

    def _paint_hatched(self, row: int, bars: list[QRectF]) -> None:
        """Paint what may still change."""
        painter, color = self._painter, self._colors[row]
        painter.setPen(QPen(color, 1.2))
        painter.setBrush(QBrush(color, Qt.BrushStyle.BDiagPattern))
        for bar in bars:
            painter.drawRoundedRect(bar.adjusted(0.6, 0.6, -0.6, -0.6), 3, 3)

    def _paint_assigned(self, row: int, rect: QRectF) -> None:
        """Paint what the user gave to a row: an outline, as no model heard it."""
        painter, color = self._painter, self._colors[row]
        painter.setPen(QPen(color, 2))
        painter.setBrush(QColor(color.red(), color.green(), color.blue(), 40))
        painter.drawRoundedRect(rect.adjusted(1, 1, -1, -1), 3, 3)

    def _paint_pins(self) -> None:
        """Mark where words stay with whom the user said."""
        painter, scene = self._painter, self._scene
        for gift in scene.activity.gifts(self._first, self._end):
            for row in gift.rows:
                rect = self._rects[row]
                if (gift.end - gift.first) * self._frame_px < 8:
                    continue
                x, y = self._x(gift.end) - 6, rect.top() - 1
                painter.setPen(QPen(scene.theme.color("text"), 1.6))
                painter.drawLine(QLineF(x, y, x, y + 8))
                painter.setBrush(scene.theme.color("ground"))
                painter.drawEllipse(QPointF(x, y), 3.0, 3.0)

    def _paint_bands(self, heard: NDArray[np.bool_]) -> None:
        """Mark overlaps: a band through the rows involved, and the strip above them."""
        painter, sizes = self._painter, self._scene.layout.sizes
        color = self._scene.theme.color("overlap")
        strip_top, room = sizes.ruler + sizes.level, sizes.overlap - 3
        bands, sides, edges = list[QRect](), list[QRect](), list[QRect]()
        tops = [round(rect.top()) for rect in self._rects]
        height = round(self._rects[0].height())
        for a, b, rows in overlaps(heard):
            left = round(self._x(self._first + a))
            width = max(1, round(self._x(self._first + b)) - left)
            top, bottom = tops[rows[0]], tops[rows[-1]] + height
            bands.append(QRect(left, strip_top, width, bottom - strip_top))
            high = room if len(rows) > 2 else room // 2
            edges.append(QRect(left, strip_top + sizes.overlap - 1 - high, width, high))
            for row in rows:
                edges.append(QRect(left, tops[row] - 3, width, 2))
                edges.append(QRect(left, tops[row] + height + 1, width, 2))
            if width >= _FRAMED_PX:
                sides.append(QRect(left, top, 1, bottom - top))
                sides.append(QRect(left + width - 1, top, 1, bottom - top))
        painter.setPen(Qt.PenStyle.NoPen)
        # Faint where they cross rows that have no part in it.
        for rects, alpha in ((bands, 24), (sides, 90)):
            painter.setBrush(QColor(color.red(), color.green(), color.blue(), alpha))
            painter.drawRects(rects)
        painter.setBrush(color)
        painter.drawRects(edges)

    def _paint_border(self) -> None:
        """Draw the line from which on everything may still change."""
        scene, x = self._scene, round(self._tentative_x) + 0.5
        is_any = scene.document.activity.final_until < scene.document.activity.num_frames
        if 0 <= x < self._width_px and is_any:
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


def tints(shade: NDArray[np.float32], colors: Sequence[QColor]) -> NDArray[np.uint32]:
    """Return probabilities (num_rows, n) as premultiplied pixels in the rows' colours."""
    alpha = (np.clip(shade, 0, 1) * (SHADE * 255)).astype(np.uint32)
    parts = np.array([(c.red(), c.green(), c.blue()) for c in colors], np.uint32)
    red, green, blue = (alpha * parts[:, i, np.newaxis] // 255 for i in range(3))
    return np.asarray(alpha << 24 | red << 16 | green << 8 | blue)
