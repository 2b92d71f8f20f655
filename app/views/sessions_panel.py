"""The recordings kept on this machine: found, opened, deleted."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from PySide6.QtCore import QPoint, Qt, Signal, Slot
from PySide6.QtWidgets import (
    QFrame,
    QLabel,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QMenu,
    QMessageBox,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app.i18n import short_date, tr, tr_n
from app.views.folding_row import FoldingRow
from app.views.scroll_column import ScrollColumn

_ID = Qt.ItemDataRole.UserRole
_SPACING_PX = 5
_LIST_LINES = 4
_FILTER_CHARACTERS = 16


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
        self.export_button = QPushButton(tr("Export…"))
        self.delete_button = QPushButton(tr("Delete…"))
        self._infos: tuple[StoredInfo, ...] = ()
        self._build()
        self.filter.textChanged.connect(self._show)
        self.list.itemActivated.connect(self._open)
        self.list.itemClicked.connect(self._open)
        self.list.customContextMenuRequested.connect(self._open_menu)
        self.list.currentItemChanged.connect(self._refresh_buttons)
        self.export_button.clicked.connect(self._export_chosen)
        self.delete_button.clicked.connect(self._delete_chosen)
        self._refresh_buttons()

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
        wanted = self.filter.text().casefold().split()
        chosen = self._chosen_id()
        self.list.clear()
        for info in self._infos:
            title, detail = describe(info)
            text = f"{title}\n{detail}"
            # By what is shown, and by the folder's name, which is the date in figures.
            if any(word not in f"{text} {info.id}".casefold() for word in wanted):
                continue
            item = QListWidgetItem(text)
            item.setData(_ID, info.id)
            item.setToolTip(text)
            self.list.addItem(item)
            if info.id == chosen:
                self.list.setCurrentItem(item)
        if not self._infos:
            self._add_hint(tr("Recordings will be listed here."))
        elif self.list.count() == 0:
            self._add_hint(tr("None matches."))

    @Slot()
    def _refresh_buttons(self) -> None:
        has_choice = bool(self._chosen_id())
        self.export_button.setEnabled(has_choice)
        self.delete_button.setEnabled(has_choice)

    @Slot()
    def _export_chosen(self) -> None:
        self.export_asked.emit(self._chosen_id())

    @Slot()
    def _delete_chosen(self) -> None:
        self._confirm_item(self.list.currentItem())

    def _confirm_item(self, item: QListWidgetItem) -> None:
        self.confirm_delete(str(item.data(_ID)), item.text().partition("\n")[0])

    def _add_hint(self, text: str) -> None:
        item = QListWidgetItem(text)
        item.setFlags(Qt.ItemFlag.NoItemFlags)
        item.setToolTip(text)
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
        # The menu key asks for it in the middle of the list, wherever the chosen line is.
        item = self.list.itemAt(point) or self.list.currentItem()
        if item is None or not item.data(_ID):
            return
        session_id = str(item.data(_ID))
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction(tr("Open"), lambda: self.open_asked.emit(session_id))
        menu.addAction(tr("Export…"), lambda: self.export_asked.emit(session_id))
        menu.addSeparator()
        menu.addAction(tr("Delete…"), lambda: self._confirm_item(item))
        menu.popup(self.list.viewport().mapToGlobal(point))

    def confirm_delete(self, session_id: str, title: str) -> None:
        """Ask before a session is deleted for good."""
        box = QMessageBox(
            QMessageBox.Icon.Question,
            tr("Delete the recording?"),
            tr(
                "“{title}” will be deleted with its sound and text. This cannot be undone.",
                title=title,
            ),
            QMessageBox.StandardButton.Cancel,
            self,
        )
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        # Return must not destroy anything.
        box.setDefaultButton(QMessageBox.StandardButton.Cancel)
        delete = box.addButton(tr("Delete"), QMessageBox.ButtonRole.DestructiveRole)
        delete.clicked.connect(lambda: self.delete_asked.emit(session_id))
        box.open()

    def _build(self) -> None:
        heading = QLabel(tr("Recordings"))
        heading.setProperty("role", "heading")
        self.filter.setPlaceholderText(tr("Filter"))
        self.filter.setAccessibleName(tr("Filter recordings"))
        self.filter.setClearButtonEnabled(True)
        self.filter.setToolTip(tr("Find by title, date or length"))
        self.list.setAccessibleName(tr("Recordings"))
        self.list.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.list.setWordWrap(True)
        self.list.setResizeMode(QListWidget.ResizeMode.Adjust)
        self.list.setSpacing(_SPACING_PX)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        content = QWidget()
        column = QVBoxLayout(content)
        column.setContentsMargins(12, 12, 8, 8)
        column.setSpacing(8)
        column.addWidget(heading)
        column.addWidget(self.filter)
        column.addWidget(self.list, 1)
        buttons = (self.export_button, self.delete_button)
        column.addWidget(FoldingRow(*buttons, stretched=buttons))
        metrics = self.list.fontMetrics()
        self.filter.setMinimumWidth(_FILTER_CHARACTERS * metrics.averageCharWidth())
        self.list.setMinimumHeight(_LIST_LINES * metrics.lineSpacing())
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(ScrollColumn(content))


def describe(info: StoredInfo) -> tuple[str, str]:
    """Return a session's title and what it holds, for people; its date is in one of them."""
    try:
        when = short_date(datetime.fromisoformat(info.started_at))
    except ValueError:
        when = info.id
    minutes, seconds = divmod(round(info.duration_s), 60)
    length = (
        tr("{minutes} min {seconds} s", minutes=minutes, seconds=f"{seconds:02d}")
        if minutes
        else tr("{seconds} s", seconds=seconds)
    )
    parts = [length, tr_n("{n} word", "{n} words", info.num_words)]
    if info.title:
        parts.insert(0, when)
    if not info.is_closed:
        parts.append(tr("broke off"))
    elif info.is_recovered:
        parts.append(tr("recovered"))
    return info.title or when, " · ".join(parts)
