"""Windows, fusion and whole clips."""

import math
from dataclasses import replace

import pytest
import torch

from engine.models.normalize import normalize_per_feature
from engine.models.parallel_expert import ParallelExpertEncoder, plan_windows
from engine.models.tower_config import FusionConfig, PrecisionPolicy, TowerConfig
from tests.unit.models.tower_models import noise, tiny_config, tiny_tower

# 1, 2 and 4 windows of 1.6 s; the shortest is one mel frame, the second has a partial stack.
LENGTHS = (160, 1700, 25_600, 25_760, 40_001, 90_000)


def test_plan_when_a_clip_has_several_windows_gives_context_within_the_clip() -> None:
    windows = list(plan_windows(413, tiny_config().online, 8))
    assert [(w.context_start, w.start, w.end, w.context_end) for w in windows] == [
        (0, 0, 160, 192),
        (128, 160, 320, 352),
        (288, 320, 413, 413),
    ]
    assert [(w.left_offset, w.right_offset) for w in windows] == [(0, 32), (32, 32), (32, 0)]
    assert list(plan_windows(0, tiny_config().online, 8)) == []


@pytest.mark.parametrize("num_frames", [1, 7, 8, 159, 160, 161, 165, 190, 413])
def test_encode_when_frames_do_not_fill_a_stack_rounds_up(num_frames: int) -> None:
    encoder = tiny_tower().encoder
    encoded = encoder.encode(torch.randn(1, 16, num_frames), torch.tensor([num_frames]), num_frames)
    expected = math.ceil(num_frames / 8)
    assert encoded.fused.shape == (1, expected, 64)
    assert encoded.speaker_probs.shape == (1, expected, 4)
    assert encoded.fine_speaker_probs.shape == (1, expected * 8, 4)


def test_encode_when_windows_come_one_by_one_gives_the_same() -> None:
    encoder, mel = tiny_tower().encoder, torch.randn(1, 16, 413)
    whole = encoder.encode(mel, torch.tensor([413]), 413)
    asr_mel = normalize_per_feature(mel, torch.tensor([413]))
    state, states, probs = encoder.diarization_model.init_state(), [], []
    for w in plan_windows(413, encoder.online, 8):
        seen = slice(w.context_start, w.context_end)
        state, asr_states, activity = encoder.encode_window(
            asr_mel[:, :, seen], mel[:, :, seen], torch.tensor([seen.stop - seen.start]),
            state, w.left_offset, w.right_offset,
        )  # fmt: skip
        states.append(asr_states)
        probs.append(activity.coarse)
    assert torch.equal(torch.cat(states, dim=1), whole.asr_states)
    assert torch.equal(torch.cat(probs, dim=1), whole.speaker_probs)
    assert torch.equal(encoder.fuse(whole.asr_states, whole.speaker_probs), whole.fused)


def _fused(mode: FusionConfig, probs: torch.Tensor) -> tuple[ParallelExpertEncoder, torch.Tensor]:
    encoder = tiny_tower(tiny_config(fusion=mode)).encoder
    return encoder, encoder.fuse(torch.randn(1, 3, 64, generator=torch.manual_seed(0)), probs)


def test_fuse_when_thresholded_tells_only_who_is_active() -> None:
    mode = FusionConfig("thresholded")
    low = torch.tensor([[[0.51, 0.5, 0.2, 0.0]] * 3])
    high = torch.tensor([[[0.99, 0.4, 0.0, 0.1]] * 3])
    assert torch.equal(_fused(mode, low)[1], _fused(mode, high)[1])
    assert not torch.equal(_fused(mode, low)[1], _fused(mode, high.flip(2))[1])
    raw = FusionConfig("raw")
    assert not torch.equal(_fused(raw, low)[1], _fused(raw, high)[1])


def test_fuse_when_scaled_adds_the_speakers_sinusoids() -> None:
    probs = torch.tensor([[[0.9, 0.1, 0.7, 0.0]] * 3])
    encoder, plain = _fused(FusionConfig(spk_kernel_scale=0.0), probs)
    _, fused = _fused(FusionConfig(spk_kernel_scale=0.5), probs)
    columns = torch.arange(64)
    rates = 10_000.0 ** (-(columns - columns % 2) / 64)
    kernel = torch.stack(
        [torch.where(columns % 2 == 0, (s * rates).sin(), (s * rates).cos()) for s in range(4)]
    )
    speakers = encoder.diar_norm((probs > 0.5).float())
    torch.testing.assert_close(fused - plain, 0.5 * speakers @ kernel, atol=1e-5, rtol=1e-5)


def test_clips_when_encoded_together_equal_one_by_one() -> None:
    tower = tiny_tower()
    signals = [noise(length, seed) for seed, length in enumerate(LENGTHS)]
    together = tower.encode_clips(signals, torch.tensor(LENGTHS))
    for signal, length, clip in zip(signals, LENGTHS, together, strict=True):
        (alone,) = tower.encode_clips([signal], torch.tensor([length]))
        assert clip.embeddings.shape == (math.ceil(length // 160 / 8), 48)
        assert clip.fine_speaker_probs.shape == (length // 160, 4)
        for name in ("embeddings", "asr_states", "speaker_probs", "fine_speaker_probs"):
            torch.testing.assert_close(
                getattr(clip, name), getattr(alone, name), atol=2e-5, rtol=2e-5
            )


def test_encode_when_called_gives_the_embeddings_of_the_clips_in_order() -> None:
    tower = tiny_tower()
    signals, lengths = [noise(40_000, 1), noise(3000, 2)], torch.tensor([40_000, 3000])
    clips = tower.encode_clips(signals, lengths)
    for embeddings, clip in zip(tower.encode(signals, lengths), clips, strict=True):
        assert torch.equal(embeddings, clip.embeddings)


def test_forward_when_rows_have_other_numbers_of_windows_gives_what_encode_gives() -> None:
    tower = tiny_tower()
    audio = torch.zeros(3, 60_000)
    lengths = torch.tensor([60_000, 9000, 0])
    for row, length in enumerate(lengths.tolist()):
        audio[row, :length] = noise(length, row)
    rows = tower(audio, lengths)
    expected = tower.encode(list(audio), lengths)
    assert [len(row) for row in rows] == [47, 7, 0]
    for row, other in zip(rows, expected, strict=True):
        torch.testing.assert_close(row, other, atol=2e-5, rtol=2e-5)


@pytest.mark.parametrize("num_samples", [0, 1, 159])
def test_clips_when_shorter_than_a_frame_give_nothing(num_samples: int) -> None:
    tower = tiny_tower()
    (clip,) = tower.encode_clips([noise(num_samples)], torch.tensor([num_samples]))
    assert clip.embeddings.shape == (0, 48)
    assert clip.fine_speaker_probs.shape == (0, 4)


def test_clips_when_silent_are_finite() -> None:
    (clip,) = tiny_tower().encode_clips([torch.zeros(50_000)], torch.tensor([50_000]))
    assert bool(torch.isfinite(clip.embeddings).all())


@pytest.mark.parametrize("bad", [math.nan, -math.inf])
def test_clips_when_one_is_not_finite_name_it(bad: float) -> None:
    signals = [noise(2000), noise(2000)]
    signals[1][1999] = bad
    with pytest.raises(ValueError, match="signal 1 must be finite"):
        tiny_tower().encode(signals, torch.tensor([2000, 2000]))
    tiny_tower().encode(signals, torch.tensor([2000, 1999]))


def test_clips_when_rate_or_length_is_wrong_say_so() -> None:
    tower = tiny_tower()
    with pytest.raises(ValueError, match="16000 Hz, got 48000 Hz"):
        tower.encode_clips([noise(2000)], torch.tensor([2000]), sample_rate=48_000)
    with pytest.raises(ValueError, match="signal 0 has 2000 samples"):
        tower.encode_clips([noise(2000)], torch.tensor([2001]))


def test_tower_when_the_configuration_is_of_the_speaker_branch_alone_is_refused() -> None:
    with pytest.raises(ValueError, match="asr_encoder must be configured"):
        ParallelExpertEncoder(TowerConfig.speaker_only())


def test_cast_when_the_recognition_branch_is_coarse_leaves_the_speakers_alone() -> None:
    fine, coarse = tiny_tower(), tiny_tower().cast(asr=torch.bfloat16)
    signals, lengths = [noise(60_000)], torch.tensor([60_000])
    (a,), (b,) = fine.encode_clips(signals, lengths), coarse.encode_clips(signals, lengths)
    assert torch.equal(a.speaker_probs, b.speaker_probs)
    assert b.embeddings.dtype == torch.bfloat16
    agreement = torch.nn.functional.cosine_similarity(a.embeddings, b.embeddings.float(), dim=1)
    assert float(agreement.min()) > 0.99


def test_policy_when_features_are_cast_first_normalises_the_coarse_ones() -> None:
    config = tiny_config(precision=PrecisionPolicy(normalize_in_float32=False))
    mel, lengths = 3 * torch.randn(1, 16, 100) - 12, torch.tensor([100])
    default = tiny_tower().cast(asr=torch.bfloat16).encoder
    published = tiny_tower(config).cast(asr=torch.bfloat16).encoder
    rounded = mel.bfloat16().float()
    assert torch.equal(
        published.encode(mel, lengths, 100).speaker_probs,
        default.encode(rounded, lengths, 100).speaker_probs,
    )
    exact = default.encode(mel, lengths, 100).asr_states
    assert not torch.equal(published.encode(mel, lengths, 100).asr_states, exact)
    # In float32 there is nothing to round, and the order makes no difference.
    assert torch.equal(
        tiny_tower(config).encoder.encode(mel, lengths, 100).fused,
        tiny_tower().encoder.encode(mel, lengths, 100).fused,
    )


def test_config_when_parts_do_not_fit_together_says_which() -> None:
    config = tiny_config()
    assert config.asr_encoder is not None
    with pytest.raises(ValueError, match="projection"):
        replace(config, projection=None)
    with pytest.raises(ValueError, match="subsampling_factor"):
        replace(config, asr_encoder=replace(config.asr_encoder, subsampling_factor=4))
    with pytest.raises(ValueError, match="feat_in"):
        replace(config, preprocessor=replace(config.preprocessor, n_mels=20))
