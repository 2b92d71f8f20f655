"""Lets words be heard, and lights the word that is."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot

from app.views.context import ViewContext
from app.views.transcript.lights import word_heard
from app.views.transcript.places import Place, Spot, place_of, spot_of

if TYPE_CHECKING:
    from app.views.transcript.view import TranscriptView


class Hearing(QObject):
    """Keeps the spoken word lit and in view, unless the reader has gone elsewhere.

    Args:
        view: shows it.
        context: plays, and tells what is heard.
    """

    def __init__(self, view: "TranscriptView", context: ViewContext) -> None:
        super().__init__(view)
        self._view = view
        self._context = context
        self._lit: Place | None = None
        self._is_heard = False
        self._is_followed = True
        context.marks.playing_changed.connect(self._take_moment)

    def hear_word(self, spot: Spot) -> None:
        """Play a final word and what follows it in its row."""
        row = self._view.stack.row(spot.row)
        if spot.word < len(row.words):
            word = row.words[spot.word].word
            end = max(row.end(), word.start + 1)
            self._context.playback.play(word.start, end, is_aside=True)

    def hear_from(self, spot: Spot | None) -> None:
        """Play from a word, or a marked stretch, to the end."""
        if spot is not None:
            row = self._view.stack.row(spot.row)
            start = row.start if row.span is not None else row.word(spot.word).start
            self._context.playback.play(start)

    def toggle(self) -> None:
        """Pause, go on, or begin at the selection or the cursor."""
        self._context.playback.toggle()

    def stop(self) -> None:
        """Let nothing be heard."""
        self._context.playback.stop()

    def spot(self) -> Spot | None:
        """Return the word that is heard."""
        stack = self._view.stack
        return word_heard(stack.rows, stack.document, self._context.marks.playing)

    def leave(self) -> None:
        """Do not bring the spoken word into view: the reader has gone elsewhere."""
        self._is_followed = False

    @Slot()
    def _take_moment(self) -> None:
        playing = self._context.marks.playing
        if playing is None or not self._is_heard:
            self._is_followed = True
        self._is_heard = playing is not None
        spot = self.spot()
        rows = self._view.rows
        lit = place_of(rows, spot) if spot is not None else None
        if lit == self._lit:
            return
        before = spot_of(rows, self._lit) if self._lit else None
        self._lit = lit
        if spot is not None:
            self._keep_in_view(spot)
        for each in {here.row for here in (before, spot) if here is not None}:
            self._view.viewport().update(self._view.row_rect(each))

    def _keep_in_view(self, spot: Spot) -> None:
        if self._view.is_in_view(spot):
            # Where the reader has met the sound again, both go on together.
            self._is_followed = True
        elif self._is_followed and self._view.editors.spot is None:
            self._view.reveal(spot)
