"""Opens an input again and again until it is there, on threads of its own and not too often."""

import logging
from collections.abc import Callable
from dataclasses import dataclass

from engine.audio.device import InputStream
from engine.core.attempt import Attempt
from engine.core.errors import EngineError
from engine.core.unexpected import UnexpectedError, told

logger = logging.getLogger(__name__)

RETRY_S = 0.25
MAX_RETRY_S = 0.5
"""Between two attempts."""
STEADY_S = 5.0
"""A device that is lost again sooner comes and goes: it is given time."""
FLAP_S = 1.0
MAX_FLAP_S = 4.0
OFFER_S = 5.0
"""By then somebody should be told what else there is."""
WAIT_S = 0.2
"""Time that whoever asks waits for an attempt under way."""


@dataclass(frozen=True, slots=True)
class Opened:
    """A stream that has been started.

    Args:
        stream: it.
        at_s: before its first sample can have been taken.
    """

    stream: InputStream
    at_s: float


class Reopening:
    """Attempts to open one input. Thread: the one that asks; attempts run on theirs.

    Args:
        open_input: opens an input by name, not started.
        now_s: world time.
    """

    def __init__(
        self, open_input: Callable[[str], InputStream], now_s: Callable[[], float]
    ) -> None:
        self._open_input = open_input
        self._now_s = now_s
        self._attempt: Attempt[Opened] | None = None
        self._old: InputStream | None = None
        self._next_s = 0.0
        self._retry_s = RETRY_S
        self._flap_s = 0.0
        self._back_at_s: float | None = None
        self.name = ""
        self.error: EngineError | None = None
        """Why the last attempt failed; None before any has."""

    @property
    def is_trying(self) -> bool:
        """Whether an attempt is under way."""
        return self._attempt is not None

    def begin(self, name: str, old: InputStream | None = None) -> None:
        """Try from now on.

        Args:
            name: what to open.
            old: closed first, as some devices can be opened but once.
        """
        self.give_up()
        now_s = self._now_s()
        is_flapping = self._back_at_s is not None and now_s - self._back_at_s < STEADY_S
        self._back_at_s = None
        if old is None or not is_flapping:
            self._flap_s = 0.0
        else:
            self._flap_s = min(max(2 * self._flap_s, FLAP_S), MAX_FLAP_S)
        self.name, self._old, self.error = name, old, None
        self._next_s = now_s + self._flap_s
        self._retry_s = RETRY_S

    def take(self) -> Opened | None:
        """Return the stream once it is open; waits for it, a fifth of a second at most."""
        if self._attempt is None:
            if self._now_s() < self._next_s:
                return None
            self._attempt = self._try()
        if not self._attempt.wait(WAIT_S):
            return None
        attempt, self._attempt = self._attempt, None
        try:
            opened = attempt.result()
        except Exception as error:  # noqa: BLE001 - whatever a library says, it is tried again
            self._fail(error)
        else:
            self._back_at_s = opened.at_s
            return opened
        self._next_s = self._now_s() + self._retry_s
        self._retry_s = min(2 * self._retry_s, MAX_RETRY_S)
        return None

    def give_up(self) -> None:
        """Try no more; what is opened all the same is closed."""
        if self._attempt is not None:
            self._attempt.give_up()
            self._attempt = None
        old, self._old = self._old, None
        if old is not None:
            Attempt(old.close)

    def _fail(self, error: Exception) -> None:
        # Once, not twice a second for as long as the device is away.
        if not isinstance(error, EngineError) and not isinstance(self.error, UnexpectedError):
            logger.error("the input %s could not be opened", self.name, exc_info=error)
        self.error = told(error)

    def _try(self) -> Attempt[Opened]:
        name, open_input, now_s = self.name, self._open_input, self._now_s
        old, self._old = self._old, None

        def open_and_start() -> Opened:
            if old is not None:
                old.close()
            stream = open_input(name)
            at_s = now_s()
            try:
                stream.start()
            except Exception:
                stream.close()
                raise
            return Opened(stream, at_s)

        return Attempt(open_and_start, lambda opened: opened.stream.close(), "vivavoce-reopen")
