"""A real output as the contract wants it, over whichever callback drains its ring."""

from contextlib import AbstractContextManager
from typing import Protocol

from engine.audio.device import OutputStream
from engine.audio.live_device import START_S, DeviceWatch, LiveDevice
from engine.core.errors import DeviceError
from engine.core.timebase import Clock
from engine.core.types import Pcm

OUTPUT_STALL_S = 2.0
"""A device that takes nothing of what waits for it for so long is taken as lost."""
LOST_ADVICE = "Plug it in again, or choose another device."


class OutputDriver(OutputStream, Protocol):
    """An open stream and the writing side of its ring."""


class LiveOutput(LiveDevice[OutputDriver]):
    """An output device. Thread: one at a time writes and asks; any may close.

    Args:
        name: the device's, for people.
        driver: its open stream.
        clock: tells how long nothing was taken.
        watch: see `LiveDevice`.
        alone: see `LiveDevice`.
    """

    def __init__(
        self,
        name: str,
        driver: OutputDriver,
        clock: Clock,
        watch: DeviceWatch | None = None,
        alone: AbstractContextManager[object] | None = None,
    ) -> None:
        super().__init__(name, driver, watch, alone)
        self._clock = clock
        self._progress = -1
        self._progress_s = 0.0
        self._latency_s = driver.latency_s

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
        if not self.is_closed:
            self._latency_s = self._driver.latency_s
        return self._latency_s

    @property
    def num_underflows(self) -> int:
        """How often the ring ran dry while more was promised."""
        return self._driver.num_underflows

    @property
    def num_device_underflows(self) -> int:
        """How often the sound system said that it ran dry itself, though the ring held enough."""
        return self._driver.num_device_underflows

    def start(self) -> None:
        """Begin to play.

        Raises:
            DeviceError: the device is gone, busy, or may not be used, or the sound system does
                not answer.
        """
        failure = DeviceError(
            f"The output {self.name} cannot be started: the sound system does not answer.",
            advice=LOST_ADVICE,
        )
        self._call_in_time(self._driver.start, START_S, failure)

    def write(self, pcm: Pcm) -> int:
        """Copy into the ring what fits and return how many samples that was.

        Raises:
            DeviceError: the device was lost.
        """
        if not self.is_there:
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

    def _check_progress(self) -> None:
        progress, now_s = self._driver.num_played, self._clock.now_s()
        if progress != self._progress or self._driver.num_buffered() == 0:
            self._progress, self._progress_s = progress, now_s
        elif now_s - self._progress_s > OUTPUT_STALL_S:
            raise DeviceError(
                f"The output {self.name} has taken nothing for {OUTPUT_STALL_S:.0f} s.",
                advice=LOST_ADVICE,
            )
