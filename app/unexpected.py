"""What the window does with a fault that nobody foresaw."""

import sys
from pathlib import Path

from app.i18n import tr
from engine.core.unexpected import UnexpectedError


def unexpected(log: Path | None) -> UnexpectedError:
    """Return what to tell of it, in the user's language; call it on the main thread.

    Args:
        log: has the details; None if there is none.
    """
    advice = tr("It is not your fault. You can go on, and what is being recorded is kept.")
    if log is not None:
        advice = tr(
            "It is not your fault. You can go on, and what is being recorded is kept. "
            "Details are in the log {file}.",
            file=log,
        )
    return UnexpectedError(
        tr("Something unexpected happened in the program, and what was asked for was not done."),
        advice=advice,
    )


def not_started(log: Path | None) -> UnexpectedError:
    """Return what to tell when the engine, or the whole window, could not be made."""
    advice = tr("It is not your fault. Start it again; if it stays so, run: vivavoce doctor.")
    if log is not None:
        advice = tr(
            "It is not your fault. Start it again; if it stays so, run: vivavoce doctor. "
            "Recordings made before are safe. Details are in the log {file}.",
            file=log,
        )
    return UnexpectedError(
        tr("The program could not be made ready, so nothing can be recorded or spoken now."),
        advice=advice,
    )


def report(error: Exception) -> None:
    """Log and tell an error that ends one thing, not those that come after it."""
    sys.excepthook(type(error), error, error.__traceback__)


def show_box(error: UnexpectedError) -> None:
    """Show an error where there is no window to show it, if boxes can be shown at all."""
    from PySide6.QtWidgets import QApplication, QMessageBox

    if isinstance(QApplication.instance(), QApplication):
        QMessageBox.critical(None, "Viva Voce", error.text)
