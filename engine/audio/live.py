"""A real input as the contract wants it, over whichever callback fills its ring."""

from contextlib import AbstractContextManager
from typing import Protocol

import numpy as np

from engine.audio.device import InputBlock
from engine.audio.files import clean
from engine.audio.live_device import END_S, START_S, DeviceWatch, LiveDevice
from engine.core.errors import DeviceError
from engine.core.timebase import Clock
from engine.core.types import Pcm

STALL_S = 4.0
"""A started device that brings nothing for so long is taken as lost."""
LOST_ADVICE = "Check the plug and the sound settings, or choose another device."


class InputDriver(Protocol):
    """A callback that fills a ring, and the reading side of that ring."""

    @property
    def num_channels(self) -> int:
        """Channels interleaved in what `drain` returns."""
        ...

    @property
    def sample_rate(self) -> int:
        """Hz."""
        ...

    @property
    def num_device_overflows(self) -> int:
        """How often the sound system said that it lost input."""
        ...

    def start(self) -> None:
        """Start the stream; DeviceError if it cannot."""
        ...

    def stop(self) -> None:
        """Stop the stream; the ring keeps its samples."""
        ...

    def close(self) -> None:
        """Release the stream; idempotent."""
        ...

    def is_active(self) -> bool:
        """Whether the sound system still runs the stream."""
        ...

    def stream_time_s(self) -> float:
        """The stream's own clock."""
        ...

    def drain(self) -> tuple[Pcm, int]:
        """Return (interleaved values, samples the ring lost just before them)."""
        ...


class LiveInput(LiveDevice[InputDriver]):
    """An input device. Thread: the capture thread reads; any may close.

    Args:
        name: the device's, for people.
        driver: its open stream.
        clock: tells how long nothing has come.
        watch: see `LiveDevice`.
        alone: see `LiveDevice`.
    """

    def __init__(
        self,
        name: str,
        driver: InputDriver,
        clock: Clock,
        watch: DeviceWatch | None = None,
        alone: AbstractContextManager[object] | None = None,
    ) -> None:
        super().__init__(name, driver, watch, alone)
        self._clock = clock
        self._is_started = False
        self._progress_s = 0.0
        self._num_ring_losses = 0
        self._num_device_overflows = 0
        self._lag = _LagEstimate(driver.sample_rate)

    @property
    def sample_rate(self) -> int:
        """Hz, the device's own."""
        return self._driver.sample_rate

    @property
    def is_live(self) -> bool:
        """Always True."""
        return True

    @property
    def num_overflows(self) -> int:
        """How often samples were lost, by the sound system or because nobody read."""
        return self._num_ring_losses + self._driver.num_device_overflows

    def start(self) -> None:
        """Begin to capture.

        Raises:
            DeviceError: the device is gone, busy, or may not be used, or the sound system does
                not answer.
        """
        if not self._is_started:
            failure = DeviceError(
                f"The input {self.name} cannot be started: the sound system does not answer.",
                advice=LOST_ADVICE,
            )
            self._call_in_time(self._driver.start, START_S, failure)
            self._is_started = True
            self._progress_s = self._clock.now_s()
            self._lag.restart()

    def read(self) -> InputBlock:
        """Return all samples that have come since the last read, as mono, without blocking.

        Raises:
            DeviceError: the device was lost.
        """
        if self.is_closed:
            return InputBlock(np.zeros(0, dtype=np.float32), is_end=True)
        if not self.is_there:
            raise self._gone()
        interleaved, num_lost = self._driver.drain()
        if len(interleaved) == 0 and not num_lost:
            self._check_alive()
            return InputBlock(interleaved)
        self._progress_s = self._clock.now_s()
        self._num_ring_losses += num_lost > 0
        pcm = clean(interleaved.reshape(-1, self._driver.num_channels))
        return InputBlock(pcm, num_lost + self._device_loss(len(pcm), num_lost))

    def pause(self) -> None:
        """Stop capturing until `start`; what was captured can still be read.

        Raises:
            DeviceError: the sound system does not answer.
        """
        is_running = self._is_started and not self.is_closed
        self._is_started = False
        if is_running:
            failure = DeviceError(
                f"The input {self.name} cannot be stopped: the sound system does not answer.",
                advice=LOST_ADVICE,
            )
            self._call_in_time(self._driver.stop, END_S, failure)

    def _gone(self) -> DeviceError:
        return DeviceError(f"The input {self.name} is gone.", advice=LOST_ADVICE)

    def _check_alive(self) -> None:
        if not self._is_started:
            return
        if not self._driver.is_active():
            raise self._gone()
        if self._clock.now_s() - self._progress_s > STALL_S:
            raise DeviceError(
                f"The input {self.name} has brought nothing for {STALL_S:.0f} s.",
                advice=LOST_ADVICE,
            )

    def _device_loss(self, num_samples: int, num_ring_lost: int) -> int:
        """Return how many samples the sound system lost, as far as its clock tells."""
        count = self._driver.num_device_overflows
        has_overflow = count > self._num_device_overflows
        self._num_device_overflows = count
        try:
            time_s = self._driver.stream_time_s()
        except DeviceError:  # it is on its way out: what it brought before is taken all the same
            self._lag.restart()
            return 0
        return self._lag.push(time_s, num_samples + num_ring_lost, has_overflow=has_overflow)


class _LagEstimate:
    """Follows how far the samples trail the stream's clock, and how far a loss moved them."""

    _WEIGHT = 0.05
    _JITTER_S = 0.03

    def __init__(self, rate: int) -> None:
        self._rate = rate
        self.restart()

    def restart(self) -> None:
        self._num_samples = 0
        self._mean_s: float | None = None

    def push(self, time_s: float, num_samples: int, *, has_overflow: bool) -> int:
        """Take a read; return the samples lost if the sound system says that some were."""
        self._num_samples += num_samples
        lag_s = time_s - self._num_samples / self._rate
        if self._mean_s is None:
            self._mean_s = lag_s
        excess_s = lag_s - self._mean_s
        if not has_overflow:
            self._mean_s += self._WEIGHT * excess_s
            return 0
        if excess_s < self._JITTER_S:
            return 0
        num_lost = round(excess_s * self._rate)
        self._num_samples += num_lost
        return num_lost
