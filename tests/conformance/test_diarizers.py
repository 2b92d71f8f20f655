"""What every diarizer of the registry keeps, the ones with real weights included."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.backends import registry
from engine.backends.protocols import Diarizer
from engine.core.events import ActivityRevised, StreamEvent
from engine.core.timebase import frame_start
from engine.core.types import BackendKind, Pcm
from tests.conformance.common import check_life, check_spec, run, run_two
from tests.helpers.backends import blocks, demo_speech, load, make_context, registered
from tests.unit.models.tower_models import write_diarizer_checkpoint

KIND = BackendKind.DIARIZER
ROUNDING = 1e-4
"""Of probabilities: matrices of other heights may be summed in another order."""


@dataclass
class Told:
    """The rows a listener holds; checks each event as it comes."""

    rate: int
    frame_ms: int
    rows: list[NDArray[np.float32]] = field(default_factory=list)
    final_until: int = 0
    num_revised: int = 0

    def take(self, events: Sequence[StreamEvent], position: int) -> None:
        for event in events:
            assert isinstance(event, ActivityRevised)
            assert event.frame_ms == self.frame_ms
            assert event.epoch == 0
            assert self.final_until <= event.first_frame <= len(self.rows), "no hole, none final"
            rows = event.probabilities
            assert rows.dtype == np.float32
            assert np.all((rows >= 0) & (rows <= 1))
            end = event.first_frame + len(rows)
            assert frame_start(end - 1, self.frame_ms, self.rate) < max(1, position)
            assert self.final_until <= event.final_until <= max(end, len(self.rows))
            self.num_revised += len(self.rows) - event.first_frame
            self.rows[event.first_frame : end] = list(rows)
            self.final_until = event.final_until

    def active(self) -> NDArray[np.bool_]:
        """Return (T, 8) whether each voice speaks."""
        out = np.zeros((len(self.rows), 8), dtype=np.bool_)
        for i, row in enumerate(self.rows):
            out[i, : len(row)] = row > 0.5
        return out


def same(left: Sequence[StreamEvent], right: Sequence[StreamEvent]) -> bool:
    """Return whether two streams told the same, up to `ROUNDING`."""

    def key(event: StreamEvent) -> tuple[int, ...]:
        assert isinstance(event, ActivityRevised)
        return event.first_frame, event.final_until, event.epoch, *event.probabilities.shape

    return list(map(key, left)) == list(map(key, right)) and all(
        np.allclose(a.probabilities, b.probabilities, rtol=0, atol=ROUNDING)  # type: ignore[union-attr]
        for a, b in zip(left, right, strict=True)
    )


@pytest.fixture(scope="module", params=registered(KIND))
def diarizer(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Diarizer]:
    backend_id = request.param
    if backend_id == "sortformer":
        folder = tmp_path_factory.mktemp("sortformer")
        backend_id = f"sortformer:{write_diarizer_checkpoint(folder)}"
    backend = registry.create(KIND, backend_id, make_context())
    check_spec(backend, KIND, request.param)
    load(backend)
    yield backend
    backend.close()


@pytest.fixture(scope="module")
def speech(diarizer: Diarizer) -> Pcm:
    return demo_speech(0.0, 12.05, diarizer.spec.sample_rate)


@pytest.fixture(scope="module")
def reference(diarizer: Diarizer, speech: Pcm) -> list[StreamEvent]:
    stream = diarizer.open_stream()
    events = run(stream, blocks(speech, diarizer.spec.block_size))
    stream.close()
    return events


def test_events_when_two_voices_speak_keep_the_contract(
    diarizer: Diarizer, speech: Pcm, reference: list[StreamEvent]
) -> None:
    spec = diarizer.spec
    told = Told(spec.sample_rate, spec.frame_ms)
    told.take(reference, len(speech))
    assert told.final_until == len(told.rows), "flush leaves every row final"
    assert frame_start(len(told.rows) + 1, spec.frame_ms, spec.sample_rate) > len(speech)
    if spec.id == "sortformer":
        return  # its weights are random here
    spoken = told.active().sum(axis=0) * spec.frame_ms
    assert np.sum(spoken > 1000) == 2, "both voices, each for more than a second"


def test_events_when_blocks_are_cut_differently_are_the_same(
    diarizer: Diarizer, speech: Pcm, reference: list[StreamEvent]
) -> None:
    stream = diarizer.open_stream()
    told = Told(diarizer.spec.sample_rate, diarizer.spec.frame_ms)
    events: list[StreamEvent] = []
    position = 0
    for block in blocks(speech, 1, 0, 997, 32_000, 333):
        position += len(block)
        new = stream.push(block)
        told.take(new, position)
        events += new
    events += stream.flush()
    stream.close()
    assert same(events, reference)


def test_events_while_audio_comes_stay_close_behind_it(diarizer: Diarizer, speech: Pcm) -> None:
    spec = diarizer.spec
    stream = diarizer.open_stream()
    told = Told(spec.sample_rate, spec.frame_ms)
    position = 0
    for block in blocks(speech, spec.block_size):
        position += len(block)
        told.take(stream.push(block), position)
        behind = position - frame_start(len(told.rows), spec.frame_ms, spec.sample_rate)
        assert behind <= spec.latency + spec.block_size + spec.sample_rate * spec.frame_ms // 1000
    stream.close()


def test_reset_when_a_stream_was_used_gives_the_same_events_again(
    diarizer: Diarizer, speech: Pcm, reference: list[StreamEvent]
) -> None:
    stream = diarizer.open_stream()
    rate = diarizer.spec.sample_rate
    for block in blocks(speech[3 * rate : 6 * rate], 1600):
        stream.push(block)
    stream.reset()
    assert same(run(stream, blocks(speech, 1600)), reference)
    stream.close()


def test_two_streams_when_pushed_in_turns_do_not_disturb_each_other(
    diarizer: Diarizer, speech: Pcm, reference: list[StreamEvent]
) -> None:
    one, other = diarizer.open_stream(), diarizer.open_stream()
    first, _ = run_two((one, blocks(speech, 1600)), (other, blocks(speech[::-1].copy(), 1600)))
    assert same(first, reference)
    one.close()
    other.close()


def test_flush_when_audio_goes_on_continues_in_time(diarizer: Diarizer, speech: Pcm) -> None:
    spec = diarizer.spec
    stream = diarizer.open_stream()
    told = Told(spec.sample_rate, spec.frame_ms)
    cut = round(2.93 * spec.sample_rate)
    told.take(run(stream, blocks(speech[:cut], 1600)), cut)
    assert told.final_until == len(told.rows)
    num_rows = len(told.rows)
    told.take(run(stream, blocks(speech[cut : 2 * cut], 1600)), 2 * cut)
    stream.close()
    assert told.final_until == len(told.rows) > num_rows


def test_flush_when_nothing_was_heard_tells_nothing(diarizer: Diarizer) -> None:
    stream = diarizer.open_stream()
    assert list(stream.push(np.zeros(0, dtype=np.float32))) == []
    assert list(stream.flush()) == []
    assert list(stream.flush()) == []
    stream.close()
    stream.close()


@pytest.mark.parametrize("backend_id", registered(KIND))
def test_backend_when_not_loaded_or_closed_opens_no_stream(backend_id: str) -> None:
    check_life(registry.create(KIND, backend_id, make_context()))
