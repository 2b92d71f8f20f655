"""Lets the lanes of a recording finish: as long as they get on, and not for ever."""

import logging
import threading
from collections.abc import Callable, Sequence

from engine.pipeline.lane import Lane

logger = logging.getLogger(__name__)

STALLED_S = 30.0
"""A lane that gets no further for so long is given up: no block takes as long as that."""
DISCARD_S = 3.0
"""What a lane may take to notice that it is not waited for: about a block."""
_TELL_S = 0.5
_POLL_S = 0.25


class LaneFinish:
    """Waits for lanes whose audio has ended.

    Args:
        lanes: started, or never.
    """

    def __init__(self, lanes: Sequence[Lane]) -> None:
        self._lanes = lanes
        self._is_discarding = threading.Event()

    @property
    def is_discarding(self) -> bool:
        """Whether what is not worked through is given up."""
        return self._is_discarding.is_set()

    def discard(self) -> None:
        """Give up what the lanes have not worked through. Thread: any."""
        self._is_discarding.set()
        for lane in self._lanes:
            lane.cancel()

    def run(self, on_wait: Callable[[int], None]) -> tuple[Lane, ...]:
        """Block until every lane has ended, or does not get on.

        Args:
            on_wait: called about every half second with the samples still to be worked through.

        Returns:
            The lanes that were given up; their threads have not ended.
        """
        return tuple(lane for lane in self._lanes if not self._wait_for(lane, on_wait))

    def _wait_for(self, lane: Lane, on_wait: Callable[[int], None]) -> bool:
        # Counted in waits, not on the session's clock, which may stand still or run.
        still_s = told_s = 0.0
        num_steps, was_discarding = lane.num_steps, False
        while not lane.join(_POLL_S):
            if lane.is_abandoned:
                return False
            told_s += _POLL_S
            is_discarding = self._is_discarding.is_set()
            if lane.is_waiting and not is_discarding:
                # For its backend, which may take its time to load.
                still_s = 0.0
            if lane.num_steps != num_steps or is_discarding != was_discarding:
                still_s, num_steps, was_discarding = 0.0, lane.num_steps, is_discarding
            still_s += _POLL_S
            if still_s > (DISCARD_S if is_discarding else STALLED_S):
                logger.warning("the %s does not return and is given up", lane.name)
                lane.abandon()
                return False
            if told_s >= _TELL_S:
                told_s = 0.0
                on_wait(max(each.backlog + each.num_left_out for each in self._lanes))
        return True
