"""The recordings kept on this machine: found, opened, deleted."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from PySide6.QtCore import QPoint, QSize, Qt, Signal, Slot
from PySide6.QtWidgets import (
    QFrame,
    QLabel,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QMenu,
    QMessageBox,
    QVBoxLayout,
    QWidget,
)

_ID = Qt.ItemDataRole.UserRole


class StoredInfo(Protocol):
    """What the list needs of a stored session; see `engine.store.library.SessionInfo`."""

    @property
    def id(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def started_at(self) -> str: ...
    @property
    def duration_s(self) -> float: ...
    @property
    def num_words(self) -> int: ...
    @property
    def is_closed(self) -> bool: ...
    @property
    def is_active(self) -> bool: ...


class SessionsPanel(QFrame):
    """The list at the left.

    Signals:
        open_asked: show the session of this id; "" for the present one.
        delete_asked: delete the session of this id (the user has confirmed).
        export_asked: save the session of this id in some format.
    """

    open_asked = Signal(str)
    delete_asked = Signal(str)
    export_asked = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("sidePanel")
        self.filter = QLineEdit()
        self.list = QListWidget()
        self._infos: tuple[StoredInfo, ...] = ()
        self._build()
        self.filter.textChanged.connect(self._show)
        self.list.itemActivated.connect(self._open)
        self.list.itemClicked.connect(self._open)
        self.list.customContextMenuRequested.connect(self._open_menu)

    def set_sessions(self, infos: Sequence[StoredInfo]) -> None:
        """Show these sessions, newest first; running ones are left out."""
        self._infos = tuple(info for info in infos if not info.is_active)
        self._show()

    def clear_choice(self) -> None:
        """Mark no session as shown."""
        self.list.clearSelection()
        self.list.setCurrentItem(None)  # type: ignore[call-overload]

    @Slot()
    def _show(self) -> None:
        wanted = self.filter.text().casefold().strip()
        chosen = self._chosen_id()
        self.list.clear()
        for info in self._infos:
            title, detail = describe(info)
            if wanted and wanted not in f"{title} {detail} {info.id}".casefold():
                continue
            item = QListWidgetItem(f"{title}\n{detail}")
            item.setData(_ID, info.id)
            item.setSizeHint(QSize(0, self.fontMetrics().height() * 2 + 14))
            self.list.addItem(item)
            if info.id == chosen:
                self.list.setCurrentItem(item)
        if not self._infos:
            self._add_hint("Recordings will be listed here.")
        elif self.list.count() == 0:
            self._add_hint("None matches.")

    def _add_hint(self, text: str) -> None:
        item = QListWidgetItem(text)
        item.setFlags(Qt.ItemFlag.NoItemFlags)
        self.list.addItem(item)

    def _chosen_id(self) -> str:
        item = self.list.currentItem()
        return str(item.data(_ID) or "") if item is not None else ""

    @Slot(QListWidgetItem)
    def _open(self, item: QListWidgetItem) -> None:
        if item.data(_ID):
            self.open_asked.emit(str(item.data(_ID)))

    @Slot(QPoint)
    def _open_menu(self, point: QPoint) -> None:
        item = self.list.itemAt(point)
        if item is None or not item.data(_ID):
            return
        session_id, title = str(item.data(_ID)), item.text().partition("\n")[0]
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction("Open", lambda: self.open_asked.emit(session_id))
        menu.addAction("Export…", lambda: self.export_asked.emit(session_id))
        menu.addSeparator()
        menu.addAction("Delete…", lambda: self.confirm_delete(session_id, title))
        menu.popup(self.list.viewport().mapToGlobal(point))

    def confirm_delete(self, session_id: str, title: str) -> None:
        """Ask before a session is deleted for good."""
        box = QMessageBox(
            QMessageBox.Icon.Question,
            "Delete the recording?",
            f"“{title}” will be deleted with its sound and text. This cannot be undone.",
            QMessageBox.StandardButton.Cancel,
            self,
        )
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        delete = box.addButton("Delete", QMessageBox.ButtonRole.DestructiveRole)
        delete.clicked.connect(lambda: self.delete_asked.emit(session_id))
        box.open()

    def _build(self) -> None:
        heading = QLabel("Recordings")
        heading.setProperty("role", "heading")
        self.filter.setPlaceholderText("Filter")
        self.filter.setAccessibleName("Filter recordings")
        self.filter.setClearButtonEnabled(True)
        self.list.setAccessibleName("Recordings")
        self.list.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 12, 8, 8)
        column.setSpacing(8)
        column.addWidget(heading)
        column.addWidget(self.filter)
        column.addWidget(self.list, 1)
        self.setMinimumWidth(160)


def describe(info: StoredInfo) -> tuple[str, str]:
    """Return a session's title and what it holds, for people."""
    try:
        started = datetime.fromisoformat(info.started_at)
        when = f"{started:%d %b %Y, %H:%M}"
    except ValueError:
        when = info.id
    minutes, seconds = divmod(round(info.duration_s), 60)
    length = f"{minutes} min {seconds:02d} s" if minutes else f"{seconds} s"
    broken = "" if info.is_closed else " · broke off"
    return info.title or when, f"{length} · {info.num_words} words{broken}"
