"""Puts the timeline's picture together from what was painted before and what moves over it."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QPainter, QPixmap

from app.marks import Marks
from app.views.timeline.header import paint_header
from app.views.timeline.level import known_px, paint_level
from app.views.timeline.model import TimelineModel
from app.views.timeline.overlay import OverlayMarks, OverlayPainter
from app.views.timeline.scene import TimelineScene
from app.views.timeline.tile import TilePainter
from app.views.timeline.tiles import TILE_PX, TileCache
from engine.text.search import Hit

REACH_PX = 240
"""What changes at a moment may have been painted otherwise so far before it."""


class TimelinePicture:
    """The painted timeline. Thread: main."""

    def __init__(self) -> None:
        self._tiles = TileCache()
        self._header: tuple[object, QPixmap] | None = None
        self._hit_starts = np.zeros(0, np.int64)
        self._px_s = 1.0

    def forget(self) -> None:
        """Paint everything anew next time."""
        self._tiles.clear()
        self._header = None

    def forget_header(self) -> None:
        """Paint the names anew next time."""
        self._header = None

    def forget_from(self, time_s: float, reach_px: float = REACH_PX) -> None:
        """Paint what lies at or after a moment anew next time, and a little before it."""
        if time_s <= 0:
            self._tiles.clear()
        elif math.isfinite(time_s):
            self._tiles.drop_from(time_s / self._px_s - reach_px)

    def set_hits(self, hits: Sequence[Hit]) -> None:
        """Tell what the search found."""
        self._hit_starts = np.array([hit.start for hit in hits], np.int64)

    def paint(
        self,
        painter: QPainter,
        scene: TimelineScene,
        model: TimelineModel,
        marks: Marks,
        pointer_x: float | None,
        current_row: int | None,
    ) -> None:
        """Paint all of it on the widget.

        Args:
            painter: of the widget.
            scene: what is shown.
            model: which stretch of it.
            marks: cursor, selection, playing and hits.
            pointer_x: pixel of the plot under the pointer.
            current_row: index of the row the keyboard is at.
        """
        theme, plot = scene.theme, scene.layout.plot
        painter.fillRect(QRectF(plot.right(), 0, 99, plot.height()), theme.color("ground"))
        painter.save()
        painter.setClipRect(plot)
        painter.translate(plot.topLeft())
        self._paint_tiles(painter, scene, model)
        overlay = OverlayPainter(painter, scene.layout, theme, scene.small_font)
        overlay.paint(self._marks(scene, model, marks, pointer_x))
        painter.restore()
        self._paint_header(painter, scene, current_row)

    def _paint_tiles(self, painter: QPainter, scene: TimelineScene, model: TimelineModel) -> None:
        self._px_s = scene.px_s
        device = painter.device()
        ratio = device.devicePixelRatioF() if device is not None else 1.0
        layout, fonts = scene.layout, (scene.font.key(), scene.small_font.key())
        self._tiles.use((scene.px_s, layout, scene.rows, id(scene.theme), fonts, ratio))

        def paint(tile_painter: QPainter, first_px: int, width_px: int) -> None:
            TilePainter(tile_painter, scene, first_px, width_px).paint()

        first = model.start_px
        end = first + math.ceil(layout.plot.width())
        known = known_px(scene)
        for tile in self._tiles.tiles(first, end, layout.height, ratio, known, paint):
            source = QRectF(tile.source_px * ratio, 0, TILE_PX * ratio, layout.height * ratio)
            place = QRectF(tile.first_px - first, 0, TILE_PX, layout.height)
            painter.drawPixmap(place, tile.picture, source)
            # Levels grow with every picture: they alone are added to what was painted.
            new_px, end_px = max(tile.known_px, tile.first_px), tile.first_px + TILE_PX
            if new_px < min(known, end_px):
                painter.translate(new_px - first, layout.sizes.ruler)
                paint_level(painter, scene, new_px, end_px - new_px)
                painter.translate(first - new_px, -layout.sizes.ruler)

    def _paint_header(
        self, painter: QPainter, scene: TimelineScene, current_row: int | None
    ) -> None:
        device = painter.device()
        ratio = device.devicePixelRatioF() if device is not None else 1.0
        key = (scene.layout, scene.rows, id(scene.theme), scene.font.key(), current_row, ratio)
        if self._header is None or self._header[0] != key:
            size = scene.layout.sizes.header, scene.layout.height
            picture = QPixmap(round(size[0] * ratio), round(size[1] * ratio))
            picture.setDevicePixelRatio(ratio)
            header_painter = QPainter(picture)
            paint_header(header_painter, scene, current_row)
            header_painter.end()
            self._header = (key, picture)
        painter.drawPixmap(QPointF(0, 0), self._header[1])

    def _marks(
        self, scene: TimelineScene, model: TimelineModel, marks: Marks, pointer_x: float | None
    ) -> OverlayMarks:
        def x_of(sample: int) -> float:
            return sample / scene.samples_per_px - model.start_px

        selection = None
        if marks.selection is not None:
            start, end = marks.selection
            length_s = (end - start) / scene.document.sample_rate
            selection = (x_of(start), x_of(end), length_s)
        current = None
        if marks.current_hit is not None and marks.current_hit < len(marks.hits):
            current = x_of(marks.hits[marks.current_hit].start)
        return OverlayMarks(
            cursor=None if marks.cursor is None else x_of(marks.cursor),
            selection=selection,
            playing=None if marks.playing is None else x_of(marks.playing),
            pointer=None if pointer_x is None else (pointer_x, model.time_at(pointer_x)),
            newest=model.x_of(model.duration_s),
            hits=self._hit_pixels(scene, model),
            current_hit=current,
        )

    def _hit_pixels(self, scene: TimelineScene, model: TimelineModel) -> NDArray[np.int64]:
        """Return the pixels of the hits in view, each once however many there are."""
        starts = self._hit_starts
        if len(starts) == 0:
            return starts
        low, high = (
            np.searchsorted(starts, time_s * scene.document.sample_rate)
            for time_s in (model.start_s, model.end_s)
        )
        pixels = np.rint(starts[low:high] / scene.samples_per_px).astype(np.int64)
        return np.unique(pixels) - model.start_px
