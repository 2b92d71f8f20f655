"""A line edit laid over what it changes."""

from PySide6.QtCore import QEvent, Qt, Signal, Slot
from PySide6.QtGui import QFocusEvent, QKeyEvent
from PySide6.QtWidgets import QLineEdit, QWidget

from app.views.in_place import claims, give_focus_back


class FieldInPlace(QLineEdit):
    """Names something: Enter or leaving takes the name, Escape does not.

    Signals:
        accepted: what was named, and its new name.
        closed: it is gone, with or without a new name.

    Args:
        max_characters: a name has no more.
        title: of the field, for screen readers.
        parent: the viewport it is laid over.
    """

    accepted = Signal(object, str)
    closed = Signal()

    def __init__(self, max_characters: int, title: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._subject: object = None
        self._old_name = ""
        self.setMaxLength(max_characters)
        self.setAccessibleName(title)
        self.hide()

    @property
    def is_open(self) -> bool:
        """Whether a name is being written."""
        return self._subject is not None

    @property
    def subject(self) -> object:
        """What is being named; None if nothing is."""
        return self._subject

    def begin(self, subject: object, name: str) -> None:
        """Begin with a name; whoever opens it puts it in its place."""
        self._subject, self._old_name = subject, name
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
        if self._subject is not None:
            self._subject = None
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
        subject, self._subject = self._subject, None
        if subject is None:
            return
        if self.text().strip() != self._old_name:
            self.accepted.emit(subject, self.text().strip())
        self._close()

    def _close(self) -> None:
        had_focus = self.hasFocus()
        self.hide()
        if had_focus:
            give_focus_back(self)
        self.closed.emit()
