"""What an encoder keeps: the audio tower, from a small checkpoint of the published layout."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from engine.backends import registry
from engine.backends.protocols import Encoder
from engine.core.config import Statistics
from engine.core.errors import BackendError, CancelledError, ModelLoadError, ModelMissingError
from engine.core.events import ActivityRevised, StreamEvent
from engine.core.sync import CancelToken
from engine.core.types import BackendKind, Pcm
from tests.conformance.common import check_life, check_spec, run, run_two
from tests.conformance.test_diarizers import Told, same
from tests.helpers.backends import blocks, load, make_context
from tests.unit.models.tower_models import (
    nemo_tensors,
    nemo_whole_config,
    noise,
    tiny_config,
    tiny_speaker_model,
    tiny_tower,
    transformers_diarizer_config,
    transformers_tensors,
    write_checkpoint,
)

KIND = BackendKind.ENCODER
WINDOW_SAMPLES = 20 * 1280


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tower")
    return write_checkpoint(folder, nemo_whole_config(tiny_config()), nemo_tensors(tiny_tower()))


@pytest.fixture(scope="module")
def encoder(checkpoint: Path) -> Encoder:
    backend = registry.create(KIND, f"tower:{checkpoint}", make_context())
    check_spec(backend, KIND, "tower")
    load(backend)
    return backend


@pytest.fixture(scope="module")
def audio() -> Pcm:
    return noise(100_003).numpy()


@pytest.fixture(scope="module")
def reference(encoder: Encoder, audio: Pcm) -> list[StreamEvent]:
    return run(encoder.open_stream(), blocks(audio, 1600))


def _rows(events: Sequence[StreamEvent]) -> np.ndarray:
    return np.concatenate([e.probabilities for e in events if isinstance(e, ActivityRevised)])


def _encode(encoder: Encoder, audio: Pcm, statistics: Statistics = Statistics.EXACT):
    return encoder.encode(audio, statistics, lambda fraction, text: None, CancelToken())


def test_events_when_audio_goes_by_are_settled_windows_without_a_hole(
    encoder: Encoder, audio: Pcm, reference: list[StreamEvent]
) -> None:
    assert all(isinstance(event, ActivityRevised) and event.is_settled for event in reference)
    assert len(reference) == -(-len(audio) // WINDOW_SAMPLES)
    told = Told(encoder.spec.sample_rate, encoder.spec.frame_ms)
    told.take(reference, len(audio))
    assert told.final_until == len(told.rows) == -(-(len(audio) // 160) // 8)


def test_events_when_blocks_are_cut_differently_are_the_same(
    encoder: Encoder, audio: Pcm, reference: list[StreamEvent]
) -> None:
    assert same(run(encoder.open_stream(), blocks(audio, 1, 0, 997, 32_000, 333)), reference)


def test_reset_when_a_stream_was_used_gives_the_same_events_again(
    encoder: Encoder, audio: Pcm, reference: list[StreamEvent]
) -> None:
    stream = encoder.open_stream()
    stream.push(audio[::-1].copy())
    stream.reset()
    assert same(run(stream, blocks(audio, 1600)), reference)


def test_two_streams_when_pushed_in_turns_do_not_disturb_each_other(
    encoder: Encoder, audio: Pcm, reference: list[StreamEvent]
) -> None:
    one, other = encoder.open_stream(), encoder.open_stream(with_embeddings=True)
    first, _ = run_two((one, blocks(audio, 1600)), (other, blocks(audio[::-1].copy(), 1600)))
    assert same(first, reference)
    other.close()
    assert other.take_encoded() == []


@pytest.mark.parametrize("cut", [1, 159, 1280, 20_481, 47_000, 47_520])
def test_flush_when_audio_goes_on_keeps_rows_at_their_time(
    encoder: Encoder, audio: Pcm, cut: int
) -> None:
    stream = encoder.open_stream()
    told = Told(encoder.spec.sample_rate, encoder.spec.frame_ms)
    told.take(run(stream, blocks(audio[:cut], 1600)), cut)
    told.take(run(stream, blocks(audio[cut:], 1600)), len(audio))
    assert told.final_until == len(told.rows)
    assert 0 <= len(told.rows) - (len(audio) - 160) // 1280 <= 1


def test_flush_when_nothing_was_heard_tells_nothing(encoder: Encoder) -> None:
    stream = encoder.open_stream()
    assert list(stream.push(np.zeros(0, dtype=np.float32))) == []
    assert list(stream.flush()) == []
    assert list(stream.flush()) == []
    stream.close()
    stream.close()


def test_embeddings_when_live_are_those_of_running_statistics(encoder: Encoder, audio: Pcm) -> None:
    stream = encoder.open_stream(with_embeddings=True)
    events = run(stream, blocks(audio, 1600))
    windows = stream.take_encoded()
    encoded = _encode(encoder, audio, Statistics.RUNNING)
    assert stream.take_encoded() == []
    assert [w.first_frame for w in windows] == [e.first_frame for e in events]  # type: ignore[union-attr]
    np.testing.assert_allclose(
        np.concatenate([window.embeddings for window in windows]), encoded.embeddings, atol=1e-5
    )
    np.testing.assert_allclose(encoded.speaker_probs, _rows(events), atol=1e-5)


def test_encode_when_statistics_differ_gives_the_same_speakers_and_other_embeddings(
    encoder: Encoder, audio: Pcm, reference: list[StreamEvent]
) -> None:
    exact, running = (_encode(encoder, audio, statistics) for statistics in Statistics)
    np.testing.assert_allclose(exact.speaker_probs, _rows(reference), atol=1e-5)
    np.testing.assert_allclose(exact.speaker_probs, running.speaker_probs, atol=1e-5)
    assert exact.embeddings.shape == running.embeddings.shape == (79, 48)
    assert exact.fine_speaker_probs.shape == (625, 4)
    assert np.abs(exact.embeddings[:20] - running.embeddings[:20]).max() > 1e-3


def test_encode_when_cancelled_gives_up_at_the_next_window(encoder: Encoder, audio: Pcm) -> None:
    cancel, told = CancelToken(), []

    def tell(fraction: float, text: str) -> None:
        told.append(fraction)
        if text == "Encoding":
            cancel.cancel()

    with pytest.raises(CancelledError):
        encoder.encode(audio, Statistics.EXACT, tell, cancel)
    assert told[-1] < 0.5


@pytest.mark.parametrize(
    ("audio", "words"),
    [(np.zeros(159, np.float32), "159 samples"), (np.full(9999, np.nan, np.float32), "no numbers")],
)
def test_encode_when_audio_cannot_be_encoded_says_why(
    encoder: Encoder, audio: Pcm, words: str
) -> None:
    with pytest.raises(BackendError, match=words):
        _encode(encoder, audio)


def test_push_when_audio_is_not_finite_refuses_it(encoder: Encoder) -> None:
    with pytest.raises(BackendError, match="no numbers"):
        encoder.open_stream().push(np.full(10, np.inf, np.float32))


def test_backend_when_not_loaded_or_closed_opens_no_stream(checkpoint: Path) -> None:
    check_life(registry.create(KIND, f"tower:{checkpoint}", make_context()))


def test_backend_when_there_is_no_checkpoint_says_so(tmp_path: Path) -> None:
    with pytest.raises(ModelMissingError, match="nowhere"):
        registry.create(KIND, f"tower:{tmp_path / 'nowhere'}", make_context())


def test_encoder_when_the_checkpoint_is_a_diarizer_settles_speakers_but_makes_no_embeddings(
    tmp_path: Path, audio: Pcm
) -> None:
    model = tiny_speaker_model()
    folder = write_checkpoint(
        tmp_path, transformers_diarizer_config(model.config), transformers_tensors(model)
    )
    encoder = registry.create(KIND, f"tower:{folder}", make_context())
    load(encoder)
    assert run(encoder.open_stream(), blocks(audio, 1600))
    with pytest.raises(ModelLoadError, match="speaker branch alone"):
        _encode(encoder, audio)
