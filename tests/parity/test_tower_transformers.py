"""The tower against transformers' implementation, with the same random weights."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from engine.models.checkpoints import untrained_speaker_model, untrained_tower
from engine.models.mel import MelSpectrogram
from engine.models.packed_linear import pack_linears
from engine.models.sortformer_config import CacheGeometry
from engine.models.sortformer_stream import SpeakerModel
from engine.models.tower_config import MelConfig, OnlineConfig, TowerConfig
from tests.parity.tower_reference import reference_diarizer, reference_tower, share_weights
from tests.unit.models.tower_models import noise, tiny_config, tiny_speaker_config

pytest.importorskip("transformers", minversion="5.22.2")
pytestmark = [pytest.mark.parity, pytest.mark.filterwarnings("ignore")]


def _mel(num_frames: int, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return 2.0 * torch.randn(1, 16, num_frames, generator=generator)


@pytest.mark.parametrize("is_packed", [False, True])
@pytest.mark.parametrize("num_frames", [1, 8, 40, 160, 161, 333, 1200, 2051, 4003])
def test_encode_when_weights_are_the_same_gives_what_transformers_gives(
    num_frames: int, is_packed: bool
) -> None:
    config = tiny_config()
    reference, tower = reference_tower(config), untrained_tower(config)
    share_weights(reference, tower, "tower")
    if is_packed:
        pack_linears(tower)
    mel, missing = _mel(num_frames), -num_frames % 8
    expected = reference(
        torch.nn.functional.pad(mel, (0, missing)).transpose(1, 2),
        (torch.arange(num_frames + missing) < num_frames).long()[None],
    )
    encoded = tower.encoder.encode(mel, torch.tensor([num_frames]), num_frames)
    probs = expected.speaker_logits.sigmoid()
    for ours, theirs in (
        (encoded.fused, expected.last_hidden_state),
        (encoded.asr_states, expected.asr_last_hidden_state),
        (encoded.fine_speaker_probs, probs),
        (encoded.speaker_probs, probs.unflatten(1, (-1, 8)).mean(2)),
    ):
        torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=0)
    if num_frames > 1000:  # the comparison means something: speakers come and go
        assert 0.05 < float((probs > 0.5).float().mean()) < 0.95


# The published profiles `low` and `cpu` at a quarter of their sizes: chunk, right, fifo, period.
PROFILES = {"low": (3, 1, 66, 55), "cpu": (8, 1, 10, 75)}


def _live_pair(profile: str, dtype: torch.dtype) -> tuple[torch.nn.Module, SpeakerModel]:
    chunk, right, fifo_len, period = PROFILES[profile]
    online = OnlineConfig(chunk, 0, right, CacheGeometry(fifo_len, 66, period))
    config = replace(tiny_speaker_config(), online=replace(online, window_frames=chunk + 1))
    reference, model = reference_diarizer(config), untrained_speaker_model(config)
    share_weights(reference, model, "speaker")
    return reference.to(dtype), model.to(dtype)


def _stable_topk(
    scores: torch.Tensor, k: int, dim: int = -1, **_: bool
) -> tuple[torch.Tensor, torch.Tensor]:
    values, indices = scores.sort(dim=dim, descending=True, stable=True)
    return values.narrow(dim, 0, k), indices.narrow(dim, 0, k)


@pytest.fixture
def _earlier_frame_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    """A frame kept for two speakers ties with itself; `torch.topk` picks either copy."""
    monkeypatch.setattr(torch, "topk", _stable_topk)


@pytest.mark.usefixtures("_earlier_frame_wins")
@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 1e-9), (torch.float32, 1e-5)])
def test_step_when_live_gives_what_transformers_gives_and_keeps_the_same_frames(
    profile: str, dtype: torch.dtype, tolerance: float
) -> None:
    reference, model = _live_pair(profile, dtype)
    pack_linears(model)  # of float32; the cache must not choose other frames for it
    chunk, right, _, _ = PROFILES[profile]
    seen = (chunk + right) * 8
    state, cache = model.diarization_model.init_state(), None
    num_compressions, kept = 0, None
    for index in range(200):
        mel = _mel(seen, index).to(dtype)
        expected = reference(mel.transpose(1, 2), speaker_cache=cache, num_lookahead_frames=right)
        cache = expected.speaker_cache
        state, activity = model.diarization_model.advance(
            mel, torch.tensor([seen]), state, 0, right * 8
        )
        torch.testing.assert_close(activity.fine, expected.logits.sigmoid(), atol=tolerance, rtol=0)
        # Frames are copied, never computed, into the cache: equal embeddings are equal choices.
        ours, theirs = state.spkcache, cache.embeds[:, : cache.num_cache_frames]
        assert ours.shape == theirs.shape
        torch.testing.assert_close(ours, theirs, atol=tolerance, rtol=0)
        torch.testing.assert_close(
            state.fifo, cache.fifo[:, : cache.num_fifo_frames], atol=tolerance, rtol=0
        )
        num_compressions += state.spkcache_compressed and ours is not kept
        kept = ours
    assert num_compressions >= 5


@pytest.mark.parametrize("table_dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("num_samples", [16_000, 16_001, 16_159, 40_000, 100_003])
def test_mel_when_whole_or_in_pieces_equals_transformers_bit_for_bit(
    table_dtype: str, num_samples: int
) -> None:
    from transformers.models.nemotron_asr_streaming import (
        feature_extraction_nemotron_asr_streaming as features,
    )

    extractor = features.NemotronAsrStreamingFeatureExtractor(
        feature_size=128, mel_filters_dtype=table_dtype
    )
    mel = MelSpectrogram(MelConfig(table_dtype=table_dtype))  # type: ignore[arg-type]
    audio = noise(num_samples, num_samples)
    expected = extractor(audio.numpy(), sampling_rate=16_000)["input_features"]
    expected = torch.as_tensor(np.asarray(expected)).transpose(1, 2)
    whole, seq_len = mel(audio[None], torch.tensor([num_samples]))
    assert torch.equal(whole, expected)
    for size in (160, 592, 1600, 4321):
        state, frames = mel.init_state(), []
        for start in range(0, num_samples, size):
            part, state = mel.step(audio[None, start : start + size], state)
            frames.append(part)
        frames.append(mel.flush(state))
        assert torch.equal(torch.cat(frames, dim=2), expected[:, :, : int(seq_len)])


def test_config_when_transformers_writes_it_is_read_with_the_released_values() -> None:
    from transformers import AutoConfig, Nemotron3_5TranscribeConfig

    from engine.models.tower_config_formats import read_config

    whole = read_config(Nemotron3_5TranscribeConfig().to_dict(), "transformers")
    released = TowerConfig()
    assert replace(whole, preprocessor=released.preprocessor) == released
    assert whole.preprocessor.table_dtype == "bfloat16"
    diarizer = AutoConfig.for_model("nemotron3_diarization").to_dict()
    assert read_config(diarizer, "transformers") == TowerConfig.speaker_only()


def test_checkpoint_when_transformers_saves_it_is_loaded(tmp_path: object) -> None:
    from pathlib import Path

    from engine.models.checkpoints import load_speaker_model

    config, folder = tiny_speaker_config(), Path(str(tmp_path)) / "saved"
    reference = reference_diarizer(config)
    model = untrained_speaker_model(config)
    share_weights(reference, model, "speaker")
    reference.save_pretrained(folder)
    loaded = load_speaker_model(folder).state_dict()
    assert all(torch.equal(loaded[name], value) for name, value in model.state_dict().items())
