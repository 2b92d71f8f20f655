"""Paints rows column by column of pixels, for views of many minutes.

A column is filled as high as its share of time in which the speaker is active, so that a long
recording does not look as if everybody spoke all the time.
"""

from functools import cache

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QImage, QPainter

from app.views.speaker_badge import pattern_of, shaded
from app.views.timeline.activity import Columns
from app.views.timeline.bars import bar_rect, pattern_rect, tints
from app.views.timeline.scene import TimelineScene
from engine.core.types import SpeakerId

_TILE = 8  # Qt's brush patterns repeat every eight pixels

Pixels = NDArray[np.uint32]


def paint_columns(painter: QPainter, scene: TimelineScene, first_px: int, width_px: int) -> None:
    """Paint the rows of a tile.

    Args:
        painter: whose origin is the tile's upper left corner.
        scene: what to paint.
        first_px: pixels from the beginning of the recording to the tile.
        width_px: of the tile.
    """
    activity = scene.activity
    frame_px = activity.frame_s / scene.px_s
    known_px = int(np.ceil(activity.num_frames * frame_px)) - first_px
    num_columns = min(width_px, known_px)
    if num_columns < 1:
        return
    edges = ((first_px + np.arange(num_columns + 1)) / frame_px).astype(np.int64)
    columns = activity.columns(edges)
    colors = [scene.color(row) for row in range(len(scene.rows))]
    shades = tints(_shade(scene, edges), colors)
    tentative = scene.final_s / scene.px_s - first_px
    is_tentative = np.arange(num_columns) >= tentative
    for row in range(len(scene.rows)):
        rect = bar_rect(scene, row)
        image = _row_image(
            colors[row],
            scene.rows[row].speaker,
            shades[row],
            (columns.active[row], columns.assigned[row]),
            is_tentative,
            (round(rect.height()), round(pattern_rect(rect).height())),
            first_px,
        )
        painter.drawImage(QPointF(0, round(rect.top())), image)
    _paint_overlap(painter, scene, columns)


def _shade(scene: TimelineScene, edges: NDArray[np.int64]) -> NDArray[np.float32]:
    """Return the highest probability of every row and column."""
    num_columns = len(edges) - 1
    cells, first, pool = scene.activity.shade(int(edges[0]), int(edges[-1]), 8 * num_columns)
    if cells.shape[1] == 0:
        return np.zeros((len(cells), num_columns), np.float32)
    at = np.clip((edges[:-1] - first) // pool, 0, cells.shape[1] - 1)
    return np.asarray(np.maximum.reduceat(cells, at, axis=1))


def _row_image(
    color: QColor,
    speaker: SpeakerId,
    shade: Pixels,
    shares: tuple[NDArray[np.float32], ...],
    is_tentative: NDArray[np.bool_],
    heights: tuple[int, int],
    first_px: int,
) -> QImage:
    """Return a row's picture, (height, num_columns) pixels."""
    active, assigned = shares
    height, band = heights
    below = np.arange(height, 0, -1)[:, np.newaxis]
    filled = np.where(active > 0, np.maximum(band + 1, np.ceil(active * height)), 0)
    outlined = np.where(assigned > 0, np.maximum(band + 1, np.ceil(assigned * height)), 0)
    is_bar = below <= filled
    phase = first_px + np.arange(len(shade))
    hatch = (phase + np.arange(height)[:, np.newaxis]) % 4 == 0
    is_solid = is_bar & (~is_tentative | hatch)
    # What the user gave away is an outline: its upper edge and a sparse filling.
    is_given = (below <= outlined) & ((below > outlined - 2) | (hatch & (below % 2 == 0)))
    pixels = np.broadcast_to(shade, is_bar.shape).copy()
    pixels[is_solid | is_given] = color.rgba()
    dark = _pattern(pattern_of(speaker))[np.arange(height)[:, np.newaxis] % _TILE, phase % _TILE]
    pixels[is_solid & (below <= band) & ~dark & ~is_tentative] = shaded(color).rgba()
    image = QImage(
        pixels.data,
        len(shade),
        height,
        4 * len(shade),
        QImage.Format.Format_ARGB32_Premultiplied,
    )
    return image.copy()


@cache
def _pattern(pattern: Qt.BrushStyle) -> NDArray[np.bool_]:
    """Return where a brush pattern paints, (8, 8)."""
    if pattern is Qt.BrushStyle.SolidPattern:
        return np.zeros((_TILE, _TILE), np.bool_)
    image = QImage(_TILE, _TILE, QImage.Format.Format_Grayscale8)
    image.fill(0)
    painter = QPainter(image)
    painter.fillRect(QRectF(0, 0, _TILE, _TILE), QBrush(Qt.GlobalColor.white, pattern))
    painter.end()
    return np.frombuffer(image.constBits(), np.uint8).reshape(_TILE, _TILE) > 0


def _paint_overlap(painter: QPainter, scene: TimelineScene, columns: Columns) -> None:
    """Fill the strip as high as the share of time in which several people speak."""
    sizes, color = scene.layout.sizes, scene.theme.color("overlap")
    room = sizes.overlap - 2
    bottom = sizes.top - 1
    heights = np.where(columns.overlap > 0, np.maximum(1, np.round(columns.overlap * room)), 0)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(color)
    places = np.flatnonzero(heights).tolist()
    high = heights.astype(int).tolist()
    painter.drawRects([QRect(x, bottom - high[x], 1, high[x]) for x in places])
