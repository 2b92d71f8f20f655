"""What everything that paints a part of a tile has at hand."""

from PySide6.QtGui import QPainter

from app.views.timeline.scene import TimelineScene


class TilePart:
    """Paints on one tile.

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
