"""The contract of audio devices: input and output streams polled without blocking.

Real devices fill and drain their rings from a callback; files and null devices follow a clock.
"""

from dataclasses import dataclass
from typing import Protocol

from engine.core.types import Pcm


@dataclass(frozen=True, slots=True)
class DeviceInfo:
    """An audio device as people know it.

    Args:
        name: shown and accepted in settings and on the command line.
        num_inputs: input channels.
        num_outputs: output channels.
        sample_rate: its own, Hz.
        is_default_input: what "default" means for input.
        is_default_output: what "default" means for output.
        is_monitor: whether it records what a loudspeaker plays.
    """

    name: str
    num_inputs: int
    num_outputs: int
    sample_rate: int
    is_default_input: bool = False
    is_default_output: bool = False
    is_monitor: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class InputBlock:
    """Samples drained from an input.

    Args:
        pcm: (n,) float32 at the stream's rate; never clipped, NaN or infinite.
        lost_samples: samples known to be lost just before `pcm`.
        is_end: no more will come (a file ended).
        is_truncated: it ended before it should have: the file was cut off, or is damaged.
    """

    pcm: Pcm
    lost_samples: int = 0
    is_end: bool = False
    is_truncated: bool = False


class InputStream(Protocol):
    """An open input. `read` is called by the capture thread alone."""

    @property
    def name(self) -> str:
        """The device's name."""
        ...

    @property
    def sample_rate(self) -> int:
        """Hz, the device's own."""
        ...

    @property
    def is_live(self) -> bool:
        """Whether it brings samples at its own pace (False: as fast as they are read)."""
        ...

    @property
    def num_overflows(self) -> int:
        """How often samples were lost since it was opened."""
        ...

    def start(self) -> None:
        """Begin to capture.

        Raises:
            DeviceError: the device is gone, busy, or may not be used.
        """
        ...

    def read(self) -> InputBlock:
        """Return all samples that have come since the last read, without blocking.

        Raises:
            DeviceError: the device was lost.
        """
        ...

    def pause(self) -> None:
        """Stop capturing until `start`; what was captured can still be read."""
        ...

    def close(self) -> None:
        """Release the device; idempotent."""
        ...


class OutputStream(Protocol):
    """An open output, fed through a ring by the speak lane alone."""

    @property
    def name(self) -> str:
        """The device's name."""
        ...

    @property
    def sample_rate(self) -> int:
        """Hz, the device's own."""
        ...

    @property
    def num_played(self) -> int:
        """Samples written by `write` that have left for the loudspeaker (silence not counted)."""
        ...

    @property
    def latency_s(self) -> float:
        """Seconds between a sample leaving the ring and its being heard."""
        ...

    @property
    def num_underflows(self) -> int:
        """How often the ring ran dry while more was promised (see `end_of_stream`)."""
        ...

    @property
    def num_device_underflows(self) -> int:
        """How often the sound system said that it ran dry itself, though the ring held enough."""
        ...

    def start(self) -> None:
        """Begin to play; an empty ring plays silence.

        Raises:
            DeviceError: the device is gone, busy, or may not be used.
        """
        ...

    def write(self, pcm: Pcm) -> int:
        """Copy into the ring what fits and return how many samples that was; never blocks."""
        ...

    def end_of_stream(self) -> None:
        """Say that nothing follows for now, so that an empty ring is no underflow."""
        ...

    def num_buffered(self) -> int:
        """Samples in the ring that have not been played."""
        ...

    def stop_now(self) -> int:
        """Fade out within 10 ms, drop the rest of the ring, return samples really played."""
        ...

    def close(self) -> None:
        """Release the device; idempotent."""
        ...


class DeviceProvider(Protocol):
    """Finds and opens devices by name: "default", a device's name, "null", or "file:PATH"."""

    def list_devices(self) -> tuple[DeviceInfo, ...]:
        """Return what is plugged in now, without disturbing open streams.

        Raises:
            DeviceError: there is no sound system.
        """
        ...

    def open_input(self, name: str) -> InputStream:
        """Open an input, not started.

        Raises:
            DeviceError, AudioFileError: it cannot be opened; names the devices there are.
        """
        ...

    def open_output(self, name: str) -> OutputStream:
        """Open an output, not started ("file:PATH" writes a WAV file).

        Raises:
            DeviceError, AudioFileError: it cannot be opened; names the devices there are.
        """
        ...
