"""What the mouse does in the transcript: a click hears a word, dragging chooses."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QPoint, Qt, QTimer, Slot
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QApplication

from app.views.transcript.places import Spot

if TYPE_CHECKING:
    from app.views.transcript.view import TranscriptView

_SCROLL_INTERVAL_MS = 30


class TranscriptMouse(QObject):
    """Follows the left button over one view. Thread: main."""

    def __init__(self, view: "TranscriptView") -> None:
        super().__init__(view)
        self._view = view
        self._pressed_at: QPoint | None = None
        self._pressed: Spot | None = None  # None where whole rows are chosen
        self._is_dragging = False
        self._scroll_px = 0
        self._timer = QTimer(self, interval=_SCROLL_INTERVAL_MS)
        self._timer.timeout.connect(self._scroll_on)

    @property
    def is_pressed(self) -> bool:
        """Whether the button is held: what is under the pointer must not be scrolled away."""
        return self._pressed_at is not None

    def press(self, event: QMouseEvent) -> None:
        """Put the cursor at a word, or choose a row beside its words."""
        point = event.position().toPoint()
        row = self._view.row_at(point)
        if row is None or event.button() != Qt.MouseButton.LeftButton:
            return
        extend = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        self._pressed_at, self._is_dragging = point, extend
        self._pressed = self._view.spot_at(point)
        if self._pressed is None:
            self._view.cursor_at.choose_row(row, extend=extend)
        else:
            self._view.cursor_at.put(self._pressed, extend=extend)

    def move(self, event: QMouseEvent) -> None:
        """Choose what lies between."""
        if self._pressed_at is None or not event.buttons() & Qt.MouseButton.LeftButton:
            return
        point = event.position().toPoint()
        way = (point - self._pressed_at).manhattanLength()
        if self._is_dragging or way >= QApplication.startDragDistance():
            self._is_dragging = True
            self._choose_up_to(point)
            height = self._view.viewport().height()
            self._scroll_px = min(point.y(), 0) + max(point.y() - height, 0)
            if self._scroll_px and not self._timer.isActive():
                self._timer.start()
            elif not self._scroll_px:
                self._timer.stop()

    def release(self, event: QMouseEvent) -> None:
        """Let a word be heard that was clicked."""
        if event.button() != Qt.MouseButton.LeftButton or self._pressed_at is None:
            return
        pressed, self._pressed_at = self._pressed, None
        self._timer.stop()
        has_modifiers = event.modifiers() != Qt.KeyboardModifier.NoModifier
        if pressed is not None and not self._is_dragging and not has_modifiers:
            # Rows may have moved since; the cursor has moved with its word.
            spot = self._view.cursor_at.spot
            if spot is not None and self._view.hears_clicks:
                self._view.hearing.hear_word(spot)

    def double_click(self, event: QMouseEvent) -> None:
        """Correct a line, or name its speaker."""
        point = event.position().toPoint()
        row = self._view.row_at(point)
        if row is None or event.button() != Qt.MouseButton.LeftButton:
            return
        self._pressed_at = None
        if self._view.spot_at(point) is not None:
            # The first of the two clicks has begun it.
            self._view.hearing.stop()
            self._view.edit_row(row)
        elif self._view.is_header(point):
            self._view.rename_row(row)

    def _choose_up_to(self, point: QPoint) -> None:
        cursor = self._view.cursor_at
        if self._pressed is None:
            row = self._view.row_at(point, nearest=True)
            if row is not None:
                cursor.choose_row(row, extend=True)
            return
        spot = self._view.spot_at(point, nearest=True)
        if spot is not None and (spot != cursor.spot or cursor.chosen() is None):
            cursor.put(spot, extend=True)

    @Slot()
    def _scroll_on(self) -> None:
        """Go on choosing beyond the edge that the pointer was drawn over."""
        if self._pressed_at is None:
            self._timer.stop()
            return
        self._view.scroll_by(self._scroll_px // 2 or self._scroll_px)
        edge = 0 if self._scroll_px < 0 else self._view.viewport().height() - 1
        self._choose_up_to(QPoint(self._pressed_at.x(), edge))
