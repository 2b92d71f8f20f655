"""A real output as the contract wants it, over whichever callback drains its ring."""

from contextlib import AbstractContextManager, nullcontext
from typing import Protocol

from engine.audio.device import OutputStream
from engine.audio.live import END_S, DeviceWatch
from engine.audio.pin import pin, unpin
from engine.core.attempt import Attempt
from engine.core.errors import DeviceError
from engine.core.timebase import Clock
from engine.core.types import Pcm

OUTPUT_STALL_S = 2.0
"""A device that takes nothing of what waits for it for so long is taken as lost."""
LOST_ADVICE = "Plug it in again, or choose another device."


class OutputDriver(OutputStream, Protocol):
    """An open stream and the writing side of its ring."""


class LiveOutput:
    """An output device. Thread: one at a time writes and asks; any may close.

    Args:
        name: the device's, for people.
        driver: its open stream.
        clock: tells how long nothing was taken.
        watch: tells what became of the device, where the stream itself would not.
        alone: held while the stream is closed, by whoever opens and closes others.
    """

    def __init__(
        self,
        name: str,
        driver: OutputDriver,
        clock: Clock,
        watch: DeviceWatch | None = None,
        alone: AbstractContextManager[object] | None = None,
    ) -> None:
        self._name = name
        self._driver = driver
        pin(driver)
        self._alone = alone or nullcontext()
        self._clock = clock
        self._watch = watch
        self._is_closed = False
        # NB: written by the thread that closes the stream, read by whoever opens others.
        self.is_released = False
        self._progress = -1
        self._progress_s = 0.0
        self._latency_s = driver.latency_s

    @property
    def name(self) -> str:
        """The device's name; it changes when a sound server moves the stream to another."""
        return self._name if self._watch is None else self._watch.title

    @property
    def sample_rate(self) -> int:
        """Hz, the device's own."""
        return self._driver.sample_rate

    @property
    def num_played(self) -> int:
        """Samples written that have left for the loudspeaker."""
        return self._driver.num_played

    @property
    def latency_s(self) -> float:
        """Seconds between a sample leaving the ring and its being heard."""
        if not self._is_closed:
            self._latency_s = self._driver.latency_s
        return self._latency_s

    @property
    def num_underflows(self) -> int:
        """How often the ring ran dry while more was promised."""
        return self._driver.num_underflows

    def start(self) -> None:
        """Begin to play.

        Raises:
            DeviceError: the device is gone, busy, or may not be used.
        """
        self._driver.start()

    def write(self, pcm: Pcm) -> int:
        """Copy into the ring what fits and return how many samples that was.

        Raises:
            DeviceError: the device was lost.
        """
        if self._watch is not None and not self._watch.is_device_there():
            raise DeviceError(f"The output {self.name} is gone.", advice=LOST_ADVICE)
        self._check_progress()
        return self._driver.write(pcm)

    def end_of_stream(self) -> None:
        """Say that nothing follows for now."""
        self._driver.end_of_stream()

    def num_buffered(self) -> int:
        """Samples in the ring that have not been played."""
        return self._driver.num_buffered()

    def stop_now(self) -> int:
        """Fade out within 10 ms, drop the rest of the ring, return samples really played."""
        return self._driver.stop_now()

    def close(self) -> None:
        """Release the device; idempotent. A sound system that hangs is left alone with it."""
        if self._is_closed:
            return
        self._is_closed = True
        if self._watch is not None:
            self._watch.close()
        Attempt(self._release).wait(END_S)

    def _release(self) -> None:
        with self._alone:
            self._driver.close()
        unpin(self._driver)
        self.is_released = True

    def _check_progress(self) -> None:
        progress, now_s = self._driver.num_played, self._clock.now_s()
        if progress != self._progress or self._driver.num_buffered() == 0:
            self._progress, self._progress_s = progress, now_s
        elif now_s - self._progress_s > OUTPUT_STALL_S:
            raise DeviceError(
                f"The output {self.name} has taken nothing for {OUTPUT_STALL_S:.0f} s.",
                advice=LOST_ADVICE,
            )
