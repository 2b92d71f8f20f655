"""The recordings kept on this machine: found, opened, deleted."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, Qt, QTimer, Signal, Slot
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

from app.i18n import tr
from app.recording_texts import StoredInfo, describe, entry_text, tell_found, when
from app.views.folding_row import FoldingRow
from app.views.recording_list import ID_ROLE, RecordingList, id_of
from app.views.scroll_column import ScrollColumn
from engine.text.search import fold

if TYPE_CHECKING:
    from engine.store.session_search import Found

_SPACING_PX = 5
_LIST_LINES = 4
_FILTER_CHARACTERS = 16
_TYPING_MS = 200
"""A pause in typing after which words are looked through."""
_SHOWING_MS = 50


class SessionsPanel(QFrame):
    """The list at the left. The recording that is shown is the one that is marked.

    Signals:
        open_asked: show the session of this id; "" for the present one.
        found_opened: the session of this id is asked for, and was found by this text in it.
        delete_asked: delete the session of this id (the user has confirmed).
        export_asked: save the session of this id in some format.
        rename_asked: give the session of this id this title.
        search_asked: look for this text in the words of these sessions (what their entries say,
            by id); an empty text ends the search before.
        shown_listed: whether the recording that is shown has an entry.
    """

    open_asked = Signal(str)
    found_opened = Signal(str, str)
    delete_asked = Signal(str)
    export_asked = Signal(str)
    rename_asked = Signal(str, str)
    search_asked = Signal(str, object)
    shown_listed = Signal(bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("sidePanel")
        self.filter = QLineEdit()
        self.list = RecordingList()
        self.export_button = QPushButton(tr("Export…"))
        self.delete_button = QPushButton(tr("Delete…"))
        self._infos: dict[str, StoredInfo] = {}
        self._found: dict[str, Found] = {}
        self._shown = ""
        self._is_searching = False
        self._typing = QTimer(self, singleShot=True, interval=_TYPING_MS)
        self._showing = QTimer(self, singleShot=True, interval=_SHOWING_MS)
        self._build()
        self._typing.timeout.connect(self._search)
        self._showing.timeout.connect(self._show)
        self.filter.textChanged.connect(self._take_filter)
        self.list.itemActivated.connect(self._open)
        self.list.itemClicked.connect(self._open)
        self.list.menu_asked.connect(self._open_menu)
        self.list.itemSelectionChanged.connect(self._refresh_buttons)
        self.list.rename_asked.connect(self.rename)
        self.list.title.accepted.connect(self._take_title)
        self.export_button.clicked.connect(self._export_chosen)
        self.delete_button.clicked.connect(self._delete_chosen)
        self._refresh_buttons()

    def set_sessions(self, infos: Sequence[StoredInfo]) -> None:
        """List these sessions, newest first; running ones are left out."""
        self._infos = {info.id: info for info in infos if not info.is_active}
        if self.filter.text().strip():
            self._typing.start()
        self._show()
        self.mark_shown()

    def set_shown(self, session_id: str) -> None:
        """Mark the recording that is shown from now on, if it has an entry."""
        self._shown = session_id
        self.mark_shown()

    @Slot()
    def mark_shown(self) -> None:
        """Mark the recording that is shown, whatever was chosen meanwhile."""
        self.list.mark(self._shown)
        self.shown_listed.emit(self._shown in self._infos)

    @Slot()
    def rename_shown(self) -> None:
        """Let the user write a title for the recording that is shown."""
        if self._shown in self._infos and self.list.entry(self._shown) is None:
            self.filter.clear()
        self.rename(self._shown)

    @Slot(str)
    def rename(self, session_id: str) -> None:
        """Let the user write a title for a recording of the list."""
        info = self._infos.get(session_id)
        if info is not None:
            self.list.write_title(session_id, info.title, when(info))

    @Slot(str, object)
    def take_found(self, session_id: str, found: "Found") -> None:
        """Take where a recording has what the filter asks for."""
        self._found[session_id] = found
        self._showing.start()

    @Slot()
    def end_search(self) -> None:
        """Take note that all recordings were looked through."""
        self._is_searching = False
        self._showing.start()

    @Slot()
    def _take_filter(self) -> None:
        has_filter = bool(self.filter.text().strip())
        self._found.clear()
        self._is_searching = has_filter and bool(self._infos)
        self.search_asked.emit("", {})
        if self._is_searching:
            self._typing.start()
        else:
            self._typing.stop()
        self._show()

    @Slot()
    def _search(self) -> None:
        self._is_searching = True
        entries = {info.id: entry_text(info) for info in self._infos.values()}
        self.search_asked.emit(self.filter.text(), entries)

    @Slot()
    def _show(self) -> None:
        self._showing.stop()
        chosen, place = self.list.marked_id or self._shown, self.list.verticalScrollBar().value()
        wanted = fold(self.filter.text()).split()
        self.list.clear()
        for info in self._infos.values():
            # By what is shown, and by the folder's name, which is the date in figures.
            says = fold(f"{entry_text(info)} {info.id}")
            found = self._found.get(info.id)
            if found is None and any(word not in says for word in wanted):
                continue
            lines = [*describe(info), tell_found(found) if found is not None else ""]
            text = "\n".join(line for line in lines if line)
            item = QListWidgetItem(text)
            item.setData(ID_ROLE, info.id)
            item.setToolTip(text)
            self.list.addItem(item)
        if not self._infos:
            self._add_hint(tr("Recordings will be listed here."))
        elif self.list.count() == 0:
            self._add_hint(tr("Searching…") if self._is_searching else tr("None matches."))
        self.list.mark(chosen)
        self.list.doItemsLayout()
        self.list.verticalScrollBar().setValue(place)
        self.list.place_title()

    @Slot()
    def _refresh_buttons(self) -> None:
        has_choice = bool(self.list.marked_id)
        self.export_button.setEnabled(has_choice)
        self.delete_button.setEnabled(has_choice)

    @Slot()
    def _export_chosen(self) -> None:
        self.export_asked.emit(self.list.marked_id)

    @Slot()
    def _delete_chosen(self) -> None:
        self._confirm(self.list.marked_id)

    def _confirm(self, session_id: str) -> None:
        info = self._infos.get(session_id)
        if info is not None:
            self.confirm_delete(session_id, describe(info)[0])

    def _add_hint(self, text: str) -> None:
        item = QListWidgetItem(text)
        item.setFlags(Qt.ItemFlag.NoItemFlags)
        item.setToolTip(text)
        self.list.addItem(item)

    @Slot(object, str)
    def _take_title(self, session_id: object, title: str) -> None:
        self.rename_asked.emit(str(session_id), title)

    @Slot(QListWidgetItem)
    def _open(self, item: QListWidgetItem) -> None:
        self._open_session(id_of(item))

    def _open_session(self, session_id: str) -> None:
        if not session_id:
            return
        found = self._found.get(session_id)
        if found is not None and found.places:
            self.found_opened.emit(session_id, found.places[0][0])
        self.open_asked.emit(session_id)

    @Slot(QListWidgetItem, QPoint)
    def _open_menu(self, item: QListWidgetItem, place: QPoint) -> None:
        session_id = id_of(item)
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction(tr("Open"), lambda: self._open_session(session_id))
        # What follows the tab is shown as its key, and does not take it from the menu bar.
        menu.addAction(f"{tr('Rename…')}\tF2", lambda: self.rename(session_id))
        menu.addAction(tr("Export…"), lambda: self.export_asked.emit(session_id))
        menu.addSeparator()
        menu.addAction(tr("Delete…"), lambda: self._confirm(session_id))
        # The click has marked what the menu is for.
        menu.aboutToHide.connect(self.mark_shown)
        menu.popup(place)

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
        self.filter.setToolTip(tr("Find by title, date, length, words or speakers"))
        self.list.setAccessibleName(tr("Recordings"))
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
