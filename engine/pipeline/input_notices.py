"""What is told about the microphone while a recording goes on."""

from collections.abc import Callable

from engine.core.errors import EngineError
from engine.core.events import Event, Notice, Severity
from engine.core.timebase import format_time


class InputNotices:
    """Tells what becomes of the microphone, once each time. Thread: capture.

    Args:
        title: the device's name.
        post: publishes an event.
    """

    def __init__(self, title: str, post: Callable[[Event], None]) -> None:
        # NB: written by the capture thread, read by any.
        self.title = title
        self._post = post
        self._is_loss_told = False

    def lost(self, error: EngineError) -> None:
        """It is gone, or brings nothing."""
        self._is_loss_told = True
        self._tell(
            Severity.WARNING,
            f"The microphone {self.title} was lost: {error.message}",
            "Recording goes on by itself when it is back. Or choose another input: recording goes "
            "on there at once.",
        )

    def still_lost(self, error: EngineError) -> None:
        """It has been gone for a while; the error says what else there is."""
        self._tell(
            Severity.WARNING,
            f"The microphone {self.title} is not back yet: {error.message}",
            f"{error.advice} Recording goes on as soon as the chosen input is there.".strip(),
        )

    def back(self, title: str, lost_s: float) -> None:
        """Samples come again, from the same device or another."""
        is_told, self._is_loss_told = self._is_loss_told, False
        if title != self.title:
            self.title = title
            message = f"Recording goes on with the microphone {title}; {lost_s:.1f} s were lost."
            self._tell(Severity.INFO, message)
        elif is_told:
            message = f"The microphone {title} is back; {lost_s:.1f} s were lost."
            self._tell(Severity.INFO, message)

    def now(self, title: str) -> None:
        """The samples come from this device; nothing is told if they did before."""
        if title != self.title:
            self.title = title
            self._tell(Severity.INFO, f"Recording goes on with the microphone {title}.")

    def refused(self, error: EngineError) -> None:
        """Another input was chosen and cannot be opened."""
        self._tell(
            Severity.ERROR,
            error.message,
            f"{error.advice} Recording goes on with {self.title}.".strip(),
        )

    def woke(self, slept_s: float) -> None:
        """The computer slept."""
        message = f"The computer slept for {format_time(slept_s)}. Recording goes on."
        self._tell(Severity.INFO, message)

    def _tell(self, severity: Severity, message: str, advice: str = "") -> None:
        self._post(Notice(severity, message, advice, topic="input", ends_with_recording=True))
