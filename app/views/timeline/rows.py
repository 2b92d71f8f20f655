"""Whose rows a timeline shows: speakers as people see them, and the columns behind each."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from engine.core.types import USER_EPOCH, SpeakerId
from engine.text.activity import ActivityTrack
from engine.text.document import TranscriptDocument

_COARSE_FRAMES = 512
"""Frames that a row of the coarsest level of `ActivityTrack` covers."""


@dataclass(frozen=True, slots=True)
class TimelineRow:
    """A speaker's row.

    Args:
        speaker: as shown, merged speakers being one.
        columns: of the activity, which the row combines by maximum; none for whom the user made.
    """

    speaker: SpeakerId
    columns: tuple[SpeakerId, ...] = ()


@dataclass(frozen=True, slots=True)
class EpochStretch:
    """Frames [first, end) whose columns are the speakers of one epoch."""

    first: int
    end: int
    epoch: int


def epoch_stretches(track: ActivityTrack) -> Iterator[EpochStretch]:
    """Yield the epochs of a track in order of time."""
    first = 0
    while first < track.num_frames:
        end = track.epoch_end(first, track.num_frames)
        yield EpochStretch(first, end, track.epoch_at(first))
        first = end


def active_columns(track: ActivityTrack, threshold: float) -> tuple[SpeakerId, ...]:
    """Return every column that reaches a threshold anywhere in its epoch."""
    found: set[SpeakerId] = set()
    for stretch in epoch_stretches(track):
        first, end = stretch.first, stretch.end
        # Coarse rows are looked at where they belong to this epoch alone.
        low, high = -(-first // _COARSE_FRAMES), end // _COARSE_FRAMES
        parts = [track.rows(first, end)]
        if low < high:
            low, high = low * _COARSE_FRAMES, high * _COARSE_FRAMES
            parts = [
                track.rows(first, low),
                track.overview(low, high, 1)[0],
                track.rows(high, end),
            ]
        peaks = np.max([part.max(axis=0, initial=0) for part in parts], axis=0)
        slots = np.flatnonzero(peaks >= threshold).tolist()
        found |= {SpeakerId(stretch.epoch, slot) for slot in slots}
    return tuple(sorted(found))


def timeline_rows(
    document: TranscriptDocument,
    columns: tuple[SpeakerId, ...],
    epochs: frozenset[int],
    others: frozenset[SpeakerId] = frozenset(),
) -> tuple[TimelineRow, ...]:
    """Return the rows of the epochs in view, those of people the user made below.

    Args:
        document: whose speakers.
        columns: see `active_columns`.
        epochs: in view.
        others: speakers to show whatever their epoch, since they have words in view.
    """
    rows: dict[SpeakerId, list[SpeakerId]] = {}
    for column in columns:
        if column.epoch in epochs:
            rows.setdefault(document.resolve(column), []).append(column)
    for speaker in document.speakers:
        if speaker.epoch in epochs or speaker.epoch == USER_EPOCH or speaker in others:
            rows.setdefault(speaker, [])
    order = sorted(rows, key=lambda speaker: (speaker.epoch == USER_EPOCH, speaker))
    # All columns of a speaker, also of epochs out of view: the row is the same one there.
    return tuple(
        TimelineRow(speaker, tuple(c for c in columns if document.resolve(c) == speaker))
        for speaker in order
    )
