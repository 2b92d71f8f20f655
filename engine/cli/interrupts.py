"""Ctrl-C as a wish: the first asks for a clean end, the second for an end at once."""

import signal
import threading
from types import FrameType, TracebackType
from typing import Any, Self

from engine.core.sync import CancelToken

URGENT_S = 2.0
"""What is given to finish when the system wants the program to end."""
_SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")


class Interrupts:
    """Takes over Ctrl-C, SIGTERM and SIGHUP while it is entered. Thread: main.

    Attributes:
        stop: set by the first.
        discard: set by the second, and two seconds after SIGTERM or SIGHUP, which come from a
            system that will not wait; a third ends the program there and then.
        is_urgent: whether one of those has come.
    """

    def __init__(self) -> None:
        self.stop = CancelToken()
        self.discard = CancelToken()
        self.is_urgent = False
        self._timer = threading.Timer(URGENT_S, self.discard.cancel)
        self._timer.daemon = True
        self._old: dict[int, Any] = {}

    def __enter__(self) -> Self:
        for name in _SIGNALS:
            number = getattr(signal, name, None)
            # One that is ignored, as with nohup, stays so.
            if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
                self._old[number] = signal.signal(number, self._take)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._timer.cancel()
        for number, handler in self._old.items():
            signal.signal(number, handler)

    def _take(self, number: int, frame: FrameType | None) -> None:
        if self.discard.is_cancelled:
            raise KeyboardInterrupt
        if number != signal.SIGINT:
            if not self.is_urgent:
                self.is_urgent = True
                self._timer.start()
        elif self.stop.is_cancelled:
            self.discard.cancel()
        self.stop.cancel()
