"""Normalisation over a clip, and over what has been heard so far."""

import torch

from engine.models.normalize import FeatureStatistics, normalize_per_feature


def _features(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)) * 3.0 - 12.0


def test_normalize_when_rows_differ_in_length_uses_each_rows_own_frames() -> None:
    x = _features(3, 5, 40)
    result = normalize_per_feature(x, torch.tensor([40, 17, 2]))
    for row, length in enumerate((40, 17, 2)):
        valid = x[row, :, :length].double()
        std, mean = torch.std_mean(valid, dim=1, keepdim=True)
        expected = (valid - mean) / (std + 1e-5)
        torch.testing.assert_close(result[row, :, :length].double(), expected, atol=1e-5, rtol=1e-5)
        assert not result[row, :, length:].any()
        alone = normalize_per_feature(x[row : row + 1, :, :length], torch.tensor([length]))
        assert torch.equal(alone[0], result[row, :, :length])


def test_normalize_when_a_row_has_one_frame_or_none_gives_zeros() -> None:
    assert not normalize_per_feature(_features(2, 5, 4), torch.tensor([1, 0])).any()


def test_normalize_when_a_band_is_constant_stays_finite() -> None:
    assert not normalize_per_feature(torch.full((1, 3, 9), -16.6), torch.tensor([9])).any()


def test_normalize_when_features_are_coarse_keeps_their_dtype() -> None:
    x = _features(1, 4, 30).bfloat16()
    assert normalize_per_feature(x, torch.tensor([30])).dtype == torch.bfloat16


def test_statistics_when_all_frames_were_heard_equal_the_whole_clips() -> None:
    x = _features(16, 1000).double()
    statistics, start = FeatureStatistics.empty(16), 0
    for size in (0, 1, 3, 96, 400, 500):
        statistics = statistics.updated(x[:, start : start + size])
        start += size
    std, mean = torch.std_mean(x, dim=1)
    torch.testing.assert_close(statistics.mean, mean, atol=1e-9, rtol=0)
    torch.testing.assert_close((statistics.squares / 999).sqrt(), std, atol=1e-9, rtol=0)
    torch.testing.assert_close(
        statistics.normalize(x[None]),
        normalize_per_feature(x[None], torch.tensor([1000])),
        atol=1e-6,
        rtol=0,
    )


def test_statistics_when_more_is_heard_leave_the_earlier_ones_as_they_were() -> None:
    early = FeatureStatistics.empty(4).updated(_features(4, 50))
    kept = early.normalize(_features(1, 4, 50))
    early.updated(_features(4, 5000, seed=1) * 100)
    assert torch.equal(early.normalize(_features(1, 4, 50)), kept)


def test_statistics_when_nothing_or_one_frame_was_heard_stay_finite() -> None:
    frame = _features(4, 1)
    one = FeatureStatistics.empty(4).updated(frame)
    assert bool(torch.isfinite(FeatureStatistics.empty(4).normalize(frame[None])).all())
    assert bool(torch.isfinite(one.normalize(_features(1, 4, 7, seed=3))).all())
