"""`vivavoce codec`, and `say` of what it writes, by full-size random weights."""

from pathlib import Path

import numpy as np
import pytest
import soundfile

from engine.models.nanocodec.codes_file import read_codes
from engine.models.nanocodec.config import NANOCODEC_21HZ
from tests.helpers.cli import run_cli

pytestmark = pytest.mark.integration


@pytest.fixture
def wav(tmp_path: Path) -> Path:
    path = tmp_path / "in.wav"
    noise = 0.1 * np.random.default_rng(3).standard_normal(16_000)
    soundfile.write(path, noise, 16_000)
    return path


@pytest.mark.slow
@pytest.mark.parametrize("options", [("--decoder", "stateful"), ("--decoder", "lookback")])
def test_codec_when_decoded_in_chunks_then_equals_the_whole_and_can_be_said(
    wav: Path, tmp_path: Path, options: tuple[str, ...]
) -> None:
    out, codes = tmp_path / "out.wav", tmp_path / "codes.npz"
    outcome = run_cli(
        *("codec", str(wav), "-o", str(out), "--untrained", "--codes-out", str(codes)),
        *("--chunk", "7", *options),
        env={"VIVAVOCE_HOME": str(tmp_path)},
    )
    assert outcome.status == 0, outcome.err
    assert "untrained" in outcome.err
    frames = read_codes(codes).frames(NANOCODEC_21HZ)
    assert frames.shape == (22, 32)
    assert soundfile.info(out).frames == 22 * 1024
    error = float(outcome.out.partition("difference")[2].split()[0])
    assert error < 1e-5


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (("missing.wav", "-o", "o.wav", "--untrained"), 3, "missing.wav"),
        (("in.wav", "-o", "no/o.wav", "--untrained"), 2, "does not exist"),
        (("in.wav", "-o", "o.wav", "--chunk", "0"), 2, "The option --chunk cannot be"),
        (("in.wav", "-o", "o.wav", "--decoder", "oracle"), 2, "no decoder"),
        (("in.wav", "-o", "o.wav", "--lookback", "-3"), 2, "number of frames, or exact"),
        (("in.wav", "-o", "o.wav", "--lookback", "²"), 2, "number of frames, or exact"),
        (("in.wav", "-o", "o.wav", "--codec", "nvidia/other"), 5, "Known are"),
    ],
)
def test_codec_when_asked_for_nonsense_then_says_so(
    wav: Path, tmp_path: Path, arguments: tuple[str, ...], status: int, message: str
) -> None:
    outcome = run_cli("codec", *arguments, cwd=tmp_path, env={"VIVAVOCE_HOME": str(tmp_path)})
    assert outcome.status == status, outcome.err
    assert message in outcome.err
    assert "Traceback" not in outcome.err
    assert not (tmp_path / "o.wav").exists()
