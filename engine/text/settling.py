"""Settled speaker activity brought onto the slots of the live one.

A slower diarizer numbers speakers by itself. Its slots are matched to those people know from the
live rows, by the time both say the same person speaks, over the whole recording so far: the more
is heard, the surer the match.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from engine.core.events import ActivityRevised
from engine.core.types import MAX_SPEAKERS
from engine.text.activity import ActivityTrack

_Rows = NDArray[np.floating]
_STAY = 0.5
"""Frames of overlap by which a new match must be better than the last one."""
_UNUSED = 0.25
"""Frames for which a slot that nobody has live is preferred to one that somebody else has."""
_IDENTITY = 0.01
_ACTIVE = 0.5


def overlap(live: _Rows, settled: _Rows) -> NDArray[np.float64]:
    """Return (S, L): in how many frames settled slot i and live slot j are active together.

    Args:
        live: (T, L) probabilities.
        settled: (T, S) probabilities of the same frames.
    """
    both = settled.astype(np.float64).T @ live.astype(np.float64)
    return np.asarray(both, dtype=np.float64)


def match_slots(
    overlaps: NDArray[np.float64], is_used: NDArray[np.bool_], previous: Sequence[int] = ()
) -> tuple[int, ...]:
    """Return the live slot of each settled slot: the assignment of most overlap.

    Args:
        overlaps: (S, L) frames of overlap, S at most L.
        is_used: (L,) whether somebody is active in a live slot.
        previous: the last match, which stays where another is not clearly better.

    Raises:
        ValueError: there are more settled slots than live ones.
    """
    # Of half a second to import, and not needed before the first window.
    from scipy.optimize import linear_sum_assignment

    num_settled, num_live = overlaps.shape
    if num_settled > num_live:
        raise ValueError(f"at most {num_live} settled slots can be matched, got {num_settled}")
    score = overlaps + np.where(is_used, 0.0, _UNUSED)
    for slot in range(num_settled):
        score[slot, slot] += _IDENTITY
        if slot < len(previous):
            score[slot, previous[slot]] += _STAY
    _, columns = linear_sum_assignment(score, maximize=True)
    return tuple(int(column) for column in columns)


@dataclass(slots=True)
class _Evidence:
    """What was heard of one live epoch together with one settled epoch."""

    overlaps: NDArray[np.float64]
    is_used: NDArray[np.bool_]
    match: tuple[int, ...] = ()


class SlotSettler:
    """Rewrites settled rows onto the slots of the live rows they replace.

    Memory: 600 bytes an epoch. Thread: the one that applies events.
    """

    def __init__(self) -> None:
        self._evidence: dict[tuple[int, int], _Evidence] = {}

    def settle(self, event: ActivityRevised, track: ActivityTrack) -> tuple[ActivityRevised, ...]:
        """Return the event on the track's grid, slots and epochs: an event for each epoch.

        Args:
            event: settled rows with slots and epoch of their own.
            track: the live rows; left as it is. Without any, the event keeps its slots.
        """
        if track.live_until == 0:
            return (event,)
        rows, first, final_until = track.on_grid(event)
        end = first + len(rows)
        settled: list[ActivityRevised] = []
        start = first
        while start < end:
            epoch = track.epoch_at(start)
            stop = track.epoch_end(start, end)
            part = rows[start - first : stop - first]
            columns = self._columns(part, track.live_rows(start, stop), (event.epoch, epoch))
            placed = np.zeros((len(part), MAX_SPEAKERS), np.float32)
            placed[:, columns] = part
            settled.append(
                replace(
                    event,
                    first_frame=start,
                    frame_ms=track.frame_ms,
                    probabilities=placed,
                    final_until=min(stop, final_until),
                    epoch=epoch,
                )
            )
            start = stop
        return tuple(settled)

    def _columns(self, settled: _Rows, live: _Rows, epochs: tuple[int, int]) -> list[int]:
        evidence = self._evidence.get(epochs)
        if evidence is None:
            evidence = self._evidence[epochs] = _Evidence(
                np.zeros((MAX_SPEAKERS, MAX_SPEAKERS)), np.zeros(MAX_SPEAKERS, np.bool_)
            )
        num_slots = settled.shape[1]
        # Live rows may end earlier: only frames that both have can tell.
        evidence.overlaps[:num_slots] += overlap(live, settled[: len(live)])
        evidence.is_used |= (live >= _ACTIVE).any(axis=0)
        evidence.match = match_slots(
            evidence.overlaps[:num_slots], evidence.is_used, evidence.match
        )
        return list(evidence.match)
