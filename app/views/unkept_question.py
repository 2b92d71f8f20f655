"""Asks before a transcript is gone that is kept nowhere."""

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMessageBox, QWidget

from app.i18n import tr


def ask_about_unkept(
    window: QWidget,
    *,
    is_recording: bool,
    export: Callable[[], None],
    discard: Callable[[], None],
    cancel: Callable[[], None],
) -> QMessageBox:
    """Open the question over a window; what is recorded goes on behind it.

    Args:
        window: it opens over it.
        is_recording: whether the transcript still grows.
        export: called if it shall be saved first.
        discard: called if it may go.
        cancel: called if all stays as it is, also where the question is put away.
    """
    box = QMessageBox(window)
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    box.setIcon(QMessageBox.Icon.Question)
    box.setWindowTitle(tr("Not kept"))
    box.setText(tr("This transcript is not kept. Without an export it is gone for good."))
    if is_recording:
        box.setInformativeText(
            tr("Recording goes on meanwhile. To export it, it is stopped and finished first.")
        )
    export_button = box.addButton(tr("Export…"), QMessageBox.ButtonRole.AcceptRole)
    discard_button = box.addButton(tr("Discard"), QMessageBox.ButtonRole.DestructiveRole)
    cancel_button = box.addButton(QMessageBox.StandardButton.Cancel)
    box.setDefaultButton(cancel_button)
    box.setEscapeButton(cancel_button)

    def answer() -> None:
        chosen = box.clickedButton()
        if chosen is export_button:
            export()
        elif chosen is discard_button:
            discard()
        else:
            cancel()

    box.finished.connect(answer)
    if window.isMinimized():
        window.showNormal()
    box.open()
    return box
