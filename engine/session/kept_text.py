"""The events of a recording on their way to the disk, also while the disk refuses them."""

import logging
from collections.abc import Callable

import numpy as np

from engine.core.errors import StoreError
from engine.core.events import ActivityRevised, Event, Notice, Severity
from engine.session.kept_file import KeptFile
from engine.store.journal_files import EventJournal
from engine.text.activity import ActivityTrack
from engine.text.document import TranscriptDocument

logger = logging.getLogger(__name__)
TENTATIVE_S = 2.0
"""Length of speaker rows that a crash may take at most."""
TEXT_ADVICE = "Export the transcript before you close it."


class KeptText(KeptFile):
    """The journal's events as the session sees them.

    Speaker rows are written once as they first come, every two seconds, and once when they are
    final: a live diarizer says the newest seconds many times over, and a crash must not take who
    spoke in them. What the disk does not take is held in memory, all of it. Thread: `append` on the
    one that takes events, which never waits for the disk; `write` and `sync` as `KeptFile` says.

    Args:
        events: the journal's.
        post: publishes an event.
    """

    def __init__(self, events: EventJournal, post: Callable[[Event], None]) -> None:
        super().__init__(events, post)
        self._events = events
        self._num_final_frames = 0
        self._num_frames = 0

    def append(self, event: Event, document: TranscriptDocument) -> None:
        """Take an event that `document` has taken in."""
        if isinstance(event, ActivityRevised) and not event.is_settled:
            self._append_rows(document.activity)
        else:
            self._events.hold(event)

    def _append_rows(self, activity: ActivityTrack) -> None:
        final_until = activity.final_until
        self._hold_rows(activity, self._num_final_frames, final_until)
        self._num_final_frames = max(self._num_final_frames, final_until)
        first = max(self._num_frames, final_until)
        if (activity.num_frames - first) * activity.frame_ms >= 1000 * TENTATIVE_S:
            self._hold_rows(activity, first, activity.num_frames)
            self._num_frames = activity.num_frames

    def _hold_rows(self, activity: ActivityTrack, first: int, end: int) -> None:
        # Epochs do not mix in one event: rows of the old one end where the new one begins.
        while first < end:
            epoch = activity.epoch_at(first)
            stop = first + 1
            while stop < end and activity.epoch_at(stop) == epoch:
                stop += 1
            rows = activity.rows(first, stop).astype(np.float32)
            final_until = min(stop, activity.final_until)
            self._events.hold(ActivityRevised(first, activity.frame_ms, rows, final_until, epoch))
            first = stop

    def _refused(self, error: StoreError) -> Notice:
        return text_refused(error)

    def _taken_again(self) -> Notice:
        return Notice(
            Severity.INFO,
            "The disk takes the text again; none of it was lost.",
            topic="kept text",
        )


def text_refused(error: StoreError) -> Notice:
    """Return what to tell when the disk does not take what is said or changed."""
    logger.error("events are not written: %s", error)
    return Notice(
        Severity.ERROR,
        error.message,
        f"{error.advice} {TEXT_ADVICE}",
        topic="kept text",
    )
