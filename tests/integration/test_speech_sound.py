"""Codec speech through real PortAudio into a private sound server, compared sample by sample."""

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import soundfile

from engine.audio.resample import StreamResampler
from engine.models.nanocodec.codes_file import CodesFile, write_codes
from engine.models.nanocodec.config import NANOCODEC_21HZ
from engine.models.nanocodec.layout import CodeLayout
from tests.helpers.pulse import RATE, SPEAKER, VirtualSound, is_available

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(not is_available(), reason="pulseaudio is not installed"),
]


@pytest.fixture(scope="module")
def sound() -> Iterator[VirtualSound]:
    with VirtualSound() as server:
        yield server


def write_codes_file(path: Path, num_frames: int) -> None:
    levels = np.tile(np.asarray(NANOCODEC_21HZ.levels), NANOCODEC_21HZ.num_groups)
    codes = np.random.default_rng(5).integers(0, levels, (num_frames, len(levels)))
    write_codes(path, CodesFile(NANOCODEC_21HZ.codec_id, CodeLayout.PER_DIMENSION, codes))


@pytest.mark.parametrize("decoder", ["stateful", "lookback"])
def test_codec_speech_when_recorded_then_equals_the_decode_sample_by_sample(
    sound: VirtualSound, tmp_path: Path, decoder: str
) -> None:
    codes, wav, decoded = tmp_path / "c.npz", tmp_path / "out.wav", tmp_path / "pcm.npy"
    write_codes_file(codes, 65)
    with sound.recorded_speaker(wav):
        told = sound.run(
            *(sys.executable, "-m", "tests.helpers.speak_codes"),
            *(str(codes), decoder, SPEAKER, str(decoded)),
        ).split()
    expected = _resampled(np.load(decoded), RATE)
    assert told[0] == "done"
    assert (int(told[1]), int(told[2]), int(told[3])) == (len(expected), RATE, 0)
    recorded, rate = soundfile.read(wav, dtype="float32")
    assert rate == RATE
    heard = _aligned(recorded, expected)
    # 16 bits, with the server's dither.
    assert np.abs(heard - expected).max() < 3 / 32768
    assert np.abs(np.diff(heard)).max() <= np.abs(np.diff(expected)).max() + 6 / 32768


def _resampled(pcm: np.ndarray, rate: int) -> np.ndarray:
    resampler = StreamResampler(22_050, rate)
    return np.concatenate((resampler.push(pcm), resampler.flush()))


def _aligned(recorded: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """Return the stretch of a recording that fits best."""
    size = 1 << (len(recorded) + len(expected)).bit_length()
    spectrum = np.fft.rfft(recorded, size) * np.conj(np.fft.rfft(expected, size))
    start = int(np.argmax(np.fft.irfft(spectrum, size)[: len(recorded)]))
    return recorded[start : start + len(expected)]
