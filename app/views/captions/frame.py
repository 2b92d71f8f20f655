"""Moves and resizes a window without a frame: by mouse, by keyboard, and where it was left."""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QWidget

from app.captions import SmallPlace
from app.i18n import tr

_EDGE = 8
_STEP = 24
_LEFT, _TOP = Qt.Edge.LeftEdge, Qt.Edge.TopEdge
_RIGHT, _BOTTOM = Qt.Edge.RightEdge, Qt.Edge.BottomEdge
_CURSORS = {
    _LEFT: Qt.CursorShape.SizeHorCursor,
    _RIGHT: Qt.CursorShape.SizeHorCursor,
    _TOP: Qt.CursorShape.SizeVerCursor,
    _BOTTOM: Qt.CursorShape.SizeVerCursor,
    _LEFT | _TOP: Qt.CursorShape.SizeFDiagCursor,
    _RIGHT | _BOTTOM: Qt.CursorShape.SizeFDiagCursor,
    _LEFT | _BOTTOM: Qt.CursorShape.SizeBDiagCursor,
    _RIGHT | _TOP: Qt.CursorShape.SizeBDiagCursor,
}
_ARROWS = {
    Qt.Key.Key_Left: QPoint(-_STEP, 0),
    Qt.Key.Key_Right: QPoint(_STEP, 0),
    Qt.Key.Key_Up: QPoint(0, -_STEP),
    Qt.Key.Key_Down: QPoint(0, _STEP),
}
_NOWHERE = Qt.Edge(0)


def desktop_limits() -> str:
    """Return what this desktop forbids the small window, for people; empty if nothing."""
    if not QGuiApplication.platformName().startswith("wayland"):
        return ""
    return tr(
        "This desktop lets no program keep its window on top or choose its place. The desktop's "
        "own window menu may do it (Alt+Space)."
    )


class FramelessMover(QObject):
    """Lets a window be taken by any free place of some of its widgets. Thread: main.

    The desktop does the moving where it can; else the window is moved from here.

    Signals:
        moved: the user let go, or pressed a key.

    Args:
        window: moved and resized while `is_on`.
        handles: widgets in it, with mouse tracking; the first has the keyboard.
    """

    moved = Signal()

    def __init__(self, window: QWidget, handles: Sequence[QWidget]) -> None:
        super().__init__(window)
        self._window = window
        self._handles = tuple(handles)
        self._grabbed: tuple[QPoint, QRect, Qt.Edge] | None = None
        self.is_on = False
        for handle in self._handles:
            handle.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if not self.is_on or watched not in self._handles:
            return False
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            return watched is self._handles[0] and self._press_key(event)
        if not isinstance(event, QMouseEvent) or not isinstance(watched, QWidget):
            return False
        match event.type():
            case QEvent.Type.MouseButtonPress if event.button() == Qt.MouseButton.LeftButton:
                self._grab(event)
            case QEvent.Type.MouseMove:
                self._drag(watched, event)
            case QEvent.Type.MouseButtonRelease if self._grabbed is not None:
                self._grabbed = None
                self.moved.emit()
            case _:
                pass
        return False

    def _grab(self, event: QMouseEvent) -> None:
        edges = self._edges(event)
        handle = self._window.windowHandle()
        if handle is not None and (
            handle.startSystemMove() if edges == _NOWHERE else handle.startSystemResize(edges)
        ):
            return
        self._grabbed = event.globalPosition().toPoint(), self._window.geometry(), edges

    def _drag(self, handle: QWidget, event: QMouseEvent) -> None:
        if self._grabbed is None:
            if not event.buttons():
                shape = _CURSORS.get(self._edges(event), Qt.CursorShape.ArrowCursor)
                if handle.cursor().shape() != shape:
                    handle.setCursor(shape)
            return
        start, rect, edges = self._grabbed
        change = event.globalPosition().toPoint() - start
        self._window.setGeometry(self._changed(rect, change, edges))

    def _press_key(self, event: QKeyEvent) -> bool:
        step = _ARROWS.get(Qt.Key(event.key()))
        modifiers = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        is_resize = modifiers == (
            Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
        )
        if step is None or not (is_resize or modifiers == Qt.KeyboardModifier.ControlModifier):
            return False
        edges = _RIGHT | _BOTTOM if is_resize else _NOWHERE
        self._window.setGeometry(self._changed(self._window.geometry(), step, edges))
        self.moved.emit()
        return True

    def _edges(self, event: QMouseEvent) -> Qt.Edge:
        """Return which edges of the window are at the pointer."""
        place = self._window.mapFromGlobal(event.globalPosition().toPoint())
        edges = _NOWHERE
        if place.x() < _EDGE:
            edges |= _LEFT
        elif place.x() >= self._window.width() - _EDGE:
            edges |= _RIGHT
        if place.y() < _EDGE:
            edges |= _TOP
        elif place.y() >= self._window.height() - _EDGE:
            edges |= _BOTTOM
        return edges

    def _changed(self, rect: QRect, change: QPoint, edges: Qt.Edge) -> QRect:
        if edges == _NOWHERE:
            return rect.translated(change)
        least = self._window.minimumSizeHint().expandedTo(self._window.minimumSize())
        result = QRect(rect)
        if edges & _LEFT:
            result.setLeft(min(rect.left() + change.x(), rect.right() - least.width() + 1))
        if edges & _RIGHT:
            result.setRight(max(rect.right() + change.x(), rect.left() + least.width() - 1))
        if edges & _TOP:
            result.setTop(min(rect.top() + change.y(), rect.bottom() - least.height() + 1))
        if edges & _BOTTOM:
            result.setBottom(max(rect.bottom() + change.y(), rect.top() + least.height() - 1))
        return result


def reachable(place: SmallPlace | None, screens: list[QRect], usual: QRect) -> QRect:
    """Return where to show the small window: where it was left, if that can still be seen.

    Args:
        place: where it was left.
        screens: the usable areas there are now.
        usual: the area on which it stands if nothing is known: at its lower edge.
    """
    if place is not None:
        rect = QRect(place.x, place.y, place.width, place.height)
        for screen in screens:
            seen = screen.intersected(rect)
            if seen.width() >= min(80, rect.width()) and seen.height() >= min(40, rect.height()):
                return rect.intersected(screen) if rect.contains(screen) else rect
    width, height = min(900, usual.width() * 2 // 3), min(190, usual.height() // 3)
    left = usual.center().x() - width // 2
    return QRect(left, usual.bottom() - height - 40, width, height)
