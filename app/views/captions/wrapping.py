"""A row of controls that goes on in a further row where there is no room."""

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import QLayout, QLayoutItem, QWidget


class WrappingLayout(QLayout):
    """Places items from the leading edge, row under row."""

    def __init__(self, parent: QWidget, margin: int, spacing: int) -> None:
        super().__init__(parent)
        self._items: list[QLayoutItem] = []
        self.setContentsMargins(margin, margin, margin, margin)
        self.setSpacing(spacing)

    def addItem(self, item: QLayoutItem) -> None:
        self._items.append(item)

    def count(self) -> int:
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return self._arrange(QRect(0, 0, width, 0), is_dry=True)

    def setGeometry(self, rect: QRect) -> None:
        super().setGeometry(rect)
        self._arrange(rect, is_dry=False)

    def sizeHint(self) -> QSize:
        return self.minimumSize()

    def minimumSize(self) -> QSize:
        size = QSize()
        for item in self._items:
            size = size.expandedTo(item.minimumSize())
        margins = self.contentsMargins()
        return size + QSize(margins.left() + margins.right(), margins.top() + margins.bottom())

    def _arrange(self, rect: QRect, *, is_dry: bool) -> int:
        """Place the items, unless it is a dry run, and return the height they need."""
        room = rect.marginsRemoved(self.contentsMargins())
        y = room.top()
        for row in self._rows(room.width()):
            height = max(item.sizeHint().height() for item in row)
            if not is_dry:
                self._place(row, QRect(room.left(), y, room.width(), height))
            y += height + self.spacing()
        return y - self.spacing() + self.contentsMargins().bottom() - rect.top()

    def _rows(self, width: int) -> list[list[QLayoutItem]]:
        """Return what stands beside each other where there is room of a width."""
        rows, used = list[list[QLayoutItem]](), 0
        for item in self._items:
            if item.isEmpty():
                continue
            need = item.sizeHint().width()
            if rows and used + self.spacing() + need <= width:
                rows[-1].append(item)
                used += self.spacing() + need
            else:
                rows.append([item])
                used = need
        return rows

    def _place(self, row: list[QLayoutItem], room: QRect) -> None:
        is_rtl = self.parentWidget().layoutDirection() == Qt.LayoutDirection.RightToLeft
        x = 0
        for item in row:
            size = QSize(min(item.sizeHint().width(), room.width()), item.sizeHint().height())
            left = room.width() - x - size.width() if is_rtl else x
            top = (room.height() - size.height()) // 2
            item.setGeometry(QRect(room.topLeft() + QPoint(left, top), size))
            x += size.width() + self.spacing()
