"""What every kind of backend has to keep, and how streams are driven."""

from collections.abc import Iterable

import pytest

from engine.backends.protocols import Backend, Stream
from engine.core.errors import BackendError, CancelledError
from engine.core.events import StreamEvent
from engine.core.sync import CancelToken
from engine.core.types import BackendKind, Pcm


def check_spec(backend: Backend, kind: BackendKind, backend_id: str) -> None:
    spec = backend.spec
    assert spec.id == backend_id
    assert spec.title
    assert kind in spec.kinds
    assert 8000 <= spec.sample_rate <= 48_000
    assert spec.block_size > 0
    assert spec.latency >= 0
    assert spec.licence
    assert spec.device
    assert (spec.frame_ms > 0) == (BackendKind.DIARIZER in spec.kinds)


def check_life(backend: Backend) -> None:
    """Check a backend that was not loaded; it is closed afterwards."""
    with pytest.raises(BackendError):
        backend.open_stream()  # type: ignore[attr-defined]
    cancelled = CancelToken()
    cancelled.cancel()
    with pytest.raises(CancelledError):
        backend.load(lambda fraction, text: None, cancelled)
    backend.close()
    backend.close()
    with pytest.raises(BackendError):
        backend.open_stream()  # type: ignore[attr-defined]


def run(stream: Stream, audio: Iterable[Pcm]) -> list[StreamEvent]:
    """Push everything, flush, and return all events in order."""
    events: list[StreamEvent] = []
    for block in audio:
        events += stream.push(block)
    return events + list(stream.flush())


def run_two(
    first: tuple[Stream, Iterable[Pcm]], second: tuple[Stream, Iterable[Pcm]]
) -> tuple[list[StreamEvent], list[StreamEvent]]:
    """Drive two streams in turns, as two lanes that share a backend do."""
    events: tuple[list[StreamEvent], list[StreamEvent]] = ([], [])
    sources = [iter(first[1]), iter(second[1])]
    streams = [first[0], second[0]]
    waiting = [0, 1]
    while waiting:
        for i in list(waiting):
            block = next(sources[i], None)
            if block is None:
                waiting.remove(i)
                events[i].extend(streams[i].flush())
            else:
                events[i].extend(streams[i].push(block))
    return events
