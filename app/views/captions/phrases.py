"""The list of saved phrases: spoken with a key, added, renamed, put in order."""

from PySide6.QtCore import QSize, Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QPushButton,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from app.i18n import tr
from app.phrases import PhraseBook

NUM_KEYS = 9
_KEY, _TEXT = 0, 1
_SHOWN_ROWS = 6
_STEPS = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: +1}


class PhraseTree(QTreeWidget):
    """Phrases with their keys; Enter, F2, Del and Ctrl+Up/Down work on the current one.

    Signals:
        chosen: speak the current one.
        remove_asked: take it out.
        move_asked: by so many places.
    """

    chosen = Signal()
    remove_asked = Signal()
    move_asked = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setColumnCount(2)
        self.setHeaderHidden(True)
        self.setRootIsDecorated(False)
        self.setUniformRowHeights(True)
        self.setTabKeyNavigation(False)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.setStyleSheet("QTreeView::item { padding: 4px 2px; }")
        self.setAccessibleName(tr("Saved phrases"))
        header = self.header()
        header.setSectionResizeMode(_KEY, QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(_TEXT, QHeaderView.ResizeMode.Stretch)
        header.setStretchLastSection(True)

    def sizeHint(self) -> QSize:
        row = self.fontMetrics().height() + 10
        return QSize(super().sizeHint().width(), row * _SHOWN_ROWS)

    def minimumSizeHint(self) -> QSize:
        return QSize(120, (self.fontMetrics().height() + 10) * 2)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = Qt.Key(event.key())
        if self.state() == QAbstractItemView.State.EditingState:
            # Enter in the editor ends the change; it speaks nothing.
            super().keyPressEvent(event)
            return
        is_control = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.chosen.emit()
        elif key == Qt.Key.Key_F2 and self.currentItem() is not None:
            self.editItem(self.currentItem(), _TEXT)
        elif key == Qt.Key.Key_Delete:
            self.remove_asked.emit()
        elif key in _STEPS and is_control:
            self.move_asked.emit(_STEPS[key])
        else:
            super().keyPressEvent(event)


class PhraseList(QFrame):
    """Shows a `PhraseBook` and changes it.

    Signals:
        chosen: a phrase to be spoken.
        add_asked: what is typed is to become a phrase.
        removed: a phrase that was taken out.

    Args:
        book: the phrases.
    """

    chosen = Signal(str)
    add_asked = Signal()
    removed = Signal(str)

    def __init__(self, book: PhraseBook, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._book = book
        self._is_filling = False
        self.tree = PhraseTree()
        self.add_button = QPushButton(tr("Save typed text"))
        self.rename_button = QPushButton(tr("Change"))
        self.remove_button = QPushButton(tr("Remove"))
        self.up_button = QPushButton(tr("Up"))
        self.down_button = QPushButton(tr("Down"))
        self.problem = QLabel()
        self.empty = QLabel(
            tr("No phrases yet. Type one and save it: Ctrl+1 to Ctrl+9 speak the first nine.")
        )
        self._build()
        self._connect()
        self._fill(0)

    @property
    def current(self) -> int | None:
        """Index of the chosen phrase."""
        index = self.tree.indexOfTopLevelItem(self.tree.currentItem())
        return index if index >= 0 else None

    def phrase(self, number: int) -> str:
        """Return the phrase with a key, counted from 1; "" if there is none."""
        phrases = self._book.phrases
        return phrases[number - 1] if 0 < number <= len(phrases) else ""

    def add(self, text: str) -> bool:
        """Save a phrase; returns whether there was anything to save."""
        index = self._book.add(text)
        if index is not None:
            self._fill(index)
        return index is not None

    def set_can_add(self, can_add: bool) -> None:
        """Tell whether anything is typed that could be saved."""
        self.add_button.setEnabled(can_add)

    @Slot()
    def rename(self) -> None:
        """Let the user change the current phrase in place."""
        item = self.tree.currentItem()
        if item is not None:
            self.tree.setFocus()
            self.tree.editItem(item, _TEXT)

    @Slot()
    def remove(self) -> None:
        """Take the current phrase out."""
        index = self.current
        if index is not None:
            text = self._book.remove(index)
            self._fill(index)
            self.removed.emit(text)

    @Slot(int)
    def move_current(self, step: int) -> None:
        """Put the current phrase further up or down."""
        index = self.current
        if index is not None:
            self._fill(self._book.move(index, index + step))

    @Slot()
    def _choose(self) -> None:
        index = self.current
        if index is not None:
            self.chosen.emit(self._book.phrases[index])

    @Slot(QTreeWidgetItem, int)
    def _take_change(self, item: QTreeWidgetItem, column: int) -> None:
        if self._is_filling or column != _TEXT:
            return
        index = self.tree.indexOfTopLevelItem(item)
        self._book.change(index, item.text(_TEXT))
        # The list is not filled anew: the editor of this item is still open.
        self._is_filling = True
        item.setText(_TEXT, self._book.phrases[index])
        item.setToolTip(_TEXT, self._book.phrases[index])
        self._is_filling = False
        self._show_problem()

    def _fill(self, current: int) -> None:
        """Show what is in the book."""
        self._is_filling = True
        self.tree.clear()
        items = []
        for index, phrase in enumerate(self._book.phrases):
            key = tr("Ctrl+{number}", number=index + 1) if index < NUM_KEYS else ""
            item = QTreeWidgetItem([key, phrase])
            item.setFlags(item.flags() | Qt.ItemFlag.ItemIsEditable)
            item.setToolTip(_TEXT, phrase)
            items.append(item)
        self.tree.addTopLevelItems(items)
        if items:
            self.tree.setCurrentItem(items[min(current, len(items) - 1)])
        self._is_filling = False
        for button in (self.rename_button, self.remove_button, self.up_button, self.down_button):
            button.setEnabled(bool(items))
        self.empty.setVisible(not items)
        self.tree.setVisible(bool(items))
        self._show_problem()

    def _show_problem(self) -> None:
        self.problem.setText(self._book.problem)
        self.problem.setVisible(bool(self._book.problem))

    def _build(self) -> None:
        self.problem.setWordWrap(True)
        self.problem.setProperty("role", "problem")
        self.problem.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.empty.setWordWrap(True)
        self.empty.setProperty("role", "muted")
        self.add_button.setToolTip(tr("Save what is typed as a phrase (Ctrl+D)"))
        self.rename_button.setToolTip(tr("Change the chosen phrase (F2)"))
        self.remove_button.setToolTip(tr("Remove the chosen phrase (Del)"))
        self.up_button.setToolTip(tr("Move the chosen phrase up (Ctrl+Up)"))
        self.down_button.setToolTip(tr("Move the chosen phrase down (Ctrl+Down)"))
        buttons = QHBoxLayout()
        buttons.setSpacing(8)
        for button in (
            self.add_button,
            self.rename_button,
            self.remove_button,
            self.up_button,
            self.down_button,
        ):
            button.setAutoDefault(False)
            buttons.addWidget(button)
        buttons.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addWidget(self.problem)
        column.addWidget(self.empty)
        column.addWidget(self.tree, 1)
        column.addLayout(buttons)

    def _connect(self) -> None:
        self.tree.chosen.connect(self._choose)
        self.tree.itemDoubleClicked.connect(self._choose)
        self.tree.remove_asked.connect(self.remove)
        self.tree.move_asked.connect(self.move_current)
        self.tree.itemChanged.connect(self._take_change)
        self.add_button.clicked.connect(self.add_asked)
        self.rename_button.clicked.connect(self.rename)
        self.remove_button.clicked.connect(self.remove)
        self.up_button.clicked.connect(lambda: self.move_current(-1))
        self.down_button.clicked.connect(lambda: self.move_current(+1))
