"""Asks once, before the first recording, what of recordings stays on disk."""

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import (
    QButtonGroup,
    QDialog,
    QDialogButtonBox,
    QLabel,
    QRadioButton,
    QVBoxLayout,
    QWidget,
)

from app.i18n import tr
from app.views.scroll_column import ScrollColumn
from engine.core.config import KeepPolicy

_WIDTH_CHARACTERS = 80
_MARGIN_PX = 20


def keep_choices() -> tuple[tuple[KeepPolicy, str, str], ...]:
    """Return what can be kept, each with its title and what it means."""
    return (
        (
            KeepPolicy.AUDIO_AND_TEXT,
            tr("Sound and text"),
            tr(
                "You can listen again, and nothing is lost if the program or the computer stops. "
                "An hour takes about 350 MB."
            ),
        ),
        (
            KeepPolicy.TEXT,
            tr("Text only"),
            tr("The sound is deleted when a recording ends; words, times and speakers stay."),
        ),
        (
            KeepPolicy.NOTHING,
            tr("Nothing"),
            tr(
                "All is gone when the next recording begins or the window closes. "
                "Export what you need."
            ),
        ),
    )


class KeepDialog(QDialog):
    """Three choices in plain words.

    Signals:
        chosen: the policy the user took.

    Args:
        folder: where recordings go.
        current: the choice in force, marked at first.
    """

    chosen = Signal(str)

    def __init__(
        self,
        folder: str,
        current: KeepPolicy = KeepPolicy.AUDIO_AND_TEXT,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("What shall be kept?"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._group = QButtonGroup(self)
        self.choices: dict[KeepPolicy, QRadioButton] = {}
        self._content = QWidget()
        self._fill(QVBoxLayout(self._content), folder, current)
        buttons = QDialogButtonBox(
            QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel
        )
        self.ok_button = buttons.button(QDialogButtonBox.StandardButton.Ok)
        self.ok_button.setText(tr("Keep it so"))
        self.ok_button.setProperty("role", "primary")
        buttons.accepted.connect(self._take)
        buttons.rejected.connect(self.reject)
        self._buttons = QWidget()
        row = QVBoxLayout(self._buttons)
        row.setContentsMargins(_MARGIN_PX, 8, _MARGIN_PX, 16)
        row.addWidget(buttons)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(0)
        whole.addWidget(ScrollColumn(self._content), 1)
        whole.addWidget(self._buttons)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        # As wide as a line that is read with ease, in letters of any size, and all of it in view
        # where the screen is large enough.
        room = self.screen().availableSize()
        width = _WIDTH_CHARACTERS * self.fontMetrics().averageCharWidth()
        width = min(width, room.width() - 2 * _MARGIN_PX)
        height = self._content.heightForWidth(width) + self._buttons.sizeHint().height()
        self.resize(width, min(height, room.height() - 2 * _MARGIN_PX))

    def _fill(self, column: QVBoxLayout, folder: str, current: KeepPolicy) -> None:
        column.setContentsMargins(_MARGIN_PX, _MARGIN_PX, _MARGIN_PX, 0)
        column.setSpacing(4)
        heading = QLabel(tr("What shall be kept of your recordings?"))
        heading.setWordWrap(True)
        heading.setProperty("role", "title")
        column.addWidget(heading)
        column.addSpacing(8)
        for policy, title, meaning in keep_choices():
            self._add_choice(column, policy, title, meaning)
        self.choices[current].setChecked(True)
        place = QLabel(
            tr(
                "Recordings stay on this computer, in {folder}, readable by you alone. "
                "You can change this at any time in the menu Recording.",
                folder=folder,
            )
        )
        place.setWordWrap(True)
        place.setProperty("role", "muted")
        column.addWidget(place)

    def _add_choice(
        self, column: QVBoxLayout, policy: KeepPolicy, title: str, meaning: str
    ) -> None:
        button = QRadioButton(title)
        button.setAccessibleDescription(meaning)
        explanation = QLabel(meaning)
        explanation.setWordWrap(True)
        explanation.setProperty("role", "muted")
        explanation.setContentsMargins(26, 0, 0, 8)
        explanation.setAlignment(Qt.AlignmentFlag.AlignTop)
        self._group.addButton(button)
        self.choices[policy] = button
        column.addWidget(button)
        column.addWidget(explanation)

    @Slot()
    def _take(self) -> None:
        policy = next(p for p, button in self.choices.items() if button.isChecked())
        self.accept()
        self.chosen.emit(policy.value)
