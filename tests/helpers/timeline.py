"""A speaker timeline by itself: no window, no session; playing is only noted."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np
from PySide6.QtCore import QPoint, QRect
from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.editing import Editing
from app.marks import Marks
from app.playback import Playback
from app.state import AppState
from app.theme import Appearance, Theme
from app.views.context import ViewContext
from app.views.timeline.speaker_timeline import SpeakerTimeline
from engine.core.events import ActivityRevised, EditEvent
from engine.core.types import MAX_SPEAKERS, SpeakerId
from tests.helpers.transcript import NotedPlayback
from tests.helpers.window import FRAME_MS, RATE, conversation

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot


@dataclass
class TimelineParts:
    """A timeline at the foot of a window, and what it works with."""

    window: QWidget
    view: SpeakerTimeline
    state: AppState
    marks: Marks
    editing: Editing
    playback: NotedPlayback
    appearance: Appearance

    @property
    def theme(self) -> Theme:
        """The colours in force."""
        return self.appearance.theme

    def picture(self) -> QImage:
        """Return the timeline as it is painted."""
        return self.view.grab().toImage()

    def x(self, time_s: float) -> int:
        """Return the pixel of a moment."""
        return round(self.view.x_of(round(time_s * RATE)))

    def bar_y(self, row: int) -> int:
        """Return a height inside of a row's bars, above their pattern."""
        rect = self.view.row_rect_on_widget(row)
        return rect.top() + rect.height() // 2 - 2

    def color(self, time_s: float, row: int) -> QColor:
        """Return what is painted inside of a row's bar at a moment."""
        return self.picture().pixelColor(self.x(time_s), self.bar_y(row))

    def point(self, time_s: float, y: int | None = None) -> QPoint:
        """Return a place in the rows, or at a height, at a moment."""
        return QPoint(self.x(time_s), self.view.sizes.top + 8 if y is None else y)

    def words(self, start_s: float, end_s: float) -> list[int]:
        """Return the ids of the words that begin in a stretch."""
        return [
            entry.id
            for entry in self.state.document.words
            if start_s <= entry.word.start / RATE < end_s
        ]


def make_timeline(size: tuple[int, int] = (1240, 800), theme: str = "light") -> TimelineParts:
    """Return a shown timeline whose edits are applied at once, as a session does."""
    state, marks, playback = AppState(), Marks(), NotedPlayback()

    def keep(events: Sequence[EditEvent]) -> None:
        state.take(events)

    editing, appearance = Editing(state, keep), Appearance(theme)
    view = SpeakerTimeline(
        ViewContext(state, appearance, marks, editing, cast("Playback", playback))
    )
    window = QWidget()
    column = QVBoxLayout(window)
    column.setContentsMargins(0, 0, 0, 0)
    column.addWidget(QWidget(), 1)
    column.addWidget(view)
    window.resize(*size)
    window.show()
    return TimelineParts(window, view, state, marks, editing, playback, appearance)


def open_timeline(qtbot: "QtBot", *, is_empty: bool = False) -> Iterator[TimelineParts]:
    """Yield a shown timeline, of the conversation if it is not to be empty, and close it."""
    parts = make_timeline()
    qtbot.addWidget(parts.window)
    if not is_empty:
        parts.state.take(list(conversation()))
        parts.view.set_duration(26.4)
    qtbot.waitUntil(lambda: parts.view.height() == parts.view.sizeHint().height())
    parts.view.setFocus()
    yield parts
    parts.window.close()


def count(image: QImage, rect: QRect, color: QColor) -> int:
    """Return how many pixels of a rectangle have a colour."""
    wanted = color.rgb()
    return sum(
        image.pixel(x, y) == wanted
        for x in range(rect.left(), rect.right() + 1)
        for y in range(rect.top(), rect.bottom() + 1)
    )


def rows(
    turns: Sequence[tuple[int, float, float]],
    end_s: float,
    *,
    first_s: float = 0.0,
    epoch: int = 0,
    probability: float = 0.9,
    is_settled: bool = False,
) -> ActivityRevised:
    """Return final rows in which speakers (slot, start, end in seconds) are active."""
    first, num_frames = round(first_s * 1000 / FRAME_MS), round((end_s - first_s) * 1000 / FRAME_MS)
    probabilities = np.zeros((num_frames, MAX_SPEAKERS), np.float32)
    for slot, start_s, stop_s in turns:
        low, high = ((s - first_s) * 1000 / FRAME_MS for s in (start_s, stop_s))
        probabilities[round(low) : round(high), slot] = probability
    return ActivityRevised(
        first, FRAME_MS, probabilities, first + num_frames, epoch, is_settled=is_settled
    )


A, B, C = (SpeakerId(0, slot) for slot in range(3))
USER = SpeakerId(-1, 0)
