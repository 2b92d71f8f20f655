from pathlib import Path

import numpy as np
import pytest

from engine.models.ge2e_features import (
    TARGET_DBFS,
    MelFrames,
    MelState,
    loudness_gain,
    mel_filterbank,
    mel_spectrogram,
)
from tests.unit.models.ge2e_signals import voiced_tone

REFERENCE = Path(__file__).parents[2] / "data" / "ge2e_reference.npz"


@pytest.mark.parity
def test_mel_spectrogram_of_a_voiced_tone_equals_the_published_features() -> None:
    tone = voiced_tone()
    tone = tone * np.float32(loudness_gain(float(np.mean(tone.astype(np.float64) ** 2))))
    with np.load(REFERENCE) as stored:
        expected = stored["tone_mel"]
    assert np.max(np.abs(mel_spectrogram(tone)[::25] - expected)) < 1e-6 * expected.max()


@pytest.mark.unit
def test_filterbank_when_made_covers_the_band_with_every_row() -> None:
    weights = mel_filterbank()
    assert weights.shape == (201, 40)
    assert np.all(weights >= 0)
    assert np.all(weights.max(axis=0) > 0)


@pytest.mark.unit
@pytest.mark.parametrize("size", [1, 159, 160, 333, 40_000])
def test_step_when_audio_is_cut_anywhere_gives_the_same_frames(size: int) -> None:
    tone = voiced_tone()[:20_000]
    state = MelState()
    frames = MelFrames()
    mel, mean_square = zip(
        *(frames.step(tone[i : i + size], state) for i in range(0, len(tone), size)), strict=True
    )
    whole, whole_square = MelFrames().step(tone, MelState())
    assert np.array_equal(np.concatenate(mel), whole)
    assert np.allclose(np.concatenate(mean_square), whole_square, rtol=1e-6)
    assert np.array_equal(whole, mel_spectrogram(tone)[: len(whole)])


@pytest.mark.unit
def test_step_when_run_long_remembers_less_than_one_window() -> None:
    state = MelState()
    MelFrames().step(voiced_tone(), state)
    assert len(state.pending) < 400


@pytest.mark.unit
def test_loudness_gain_raises_quiet_audio_only() -> None:
    target = 10 ** (TARGET_DBFS / 10)
    assert loudness_gain(target / 100) == pytest.approx(10.0)
    assert loudness_gain(target * 100) == 1.0
    assert loudness_gain(0.0) == 1.0
