"""The log-mel features, against faster-whisper's own."""

import numpy as np
import pytest

from engine.models.whisper_mel import WhisperMel, slaney_filters

pytestmark = pytest.mark.parity


@pytest.mark.parametrize("num_mels", [80, 128])
def test_filters_when_made_then_equal_those_of_faster_whisper(num_mels: int) -> None:
    from faster_whisper.feature_extractor import FeatureExtractor

    expected = FeatureExtractor.get_mel_filters(16_000, 400, num_mels)
    np.testing.assert_allclose(slaney_filters(num_mels), expected, atol=1e-7)


@pytest.mark.parametrize("num_samples", [1, 399, 16_000, 31_999, 47_999, 64_000])
def test_features_when_silence_follows_then_equal_those_of_faster_whisper(
    num_samples: int,
) -> None:
    from faster_whisper.feature_extractor import FeatureExtractor

    num_frames = 300
    pcm = np.random.default_rng(num_samples).normal(0, 0.1, num_samples).astype(np.float32)
    whole = np.zeros(num_frames * 160, dtype=np.float32)
    whole[: min(len(whole), num_samples)] = pcm[: len(whole)]
    expected = FeatureExtractor()(whole, padding=0)[:, :num_frames]
    got = WhisperMel()(pcm, num_frames)
    assert got.shape == (80, num_frames)
    assert got.dtype == np.float32
    np.testing.assert_allclose(got, expected, atol=2e-4)


def test_features_when_audio_is_empty_then_all_frames_are_alike() -> None:
    got = WhisperMel()(np.zeros(0, dtype=np.float32), 100)
    assert got.shape == (80, 100)
    assert np.ptp(got) < 1e-5
