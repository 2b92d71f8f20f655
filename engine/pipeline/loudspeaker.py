"""The loudspeaker's one stream, which stays open between what is heard."""

import logging
import threading
from collections.abc import Callable

from engine.audio.device import OutputStream
from engine.core.attempt import Attempt
from engine.core.errors import CancelledError, DeviceError, EngineError
from engine.core.sync import CancelToken
from engine.core.unexpected import told

logger = logging.getLogger(__name__)

SLEEP_S = 1.0
"""A computer that has slept for so long may have changed its devices."""
_POLL_S = 0.05


class Loudspeaker:
    """Opens the output when it is first needed and counts its underflows across openings.

    Several threads may share it, as some devices can be opened but once: all that touch it or its
    stream do so while they hold `held`.

    Thread: whichever holds `held`; the numbers of underflows are read by any.

    Args:
        open_output: opens and starts the chosen output. Thread: one of its own, as it may hang.
        slept_s: seconds that the computer has slept in all.
    """

    def __init__(
        self,
        open_output: Callable[[], OutputStream],
        slept_s: Callable[[], float] = lambda: 0.0,
    ) -> None:
        self.held = threading.Lock()
        self._open_output = open_output
        self._slept_s = slept_s
        self._slept_before_s = 0.0
        self._stream: OutputStream | None = None
        self._num_seen = 0  # of the open stream's underflows
        self._num_device_seen = 0
        self._is_fault_logged = False
        # NB: written by whichever thread holds it.
        self.num_underflows = 0
        self.num_device_underflows = 0

    @property
    def is_stale(self) -> bool:
        """Whether the computer has slept since the stream was opened."""
        return self._stream is not None and self._slept_s() - self._slept_before_s > SLEEP_S

    def open(self, cancel: CancelToken | None = None) -> OutputStream:
        """Return the open stream, opening it if need be.

        Args:
            cancel: gives up an opening that hangs.

        Raises:
            DeviceError: it cannot be opened.
            CancelledError: cancel was set first.
        """
        if self.is_stale:
            self.close()
        if self._stream is None:
            self._slept_before_s = self._slept_s()
            opening = Attempt(self._open_output, lambda stream: stream.close(), "vivavoce-output")
            while not opening.wait(_POLL_S):
                if cancel is not None and cancel.is_cancelled:
                    opening.give_up()
                    raise CancelledError("The loudspeaker is not needed any more.")
            self._stream = self._result(opening)
            self._num_seen = self._num_device_seen = 0
        return self._stream

    def count(self, num_bridged: int = 0) -> None:
        """Take note of the stream's underflows, and of those that were bridged."""
        self.num_underflows += num_bridged
        if self._stream is not None:
            seen = self._stream.num_underflows
            self.num_underflows += seen - self._num_seen
            self._num_seen = seen
            seen = self._stream.num_device_underflows
            self.num_device_underflows += seen - self._num_device_seen
            self._num_device_seen = seen

    def close(self) -> None:
        """Release the device; the next `open` opens it anew."""
        self.count()
        stream, self._stream = self._stream, None
        if stream is not None:
            stream.close()

    def _result(self, opening: Attempt[OutputStream]) -> OutputStream:
        try:
            stream = opening.result()
        except EngineError:
            raise
        except Exception as error:
            # Once, not at each attempt for as long as it is away.
            if not self._is_fault_logged:
                self._is_fault_logged = True
                logger.exception("the loudspeaker could not be opened")
            # Whatever a library says, it is tried again as after any other failure.
            raise DeviceError(told(error).message, advice=told(error).advice) from error
        self._is_fault_logged = False
        return stream
