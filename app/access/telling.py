"""Tells the desktop where the keyboard is within a widget that paints itself."""

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, Slot
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QAccessibleEvent

from app.access.rows import RowSource

Send = Callable[[QAccessibleEvent], None]
"""Tells the desktop that something changed."""


def send_to_desktop(event: QAccessibleEvent) -> None:
    """Tell the desktop, if a screen reader listens."""
    if QAccessible.isActive():
        QAccessible.updateAccessibility(event)


class RowTeller(QObject):
    """Says which row the keyboard comes to, and what it finds within a row. Thread: main.

    Args:
        source: the rows.
        connect: connects this to what moves; called when the widget first has the focus.
        send: takes what is told.
    """

    def __init__(
        self,
        source: RowSource,
        connect: Callable[["RowTeller"], None],
        send: Send = send_to_desktop,
    ) -> None:
        super().__init__(source.widget)
        self._source = source
        self._connect = connect
        self._send = send
        self._is_connected = False
        self._told: int | None = None
        source.widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self._source.widget and event.type() == QEvent.Type.FocusIn:
            if not self._is_connected:
                self._is_connected = True
                self._connect(self)
            self._told = None
            self.tell_row()
        return False

    @Slot()
    def tell_row(self) -> None:
        """Say which row has the focus, once it is another one."""
        row = self._source.current_row()
        if row == self._told:
            return
        self._told = row
        if row is not None:
            event = QAccessibleEvent(self._source.widget, QAccessible.Event.Focus)
            event.setChild(row)
            self._send(event)

    def tell_within(self, text: str) -> None:
        """Say what the keyboard came to, unless it came to another row: that says itself."""
        if not self._source.widget.hasFocus():
            return
        if self._source.current_row() != self._told:
            self.tell_row()
        elif text:
            self._send(QAccessibleAnnouncementEvent(self._source.widget, text))
