"""Backends, fake or real, that fail, stall and go slow when they are told to."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from benchmarks.soak_clock import SoakClock
from engine.backends.protocols import (
    ON_CPU,
    Backend,
    BackendContext,
    BackendSpec,
    PacedStream,
    ProgressCallback,
    Stream,
)
from engine.core.errors import BackendError, ComputeDeviceError
from engine.core.events import StreamEvent
from engine.core.sync import CancelToken
from engine.core.types import Pcm

GPU = "Test GPU"


@dataclass
class Trouble:
    """What is to go wrong with a backend next. Thread: set by any, taken by its lane."""

    has_to_fail: bool = False
    has_to_lose_gpu: bool = False
    stall_s: float = 0.0
    slow_until_s: float = 0.0
    slowness: float = 10.0
    is_waiting: bool = False
    """Whether it takes virtual time now, so that nobody waits for it."""


class TroubledBackend:
    """A backend in which a soak's faults come about.

    Args:
        inner: does the work.
        trouble: what is to go wrong.
        clock: lets slowness take its time.
        context: whether it may use the GPU that is made believe.
    """

    def __init__(
        self, inner: Backend, trouble: Trouble, clock: SoakClock, context: BackendContext
    ) -> None:
        self._inner = inner
        self._trouble = trouble
        self._clock = clock
        self._device = "CPU" if ON_CPU in context.options else GPU

    @property
    def spec(self) -> BackendSpec:
        """What it is, on a GPU until that is lost."""
        return replace(self._inner.spec, device=self._device)

    def load(self, progress: ProgressCallback, cancel: CancelToken) -> None:
        """See `Backend`."""
        self._inner.load(progress, cancel)

    def open_stream(self) -> "TroubledStream":
        """Return a stream."""
        stream: Stream = self._inner.open_stream()  # type: ignore[attr-defined]
        return TroubledStream(stream, self._trouble, self._clock, self._inner.spec.sample_rate)

    def close(self) -> None:
        """See `Backend`."""
        self._inner.close()


class TroubledStream:
    """A stream in which a soak's faults come about. Thread: its lane's."""

    def __init__(self, inner: Stream, trouble: Trouble, clock: SoakClock, rate: int) -> None:
        self._inner = inner
        self._trouble = trouble
        self._clock = clock
        self._rate = rate

    def set_backlog(self, num_samples: int) -> None:
        """Tell a stream that wants to know."""
        if isinstance(self._inner, PacedStream):
            self._inner.set_backlog(num_samples)

    def push(self, block: Pcm) -> Sequence[StreamEvent]:
        """Work, after whatever is to go wrong."""
        trouble = self._trouble
        if trouble.has_to_fail:
            trouble.has_to_fail = False
            raise BackendError("The soak made it fail.", advice="Nothing needs to be done.")
        if trouble.has_to_lose_gpu:
            trouble.has_to_lose_gpu = False
            raise ComputeDeviceError("The soak took the GPU away.")
        stall_s, trouble.stall_s = trouble.stall_s, 0.0
        if self._clock.now_s() < trouble.slow_until_s:
            stall_s += trouble.slowness * len(block) / self._rate
        if stall_s:
            trouble.is_waiting = True
            self._clock.wait(stall_s)
            trouble.is_waiting = False
        return self._inner.push(block)

    def flush(self) -> Sequence[StreamEvent]:
        """See `Stream`."""
        return self._inner.flush()

    def reset(self) -> None:
        """See `Stream`."""
        self._inner.reset()

    def close(self) -> None:
        """See `Stream`."""
        self._inner.close()
