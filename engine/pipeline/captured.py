"""What an input brings, and what it needs."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from engine.audio.device import InputStream
from engine.core.events import Event
from engine.core.types import Pcm

EMPTY: Pcm = np.zeros(0, dtype=np.float32)


@dataclass(frozen=True, slots=True)
class InputHooks:
    """What an input needs from others. Thread: called on the capture thread, `open` on any.

    Args:
        open_input: opens an input by name, not started; raises EngineError.
        post: publishes an event.
        slept_s: seconds that the computer has slept in all, which the clock leaves out.
    """

    open_input: Callable[[str], InputStream]
    post: Callable[[Event], None]
    slept_s: Callable[[], float]


@dataclass(frozen=True, slots=True, eq=False)
class Captured:
    """What an input brought.

    Args:
        pcm: (n,) float32 at the session's rate.
        lost: samples that are missing just before.
        reason: why.
        is_same_gap: whether they lengthen the gap told last.
        is_end: no more will come.
        is_truncated: it ended before it should have.
    """

    pcm: Pcm
    lost: int = 0
    reason: str = ""
    is_same_gap: bool = False
    is_end: bool = False
    is_truncated: bool = False
