"""Tells on standard error how a session is doing."""

from collections.abc import Iterable

from engine.audio.files import TRUNCATED_TOPIC
from engine.cli.console import Console
from engine.core.events import (
    BackendChanged,
    BackendState,
    Event,
    Notice,
    RecordingStarted,
    SessionState,
    Severity,
    StateChanged,
)
from engine.core.types import BackendKind

_DOES = {
    BackendKind.RECOGNIZER: "words",
    BackendKind.DIARIZER: "speakers",
    BackendKind.SYNTHESIZER: "voice",
    BackendKind.ENCODER: "settled speakers",
}


class Reporter:
    """Shows loading and finishing in place, notices as lines. Thread: the event thread.

    Errors that end the command are left to it: those before the recording began, and a recognizer
    that cannot be had.

    Attributes:
        has_failed: whether something went wrong that the command has not been told otherwise.
        failed: kinds of backends that could not be loaded.
        recording: what the running recording is.
        is_input_truncated: whether the file that was read ended before it should have.
    """

    def __init__(self, console: Console) -> None:
        self._console = console
        self._ready: dict[BackendKind, str] = {}
        self._done: frozenset[BackendKind] = frozenset()
        self.has_failed = False
        self.failed: frozenset[BackendKind] = frozenset()
        self.recording: RecordingStarted | None = None
        self.is_input_truncated = False

    def take(self, event: Event) -> None:
        """Take an event in."""
        match event:
            case BackendChanged():
                self._take_backend(event)
            case RecordingStarted():
                self.recording = event
            case StateChanged(state=SessionState.STOPPING, detail=detail):
                self._console.status(detail)
            case Notice():
                self._take_notice(event)
            case _:
                pass

    def is_complete(self, kinds: Iterable[BackendKind]) -> bool:
        """Whether each of the backends is ready, off, or has failed."""
        return self._done >= set(kinds)

    def models(self) -> str:
        """Return which models do what and where: "words by …, speakers by …"."""
        return ", ".join(f"{_DOES[kind]} by {text}" for kind, text in self._ready.items())

    def _take_backend(self, event: BackendChanged) -> None:
        if event.state is not BackendState.LOADING:
            self._done |= {event.kind}
        match event.state:
            case BackendState.LOADING:
                share = f" {event.progress:.0%}" if event.progress >= 0 else ""
                self._console.status(f"{event.title}: {event.message or 'loading'}{share}")
            case BackendState.READY:
                self._console.status("")
                self._ready[event.kind] = f"{event.title} ({event.device})"
                if not event.is_trained:
                    self._console.note(
                        f"{event.title} has untrained weights: its output means nothing."
                    )
            case BackendState.FAILED:
                self._console.status("")
                self.failed |= {event.kind}
            case BackendState.OFF:
                pass

    def _take_notice(self, event: Notice) -> None:
        is_left_to_command = event.severity is Severity.ERROR and (
            self.recording is None or BackendKind.RECOGNIZER in self.failed
        )
        if is_left_to_command:
            return
        self.has_failed = self.has_failed or event.severity is Severity.ERROR
        self.is_input_truncated = self.is_input_truncated or event.topic == TRUNCATED_TOPIC
        self._console.note(f"{event.message} {event.advice}")
