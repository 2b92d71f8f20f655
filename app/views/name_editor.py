"""A line edit laid over a speaker's name."""

from PySide6.QtWidgets import QWidget

from app.i18n import tr
from app.views.field_in_place import FieldInPlace
from engine.core.types import SpeakerId

MAX_NAME_CHARACTERS = 200


class NameEditor(FieldInPlace):
    """Names a speaker."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(MAX_NAME_CHARACTERS, tr("Name of the speaker"), parent)

    def edit(self, speaker: SpeakerId, name: str) -> None:
        """Begin with a name; whoever opens it puts it in its place."""
        self.begin(speaker, name)
