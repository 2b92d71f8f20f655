import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.audio.resample import StreamResampler
from engine.core.timebase import rescale

pytestmark = pytest.mark.unit

RATES = [(48000, 16000), (44100, 16000), (16000, 48000), (22050, 48000), (8000, 16000)]


def _convert(pcm: np.ndarray, from_rate: int, to_rate: int, sizes: list[int]) -> np.ndarray:
    resampler = StreamResampler(from_rate, to_rate)
    parts, position, k = [], 0, 0
    while position < len(pcm):
        size = sizes[k % len(sizes)]
        parts.append(resampler.push(pcm[position : position + size]))
        position, k = position + size, k + 1
    parts.append(resampler.flush())
    return np.concatenate(parts)


@pytest.mark.parametrize(("from_rate", "to_rate"), RATES)
def test_impulse_when_resampled_then_keeps_its_time(from_rate: int, to_rate: int) -> None:
    pcm = np.zeros(from_rate, dtype=np.float32)
    pcm[from_rate // 2] = 1.0
    out = _convert(pcm, from_rate, to_rate, [480])
    assert np.argmax(np.abs(out)) == to_rate // 2


@pytest.mark.parametrize(("from_rate", "to_rate"), RATES)
@pytest.mark.parametrize("num_samples", [0, 1, 7, 12345])
def test_flush_when_done_then_the_whole_output_has_the_rescaled_length(
    from_rate: int, to_rate: int, num_samples: int
) -> None:
    pcm = np.ones(num_samples, dtype=np.float32)
    out = _convert(pcm, from_rate, to_rate, [1000])
    assert len(out) == rescale(num_samples, from_rate, to_rate)


@pytest.mark.property
@settings(deadline=None, max_examples=25)
@given(st.lists(st.integers(1, 3000), min_size=1, max_size=6), st.sampled_from(RATES))
def test_output_when_input_is_cut_anyhow_then_is_the_same(
    sizes: list[int], rates: tuple[int, int]
) -> None:
    pcm = np.random.default_rng(0).uniform(-0.5, 0.5, 9000).astype(np.float32)
    whole = _convert(pcm, *rates, [len(pcm)])
    # The same filter in the same order: only the rounding of single precision may differ.
    np.testing.assert_allclose(_convert(pcm, *rates, sizes), whole, atol=1e-6)


def test_sine_when_resampled_then_is_the_sine_at_the_new_rate() -> None:
    pcm = np.sin(2 * np.pi * 440 * np.arange(48000) / 48000).astype(np.float32)
    out = _convert(pcm, 48000, 16000, [960])
    wanted = np.sin(2 * np.pi * 440 * np.arange(16000) / 16000)
    # The ends lack half of the filter's support.
    np.testing.assert_allclose(out[500:-500], wanted[500:-500], atol=1e-3)


def test_equal_rates_when_pushed_then_pass_through() -> None:
    resampler = StreamResampler(16000, 16000)
    pcm = np.ones(100, dtype=np.float32)
    assert resampler.push(pcm) is pcm
    assert len(resampler.flush()) == 0
    assert resampler.num_returned == 100


def test_push_when_flushed_then_refuses_until_reset() -> None:
    resampler = StreamResampler(48000, 16000)
    resampler.push(np.ones(4800, dtype=np.float32))
    resampler.flush()
    with pytest.raises(ValueError, match="reset"):
        resampler.push(np.ones(10, dtype=np.float32))
    resampler.reset()
    assert resampler.num_pushed == 0
    first = np.concatenate([resampler.push(np.ones(4800, dtype=np.float32)), resampler.flush()])
    assert len(first) == 1600


def test_delay_when_streaming_then_is_at_most_seventy_milliseconds() -> None:
    for from_rate, to_rate in RATES:
        resampler = StreamResampler(from_rate, to_rate)
        for _ in range(100):
            resampler.push(np.zeros(from_rate // 100, dtype=np.float32))
        late_s = resampler.num_pushed / from_rate - resampler.num_returned / to_rate
        assert late_s < 0.07


def test_rate_when_not_positive_then_refuses() -> None:
    with pytest.raises(ValueError, match="positive"):
        StreamResampler(0, 16000)
