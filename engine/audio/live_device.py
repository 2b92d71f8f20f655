"""What real inputs and outputs have in common: a name, a driver, and an end that cannot hang."""

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Generic, Protocol, TypeVar

from engine.audio.pin import pin, unpin
from engine.core.attempt import Attempt
from engine.core.errors import DeviceError

END_S = 0.5
"""Time a sound system gets to stop or close a stream before it is left alone with it."""
START_S = 5.0
"""Time a sound system gets to start a stream; headsets without a wire take seconds."""


class Driver(Protocol):
    """An open stream."""

    def close(self) -> None:
        """Release the stream; idempotent."""
        ...


class DeviceWatch(Protocol):
    """Knows what became of the device behind a stream."""

    @property
    def title(self) -> str:
        """The device's name now, for people: a stream that follows the default may be moved."""
        ...

    def is_device_there(self) -> bool:
        """Return whether the stream is where it should be, without blocking."""
        ...

    def close(self) -> None:
        """Stop watching; idempotent."""
        ...


D = TypeVar("D", bound=Driver)


class LiveDevice(Generic[D]):
    """An open device. Thread: any may close.

    Args:
        name: the device's, for people.
        driver: its open stream.
        watch: tells what became of the device, where the stream itself would not: a sound server
            moves the streams of a device that was unplugged to another one.
        alone: held while the stream is closed, by whoever opens and closes others.
    """

    def __init__(
        self,
        name: str,
        driver: D,
        watch: DeviceWatch | None,
        alone: AbstractContextManager[object] | None,
    ) -> None:
        self._name = name
        self._driver = driver
        pin(driver)
        self._watch = watch
        self._alone = alone or nullcontext()
        # Held during calls that may hang. A stream that is closed meanwhile would be freed under
        # them: closing waits, on a thread of its own.
        self._calling = threading.Lock()
        # NB: written by the thread that closes the stream, read by any.
        self.is_closed = False
        # NB: written by the thread that closes the stream, read by whoever opens others.
        self.is_released = False

    @property
    def name(self) -> str:
        """The device's name; it changes when a sound server moves the stream to another."""
        return self._name if self._watch is None else self._watch.title

    @property
    def is_there(self) -> bool:
        """Whether the device is still plugged in, as far as anybody watches it."""
        return self._watch is None or self._watch.is_device_there()

    def close(self) -> None:
        """Release the device; idempotent. A sound system that hangs is left alone with it."""
        if self.is_closed:
            return
        self.is_closed = True
        if self._watch is not None:
            self._watch.close()
        Attempt(self._release).wait(END_S)

    def _call_in_time(self, call: Callable[[], None], limit_s: float, failure: DeviceError) -> None:
        """Carry out a call of the driver that may hang.

        Raises:
            DeviceError: `failure` if it takes longer than `limit_s`, or what the call raises.
        """

        def call_alone() -> None:
            with self._calling:
                if not self.is_closed:
                    call()

        attempt = Attempt(call_alone)
        if not attempt.wait(limit_s):
            raise failure
        attempt.result()

    def _release(self) -> None:
        with self._calling, self._alone:
            self._driver.close()
        unpin(self._driver)
        self.is_released = True
