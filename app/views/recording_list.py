"""The list of recordings itself: one entry is marked, and titles are written in place."""

from PySide6.QtCore import QEvent, QPoint, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QListWidget, QListWidgetItem

from app.i18n import tr
from app.views.field_in_place import FieldInPlace
from app.views.in_place import claims

ID_ROLE = Qt.ItemDataRole.UserRole
_MAX_CHARACTERS = 200
"""Of a title; the store cuts what is longer."""


def id_of(item: QListWidgetItem | None) -> str:
    """Return the recording of an entry; "" for a hint and for no entry."""
    return str(item.data(ID_ROLE) or "") if item is not None else ""


class RecordingList(QListWidget):
    """Entries that carry the id of a recording.

    Signals:
        menu_asked: a menu for this entry, at this place on the screen.
        rename_asked: a title for this recording is to be written.

    Attributes:
        title: open while a title is written.
    """

    menu_asked = Signal(QListWidgetItem, QPoint)
    rename_asked = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.title = FieldInPlace(_MAX_CHARACTERS, tr("Title of the recording"), self.viewport())
        self.verticalScrollBar().valueChanged.connect(self.place_title)

    @property
    def marked_id(self) -> str:
        """The recording whose entry is marked."""
        return id_of(next(iter(self.selectedItems()), None))

    def mark(self, session_id: str) -> None:
        """Mark the entry of a recording alone; none if it has no entry."""
        item = self.entry(session_id)
        # Without a current entry Qt takes the first when the list gets the focus, unmarked.
        self.setCurrentItem(item)  # type: ignore[arg-type]
        if item is None:
            self.clearSelection()

    def entry(self, session_id: str) -> QListWidgetItem | None:
        """Return the entry of a recording."""
        items = (self.item(row) for row in range(self.count()))
        return next((item for item in items if session_id and id_of(item) == session_id), None)

    def write_title(self, session_id: str, title: str, without: str) -> None:
        """Let the user write the title of a recording over its entry.

        Args:
            session_id: the recording.
            title: what it is called so far.
            without: what its entry says if it has no title.
        """
        item = self.entry(session_id)
        if item is not None:
            self.scrollToItem(item)
            self.title.setPlaceholderText(without)
            self.title.begin(session_id, title)
            self.place_title()

    def place_title(self) -> None:
        """Lay the open field over its entry; it is given up if that is gone."""
        if not self.title.is_open:
            return
        item = self.entry(str(self.title.subject))
        if item is None:
            self.title.cancel()
            return
        rect = self.visualItemRect(item)
        self.title.setGeometry(rect.x(), rect.y(), rect.width(), self.title.sizeHint().height())

    def event(self, event: QEvent) -> bool:
        # F2 is a key of the menu as well; here it means the entry.
        return claims(event, Qt.Key.Key_F2) or super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() != Qt.Key.Key_F2:
            super().keyPressEvent(event)
        elif id_of(self.currentItem()):
            self.rename_asked.emit(id_of(self.currentItem()))

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        is_key = event.reason() == QContextMenuEvent.Reason.Keyboard
        item = self.currentItem() if is_key else self.itemAt(event.pos())
        if item is None or not id_of(item):
            return
        place = self.visualItemRect(item).center() if is_key else event.pos()
        self.menu_asked.emit(item, self.viewport().mapToGlobal(place))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.place_title()
