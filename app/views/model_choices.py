"""Which voices and which ways to tell speakers apart are offered, and which is in force."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot

from app.controller import Controller
from app.views.menus import offer

if TYPE_CHECKING:
    from app.views.main_window import MainWindow


class ModelChoices(QObject):
    """Fills the choosers of models.

    Args:
        window: whose choosers.
        controller: knows and changes what is chosen.
    """

    def __init__(self, window: "MainWindow", controller: Controller) -> None:
        super().__init__(window)
        self._panel = window.speak_panel
        self._actions = window.menu_actions
        self._controller = controller
        self._diarizers: Sequence[tuple[str, str]] = ()

    @Slot(object)
    def show_voices(self, voices: list[tuple[str, str]]) -> None:
        """Offer voices as (backend id, title)."""
        self._panel.set_voices(voices, self._controller.settings.synthesizer)

    @Slot(object)
    def show_diarizers(self, choices: Sequence[tuple[str, str]]) -> None:
        """Offer what can tell speakers apart, as (backend id, title)."""
        self._diarizers = choices
        controller = self._controller
        chosen = controller.settings.diarizer
        # The chosen one may have an argument behind its id, which stays with its entry.
        named = [(chosen if chosen.partition(":")[0] == i else i, title) for i, title in choices]
        offer(self._actions, "diarizers", named, chosen, controller.set_diarizer)

    @Slot()
    def show_chosen(self) -> None:
        """Show what is in force where something else was chosen in vain."""
        self._panel.choose_voice(self._controller.settings.synthesizer)
        self.show_diarizers(self._diarizers)
