"""Models that are not on this machine, and the button that fetches them."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QLabel, QProgressBar, QPushButton, QVBoxLayout

from app.i18n import tr


class MissingModels(QFrame):
    """Names them; hidden while there are none.

    Signals:
        pull_asked: fetch them.
    """

    pull_asked = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.text = QLabel()
        self.pull_button = QPushButton(tr("Fetch them now"))
        self.pull_bar = QProgressBar()
        self._has_models = False
        self._is_wanted = True
        self.setProperty("role", "card")
        self.text.setWordWrap(True)
        self.pull_bar.setTextVisible(False)
        self.pull_bar.setAccessibleName(tr("Fetching models"))
        card = QVBoxLayout(self)
        card.setContentsMargins(16, 12, 16, 12)
        card.setSpacing(8)
        card.addWidget(self.text)
        card.addWidget(self.pull_bar)
        card.addWidget(self.pull_button, 0, Qt.AlignmentFlag.AlignLeft)
        self.pull_button.clicked.connect(self.pull_asked)
        self.hide()

    @property
    def has_models(self) -> bool:
        """Whether there is anything to fetch."""
        return self._has_models

    def set_wanted(self, is_wanted: bool) -> None:
        """Say whether it may be shown at all."""
        self._is_wanted = is_wanted
        self.setVisible(is_wanted and self._has_models)

    def show_missing(self, titles: Sequence[str], size: str) -> None:
        """Say which models are not on this machine; nothing for none."""
        self._has_models = bool(titles)
        self.setVisible(self._is_wanted and self._has_models)
        self.pull_bar.hide()
        self.pull_button.setEnabled(True)
        names = "\n".join(f"•  {title}" for title in titles)
        self.text.setText(
            tr(
                "Not on this computer yet ({size}):\n{names}\n"
                "They are fetched from the internet once; after that nothing needs it.",
                size=size,
                names=names,
            )
        )

    def show_pull(self, fraction: float, text: str) -> None:
        """Show how the fetching goes."""
        self.pull_button.setEnabled(False)
        self.pull_bar.show()
        self.pull_bar.setRange(0, 100 if fraction >= 0 else 0)
        self.pull_bar.setValue(round(100 * max(0.0, fraction)))
        self.text.setText(text)
