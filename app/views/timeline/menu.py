"""The timeline's own menu: what can be done with a moment or with the chosen stretch."""

from collections.abc import Callable

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QWidget

from app.i18n import tr


class TimelineMenu(QMenu):
    """Hear, copy, export; and the view.

    Args:
        parent: the timeline.
        hear: from the chosen moment on.
        hear_selection: the chosen stretch; None without one, like the next three.
        copy: its text.
        export: it.
        clear: choose nothing.
        show_all: show the whole recording.
        reset_threshold: go back to the usual threshold.
    """

    def __init__(
        self,
        parent: QWidget,
        *,
        hear: Callable[[], object] | None,
        hear_selection: Callable[[], object] | None,
        copy: Callable[[], object] | None,
        export: Callable[[], object] | None,
        clear: Callable[[], object] | None,
        show_all: Callable[[], object],
        reset_threshold: Callable[[], object],
    ) -> None:
        super().__init__(parent)
        entries: tuple[tuple[str, Callable[[], object] | None], ...] = (
            (tr("Hear the selection"), hear_selection),
            (tr("Copy its text"), copy),
            (tr("Export it…"), export),
            (tr("Select nothing"), clear),
            (tr("Hear from here"), hear),
        )
        for text, slot in entries:
            if slot is not None:
                self._add(text, slot)
        self.addSeparator()
        self._add(tr("Show the whole recording"), show_all)
        self._add(tr("Usual threshold"), reset_threshold)

    def _add(self, text: str, slot: Callable[[], object]) -> None:
        action = QAction(text, self)
        action.triggered.connect(lambda: slot())
        self.addAction(action)
