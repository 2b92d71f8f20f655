"""`vivavoce encode`: audio in, a safetensors file out."""

from pathlib import Path

import numpy as np
import pytest
import soundfile
from safetensors import safe_open

from tests.helpers.cli import run_cli
from tests.unit.models.tower_models import (
    nemo_tensors,
    nemo_whole_config,
    noise,
    tiny_config,
    tiny_tower,
    write_checkpoint,
)


@pytest.fixture
def encoder(tmp_path: Path) -> str:
    folder = tmp_path / "tower"
    write_checkpoint(folder, nemo_whole_config(tiny_config()), nemo_tensors(tiny_tower()))
    return f"tower:{folder}"


@pytest.fixture
def audio(tmp_path: Path) -> Path:
    path = tmp_path / "speech.wav"
    soundfile.write(path, noise(66_150).numpy(), 22_050)
    return path


def test_encode_when_a_file_is_given_writes_embeddings_and_says_what_they_are(
    tmp_path: Path, audio: Path, encoder: str
) -> None:
    out = tmp_path / "speech.safetensors"
    done = run_cli(
        "encode", str(audio), "-o", str(out), "--encoder", encoder, "--statistics", "running"
    )
    assert done.status == 0, done.err
    assert "38 embeddings of 48 numbers" in done.err
    with safe_open(out, "numpy") as file:
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        facts = file.metadata()
    assert tensors["embeddings"].shape == (38, 48)
    assert tensors["speaker_probs"].shape == (38, 4)
    assert tensors["fine_speaker_probs"].shape == (300, 4)
    assert tensors["lengths"].tolist() == [38]
    assert tensors["num_samples"].tolist() == [48_000]
    assert all(bool(np.isfinite(values).all()) for values in tensors.values())
    assert facts["statistics"] == "running"
    assert facts["is_trained"] == "true"
    assert (facts["sample_rate_hz"], facts["frame_ms"], facts["fine_frame_ms"]) == (
        "16000",
        "80",
        "10",
    )
    assert out.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (("--encoder", "nobody"), 2, 'no encoder "nobody"'),
        (("--encoder", "tower:/no/such/folder"), 4, "/no/such/folder"),
        (("--encoder", "tower"), 4, "tower"),
    ],
)
def test_encode_when_the_encoder_cannot_be_had_says_why(
    tmp_path: Path, audio: Path, arguments: tuple[str, ...], status: int, words: str
) -> None:
    out = tmp_path / "out.safetensors"
    done = run_cli("encode", str(audio), "-o", str(out), *arguments)
    assert done.status == status, done.err
    assert words in done.err
    assert "Traceback" not in done.err
    assert not out.exists()


def test_encode_when_the_audio_is_too_short_writes_nothing(tmp_path: Path, encoder: str) -> None:
    short, out = tmp_path / "short.wav", tmp_path / "out.safetensors"
    soundfile.write(short, np.zeros(100, np.float32), 16_000)
    done = run_cli("encode", str(short), "-o", str(out), "--encoder", encoder)
    assert done.status == 5, done.err
    assert "100 samples" in done.err
    assert not out.exists()


def test_encode_when_there_is_no_such_file_or_folder_says_so(tmp_path: Path, encoder: str) -> None:
    missing = run_cli("encode", str(tmp_path / "none.wav"), "-o", str(tmp_path / "a"))
    assert (missing.status, "none.wav" in missing.err) == (3, True)
    done = run_cli("encode", "demo", "-o", str(tmp_path / "no" / "a"), "--encoder", encoder)
    assert (done.status, "does not exist" in done.err) == (2, True)
