"""Captions for screen readers: what is visible, as text."""

from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QAccessibleWidget

from app.views.captions.view import CaptionsView


class AccessibleCaptions(QAccessibleWidget):
    """Tells the visible words when it is asked, so that nothing is done where nobody asks."""

    def __init__(self, view: CaptionsView) -> None:
        super().__init__(view, QAccessible.Role.StaticText)
        self._view = view

    def text(self, kind: QAccessible.Text) -> str:
        if kind is QAccessible.Text.Value or kind is QAccessible.Text.Description:
            return self._view.text() or self._view.placeholder
        return super().text(kind)
