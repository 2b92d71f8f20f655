"""What people chose who read with a screen reader, or are made sick by movement."""

from PySide6.QtCore import QObject, Slot

from app.access.announcer import Announcer, screen_reader
from app.access.motion import Motion
from app.i18n import tr
from app.layout import LayoutFile
from app.state import AppState
from app.views.timeline.speaker_timeline import SpeakerTimeline

MOTIONS = ("", "full", "reduced")


class AccessChoices(QObject):
    """Puts the choices in force and remembers them. Thread: main.

    Args:
        state: what happens.
        timeline: what moves.
        layout_file: remembers the choices.
    """

    def __init__(self, state: AppState, timeline: SpeakerTimeline, layout_file: LayoutFile) -> None:
        super().__init__(timeline)
        self._timeline = timeline
        self._layout_file = layout_file
        layout = layout_file.layout
        self.announcer = Announcer(state, screen_reader(timeline), self)
        self.announcer.set_enabled(layout.announces_lines)
        self.motion = Motion(layout.motion, self)
        self.motion.changed.connect(self._move)
        self._move(self.motion.is_reduced)

    @Slot(bool)
    def set_announces_lines(self, is_on: bool) -> None:
        """Tell new lines to a screen reader, or not."""
        self.announcer.set_enabled(is_on)
        self._layout_file.change(announces_lines=is_on)

    @Slot(str)
    def choose_motion(self, motion: str) -> None:
        """Choose one of `MOTIONS`."""
        self.motion.choose(motion)
        self._layout_file.change(motion=motion)

    @Slot(bool)
    def _move(self, is_reduced: bool) -> None:
        self._timeline.reduced_motion = is_reduced


def motion_titles() -> tuple[tuple[str, str], ...]:
    """Return `MOTIONS` with their titles."""
    titles = (tr("As the desktop prefers"), tr("The timeline glides"), tr("The timeline jumps"))
    return tuple(zip(MOTIONS, titles, strict=True))
