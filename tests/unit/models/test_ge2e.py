from pathlib import Path

import numpy as np
import pytest
import soundfile

from engine.core.errors import ModelFileError, ModelLoadError, ModelMissingError
from engine.core.types import Pcm
from engine.models.ge2e import WINDOW_FRAMES, SpeakerEncoder
from engine.models.ge2e_features import loudness_gain, mel_spectrogram
from tests.helpers.backends import model_path
from tests.unit.models.ge2e_signals import voiced_tone

REFERENCE = Path(__file__).parents[2] / "data" / "ge2e_reference.npz"
LIBRIVOX = Path(
    "/usr/share/pocketsphinx/test/data/librivox/sense_and_sensibility_01_austen_64kb-0880.wav"
)
_REFERENCE_STEP_FRAMES = 77
"""The package's own distance between windows at its default rate of 1.3 a second."""


@pytest.fixture(scope="module")
def encoder() -> SpeakerEncoder:
    return SpeakerEncoder(model_path("ge2e-speaker-encoder") / "pretrained.pt")


def librivox() -> Pcm:
    if not LIBRIVOX.is_file():
        pytest.skip("needs Debian's package pocketsphinx-testdata")
    return soundfile.read(LIBRIVOX, dtype="float32")[0]


@pytest.mark.parity
@pytest.mark.models
@pytest.mark.parametrize("name", ["tone", "librivox"])
def test_embed_when_given_the_reference_audio_equals_the_published_encoder(
    encoder: SpeakerEncoder, name: str
) -> None:
    audio = voiced_tone() if name == "tone" else librivox()
    with np.load(REFERENCE) as stored:
        expected, published = stored[f"{name}_partials"], stored[f"{name}_embedding"]
    audio = audio * np.float32(loudness_gain(float(np.mean(audio.astype(np.float64) ** 2))))
    starts = [i * _REFERENCE_STEP_FRAMES for i in range(len(expected))]
    missing = (starts[-1] + WINDOW_FRAMES) * 160 - len(audio)
    mel = mel_spectrogram(np.pad(audio, (0, max(0, missing))))
    found = np.stack([encoder.embed(mel[i : i + WINDOW_FRAMES]) for i in starts])
    assert np.max(np.abs(found - expected)) < 1e-5, "float rounding of 160 LSTM steps is 3e-7"
    mean = found.mean(axis=0)
    assert mean @ published / np.linalg.norm(mean) > 0.9999


@pytest.mark.models
def test_embed_when_given_any_length_has_length_one(encoder: SpeakerEncoder) -> None:
    mel = mel_spectrogram(voiced_tone())
    for num_frames in (1, 20, 160, 250):
        embedding = encoder.embed(mel[:num_frames])
        assert embedding.shape == (256,)
        assert np.all(embedding >= 0)
        assert np.linalg.norm(embedding) == pytest.approx(1.0, abs=1e-5)


@pytest.mark.models
def test_embed_when_run_leaves_the_thread_setting_of_torch_alone(encoder: SpeakerEncoder) -> None:
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        encoder.embed(np.full((20, 40), 1e-3, dtype=np.float32))
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)


@pytest.mark.models
@pytest.mark.parametrize("shape", [(0, 40), (160, 80), (40,)])
def test_embed_when_the_shape_is_wrong_says_so(
    encoder: SpeakerEncoder, shape: tuple[int, ...]
) -> None:
    with pytest.raises(ValueError, match="40"):
        encoder.embed(np.zeros(shape, dtype=np.float32))


@pytest.mark.unit
def test_load_when_the_file_is_missing_tells_how_to_fetch_it(tmp_path: Path) -> None:
    with pytest.raises(ModelMissingError, match="models pull ge2e-speaker-encoder"):
        SpeakerEncoder(tmp_path / "pretrained.pt")


@pytest.mark.unit
@pytest.mark.parametrize("content", [b"", b"<html>not found</html>", b"PK\x03\x04truncated"])
def test_load_when_the_file_is_no_weights_file_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "pretrained.pt"
    path.write_bytes(content)
    with pytest.raises(ModelFileError, match="cannot be read"):
        SpeakerEncoder(path)


@pytest.mark.unit
@pytest.mark.parametrize("layers", [{}, {"linear.weight": (3, 3)}])
def test_load_when_the_file_holds_another_model_is_refused(
    tmp_path: Path, layers: dict[str, tuple[int, int]]
) -> None:
    import torch

    path = tmp_path / "pretrained.pt"
    torch.save({"model_state": {k: torch.zeros(v) for k, v in layers.items()}}, path)
    with pytest.raises(ModelLoadError, match="not a GE2E"):
        SpeakerEncoder(path)


@pytest.mark.unit
def test_load_when_the_file_holds_no_model_at_all_is_refused(tmp_path: Path) -> None:
    import torch

    path = tmp_path / "pretrained.pt"
    torch.save([1, 2, 3], path)
    with pytest.raises(ModelLoadError, match="model_state"):
        SpeakerEncoder(path)
