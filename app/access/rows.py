"""Rows that a widget paints, told to screen readers as if each were a widget."""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QObject, QPoint, QRect
from PySide6.QtGui import QAccessible, QAccessibleInterface, QWindow
from PySide6.QtWidgets import QAccessibleWidget, QWidget
from shiboken6 import Shiboken


@dataclass(frozen=True, slots=True)
class RowSource:
    """What a screen reader may ask of a widget that paints rows from top to bottom.

    Nothing of it is asked before the widget is shown, so it may be given while that is being made.

    Args:
        widget: has the focus.
        surface: what `rect` is measured on: the widget, or its viewport.
        num_rows: how many there are.
        name: what a row says.
        about: more about a row; empty where there is nothing more.
        rect: where a row is on the surface.
        current: the row the keyboard is at; None for none.
        is_chosen: whether a row is selected.
        more: about the whole, besides its own description.
    """

    widget: QWidget
    surface: QWidget
    num_rows: Callable[[], int]
    name: Callable[[int], str]
    about: Callable[[int], str]
    rect: Callable[[int], QRect]
    current: Callable[[], int | None]
    is_chosen: Callable[[int], bool]
    more: Callable[[], str]

    def count(self) -> int:
        """Return how many rows can be asked for."""
        is_there = Shiboken.isValid(self.widget) and self.widget.isVisible()
        return self.num_rows() if is_there else 0

    def current_row(self) -> int | None:
        """Return the row that has the focus; None if the widget has not, or is at none."""
        if self.count() == 0 or not self.widget.hasFocus():
            return None
        row = self.current()
        return row if row is not None and 0 <= row < self.count() else None


class RowInterface(QAccessibleInterface):
    """One row; what it says is asked of the widget each time, so it is never out of date."""

    def __init__(self, source: RowSource, row: int) -> None:
        super().__init__()
        self._source = source
        self.row = row

    def isValid(self) -> bool:
        return self.row < self._source.count()

    def object(self) -> QObject:
        # A row is no object.
        return None  # type: ignore[return-value]

    def window(self) -> QWindow:
        return self._source.widget.window().windowHandle()

    def parent(self) -> QAccessibleInterface:
        return QAccessible.queryAccessibleInterface(self._source.widget)

    def child(self, index: int, /) -> QAccessibleInterface:
        del index
        return None  # type: ignore[return-value]

    def childAt(self, x: int, y: int, /) -> QAccessibleInterface:
        del x, y
        return None  # type: ignore[return-value]

    def childCount(self) -> int:
        return 0

    def indexOfChild(self, child: QAccessibleInterface, /) -> int:
        del child
        return -1

    def role(self) -> QAccessible.Role:
        return QAccessible.Role.ListItem

    def text(self, kind: QAccessible.Text, /) -> str:
        if not self.isValid():
            return ""
        match kind:
            case QAccessible.Text.Name:
                return self._source.name(self.row)
            case QAccessible.Text.Value | QAccessible.Text.Description:
                return self._source.about(self.row)
            case _:
                return ""

    def setText(self, kind: QAccessible.Text, text: str, /) -> None:
        del kind, text

    def rect(self) -> QRect:
        if not self.isValid():
            return QRect()
        place = self._source.rect(self.row)
        return QRect(self._source.surface.mapToGlobal(place.topLeft()), place.size())

    def state(self) -> QAccessible.State:
        state: Any = QAccessible.State()
        source = self._source
        if not self.isValid():
            state.invalid = True
        else:
            is_seen = source.surface.rect().intersects(source.rect(self.row))
            state.selectable = state.focusable = state.readOnly = True
            state.selected = source.is_chosen(self.row)
            state.focused = state.active = source.current_row() == self.row
            state.offscreen = state.invisible = not is_seen
        return state  # type: ignore[no-any-return]


class RowsInterface(QAccessibleWidget):
    """A list: its rows, and then what real widgets it has.

    Args:
        source: the rows.
    """

    def __init__(self, source: RowSource) -> None:
        super().__init__(source.widget, QAccessible.Role.List)
        self._source = source
        self._rows = _Rows(source)

    def childCount(self) -> int:
        return self._source.count() + len(self._widgets())

    def child(self, index: int, /) -> QAccessibleInterface:
        num_rows, widgets = self._source.count(), self._widgets()
        if 0 <= index < num_rows:
            return self._rows.row(index)
        if num_rows <= index < num_rows + len(widgets):
            return QAccessible.queryAccessibleInterface(widgets[index - num_rows])
        return None  # type: ignore[return-value]

    def indexOfChild(self, child: QAccessibleInterface, /) -> int:
        if isinstance(child, RowInterface):
            return child.row if child.isValid() else -1
        widgets, found = self._widgets(), child.object()
        return self._source.count() + widgets.index(found) if found in widgets else -1

    def childAt(self, x: int, y: int, /) -> QAccessibleInterface:
        source = self._source
        for index, widget in enumerate(self._widgets()):
            if QRect(widget.mapToGlobal(QPoint(0, 0)), widget.size()).contains(x, y):
                return self.child(source.count() + index)
        local_y = source.surface.mapFromGlobal(QPoint(x, y)).y()
        row = bisect_right(range(source.count()), local_y, key=lambda i: source.rect(i).top()) - 1
        if row >= 0 and self._rows.row(row).rect().contains(x, y):
            return self._rows.row(row)
        return None  # type: ignore[return-value]

    def focusChild(self) -> QAccessibleInterface:
        row = self._source.current_row()
        return super().focusChild() if row is None else self._rows.row(row)

    def text(self, kind: QAccessible.Text, /) -> str:
        text = super().text(kind)
        if kind == QAccessible.Text.Description and self._source.count():
            return "\n".join(part for part in (self._source.more(), text) if part)
        return text

    def _widgets(self) -> list[QWidget]:
        """Return real children somebody can use."""
        source = self._source
        holders = [source.widget, *([source.surface] if source.surface != source.widget else ())]
        return [child for holder in holders for child in _usable_children(holder)]


class _Rows:
    """The rows that were asked for; Qt's register of interfaces owns them.

    Qt deletes what is in its register, and PySide deletes what nobody refers to: here they are
    referred to until Qt is told to let them go, when their widget goes.
    """

    def __init__(self, source: RowSource) -> None:
        self._source = source
        self._made: dict[int, tuple[RowInterface, int]] = {}
        made = self._made
        source.widget.destroyed.connect(lambda: _let_go(made))

    def row(self, index: int) -> RowInterface:
        """Return a row's interface, always the same."""
        found = self._made.get(index)
        if found is None:
            row = RowInterface(self._source, index)
            found = self._made[index] = (row, QAccessible.registerAccessibleInterface(row))
        return found[0]


def _let_go(made: dict[int, tuple[RowInterface, int]]) -> None:
    for _, identity in made.values():
        QAccessible.deleteAccessibleInterface(identity)
    made.clear()


def _usable_children(widget: QWidget) -> Sequence[QWidget]:
    return [
        child
        for child in widget.children()
        if isinstance(child, QWidget)
        and child.isVisible()
        and (child.accessibleName() or child.focusPolicy().value)
    ]
