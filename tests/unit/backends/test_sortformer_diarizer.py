"""The diarizer on tiny random weights: where they come from, rows, flushes, changes of profile."""

import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from engine.backends.protocols import BackendContext, PacedStream, Stream
from engine.backends.sortformer_diarizer import MODEL_ID, SortformerDiarizer, create
from engine.core.errors import BackendError, CancelledError, EngineError, ModelMissingError
from engine.core.events import ActivityRevised, StreamEvent, StreamNotice
from engine.core.sync import CancelToken
from engine.core.types import Pcm
from tests.helpers.backends import load, no_models
from tests.unit.models.tower_models import noise, write_diarizer_checkpoint

pytestmark = pytest.mark.unit

ROW = 1280
CPU_CHUNK, CPU_AHEAD = 32, 4


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_diarizer_checkpoint(tmp_path_factory.mktemp("sortformer"))


def opened(checkpoint: Path, **options: str) -> SortformerDiarizer:
    context = BackendContext(model_path=no_models, options=tuple(options.items()))
    backend = create(context, str(checkpoint))
    load(backend)
    return backend


@pytest.fixture
def stream(checkpoint: Path) -> Iterator[Stream]:
    stream = opened(checkpoint).open_stream()
    yield stream
    stream.close()


def audio(seconds: float, seed: int = 0) -> Pcm:
    return noise(round(16_000 * seconds), seed).numpy()


def rows_of(events: Sequence[StreamEvent]) -> list[ActivityRevised]:
    return [event for event in events if isinstance(event, ActivityRevised)]


def test_rows_when_a_step_is_made_then_its_chunk_is_final_and_the_look_ahead_is_not(
    stream: Stream,
) -> None:
    first, second = rows_of(stream.push(audio(6.0)))
    assert (first.first_frame, first.final_until) == (0, CPU_CHUNK)
    assert first.probabilities.shape == (CPU_CHUNK + CPU_AHEAD, 4)
    assert (second.first_frame, second.final_until) == (CPU_CHUNK, 2 * CPU_CHUNK)
    (last,) = rows_of(stream.flush())
    assert last.first_frame == 2 * CPU_CHUNK
    assert last.final_until == last.first_frame + len(last.probabilities) == 75
    assert last.probabilities.max() > 0.5 > last.probabilities.min(), "these weights are alive"


def test_rows_when_flushed_within_one_then_the_next_lie_on_the_same_grid(checkpoint: Path) -> None:
    backend, pcm = opened(checkpoint), audio(9.0)
    cut, rest_of_row = 10 * ROW + 300, ROW - 300
    told = []
    for leftover in (pcm[cut : cut + rest_of_row], audio(1.0, seed=9)[:rest_of_row]):
        stream = backend.open_stream()
        stream.push(pcm[:cut])
        (first,) = rows_of(stream.flush())
        assert first.final_until == 11
        for block in (leftover[:1], leftover[1:], pcm[11 * ROW : 11 * ROW + 5]):
            assert stream.push(block) == []
        told.append(rows_of([*stream.push(pcm[11 * ROW + 5 :]), *stream.flush()]))
    # What is left of a row that was told is passed over; the next begins at its own first sample.
    assert told[0][0].first_frame == 11
    assert told[0][-1].final_until == -(-len(pcm) // ROW)
    for one, other in zip(*told, strict=True):
        np.testing.assert_array_equal(one.probabilities, other.probabilities)


def test_push_when_a_sample_is_no_number_then_refused_and_nothing_is_lost(stream: Stream) -> None:
    pcm = audio(3.0)
    stream.push(pcm[:16_000])
    bad = pcm[16_000:].copy()
    bad[7] = np.nan
    with pytest.raises(BackendError, match="no numbers"):
        stream.push(bad)
    (event,) = rows_of(stream.push(pcm[16_000:]))
    assert event.final_until == CPU_CHUNK


def test_rows_when_all_is_silent_then_they_are_finite(stream: Stream) -> None:
    events = rows_of([*stream.push(np.zeros(48_000, np.float32)), *stream.flush()])
    assert all(np.isfinite(event.probabilities).all() for event in events)
    assert events[-1].final_until == 38


def test_profile_when_behind_then_slower_with_a_notice_and_the_same_speakers(
    checkpoint: Path,
) -> None:
    backend = opened(checkpoint)
    paced, steady = backend.open_stream(), backend.open_stream()
    assert isinstance(paced, PacedStream)
    told: list[StreamEvent] = []
    blocks = list(np.array_split(audio(120.0), 120))
    for at, block in enumerate(blocks):
        paced.set_backlog(round(16_000 * (20.0 if 30 <= at < 40 else 0.0)))
        told += paced.push(block)
        steady.push(block)
    told += paced.flush()
    notices = [event for event in told if isinstance(event, StreamNotice)]
    assert [("high" in n.message, "cpu" in n.message) for n in notices] == [(True, True)] * 2
    assert "falling behind" in notices[0].message
    assert "caught up" in notices[1].message
    rows = rows_of(told)
    assert {event.epoch for event in rows} == {0}
    assert [event.first_frame for event in rows][1:] == [e.final_until for e in rows][:-1]
    assert rows[-1].final_until == 1500, "no row is lost where the profile changes"
    # Until the change both streams told the same.
    before = [event for event in rows if event.final_until <= 30 * 16_000 // ROW]
    again = opened(checkpoint).open_stream()
    for event, other in zip(
        before, rows_of([e for block in blocks for e in again.push(block)]), strict=False
    ):
        np.testing.assert_allclose(event.probabilities, other.probabilities, atol=1e-4)


def test_profile_when_forced_then_it_stays_and_decides_the_latency(checkpoint: Path) -> None:
    backend = opened(checkpoint, profile="low")
    assert backend.spec.latency == 13 * ROW + 256
    stream = backend.open_stream()
    assert not isinstance(stream, PacedStream)
    assert rows_of(stream.push(audio(1.2)))[0].final_until == 9


def test_profile_when_a_file_is_read_then_the_surest(checkpoint: Path) -> None:
    assert opened(checkpoint, pace="file").spec.latency == 380 * ROW + 256


def test_profile_when_this_machine_is_fast_then_the_least_delay(checkpoint: Path) -> None:
    clock = itertools.count(0.0, 0.001)
    backend = create(BackendContext(no_models, now_s=lambda: next(clock)), str(checkpoint))
    load(backend)
    assert backend.spec.latency == 4 * ROW + 256


def test_profile_when_unknown_then_the_known_are_named(checkpoint: Path) -> None:
    with pytest.raises(BackendError, match="ultra_low, very_low, low, cpu, high"):
        create(BackendContext(no_models, options=(("profile", "warp"),)), str(checkpoint))


def test_backend_when_nothing_lies_at_the_path_then_says_so_at_once(tmp_path: Path) -> None:
    with pytest.raises(ModelMissingError, match="no checkpoint"):
        create(BackendContext(no_models), str(tmp_path / "none"))


@pytest.mark.parametrize("name", ["config.json", "model.safetensors"])
def test_load_when_a_file_is_damaged_then_named_and_nothing_is_loaded(
    tmp_path: Path, name: str
) -> None:
    folder = write_diarizer_checkpoint(tmp_path / "model")
    content = (folder / name).read_bytes()
    (folder / name).write_bytes(content[: len(content) // 2])
    backend = create(BackendContext(no_models), str(folder))
    with pytest.raises(EngineError, match=name):
        load(backend)
    with pytest.raises(BackendError, match="not loaded"):
        backend.open_stream()


def test_model_when_of_the_manifest_then_loaded_from_its_folder(checkpoint: Path) -> None:
    asked: list[str] = []

    def model_path(model_id: str) -> Path:
        asked.append(model_id)
        return checkpoint

    backend = create(BackendContext(model_path))
    assert backend.spec.models == (MODEL_ID,)
    assert backend.spec.is_trained
    load(backend)
    assert asked == [MODEL_ID]


def test_model_when_missing_then_only_random_if_that_is_allowed(checkpoint: Path) -> None:
    backend = create(BackendContext(no_models))
    with pytest.raises(ModelMissingError):
        load(backend)
    assert backend.spec.is_trained

    untrained = create(BackendContext(no_models, allow_untrained=True))
    assert not untrained.spec.is_trained
    assert untrained.spec.models == ()
    cancelled = CancelToken()
    cancelled.cancel()
    with pytest.raises(CancelledError):
        untrained.load(lambda *_: None, cancelled)

    installed = create(BackendContext(lambda _: checkpoint, allow_untrained=True))
    assert installed.spec.is_trained, "weights that are there are used"
    given = create(BackendContext(no_models, allow_untrained=True), str(checkpoint))
    assert given.spec.is_trained


@pytest.mark.slow
def test_model_when_untrained_then_of_full_size_and_the_same_each_time() -> None:
    pcm = audio(4.0)
    told = []
    for _ in range(2):
        backend = create(BackendContext(no_models, num_threads=2, allow_untrained=True))
        load(backend)
        stream = backend.open_stream()
        told.append(rows_of([*stream.push(pcm), *stream.flush()]))
        backend.close()
    assert told[0][0].probabilities.shape == (CPU_CHUNK + CPU_AHEAD, 8)
    for first, second in zip(*told, strict=True):
        np.testing.assert_allclose(first.probabilities, second.probabilities, atol=1e-5)
