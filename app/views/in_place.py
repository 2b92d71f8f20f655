"""What editors that are laid over a view, and other fields of their own, have in common."""

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QWidget


def claims(event: QEvent, *keys: Qt.Key) -> bool:
    """Claim keys that the window's menu has as well; returns whether this event is one of them."""
    is_override = event.type() == QEvent.Type.ShortcutOverride
    if is_override and isinstance(event, QKeyEvent) and event.key() in keys:
        event.accept()
        return True
    return False


def give_focus_back(editor: QWidget) -> None:
    """Give the focus to the view under an editor that lies on its viewport."""
    viewport = editor.parentWidget()
    owner = viewport.parentWidget() if viewport is not None else None
    if owner is not None:
        owner.setFocus(Qt.FocusReason.OtherFocusReason)
