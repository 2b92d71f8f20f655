"""Keeps painted stretches of the timeline, so that only what is new is painted."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from PySide6.QtGui import QPainter, QPixmap

TILE_PX = 256
_MAX_TILES = 40


class Tile(NamedTuple):
    """A painted stretch.

    Args:
        first_px: pixels from the beginning of the recording.
        picture: what it is a part of, `TILE_PX` wide; neighbours painted at once share one.
        source_px: where it begins there.
        known_px: until which pixel of the recording levels were known when it was painted.
    """

    first_px: int
    picture: QPixmap
    source_px: int
    known_px: int


class TileCache:
    """Pictures of stretches at one zoom, by their place in the recording."""

    def __init__(self) -> None:
        self._tiles: dict[int, Tile] = {}
        self._style: object = None

    def clear(self) -> None:
        """Forget every picture."""
        self._tiles.clear()

    def use(self, style: object) -> None:
        """Tell what all pictures depend on; if it is not as before, all are painted anew."""
        if style != self._style:
            self._style = style
            self.clear()

    def drop_from(self, first_px: float) -> None:
        """Forget pictures of what lies at or after a pixel."""
        for number in [n for n in self._tiles if (n + 1) * TILE_PX > first_px]:
            del self._tiles[number]

    def tiles(
        self,
        first_px: int,
        end_px: int,
        height: int,
        ratio: float,
        known_px: int,
        paint: Callable[[QPainter, int, int], None],
    ) -> Iterator[Tile]:
        """Yield the tiles that cover [first_px, end_px), painted now where they are not yet.

        Args:
            first_px: pixels from the beginning of the recording.
            end_px: one past the last.
            height: of the tiles.
            ratio: device pixels a pixel.
            known_px: see `Tile`.
            paint: is given a painter, the pixel where its picture begins, and how wide it is.
        """
        low, high = first_px // TILE_PX, -(-end_px // TILE_PX)
        if len(self._tiles) > _MAX_TILES:
            for number in [n for n in self._tiles if not low - 4 <= n < high + 4]:
                del self._tiles[number]
        number = low
        while number < high:
            if number not in self._tiles:
                stop = next((n for n in range(number, high) if n in self._tiles), high)
                picture = QPixmap(round((stop - number) * TILE_PX * ratio), round(height * ratio))
                picture.setDevicePixelRatio(ratio)
                painter = QPainter(picture)
                paint(painter, number * TILE_PX, (stop - number) * TILE_PX)
                painter.end()
                for part in range(number, stop):
                    source_px = (part - number) * TILE_PX
                    self._tiles[part] = Tile(part * TILE_PX, picture, source_px, known_px)
            yield self._tiles[number]
            number += 1
