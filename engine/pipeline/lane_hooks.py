"""What a lane needs from its session."""

from collections.abc import Callable
from dataclasses import dataclass

from engine.core.errors import ComputeDeviceError
from engine.core.events import Event
from engine.core.sync import CancelToken
from engine.pipeline.stream_run import LaneBackend


def _no_other_device(error: ComputeDeviceError, cancel: CancelToken) -> LaneBackend:
    raise error


@dataclass(frozen=True, slots=True)
class LaneHooks:
    """What a lane needs from its session. Thread: called on the lane's thread.

    Args:
        wait_for_backend: blocks until the backend is ready; None if there is none or it failed.
        post: publishes an event.
        next_mark_id: numbers marked spans.
        next_epoch: numbers speaker epochs (see `engine.core.types.SpeakerId`).
        now_s: host time, for delays.
        is_live: whether audio comes at its own pace: only then is a backlog a delay to cut.
        marks_lost: whether audio that the lane has missed is told, and filled in: not if the
            recording is complete without it.
        move_to_cpu: blocks until the backend is ready on the CPU, its GPU having failed; raises
            EngineError where it cannot be had there.
    """

    wait_for_backend: Callable[[CancelToken], LaneBackend | None]
    post: Callable[[Event], None]
    next_mark_id: Callable[[], int]
    next_epoch: Callable[[], int]
    now_s: Callable[[], float]
    is_live: bool = True
    marks_lost: bool = True
    move_to_cpu: Callable[[ComputeDeviceError, CancelToken], LaneBackend] = _no_other_device
