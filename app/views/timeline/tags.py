"""Writes the words into the bars of those who said them, where they have room to be read."""

from PySide6.QtCore import QLineF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QPen

from app.views.timeline.bars import bar_rect, pattern_rect, runs
from app.views.timeline.scene import TimelineScene
from app.views.timeline.tile_part import TilePart
from app.views.transcript.layout import DOUBTFUL
from engine.core.types import SpeakerId, Word

_REACH_PX = 160
"""No word is written farther from its beginning."""
_GAP_PX = 3
_LEAST_CHARACTERS = 4
"""A word that does not fit is cut only if so much of it can be read; else it is left out."""
_FLAGS = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignAbsolute


class TagPainter(TilePart):
    """Paints the words of one tile."""

    def __init__(
        self, painter: QPainter, scene: TimelineScene, first_px: int, width_px: int
    ) -> None:
        super().__init__(painter, scene, first_px, width_px)
        self._font = QFont(scene.small_font)
        self._metrics = QFontMetrics(self._font)
        self._least_px = self._metrics.averageCharWidth() * _LEAST_CHARACTERS
        self._rows = {row.speaker: at for at, row in enumerate(scene.rows)}
        self._bars = self._solid_bars()
        self._rects = [bar_rect(scene, row) for row in range(len(scene.rows))]
        self._whole = self._clip()
        # Words of a row do not run into each other: where the next one begins, by row.
        self._free_until: dict[int | None, float] = {}

    def paint(self) -> None:
        """Paint the words, last first, so that each knows where the next one begins."""
        document, per_px = self._scene.document, self._scene.samples_per_px
        start = round((self._first_px - _REACH_PX) * per_px)
        end = round((self._first_px + self._width_px + _REACH_PX) * per_px)
        self._painter.setFont(self._font)
        self._painter.setClipRect(self._whole)
        voices = document.speakers_of_partial()
        for word, who in reversed(list(zip(document.partial, voices, strict=True))):
            if word.end > start and word.start < end:
                self._paint_word(word, who, is_partial=True)
        low, high = self._scene.words.between(start, end)
        for entry in reversed(document.words[low:high]):
            self._paint_word(entry.word, entry.speakers, is_partial=False)
        self._painter.setClipping(False)

    def _clip(self) -> QRectF:
        top, rows = self._scene.layout.sizes.ruler, self._scene.layout.rows_rect
        return QRectF(0, top, self._width_px, rows.bottom() - top)

    def _solid_bars(self) -> list[list[tuple[float, float]]]:
        """Return the left and right ends of the bars that cannot change any more, by row."""
        scene = self._scene
        frame_px = scene.activity.frame_s / scene.px_s
        first = max(0, int((self._first_px - 2 * _REACH_PX) / frame_px))
        end = int((self._first_px + self._width_px + 2 * _REACH_PX) / frame_px)
        end = min(end, scene.document.activity.final_until)
        if end <= first:
            return [[] for _ in scene.rows]
        active, _ = scene.activity.frames(first, end)
        left = first * frame_px - self._first_px
        return [
            [(left + a * frame_px, left + b * frame_px) for a, b in runs(row)] for row in active
        ]

    def _paint_word(self, word: Word, who: tuple[SpeakerId, ...], *, is_partial: bool) -> None:
        if word.text.strip():
            rows = [self._rows[speaker] for speaker in who if speaker in self._rows]
            places: list[int | None] = [*rows] or [None]
            for row in places:
                self._paint_on(row, word, is_partial=is_partial)

    def _paint_on(self, row: int | None, word: Word, *, is_partial: bool) -> None:
        """Paint a word on a row, or on the level strip where nobody is known."""
        left, right = (
            sample / self._scene.samples_per_px - self._first_px
            for sample in (word.start, word.end)
        )
        bar = self._bar_at(row, (left + right) / 2)
        x = max(left, bar[0]) + 2
        room = self._free_until.get(row, left + _REACH_PX) - x - _GAP_PX
        self._free_until[row] = left
        place = self._place(row)
        if place.height() < self._metrics.ascent():
            return  # rows are packed
        text = word.text.strip()
        width = self._metrics.horizontalAdvance(text)
        if width > room:
            if room < self._least_px:
                return
            text = self._metrics.elidedText(text, Qt.TextElideMode.ElideRight, int(room))
            width = self._metrics.horizontalAdvance(text)
        if x + width < 0 or x > self._width_px:
            return
        place.setLeft(x)
        place.setRight(x + width)
        self._write(place, row, bar[1], text, is_partial=is_partial)
        if word.probability < DOUBTFUL:
            color = self._ink(row, is_partial=is_partial)
            color = self._scene.theme.color("ground") if place.right() <= bar[1] else color
            self._painter.setPen(QPen(color, 1, Qt.PenStyle.DotLine))
            y = place.bottom() - 1.5
            self._painter.drawLine(QLineF(place.left(), y, place.right(), y))

    def _place(self, row: int | None) -> QRectF:
        if row is None:
            sizes, height = self._scene.layout.sizes, self._metrics.height()
            return QRectF(0, sizes.ruler + (sizes.level - height) / 2, 0, height)
        bar = self._rects[row]
        return QRectF(0, bar.top(), 0, pattern_rect(bar).top() - bar.top())

    def _write(
        self, place: QRectF, row: int | None, solid_end: float, text: str, *, is_partial: bool
    ) -> None:
        """Write in the colour of the ground upon a solid bar, in the speaker's beyond it."""
        painter, ground = self._painter, self._scene.theme.color("ground")
        flags = int(_FLAGS) | int(Qt.TextFlag.TextDontClip)
        if solid_end > place.left():
            painter.save()
            painter.setClipRect(
                self._whole.intersected(QRectF(-_REACH_PX, 0, solid_end + _REACH_PX, 9999))
            )
            painter.setPen(ground)
            painter.drawText(place, flags, text)
            painter.restore()
        if solid_end < place.right():
            rest = QRectF(place)
            rest.setLeft(max(place.left(), solid_end))
            chip = QColor(ground)
            chip.setAlpha(225)
            painter.fillRect(rest.adjusted(-1, 1, 1, 0), chip)
            painter.save()
            painter.setClipRect(self._whole.intersected(rest.adjusted(-1, -9, 9, 9)))
            painter.setPen(self._ink(row, is_partial=is_partial))
            painter.drawText(place, flags, text)
            painter.restore()

    def _bar_at(self, row: int | None, x: float) -> tuple[float, float]:
        """Return the ends of the solid bar at a pixel; an empty one far left where none is."""
        bars = self._bars[row] if row is not None else []
        return next((bar for bar in bars if bar[0] <= x < bar[1]), (-1e9, -1e9))

    def _ink(self, row: int | None, *, is_partial: bool) -> QColor:
        """Return the colour of words upon the ground."""
        if is_partial:
            return self._scene.theme.color("partial")
        return self._scene.theme.color("text") if row is None else self._scene.color(row)
