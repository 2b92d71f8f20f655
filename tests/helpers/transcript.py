"""A transcript view by itself: no window, no session; playing is only noted."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import cast

from PySide6.QtCore import QPoint

from app.editing import Editing
from app.marks import Marks
from app.playback import Playback
from app.state import AppState
from app.theme import Appearance
from app.views.context import ViewContext
from app.views.transcript.places import Spot
from app.views.transcript.view import TranscriptView
from engine.core.events import EditEvent


@dataclass
class NotedPlayback:
    """Stands for `Playback` and notes what it is asked for."""

    calls: list[tuple[object, ...]] = field(default_factory=list)

    def play(self, start: int, end: int | None = None, *, is_aside: bool = False) -> None:
        del is_aside
        self.calls.append(("play", start, end))

    def toggle(self) -> None:
        self.calls.append(("toggle",))

    def stop(self) -> None:
        self.calls.append(("stop",))


@dataclass
class TranscriptParts:
    """A view and what it works with."""

    view: TranscriptView
    state: AppState
    marks: Marks
    editing: Editing
    playback: NotedPlayback
    appearance: Appearance
    edits: list[EditEvent]

    def text_of(self, spot: Spot | None) -> str:
        """Return the text of a word."""
        assert spot is not None
        return self.view.rows.rows[spot.row].word(spot.word).text.strip()

    def point_of(self, row: int, word: int) -> QPoint:
        """Return the middle of a word on the viewport."""
        return self.view.spot_rect(Spot(row, word)).center()

    def current_text(self) -> str:
        """Return the word the cursor is at."""
        return self.text_of(self.view.cursor_at.spot)


def make_transcript(
    size: tuple[int, int] = (900, 500), theme: str = "light", text_size_pt: int = 13
) -> TranscriptParts:
    """Return a shown view whose edits are applied at once, as a session does."""
    state, marks, playback = AppState(), Marks(), NotedPlayback()
    kept: list[EditEvent] = []

    def keep(events: Sequence[EditEvent]) -> None:
        kept.extend(events)
        if state.is_live_shown:
            state.take(events)
        else:
            state.apply_edits(events)

    editing, appearance = Editing(state, keep), Appearance(theme)
    context = ViewContext(state, appearance, marks, editing, cast("Playback", playback))
    view = TranscriptView(context, text_size_pt)
    view.resize(*size)
    view.show()
    return TranscriptParts(view, state, marks, editing, playback, appearance, kept)
