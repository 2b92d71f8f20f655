"""Lets the user hear what was recorded, from the shown document."""

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from app.controller import Controller
from app.i18n import tr
from app.marks import Marks
from app.state import AppState
from engine.core.events import Notice, PlayState, Severity

_INTERVAL_MS = 33
_AT_WORK = (PlayState.PLAYING, PlayState.PAUSED)


class Playback(QObject):
    """Plays the shown document's audio and keeps `marks.playing` where the sound is. Thread: main.

    Nothing here blocks. What cannot be heard is told by a notice.

    Signals:
        changed: it plays, is paused, or has ended.

    Args:
        state: what is shown, and what the engine says about playing.
        controller: holds the session.
        marks: cursor and selection say where to begin; `playing` is kept up to date.
    """

    changed = Signal()

    def __init__(
        self, state: AppState, controller: Controller, marks: Marks, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._state = state
        self._controller = controller
        self._marks = marks
        self._play_state = PlayState.ENDED
        self._is_aside = False
        self._told = ""
        self._timer = QTimer(self)
        self._timer.setInterval(_INTERVAL_MS)
        self._timer.timeout.connect(self._follow)
        state.play_changed.connect(self._take)
        state.document_replaced.connect(self._leave)

    @property
    def is_playing(self) -> bool:
        """Whether audio is heard, or will be in a moment; not while it is paused."""
        return self._play_state is PlayState.PLAYING

    @property
    def is_paused(self) -> bool:
        """Whether playing was interrupted and can go on."""
        return self._play_state is PlayState.PAUSED

    def play(self, start: int, end: int | None = None, *, is_aside: bool = False) -> None:
        """Play a stretch instead of what is played now.

        Args:
            start: first sample, on the document's clock.
            end: one past the last; None for all there is.
            is_aside: it comes with a click that may mean something else: why nothing is heard is
                told once a document, not once a click.
        """
        self._is_aside = is_aside
        session = self._controller.session
        if session is None:
            self._state.add_notice(
                Notice(
                    Severity.INFO,
                    tr("Nothing can be heard yet: the program is still starting."),
                    tr("Try again in a moment."),
                )
            )
            return
        session.play(start, end, self._state.stored_id)
        self._marks.set_playing(None)
        self._enter(PlayState.PLAYING)

    @Slot()
    def toggle(self) -> None:
        """Pause or go on; when nothing plays, begin at the selection, the cursor or the start."""
        session = self._controller.session
        if session is not None and self.is_playing:
            session.pause_playing()
        elif session is not None and self.is_paused:
            session.resume_playing()
        elif self._marks.selection is not None:
            self.play(*self._marks.selection)
        else:
            self.play(self._marks.cursor or 0)

    @Slot()
    def stop(self) -> None:
        """Play no more; the engine fades out."""
        session = self._controller.session
        if session is not None and self._play_state in _AT_WORK:
            session.stop_playing()
            self._enter(PlayState.ENDED)

    @Slot()
    def _take(self) -> None:
        play, session = self._state.play, self._controller.session
        if play is None:
            return
        if play.state is PlayState.FAILED:
            self._tell(play.message)
        is_over = play.state not in _AT_WORK
        # What ended may have given way to what was asked for since.
        if is_over and session is not None and session.is_playing:
            return
        # What plays may have been stopped since, and says so next.
        if not is_over and self._play_state not in _AT_WORK:
            return
        self._enter(play.state)

    def _tell(self, message: str) -> None:
        if not self._is_aside or message != self._told:
            self._state.add_notice(Notice(Severity.WARNING, message))
        self._told = message

    @Slot()
    def _leave(self) -> None:
        self._told = ""
        self.stop()

    def _enter(self, play_state: PlayState) -> None:
        if play_state is PlayState.PLAYING:
            self._timer.start()
        else:
            self._timer.stop()
        self._play_state = play_state
        self._follow()
        self.changed.emit()

    @Slot()
    def _follow(self) -> None:
        session = self._controller.session
        if self._play_state not in _AT_WORK or session is None:
            self._marks.set_playing(None)
            return
        sample = session.playing_at()
        # None until the sound has come through: what was heard before it stays as it is.
        if sample is not None:
            self._marks.set_playing(sample)
