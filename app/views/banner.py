"""A line over the words: a kept recording is shown, or models have random weights."""

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton

from app.i18n import tr
from app.state import AppState
from app.views.folding_row import FoldingRow

_TEXT_CHARACTERS = 20


class Banner(QFrame):
    """Says what must not be mistaken; hidden while there is nothing to say.

    Args:
        state: what is shown.
    """

    def __init__(self, state: AppState) -> None:
        super().__init__()
        self._state = state
        self.text = QLabel()
        self.text.setWordWrap(True)
        # Beside a button, less would make a tower of words.
        self.text.setMinimumWidth(_TEXT_CHARACTERS * self.fontMetrics().averageCharWidth())
        self.button = QPushButton(tr("Back to the present recording"))
        self.setObjectName("banner")
        row = QHBoxLayout(self)
        row.setContentsMargins(16, 4, 12, 4)
        row.addWidget(FoldingRow(self.text, self.button, stretched=(self.text,), spacing=12))

    @Slot()
    def refresh(self) -> None:
        """Bring it in line with what is shown."""
        state = self._state
        untrained = [b for b in state.backends.values() if not b.is_trained]
        if not state.is_live_shown:
            self.text.setText(tr("Kept recording: {title}", title=state.stored_title))
        elif untrained:
            names = ", ".join(b.title or b.backend_id for b in untrained)
            self.text.setText(
                tr("Untrained weights ({names}): what you see means nothing.", names=names)
            )
        self.setVisible(bool(untrained) or not state.is_live_shown)
        self.button.setVisible(not state.is_live_shown)
