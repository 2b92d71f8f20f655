"""A stretch of a transcript as a transcript of its own, for export and the clipboard."""

import numpy as np

from engine.core.events import ActivityRevised
from engine.text.document import TranscriptDocument


def excerpt(document: TranscriptDocument, start: int, end: int) -> TranscriptDocument:
    """Return what was said and marked in [start, end), on the same clock.

    Args:
        document: left as it is.
        start: first sample.
        end: one past the last.
    """
    part = TranscriptDocument()
    part.recording, part.sample_rate = document.recording, document.sample_rate
    part.num_samples, part.is_complete = document.num_samples, document.is_complete
    part.is_trained = document.is_trained
    _copy_activity(document, part, start, end)
    part.copy_speech(document, start, end)
    for span in document.spans:
        if span.start < end and max(span.end, span.start + 1) > start:
            part.apply(span)
    return part


def _copy_activity(
    document: TranscriptDocument, part: TranscriptDocument, start: int, end: int
) -> None:
    activity = document.activity
    if activity.frame_ms == 0:
        return
    per_frame = activity.frame_ms * document.sample_rate
    first = max(0, start) * 1000 // per_frame
    stop = min(-(-end * 1000 // per_frame), activity.num_frames)
    while first < stop:
        # Epochs do not mix in one event.
        until = activity.epoch_end(first, stop)
        rows = activity.rows(first, until).astype(np.float32)
        part.activity.apply(
            ActivityRevised(
                first,
                activity.frame_ms,
                rows,
                min(until, activity.final_until),
                activity.epoch_at(first),
            )
        )
        first = until
