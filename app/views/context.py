"""What every view of a transcript works with."""

from dataclasses import dataclass

from app.editing import Editing
from app.marks import Marks
from app.playback import Playback
from app.state import AppState
from app.theme import Appearance


@dataclass(frozen=True, slots=True)
class ViewContext:
    """Shared by the views of the shown document.

    Args:
        state: what is shown.
        appearance: colours.
        marks: cursor, selection, hits and what is heard.
        editing: changes with undo.
        playback: lets recorded audio be heard.
    """

    state: AppState
    appearance: Appearance
    marks: Marks
    editing: Editing
    playback: Playback
