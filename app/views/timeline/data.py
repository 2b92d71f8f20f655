"""What a timeline knows of the shown document, kept up to date as it grows and is edited."""

import math

from app.views.timeline.activity import RowActivity
from app.views.timeline.rows import (
    TimelineRow,
    active_columns,
    epoch_stretches,
    timeline_rows,
)
from app.views.timeline.spans import SpanIndex
from app.views.timeline.words import WordIndex
from engine.core.types import USER_EPOCH, SpeakerId
from engine.text.attribution import ACTIVE
from engine.text.document import TranscriptDocument


class TimelineData:
    """Rows, activity, words and spans of one document. Thread: main.

    The methods that take something in return from which second on pictures are out of date:
    infinity where none is, 0 where all are.

    Args:
        document: what is shown.
        threshold: a speaker is active where the probability is at least this.
    """

    def __init__(self, document: TranscriptDocument, threshold: float) -> None:
        self.document = document
        self.activity = RowActivity(document, threshold)
        self.words = WordIndex(document)
        self.spans = SpanIndex(document)
        self.rows: tuple[TimelineRow, ...] = ()
        self._view_s = (0.0, math.inf)
        self._partial_s = math.inf
        self._columns: tuple[SpeakerId, ...] = ()
        self._columns_of: tuple[int, float] | None = None
        self.words.update(0)
        self._refresh_rows(is_forced=True)

    def take_activity(self) -> float:
        """Take in new or revised probabilities."""
        first = self.activity.update()
        from_s = first * self.activity.frame_s if first < self.activity.num_frames else math.inf
        return 0.0 if self._refresh_rows() else from_s

    def take_lines(self, first: int) -> float:
        """Take in lines that changed from an index on."""
        lines = self.document.lines
        changed = self.words.update(lines[first].first if first < len(lines) else 0)
        if changed is None:
            return math.inf
        sample, has_locked = changed
        if self._refresh_rows(is_forced=has_locked):
            return 0.0
        return self.document.seconds(sample)

    def take_partial(self) -> float:
        """Take in other words that may still change."""
        partial, before_s = self.document.partial, self._partial_s
        self._partial_s = self.document.seconds(partial[0].start) if partial else math.inf
        return min(before_s, self._partial_s)

    def take_spans(self) -> float:
        """Take in marked stretches."""
        first = self.spans.update()
        return math.inf if first is None else self.document.seconds(first)

    def take_speakers(self) -> float:
        """Take in who is one person, and who is called and coloured how."""
        self._refresh_rows()
        return 0.0

    def set_threshold(self, threshold: float) -> float:
        """Draw the line between active and not elsewhere."""
        self.activity.set_threshold(threshold)
        self._refresh_rows()
        return 0.0

    def set_view(self, start_s: float, end_s: float) -> bool:
        """Tell what is in view; return whether other rows belong to it."""
        self._view_s = (start_s, end_s)
        return self._refresh_rows()

    def _refresh_rows(self, *, is_forced: bool = False) -> bool:
        track = self.document.activity
        threshold = min(self.activity.threshold, ACTIVE)
        if self._columns_of != (track.revision, threshold):
            self._columns = active_columns(track, threshold)
            self._columns_of = (track.revision, threshold)
        rows = timeline_rows(self.document, self._columns, *self._in_view())
        if rows == self.rows and not is_forced:
            return False
        self.rows = rows
        self.activity.set_rows(rows, self.words.locked)
        return True

    def _in_view(self) -> tuple[frozenset[int], frozenset[SpeakerId]]:
        """Return the epochs in view, and who else has words there by the user's word."""
        track = self.document.activity
        stretches = list(epoch_stretches(track))
        if len(stretches) < 2:
            known = {stretch.epoch for stretch in stretches}
            known |= {speaker.epoch for speaker in self.document.speakers}
            return frozenset(known - {USER_EPOCH}), frozenset()
        start, end = (second / self.activity.frame_s for second in self._view_s)
        epochs = frozenset(s.epoch for s in stretches if s.first < end and s.end > start)
        # A view beyond the end belongs to the newest speakers.
        epochs = epochs or frozenset([stretches[-1].epoch])
        starts, ends, speakers = self.words.locked
        low, high = (second * self.document.sample_rate for second in self._view_s)
        others = frozenset(
            speaker
            for first, stop, who in zip(starts.tolist(), ends.tolist(), speakers, strict=True)
            if first < high and stop > low
            for speaker in who
        )
        return epochs, others
