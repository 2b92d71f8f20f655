"""What lanes that play have in common in tests: outputs that remember, and what was told."""

import threading
from collections.abc import Callable, Sequence
from typing import Generic, Protocol, TypeVar

import numpy as np

from engine.audio.virtual_output import NullOutput
from engine.core.errors import DeviceError
from engine.core.events import Event
from engine.core.timebase import Clock, VirtualClock
from engine.core.types import Pcm
from engine.pipeline.own_voice import OwnVoiceGate

PATIENCE_S = 60.0
_GATE_RATE = 16_000


class Loudspeaker(NullOutput):
    """An output that remembers; it can be lost at a sample."""

    def __init__(
        self, clock: Clock, rate: int, lost_at: int | None = None, *, keeps: bool = True
    ) -> None:
        super().__init__(clock, rate)
        self._lost_at = lost_at
        self._keeps = keeps
        self.played: list[Pcm] = []
        self.is_closed = False

    @property
    def sound(self) -> Pcm:
        return np.concatenate([np.zeros(0, np.float32), *self.played])

    def write(self, pcm: Pcm) -> int:
        if self._lost_at is not None and self.num_played >= self._lost_at:
            raise DeviceError("The output is gone.", advice="Plug it in again.")
        return super().write(pcm)

    def close(self) -> None:
        super().close()
        self.is_closed = True

    def _play(self, pcm: Pcm) -> None:
        super()._play(pcm)
        if self._keeps:
            self.played.append(pcm.copy())


class Told(Protocol):
    """An event that says where something is."""

    @property
    def state(self) -> str: ...


E = TypeVar("E", bound=Told)


class OutputBench(Generic[E]):
    """Virtual outputs, and the list of what was told.

    Args:
        kind: the events that say where a text or a play is.
        ends: their states that end it.
        rates: of the outputs opened in order; the last again and again.
        lost_at: samples at which they are lost, in the same order; None for never.
        make_output: makes them.
        keeps: whether they remember.
    """

    def __init__(
        self,
        kind: type[E],
        ends: Sequence[str],
        *,
        rates: Sequence[int],
        lost_at: Sequence[int | None] = (),
        make_output: type[Loudspeaker] = Loudspeaker,
        keeps: bool = True,
    ) -> None:
        self.clock = VirtualClock(1.0)
        self.outputs: list[Loudspeaker] = []
        self.events: list[Event] = []
        self.open_output: Callable[[], None] = lambda: None
        """Called before an output is opened; may raise, or block."""
        self._kind, self._ends = kind, ends
        self._rates, self._lost_at = rates, lost_at
        self._make_output, self._keeps = make_output, keeps
        self._actions: list[tuple[int, Callable[[], None]]] = []
        self._listeners: list[Callable[[Event], None]] = []
        self._ended = threading.Semaphore(0)
        marks = iter(range(10_000))
        self.gate = OwnVoiceGate(
            _GATE_RATE,
            lambda: round(self.clock.now_s() * _GATE_RATE),
            self.post,
            lambda: next(marks),
        )

    @property
    def num_played(self) -> int:
        return sum(output.num_played for output in self.outputs)

    @property
    def sound(self) -> Pcm:
        return np.concatenate([np.zeros(0, np.float32), *[out.sound for out in self.outputs]])

    def at(self, num_played: int, action: Callable[[], None]) -> None:
        """Do something once so many samples were played, over all outputs."""
        self._actions.append((num_played, action))

    def when_told(self, state: str, action: Callable[[], None]) -> None:
        """Do something whenever a state is told."""

        def take(event: Event) -> None:
            if isinstance(event, self._kind) and event.state is state:
                action()

        self._listeners.append(take)

    def told(self) -> list[E]:
        return [event for event in self.events if isinstance(event, self._kind)]

    def wait_for_end(self, num_ends: int = 1) -> E:
        """Wait for so many ends and return the last."""
        for _ in range(num_ends):
            assert self._ended.acquire(timeout=PATIENCE_S), "it did not end"
        return [event for event in self.told() if event.state in self._ends][-1]

    def open(self) -> Loudspeaker:
        """Open the next output."""
        self.open_output()
        index = len(self.outputs)
        lost_at = self._lost_at[index] if index < len(self._lost_at) else None
        rate = self._rates[min(index, len(self._rates) - 1)]
        output = self._make_output(self.clock, rate, lost_at, keeps=self._keeps)
        output.start()
        self.outputs.append(output)
        return output

    def post(self, event: Event) -> None:
        """Take in what the lane tells."""
        self.events.append(event)
        for listener in self._listeners:
            listener(event)
        if isinstance(event, self._kind) and event.state in self._ends:
            self._ended.release()

    def act(self) -> None:
        """Do what is due by what was played."""
        while self._actions and self.num_played >= self._actions[0][0]:
            self._actions.pop(0)[1]()
