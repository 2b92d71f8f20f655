"""Asks once, before the first recording, what of recordings stays on disk."""

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import (
    QButtonGroup,
    QDialog,
    QDialogButtonBox,
    QLabel,
    QRadioButton,
    QVBoxLayout,
    QWidget,
)

from engine.core.config import KeepPolicy

CHOICES = (
    (
        KeepPolicy.AUDIO_AND_TEXT,
        "Sound and text",
        "You can listen again, and nothing is lost if the program or the computer stops. "
        "An hour takes about 350 MB.",
    ),
    (
        KeepPolicy.TEXT,
        "Text only",
        "The sound is deleted when a recording ends; words, times and speakers stay.",
    ),
    (
        KeepPolicy.NOTHING,
        "Nothing",
        "All is gone when the next recording begins or the window closes. Export what you need.",
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
        self.setWindowTitle("What shall be kept?")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._group = QButtonGroup(self)
        self.choices: dict[KeepPolicy, QRadioButton] = {}
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 20, 20, 16)
        column.setSpacing(4)
        heading = QLabel("What shall be kept of your recordings?")
        heading.setProperty("role", "title")
        column.addWidget(heading)
        column.addSpacing(8)
        for policy, title, meaning in CHOICES:
            self._add_choice(column, policy, title, meaning)
        self.choices[current].setChecked(True)
        place = QLabel(
            f"Recordings stay on this computer, in {folder}, readable by you alone. "
            "You can change this at any time in the menu Recording."
        )
        place.setWordWrap(True)
        place.setProperty("role", "muted")
        column.addWidget(place)
        column.addSpacing(8)
        buttons = QDialogButtonBox(
            QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel
        )
        self.ok_button = buttons.button(QDialogButtonBox.StandardButton.Ok)
        self.ok_button.setText("Keep it so")
        self.ok_button.setProperty("role", "primary")
        buttons.accepted.connect(self._take)
        buttons.rejected.connect(self.reject)
        column.addWidget(buttons)
        self.setFixedWidth(480)

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
