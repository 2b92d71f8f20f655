"""What the drivers of real devices share: stream formats, lengths, and an open stream."""

from dataclasses import dataclass
from typing import Protocol

from engine.core.errors import DeviceError

INPUT_BLOCK_S = 0.03
OUTPUT_BLOCK_S = 0.02
INPUT_RING_S = 20.0
OUTPUT_RING_S = 1.0
INPUT_LATENCY_S = 0.1
"""Device buffer asked for at least: a busy machine keeps threads waiting for tens of ms."""
OUTPUT_LATENCY_S = 0.08
"""As for input, but it delays the end of the sound when it is stopped."""
CALLBACK_OUTPUT_LATENCY_S = 0.12
"""For a callback that must wait for the interpreter as well."""
FADE_S = 0.01
"""Length of the fade when an output is stopped at once; at most a block."""


@dataclass(frozen=True, slots=True)
class StreamFormat:
    """What a device is opened with.

    Args:
        device_index: PortAudio's.
        name: the device's, for people.
        num_channels: interleaved.
        sample_rate: Hz.
        latency_s: the device's own idea of a safe one.
    """

    device_index: int
    name: str
    num_channels: int
    sample_rate: int
    latency_s: float = 0.0


class OpenStream(Protocol):
    """A stream that the sound system runs; it calls a callback once a block."""

    def start(self) -> None:
        """Begin; DeviceError if the device refuses."""
        ...

    def stop(self) -> None:
        """Stop; DeviceError if the device refuses."""
        ...

    def close(self) -> None:
        """Release the device; idempotent."""
        ...

    def is_active(self) -> bool:
        """Whether the sound system runs it."""
        ...

    def time_s(self) -> float:
        """Its own clock."""
        ...

    def latency_s(self) -> float:
        """Seconds between the callback and the device."""
        ...


def check_output(name: str, is_started: bool, stream: OpenStream) -> None:
    """Raise DeviceError if a started stream is no longer run by the sound system."""
    if is_started and not stream.is_active():
        raise DeviceError(
            f"The output {name} is gone.", advice="Plug it in again, or choose another device."
        )
