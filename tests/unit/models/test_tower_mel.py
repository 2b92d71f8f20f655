"""Log-mel features: the same however the samples come."""

import math

import numpy as np
import pytest
import torch

from engine.models.mel import AudioPreprocessor, MelSpectrogram
from engine.models.tower_config import MelConfig
from tests.unit.models.tower_models import noise


def _streamed(mel: MelSpectrogram, audio: torch.Tensor, sizes: list[int]) -> torch.Tensor:
    state, frames, start = mel.init_state(), [], 0
    for size in sizes:
        part, state = mel.step(audio[None, start : start + size], state)
        frames.append(part)
        start += size
    return torch.cat([*frames, mel.flush(state)], dim=2)


def _random_sizes(num_samples: int, seed: int) -> list[int]:
    rng, sizes = np.random.default_rng(seed), []
    while sum(sizes) < num_samples:
        sizes.append(int(rng.integers(0, 3000)))
    return sizes


@pytest.mark.parametrize("num_samples", [0, 1, 159, 160, 199, 200, 2000, 16_001, 24_159])
@pytest.mark.parametrize("push_samples", [7, 160, 592, 1600, 100_000])
def test_step_when_samples_come_in_pieces_gives_the_frames_of_the_whole(
    num_samples: int, push_samples: int
) -> None:
    mel = MelSpectrogram(MelConfig())
    audio = noise(num_samples)
    whole, seq_len = mel(audio[None], torch.tensor([num_samples]))
    pieces = _streamed(mel, audio, [push_samples] * math.ceil(num_samples / push_samples))
    assert pieces.shape[2] == int(seq_len) == num_samples // 160
    assert torch.equal(pieces, whole[:, :, : int(seq_len)])


@pytest.mark.parametrize("seed", range(5))
def test_step_when_pieces_are_of_random_size_gives_the_frames_of_the_whole(seed: int) -> None:
    mel = MelSpectrogram(MelConfig())
    audio = noise(30_000, seed)
    whole, _ = mel(audio[None], torch.tensor([30_000]))
    pieces = _streamed(mel, audio, _random_sizes(30_000, seed))
    assert torch.equal(pieces, whole[:, :, :187])


def test_step_when_a_half_window_is_there_gives_the_frame_at_once() -> None:
    mel = MelSpectrogram(MelConfig())
    frames, state = mel.step(noise(199)[None], mel.init_state())
    assert frames.shape[2] == 0
    frames, _ = mel.step(noise(1)[None], state)
    assert frames.shape[2] == 1


def test_step_when_a_stream_goes_on_keeps_its_state_small_and_the_old_one_as_it_was() -> None:
    mel = MelSpectrogram(MelConfig())
    state = mel.init_state()
    before = state.pending.clone()
    _, new = mel.step(noise(5000)[None], state)
    assert torch.equal(state.pending, before)
    assert state.num_samples == 0
    for _ in range(50):
        _, new = mel.step(noise(777)[None], new)
        assert new.pending.shape[1] < 512 + 160
        assert new.pending.untyped_storage().nbytes() < 4 * (512 + 160)


def test_forward_when_rows_are_padded_ignores_the_padding_and_fills_it() -> None:
    mel = MelSpectrogram(MelConfig(pad_value=-3.0))
    audio = torch.full((3, 8000), 9.0)
    audio[0], audio[1, :4000] = noise(8000, 1), noise(4000, 2)
    frames, seq_len = mel(audio, torch.tensor([8000, 4000, 0]))
    assert seq_len.tolist() == [50, 25, 0]
    alone, _ = mel(audio[1:2, :4000], torch.tensor([4000]))
    torch.testing.assert_close(frames[1, :, :25], alone[0, :, :25], atol=1e-5, rtol=0)
    assert bool((frames[1, :, 25:] == -3.0).all())
    assert bool((frames[2] == -3.0).all())


def test_forward_when_there_is_silence_gives_the_guard_value() -> None:
    frames, _ = MelSpectrogram(MelConfig())(torch.zeros(1, 1600), torch.tensor([1600]))
    torch.testing.assert_close(frames[:, :, :10], torch.full((1, 128, 10), math.log(2.0**-24)))


def test_forward_when_a_tone_sounds_peaks_in_its_band() -> None:
    tone = torch.sin(2 * math.pi * 1000.0 * torch.arange(16_000) / 16_000)
    frames, _ = MelSpectrogram(MelConfig())(tone[None], torch.tensor([16_000]))
    weights = MelSpectrogram(MelConfig()).fb[0]
    assert int(frames[0, :, 50].argmax()) == int(weights[:, 32].argmax())  # bin 32 is 1000 Hz


def test_tables_when_stored_in_bfloat16_are_rounded_and_computed_in_float32() -> None:
    exact, coarse = MelSpectrogram(MelConfig()), MelSpectrogram(MelConfig(table_dtype="bfloat16"))
    assert torch.equal(coarse.fb, exact.fb.bfloat16().float())
    assert torch.equal(coarse.window, exact.window.bfloat16().float())
    held = MelSpectrogram(MelConfig()).to(torch.bfloat16)
    audio = noise(4000)[None]
    assert torch.equal(held(audio, torch.tensor([4000]))[0], coarse(audio, torch.tensor([4000]))[0])


def test_preprocessor_when_called_gives_what_its_featurizer_gives() -> None:
    preprocessor = AudioPreprocessor(MelConfig(n_mels=16))
    audio, length = noise(3200)[None], torch.tensor([3200])
    assert torch.equal(preprocessor(audio, length)[0], preprocessor.featurizer(audio, length)[0])
    assert set(preprocessor.state_dict()) == {"featurizer.fb", "featurizer.window"}


@pytest.mark.parametrize(
    "changes", [{"n_mels": 0}, {"n_fft": 511}, {"win_length": 600}, {"hop_length": 320}]
)
def test_config_when_out_of_range_says_which_value(changes: dict[str, int]) -> None:
    with pytest.raises(ValueError, match=next(iter(changes))):
        MelConfig(**changes)  # type: ignore[arg-type]
