"""A line edit laid over a speaker's name."""

from PySide6.QtCore import QEvent, Qt, Signal, Slot
from PySide6.QtGui import QFocusEvent, QKeyEvent
from PySide6.QtWidgets import QLineEdit, QWidget

from app.i18n import tr
from app.views.in_place import claims, give_focus_back
from engine.core.types import SpeakerId

MAX_NAME_CHARACTERS = 200


class NameEditor(QLineEdit):
    """Names a speaker: Enter or leaving takes the name, Escape does not.

    Signals:
        accepted: the speaker and the new name.
        closed: it is gone, with or without a new name.
    """

    accepted = Signal(object, str)
    closed = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._speaker: SpeakerId | None = None
        self._old_name = ""
        self.setMaxLength(MAX_NAME_CHARACTERS)
        self.setAccessibleName(tr("Name of the speaker"))
        self.hide()

    @property
    def is_open(self) -> bool:
        """Whether a name is being written."""
        return self._speaker is not None

    def edit(self, speaker: SpeakerId, name: str) -> None:
        """Begin with a name; whoever opens it puts it in its place."""
        self._speaker, self._old_name = speaker, name
        self.setText(name)
        self.show()
        self.selectAll()
        self.setFocus(Qt.FocusReason.OtherFocusReason)

    @Slot()
    def finish(self) -> None:
        """Take the name and close."""
        self._accept()

    @Slot()
    def cancel(self) -> None:
        """Close and leave the name as it was."""
        if self._speaker is not None:
            self._speaker = None
            self._close()

    def event(self, event: QEvent) -> bool:
        return claims(event, Qt.Key.Key_Escape) or super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.cancel()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            # Qt would hand the key on to the view behind, where it means something else.
            self._accept()
        else:
            super().keyPressEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        if event.reason() != Qt.FocusReason.PopupFocusReason:
            self._accept()

    @Slot()
    def _accept(self) -> None:
        speaker, self._speaker = self._speaker, None
        if speaker is None:
            return
        if self.text().strip() != self._old_name:
            self.accepted.emit(speaker, self.text().strip())
        self._close()

    def _close(self) -> None:
        had_focus = self.hasFocus()
        self.hide()
        if had_focus:
            give_focus_back(self)
        self.closed.emit()
