"""The loudspeaker's one stream, which stays open between what is heard."""

import threading
from collections.abc import Callable

from engine.audio.device import OutputStream


class Loudspeaker:
    """Opens the output when it is first needed and counts its underflows across openings.

    Several threads may share it, as some devices can be opened but once: all that touch it or its
    stream do so while they hold `held`.

    Thread: whichever holds `held`; `num_underflows` is read by any.

    Args:
        open_output: opens and starts the chosen output.
    """

    def __init__(self, open_output: Callable[[], OutputStream]) -> None:
        self.held = threading.Lock()
        self._open_output = open_output
        self._stream: OutputStream | None = None
        self._num_seen = 0  # of the open stream's underflows
        # NB: written by whichever thread holds it.
        self.num_underflows = 0

    def open(self) -> OutputStream:
        """Return the open stream, opening it if need be.

        Raises:
            DeviceError: it cannot be opened.
        """
        if self._stream is None:
            self._stream = self._open_output()
            self._num_seen = 0
        return self._stream

    def count(self, num_bridged: int = 0) -> None:
        """Take note of the stream's underflows, and of those that were bridged."""
        self.num_underflows += num_bridged
        if self._stream is not None:
            seen = self._stream.num_underflows
            self.num_underflows += seen - self._num_seen
            self._num_seen = seen

    def close(self) -> None:
        """Release the device; the next `open` opens it anew."""
        self.count()
        stream, self._stream = self._stream, None
        if stream is not None:
            stream.close()
