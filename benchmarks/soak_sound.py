"""Virtual devices with faults: microphones that hear one world, and loudspeakers."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from benchmarks.soak_clock import SoakClock
from benchmarks.soak_signal import RATE
from engine.audio.device import DeviceInfo, InputBlock, InputStream, OutputStream
from engine.audio.virtual_output import NullOutput
from engine.core.errors import DeviceError
from engine.core.types import Pcm

MICROPHONES = ("First microphone", "Second microphone")
LOUDSPEAKERS = ("First loudspeaker", "Second loudspeaker")
_LOW_S = 0.1
_EMPTY = np.zeros(0, np.float32)

Heard = Callable[[int, int, int], Pcm]
"""Returns what is heard in the samples [start, end) of the world at a rate."""


@dataclass
class SoundWorld:
    """What goes on outside of the program.

    Args:
        clock: host time.
        heard: what microphones hear.
    """

    clock: SoakClock
    heard: Heard
    slept_s: float = 0.0
    rate: int = RATE
    is_microphone_there: bool = True
    is_loudspeaker_there: bool = True
    silent_until_s: float = 0.0
    held_until_s: float = 0.0
    num_to_lose: int = 0
    generation: int = 0
    num_opened: int = 0
    delivered: list[tuple[int, int, int]] = field(default_factory=list)
    """(rate, first, end) of what microphones have brought, runs joined."""

    def now(self, rate: int) -> int:
        """Return the sample of the world that comes next."""
        return int((self.clock.now_s() + self.slept_s) * rate + 1e-6)

    def note(self, rate: int, start: int, end: int) -> None:
        """Take down what was brought."""
        last = self.delivered[-1] if self.delivered else (0, 0, 0)
        if last[0] == rate and last[2] == start:
            self.delivered[-1] = rate, last[1], end
        elif end > start:
            self.delivered.append((rate, start, end))


class SoakInput:
    """A microphone. Thread: the capture thread, but for `start`."""

    def __init__(self, world: SoundWorld, name: str) -> None:
        self._world = world
        self.name = name
        self.sample_rate = world.rate
        self.is_live = True
        self.num_overflows = 0
        self._generation = world.generation
        self._next: int | None = None

    def start(self) -> None:
        """Begin to capture."""
        self._next = self._world.now(self.sample_rate)

    def read(self) -> InputBlock:
        """Return what has come, unless something went wrong."""
        world, rate = self._world, self.sample_rate
        if self._generation != world.generation:
            raise DeviceError(f"{self.name} was unplugged.", advice="Plug it in again.")
        if self._next is None:
            return InputBlock(_EMPTY)
        now_s = world.clock.now_s()
        if now_s < world.held_until_s:
            return InputBlock(_EMPTY)
        start, end = self._next, world.now(rate)
        self._next = end
        if now_s < world.silent_until_s:
            return InputBlock(_EMPTY)
        lost, world.num_to_lose = min(world.num_to_lose, end - start), 0
        self.num_overflows += lost > 0
        start += lost
        world.note(rate, start, end)
        return InputBlock(world.heard(rate, start, end) if end > start else _EMPTY, lost)

    def pause(self) -> None:
        """Stop capturing; what came can still be read."""

    def close(self) -> None:
        """Release the device."""


class SoakOutput(NullOutput):
    """A loudspeaker that can be lost. Thread: the one that plays; `is_hungry` from any."""

    def __init__(self, world: SoundWorld, name: str) -> None:
        super().__init__(world.clock, name=name)
        self._world = world
        self._held = threading.RLock()

    @property
    def is_hungry(self) -> bool:
        """Whether it was promised more and will soon run dry."""
        with self._held:
            is_playing = self._is_more_promised and self._started_s is not None
            return is_playing and self.num_buffered() < _LOW_S * self.sample_rate

    def write(self, pcm: Pcm) -> int:
        """See `OutputStream`."""
        if not self._world.is_loudspeaker_there:
            raise DeviceError(f"{self.name} was unplugged.", advice="Plug it in again.")
        with self._held:
            return super().write(pcm)

    def end_of_stream(self) -> None:
        """See `OutputStream`."""
        with self._held:
            super().end_of_stream()

    def stop_now(self) -> int:
        """See `OutputStream`."""
        with self._held:
            return super().stop_now()

    def close(self) -> None:
        """See `OutputStream`."""
        with self._held:
            super().close()

    def _advance(self) -> None:
        with self._held:
            super()._advance()


class SoakDevices:
    """Opens what is there."""

    def __init__(self, world: SoundWorld) -> None:
        self._world = world
        self.output: SoakOutput | None = None

    def list_devices(self) -> tuple[DeviceInfo, ...]:
        """Return them all."""
        inputs = (DeviceInfo(name, 1, 0, RATE) for name in MICROPHONES)
        return (*inputs, *(DeviceInfo(name, 0, 1, 48_000) for name in LOUDSPEAKERS))

    def open_input(self, name: str) -> InputStream:
        """Return a microphone."""
        if not self._world.is_microphone_there:
            raise DeviceError(f"There is no {name}.", advice="Plug it in.")
        self._world.num_opened += 1
        return SoakInput(self._world, name if name in MICROPHONES else MICROPHONES[0])

    def open_output(self, name: str) -> OutputStream:
        """Return a loudspeaker."""
        if not self._world.is_loudspeaker_there:
            raise DeviceError(f"There is no {name}.", advice="Plug it in.")
        self.output = SoakOutput(self._world, name if name in LOUDSPEAKERS else LOUDSPEAKERS[0])
        return self.output
