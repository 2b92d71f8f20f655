"""Events as JSON Lines on standard output, for programs (docs/events.md)."""

from engine.cli.console import Console
from engine.core.events import Event
from engine.store.event_json import encode_event, schema_line


class JsonPrinter:
    """Prints every event as a line. Thread: the event thread."""

    def __init__(self, console: Console) -> None:
        self._console = console
        console.line(schema_line().decode().rstrip("\n"))

    def take(self, event: Event) -> None:
        """Print an event."""
        self._console.line(encode_event(event).decode().rstrip("\n"))
