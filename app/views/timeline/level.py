"""Paints how loud it was over time."""

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF
from PySide6.QtGui import QImage, QPainter

from app.views.timeline.scene import TimelineScene

_CLIPPED = 0.985
_OPACITY = 0.7
_MARGIN_PX = 3


def known_px(scene: TimelineScene) -> int:
    """Return until which pixel of the recording levels are known."""
    levels = scene.levels
    return 0 if levels is None else int(levels.num_samples / (scene.px_s * levels.sample_rate))


def paint_level(painter: QPainter, scene: TimelineScene, first_px: int, width_px: int) -> None:
    """Paint levels mirrored about the middle, peaks that were clipped in another colour.

    Args:
        painter: whose origin is the upper left corner of the strip at `first_px`.
        scene: what to paint.
        first_px: pixels from the beginning of the recording.
        width_px: how much to paint.
    """
    peaks = _peaks(scene, first_px, width_px)
    if len(peaks) == 0:
        return
    height = scene.layout.sizes.level
    # The root shows quiet speech without letting loud speech fill everything.
    reach = np.maximum(0.5, np.sqrt(np.clip(peaks, 0, 1)) * (height / 2 - _MARGIN_PX))
    distance = np.abs(np.arange(height) + 0.5 - height / 2)[:, np.newaxis]
    pixels = np.zeros((height, len(peaks)), np.uint32)
    pixels[distance <= reach] = scene.theme.color("muted").rgba()
    pixels[1:-1, peaks >= _CLIPPED] = scene.theme.color("warning").rgba()
    kind = QImage.Format.Format_ARGB32_Premultiplied
    image = QImage(pixels.data, len(peaks), height, 4 * len(peaks), kind)
    painter.setOpacity(_OPACITY)
    painter.drawImage(QPointF(0, 0), image)
    painter.setOpacity(1)


def _peaks(scene: TimelineScene, first_px: int, width_px: int) -> NDArray[np.float32]:
    """Return the highest level of every pixel, as far as it is known."""
    levels, none = scene.levels, np.zeros(0, np.float32)
    width_px = min(width_px, known_px(scene) - first_px)
    if levels is None or width_px <= 0:
        return none
    per_px = scene.px_s * levels.sample_rate
    start, end = int(first_px * per_px), int((first_px + width_px) * per_px) + 1
    peaks, first, cell = levels.overview(start, end, 4 * width_px)
    if len(peaks) == 0:
        return none
    at = ((first_px + np.arange(width_px)) * per_px - first) / cell
    low = np.clip(at.astype(np.int64), 0, len(peaks) - 1)
    return np.asarray(np.maximum.reduceat(peaks, low))
