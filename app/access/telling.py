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
        connect: connects this to what moves; called when the widget first has the focus,
            by when it is made.
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
        self._moved_in: int | None = None
        source.widget.installEventFilter(self)
        if source.widget.hasFocus():
            self._begin()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self._source.widget and event.type() == QEvent.Type.FocusIn:
            self._begin()
            self._told = None
            self._moved_in = self._source.current_row()
            self.tell_row()
        return False

    def _begin(self) -> None:
        if not self._is_connected:
            self._is_connected = True
            self._connect(self)

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

    def say(self, text: str) -> None:
        """Say what the keyboard came to."""
        if text and self._source.widget.hasFocus():
            self._send(QAccessibleAnnouncementEvent(self._source.widget, text))

    def say_within(self, text: str) -> None:
        """Say what the keyboard came to within a row; another row says itself instead."""
        row = self._source.current_row()
        is_other_row, self._moved_in = row != self._moved_in, row
        if is_other_row:
            self.tell_row()
        else:
            self.say(text)
