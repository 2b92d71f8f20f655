"""Ctrl-C as a wish: the first asks for a clean end, the second for an end at once."""

import signal
from types import FrameType, TracebackType
from typing import Any, Self

from engine.core.sync import CancelToken


class Interrupts:
    """Takes over Ctrl-C and SIGTERM while it is entered. Thread: main.

    Attributes:
        stop: set by the first.
        discard: set by the second; a third ends the program there and then.
    """

    def __init__(self) -> None:
        self.stop = CancelToken()
        self.discard = CancelToken()
        self._old: dict[int, Any] = {}

    def __enter__(self) -> Self:
        for number in (signal.SIGINT, signal.SIGTERM):
            self._old[number] = signal.signal(number, self._take)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for number, handler in self._old.items():
            signal.signal(number, handler)

    def _take(self, number: int, frame: FrameType | None) -> None:
        if self.discard.is_cancelled:
            raise KeyboardInterrupt
        if self.stop.is_cancelled:
            self.discard.cancel()
        self.stop.cancel()
