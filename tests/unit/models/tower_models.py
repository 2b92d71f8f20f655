"""Towers small enough for a test, and checkpoints of them laid out like the published ones."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import torch
from safetensors.torch import save_file
from torch import nn

from engine.models.checkpoints import untrained_speaker_model, untrained_tower
from engine.models.sortformer_config import CacheGeometry, SortformerConfig
from engine.models.sortformer_stream import SpeakerModel
from engine.models.tower_config import (
    EncoderConfig,
    MelConfig,
    OnlineConfig,
    ProjectionConfig,
    TowerConfig,
)
from engine.models.transcribe_tower import Nemotron3_5TranscribeAudioTower

Model = TypeVar("Model", bound=nn.Module)
WINDOW_MEL_FRAMES = 160


def tiny_config(**changes: Any) -> TowerConfig:
    """A tower with all parts and windows of 1.6 s; five steps overflow its cache."""
    config = TowerConfig(
        preprocessor=MelConfig(n_mels=16),
        speaker_encoder=EncoderConfig(
            d_model=32, n_heads=4, n_layers=2, feat_in=16, rotary_fraction=1.0, qk_norm=False,
            ff_expansion=2.0,
        ),
        sortformer=SortformerConfig(num_speakers=4, tf_d_model=24, fc_d_model=32),
        online=OnlineConfig(20, 4, 4, CacheGeometry(6, 24, 12)),
        asr_encoder=EncoderConfig(d_model=64, n_heads=4, n_layers=3, feat_in=16, ff_expansion=2.0),
        projection=ProjectionConfig(64, 48),
    )  # fmt: skip
    return replace(config, **changes)


def tiny_speaker_config(**changes: Any) -> TowerConfig:
    return tiny_config(asr_encoder=None, projection=None, **changes)


def livened(model: Model, seed: int = 0) -> Model:
    """Give weights large enough that speakers come and go."""
    generator = torch.Generator().manual_seed(seed)
    for name, parameter in model.named_parameters():
        is_gain = "norm" in name and name.endswith("weight")
        parameter.normal_(1.0 if is_gain else 0.0, 0.3, generator=generator)
    return model


def tiny_tower(config: TowerConfig | None = None, seed: int = 0) -> Nemotron3_5TranscribeAudioTower:
    return livened(untrained_tower(config or tiny_config()), seed)


def tiny_speaker_model(config: TowerConfig | None = None, seed: int = 0) -> SpeakerModel:
    return livened(untrained_speaker_model(config or tiny_speaker_config()), seed)


def noise(num_samples: int, seed: int = 0) -> torch.Tensor:
    """(n,) float32 noise whose loudness comes and goes."""
    generator = torch.Generator().manual_seed(seed)
    swell = torch.sin(torch.arange(num_samples) / 5000.0 + seed).abs()
    return 0.3 * swell * torch.randn(num_samples, generator=generator)


def nemo_tensors(tower: nn.Module) -> dict[str, torch.Tensor]:
    """The tensors of the speech language model that holds a tower, as NeMo names them."""
    tensors = {f"perception.{name}": value for name, value in tower.state_dict().items()}
    speaker = "perception.encoder.diarization_model."
    return tensors | {
        f"{speaker}preprocessor.featurizer.window": torch.zeros(400),
        f"{speaker}sortformer_modules.hidden_to_spks.weight": torch.zeros(4, 48),
        "perception.encoder.asr_encoder._extra_state": torch.zeros(3, dtype=torch.uint8),
        "llm.model.layers.0.mlp.weight": torch.zeros(5, 5),
        "ctc_timestamp.decoder.residual_scale": torch.zeros(1),
    }


def nemo_diarizer_tensors(model: SpeakerModel) -> dict[str, torch.Tensor]:
    """The tensors of a speaker branch as NeMo's diarizer names them."""
    return {
        name.removeprefix("diarization_model."): value for name, value in model.state_dict().items()
    } | {"sortformer_modules.hidden_to_spks.bias": torch.zeros(4)}


_TRANSFORMERS_NAMES = (
    ("encoder.asr_encoder.", "model.audio_tower.asr_encoder."),
    ("encoder.asr_norm.", "model.audio_tower.asr_norm."),
    ("encoder.diar_norm.", "model.audio_tower.speaker_norm."),
    (
        "encoder.diarization_model.encoder.",
        "model.audio_tower.diarization_model.model.audio_tower.",
    ),
    (
        "encoder.diarization_model.sortformer_modules.",
        "model.audio_tower.diarization_model.",
    ),
    ("proj.", "model.multi_modal_projector."),
    ("diarization_model.encoder.", "model.audio_tower."),
    ("diarization_model.sortformer_modules.", ""),
)
_TRANSFORMERS_PARTS = (
    ("pre_encode.proj", "embedder.projection"), ("embed_norm", "input_layer_norm"),
    ("final_norm", "layer_norm"), ("norm1", "layer_norm1"), ("norm2", "layer_norm2"),
    ("attn.out_proj", "self_attn.o_proj"), ("attn.q_norm", "self_attn.q_norm"),
    ("attn.k_norm", "self_attn.k_norm"), ("ffn.net.0", "mlp.fc1"), ("ffn.net.3", "mlp.fc2"),
    ("encoder_proj", "model.proj"), ("subpixel_upsample", "model.upsampler.conv"),
    ("first_hidden_to_hidden", "classifier.dense"),
    ("single_hidden_to_spks", "classifier.out_proj"), ("learnable_sil_emb", "silence_embeds"),
)  # fmt: skip


def transformers_tensors(model: nn.Module) -> dict[str, torch.Tensor]:
    """The tensors of a tower or a speaker branch as transformers names them."""
    tensors = {}
    for name, value in model.state_dict().items():
        if name.startswith("preprocessor."):
            continue
        for ours, theirs in _TRANSFORMERS_NAMES:
            if name.startswith(ours):
                renamed = theirs + name.removeprefix(ours)
                break
        for ours, theirs in _TRANSFORMERS_PARTS:
            renamed = renamed.replace(f".{ours}.", f".{theirs}.")
            if renamed == ours or renamed.startswith(f"{ours}."):
                renamed = theirs + renamed.removeprefix(ours)
            if renamed.endswith(f".{ours}"):
                renamed = renamed.removesuffix(ours) + theirs
        if ".attn.w_qkv." in renamed:
            for third, part in zip("qkv", value.chunk(3), strict=True):
                tensors[renamed.replace("attn.w_qkv", f"self_attn.{third}_proj")] = part.clone()
        else:
            tensors[renamed] = value
    return tensors


def nemo_diarizer_config(config: TowerConfig) -> dict[str, Any]:
    mel, head, online = config.preprocessor, config.sortformer, config.online
    return {
        "target": "nemo.collections.asr.models.sortformer_diar_models.SortformerEncLabelModel",
        "sample_rate": mel.sample_rate,
        "high_resolution": True,
        "max_num_of_spks": head.num_speakers,
        "preprocessor": {
            "normalize": "NA", "window_size": 0.025, "window_stride": 0.01, "window": "hann",
            "features": mel.n_mels, "n_fft": mel.n_fft, "sample_rate": mel.sample_rate,
        },
        "encoder": _nemo_encoder(config.speaker_encoder),
        "sortformer_modules": {
            "num_spks": "${max_num_of_spks}", "tf_d_model": head.tf_d_model,
            "fc_d_model": head.fc_d_model, "use_learnable_sil_emb": True,
            "spkcache_sil_frames_per_spk": head.spkcache_sil_frames_per_spk,
            "chunk_len": online.window_frames, "chunk_left_context": online.left_context_frames,
            "chunk_right_context": online.right_context_frames, "fifo_len": online.cache.fifo_len,
            "spkcache_len": online.cache.spkcache_len,
            "spkcache_update_period": online.cache.spkcache_update_period,
        },
    }  # fmt: skip


def nemo_whole_config(config: TowerConfig) -> dict[str, Any]:
    online = config.online
    assert config.asr_encoder is not None
    assert config.projection is not None
    diarizer = nemo_diarizer_config(config)
    # The embedded diarizer keeps what it was trained with; the bundle's values count.
    diarizer["sortformer_modules"] |= {
        "num_spks": config.sortformer.num_speakers, "fifo_len": 1, "spkcache_len": 999
    }  # fmt: skip
    return {
        "model_type": "nemo_speechlm",
        "perception": {
            "preprocessor": diarizer["preprocessor"] | {"normalize": "per_feature"},
            "output_dim": config.projection.output_dim,
        },
        "pe_encoder_config": {
            "asr_encoder_type": "transformer",
            "asr_encoder_cfg": _nemo_encoder(config.asr_encoder),
            "diarization_model_cfg": diarizer,
            "asr_normalize_type": "per_feature",
            "online_inference_length": online.window_frames,
            "chunk_left_context": online.left_context_frames,
            "chunk_right_context": online.right_context_frames,
            "diar_fifo_len": online.cache.fifo_len,
            "diar_spkcache_len": online.cache.spkcache_len,
            "diar_spkcache_update_period": online.cache.spkcache_update_period,
            "speaker_feature_config_version": 1,
            "speaker_feature_mode": "thresholded",
            "speaker_activity_threshold": 0.5,
        },
    }


def _nemo_encoder(encoder: EncoderConfig) -> dict[str, Any]:
    return {
        "feat_in": encoder.feat_in, "d_model": encoder.d_model, "n_heads": encoder.n_heads,
        "n_layers": encoder.n_layers, "subsampling": "feature_stacking",
        "subsampling_factor": encoder.subsampling_factor, "ff_expansion": encoder.ff_expansion,
        "qk_norm": encoder.qk_norm, "rotary_fraction": encoder.rotary_fraction,
        "self_attention_model": "rope", "attn_mode": "full", "qkv_bias": False,
    }  # fmt: skip


def transformers_diarizer_config(config: TowerConfig) -> dict[str, Any]:
    head, online = config.sortformer, config.online
    return {
        "model_type": "nemotron3_diarization",
        "audio_config": _transformers_encoder(config.speaker_encoder),
        "head_config": {
            "hidden_size": head.tf_d_model, "num_speakers": head.num_speakers,
            "audio_hidden_size": head.fc_d_model,
        },
        "streaming_config": {
            "speaker_cache_length": online.cache.spkcache_len, "num_speakers": head.num_speakers,
            "fifo_length": 264,
        },
        "chunk_length": online.window_frames,
        "chunk_left_context": online.left_context_frames,
        "chunk_right_context": online.right_context_frames,
        "fifo_length": online.cache.fifo_len,
        "speaker_cache_update_period": online.cache.spkcache_update_period,
    }  # fmt: skip


def transformers_whole_config(config: TowerConfig) -> dict[str, Any]:
    assert config.asr_encoder is not None
    assert config.projection is not None
    return {
        "model_type": "nemo_speechlm",
        "audio_config": {
            "asr_config": _transformers_encoder(config.asr_encoder),
            "diarization_config": transformers_diarizer_config(config),
            "speaker_activity_threshold": 0.5,
        },
        "text_config": {"hidden_size": config.projection.output_dim},
    }


def _transformers_encoder(encoder: EncoderConfig) -> dict[str, Any]:
    return {
        "hidden_size": encoder.d_model, "num_attention_heads": encoder.n_heads,
        "num_hidden_layers": encoder.n_layers, "num_mel_bins": encoder.feat_in,
        "intermediate_size": int(encoder.d_model * encoder.ff_expansion),
        "rope_parameters": {
            "rope_type": "default", "rope_theta": encoder.rope_base,
            "partial_rotary_factor": encoder.rotary_fraction,
        },
    }  # fmt: skip


def write_diarizer_checkpoint(folder: Path) -> Path:
    """Write a tiny diarizer as its makers publish it."""
    return write_checkpoint(
        folder,
        nemo_diarizer_config(tiny_speaker_config()),
        nemo_diarizer_tensors(tiny_speaker_model()),
    )


def write_checkpoint(
    folder: Path,
    config: Mapping[str, Any],
    tensors: Mapping[str, torch.Tensor],
    num_shards: int = 1,
) -> Path:
    """Write a folder with config.json and safetensors in one file or many."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config))
    ordered = sorted(tensors)
    if num_shards == 1:
        save_file(
            {name: tensors[name].contiguous() for name in ordered}, folder / "model.safetensors"
        )
        return folder
    weight_map = {}
    for shard in range(num_shards):
        name = f"model-{shard + 1:05d}-of-{num_shards:05d}.safetensors"
        chosen = ordered[shard::num_shards]
        save_file({key: tensors[key].contiguous() for key in chosen}, folder / name)
        weight_map |= dict.fromkeys(chosen, name)
    index = {"metadata": {}, "weight_map": weight_map}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    return folder
