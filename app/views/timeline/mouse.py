"""What the mouse does on the timeline: choose a moment, drag the view, select a stretch."""

from enum import Enum, auto
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QMouseEvent, QNativeGestureEvent, QWheelEvent

from app.views.timeline.actions import TimelineActions
from app.views.timeline.view import ZOOM_STEP

if TYPE_CHECKING:
    from app.views.timeline.speaker_timeline import SpeakerTimeline

_DRAG_PX = 4
_EDGE_PX = 5


class _Drag(Enum):
    NOTHING = auto()
    VIEW = auto()
    SELECTION = auto()


class TimelineMouse:
    """Turns mouse events into commands of the timeline.

    Args:
        timeline: whose events.
        actions: what they do.
    """

    def __init__(self, timeline: "SpeakerTimeline", actions: TimelineActions) -> None:
        self._timeline = timeline
        self._actions = actions
        self._drag = _Drag.NOTHING
        self._is_moved = False
        self._from = QPointF()
        self._anchor = 0

    def press(self, event: QMouseEvent) -> None:
        """Begin a drag, or a click."""
        place = event.position()
        if event.button() != Qt.MouseButton.LeftButton:
            return
        if place.x() < self._timeline.layout_now.plot.left():
            self._timeline.choose_row(self._timeline.layout_now.row_at(place.y()))
            return
        self._from, self._is_moved = place, False
        self._drag, self._anchor = self._begin(event)

    def move(self, event: QMouseEvent) -> None:
        """Drag on, or show what a drag from here would do."""
        place = event.position()
        if self._drag is _Drag.NOTHING:
            self._timeline.point_at(place)
            self._show_shape(place)
            return
        if not self._is_moved and abs(place.x() - self._from.x()) < _DRAG_PX:
            return
        self._is_moved = True
        if self._drag is _Drag.VIEW:
            self._timeline.setCursor(Qt.CursorShape.ClosedHandCursor)
            self._timeline.point_at(None)
            self._timeline.scroll_px(self._from.x() - place.x())
            self._from = place
        else:
            self._timeline.point_at(place)
            self._actions.select_to(self._anchor, place.x())

    def release(self, event: QMouseEvent) -> None:
        """End a drag; what did not move was a click."""
        if self._drag is not _Drag.NOTHING and not self._is_moved:
            self._actions.click(event.position().x())
        self._drag, self._is_moved = _Drag.NOTHING, False
        self._show_shape(event.position())

    def double_click(self, event: QMouseEvent) -> None:
        """Play from a moment, or name the speaker of a row."""
        place = event.position()
        layout = self._timeline.layout_now
        if event.button() != Qt.MouseButton.LeftButton:
            return
        if place.x() >= layout.plot.left():
            self._actions.play_from(place.x())
        else:
            self._timeline.choose_row(layout.row_at(place.y()))
            self._actions.rename_current()

    def wheel(self, event: QWheelEvent) -> None:
        """Zoom at the pointer, scroll the time with Shift or sidewards, the rows over the names."""
        delta, pixels = event.angleDelta(), event.pixelDelta()
        layout, place = self._timeline.layout_now, event.position()
        is_sideward = abs(delta.x()) > abs(delta.y())
        if is_sideward or event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            amount = (pixels.x() or pixels.y()) if not pixels.isNull() else 0
            self._timeline.scroll_px(-(amount or (delta.x() or delta.y()) / 2))
        elif place.x() < layout.plot.left() and layout.hidden_px:
            self._timeline.scroll_rows(-(pixels.y() or delta.y() / 4))
        else:
            self._timeline.zoom_by(ZOOM_STEP ** (-delta.y() / 120), place.x())
        event.accept()

    def gesture(self, event: QNativeGestureEvent) -> bool:
        """Zoom by pinching; return whether the gesture was one."""
        if event.gestureType() is not Qt.NativeGestureType.ZoomNativeGesture:
            return False
        self._timeline.zoom_by(1 / max(0.2, 1 + event.value()), event.position().x())
        return True

    def _begin(self, event: QMouseEvent) -> tuple[_Drag, int]:
        """Return what a drag from here moves, and the end of the selection that stays."""
        timeline, place = self._timeline, event.position()
        edge = self._edge(place.x())
        if edge is not None:
            return _Drag.SELECTION, edge
        is_strip = place.y() < timeline.layout_now.sizes.top
        if is_strip or event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            return _Drag.SELECTION, timeline.sample_at(place.x())
        return _Drag.VIEW, 0

    def _edge(self, x: float) -> int | None:
        """Return the other end of the selection if the pointer is at one of its edges."""
        selection = self._actions.selection
        if selection is None:
            return None
        for edge, other in (selection, selection[::-1]):
            if abs(self._timeline.x_of(edge) - x) <= _EDGE_PX:
                return other
        return None

    def _show_shape(self, place: QPointF) -> None:
        timeline = self._timeline
        if place.x() >= timeline.layout_now.plot.left() and self._edge(place.x()) is not None:
            timeline.setCursor(Qt.CursorShape.SizeHorCursor)
        elif (
            place.x() >= timeline.layout_now.plot.left()
            and place.y() < timeline.layout_now.sizes.top
        ):
            timeline.setCursor(Qt.CursorShape.IBeamCursor)
        else:
            timeline.unsetCursor()
