"""The search bar over the transcript."""

from PySide6.QtCore import QEvent, Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QLineEdit, QToolButton, QWidget

from app.i18n import tr, tr_n
from app.marks import Marks
from app.search import Search
from app.views.folding_row import FoldingRow
from app.views.in_place import claims
from engine.text.search import MAX_HITS


class SearchBar(QFrame):
    """Looks for text in the shown transcript; hidden until it is asked for.

    Signals:
        closed: the user is done searching.

    Args:
        search: carries it out.
        marks: tell what was found.
    """

    closed = Signal()

    def __init__(self, search: Search, marks: Marks) -> None:
        super().__init__()
        self._search = search
        self._marks = marks
        self.field = QLineEdit()
        self.count = QLabel()
        self.previous_button = QToolButton()
        self.next_button = QToolButton()
        self.close_button = QToolButton()
        self._build()
        self.field.textChanged.connect(search.set_query)
        self.previous_button.clicked.connect(search.previous)
        self.next_button.clicked.connect(search.next)
        self.close_button.clicked.connect(self.end)
        marks.hits_changed.connect(self._show_count)
        self.hide()

    @Slot()
    def begin(self) -> None:
        """Open the bar, or go back to it, and let the user type."""
        self.show()
        self._search.begin()
        self.field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.field.selectAll()
        if self.field.text() != self._search.query:
            self._search.set_query(self.field.text())

    def look_for(self, text: str) -> None:
        """Open the bar with a text and go to its first place; the focus stays where it is."""
        self.show()
        self._search.begin()
        if text == self.field.text():
            self._search.set_query(text)
        self.field.setText(text)

    @Slot()
    def end(self) -> None:
        """Close the bar and look for nothing."""
        if self.isVisible():
            self.hide()
            self._search.clear()
            self.closed.emit()

    def event(self, event: QEvent) -> bool:
        # Esc is a key of the menu as well; here it means this bar.
        return claims(event, Qt.Key.Key_Escape) or super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = event.key()
        if key == Qt.Key.Key_Escape:
            self.end()
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.field.hasFocus():
            is_back = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
            (self._search.previous if is_back else self._search.next)()
        else:
            super().keyPressEvent(event)

    @Slot()
    def _show_count(self) -> None:
        num_hits, current = len(self._marks.hits), self._marks.current_hit
        count = f"{num_hits}+" if num_hits >= MAX_HITS else f"{num_hits}"
        if not self.field.text().strip():
            text = ""
        elif not num_hits:
            text = tr("Not found")
        elif current is None:
            text = tr_n("{count} place", "{count} places", num_hits, count=count)
        else:
            text = tr("{number} of {count}", number=current + 1, count=count)
        if text != self.count.text():
            self.count.setText(text)
            self.count.setAccessibleName(text)
        for button in (self.previous_button, self.next_button):
            button.setEnabled(num_hits > 0)

    def _build(self) -> None:
        self.setObjectName("searchBar")
        self.field.setPlaceholderText(tr("Find in this transcript"))
        self.field.setAccessibleName(tr("Find in this transcript"))
        self.field.setClearButtonEnabled(True)
        self.count.setProperty("role", "muted")
        widest = tr("{number} of {count}", number=MAX_HITS, count=MAX_HITS)
        self.count.setMinimumWidth(self.fontMetrics().horizontalAdvance(widest))
        buttons = (
            (self.previous_button, "↑", tr("Previous place (Shift+F3)")),
            (self.next_button, "↓", tr("Next place (F3)")),
            (self.close_button, "✕", tr("Close the search (Esc)")),
        )
        row = QHBoxLayout(self)
        row.setContentsMargins(16, 6, 12, 6)
        tools = QWidget()
        tool_row = QHBoxLayout(tools)
        tool_row.setContentsMargins(0, 0, 0, 0)
        tool_row.addWidget(self.count)
        for button, text, title in buttons:
            button.setText(text)
            button.setToolTip(title)
            button.setAccessibleName(title.partition(" (")[0])
            tool_row.addWidget(button)
        row.addWidget(FoldingRow(self.field, tools, stretched=(self.field,)))
        self._show_count()
