"""What a timeline paints, and how, for one picture of it."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtGui import QColor, QFont

from app.theme import Theme
from app.views.timeline.activity import RowActivity
from app.views.timeline.rows import TimelineRow
from app.views.timeline.sizes import TimelineLayout
from app.views.timeline.spans import SpanIndex
from app.views.timeline.words import WordIndex
from engine.text.document import TranscriptDocument

if TYPE_CHECKING:
    from app.levels import LevelHistory

WORDS_PX_PER_S = 70.0
"""From this zoom on most words have room to be read."""
NEAR_FRAMES = 4
"""Up to so many frames a pixel, bars are drawn one by one; beyond, shares of time."""


@dataclass(frozen=True, slots=True)
class TimelineScene:
    """Everything that the painted tiles depend on.

    Args:
        document: what is shown.
        rows: of its speakers.
        activity: of the rows.
        words: where its words are.
        spans: where its marked stretches are.
        levels: of its sound; None where there is none.
        layout: of the widget.
        theme: colours.
        px_s: how long a pixel is.
        duration_s: how long the recording is.
        font: of names.
        small_font: of times and words.
        draws_text: False leaves out everything written.
    """

    document: TranscriptDocument
    rows: tuple[TimelineRow, ...]
    activity: RowActivity
    words: WordIndex
    spans: SpanIndex
    levels: "LevelHistory | None"
    layout: TimelineLayout
    theme: Theme
    px_s: float
    duration_s: float
    font: QFont
    small_font: QFont
    draws_text: bool = True

    @property
    def shows_words(self) -> bool:
        """Whether the view is close enough for words to be read."""
        return self.draws_text and 1 / self.px_s >= WORDS_PX_PER_S

    @property
    def is_near(self) -> bool:
        """Whether bars are drawn one by one."""
        return self.px_s <= NEAR_FRAMES * self.activity.frame_s

    @property
    def samples_per_px(self) -> float:
        """How many samples of the document's clock a pixel covers."""
        return self.px_s * self.document.sample_rate

    @property
    def final_s(self) -> float:
        """Until when activity cannot change any more."""
        return self.document.activity.final_until * self.activity.frame_s

    def color(self, row: int) -> QColor:
        """Return the colour of a row's speaker."""
        return self.theme.speaker(self.document.speaker_color(self.rows[row].speaker))
