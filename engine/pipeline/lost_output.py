"""Gets a lost loudspeaker back: not too often, and with a word when it takes long."""

from collections.abc import Callable

from engine.core.errors import EngineError
from engine.core.events import Event, Notice, Severity

PATIENCE_S = 2.0
"""A sound server that is restarted is back by then; what takes longer is told."""
RETRY_S = 0.25
MAX_RETRY_S = 0.5
STEADY_S = 5.0
"""A loudspeaker that is lost again sooner comes and goes: it is given time."""
FLAP_S = 1.0
MAX_FLAP_S = 8.0


class LostOutput:
    """Says when to open a lost loudspeaker again. Thread: the one that plays.

    Args:
        now_s: host time.
        post: publishes an event.
    """

    def __init__(self, now_s: Callable[[], float], post: Callable[[Event], None]) -> None:
        self._now_s = now_s
        self._post = post
        self._error: EngineError | None = None
        self._since_s = 0.0
        self._next_s = 0.0
        self._retry_s = RETRY_S
        self._flap_s = 0.0
        self._back_at_s: float | None = None
        self._is_told = False
        self._opened_name: str | None = None  # of what was opened and has not been heard yet

    @property
    def is_lost(self) -> bool:
        """Whether there is no loudspeaker to play on."""
        return self._error is not None

    @property
    def wait_s(self) -> float:
        """Time until it is worth trying again."""
        return max(0.0, self._next_s - self._now_s())

    @property
    def message(self) -> str:
        """What happened, and what to do."""
        return "" if self._error is None else self._error.text

    def lose(self, error: EngineError) -> bool:
        """It was lost just now; return whether to tell that nothing is heard.

        One that was opened and never played a sample was not back at all.
        """
        if self._opened_name is not None:
            return self.fail(error)
        now_s = self._now_s()
        is_flapping = self._back_at_s is not None and now_s - self._back_at_s < STEADY_S
        self._flap_s = min(max(2 * self._flap_s, FLAP_S), MAX_FLAP_S) if is_flapping else 0.0
        self._error, self._since_s = error, now_s
        self._next_s, self._retry_s = now_s + self._flap_s, RETRY_S
        return False

    def fail(self, error: EngineError) -> bool:
        """It could not be opened; return whether to tell that nothing is heard, which is once."""
        now_s = self._now_s()
        self._error = error
        self._next_s = now_s + self._retry_s
        self._retry_s = min(2 * self._retry_s, MAX_RETRY_S)
        if self._is_told or now_s - self._since_s < PATIENCE_S:
            return False
        self._is_told = True
        advice = "It goes on by itself where it stopped as soon as there is a loudspeaker."
        self._post(
            Notice(
                Severity.WARNING,
                f"Nothing can be heard: {error.message}",
                f"{error.advice} {advice}".strip(),
                topic="output",
            )
        )
        return True

    def hurry(self) -> None:
        """Try at once: another loudspeaker was chosen."""
        self._next_s, self._retry_s = self._now_s(), RETRY_S

    def take_opened(self, name: str) -> None:
        """It is open again."""
        self._error, self._opened_name = None, name

    def take_heard(self) -> None:
        """Sound has left for the loudspeaker."""
        name, self._opened_name = self._opened_name, None
        if name is None:
            return
        self._back_at_s = self._now_s()
        is_told, self._is_told = self._is_told, False
        if is_told:
            message = f"The sound goes on with the loudspeaker {name}."
            self._post(Notice(Severity.INFO, message, topic="output"))
