"""One configuration from four ways of writing it."""

from dataclasses import replace
from typing import Any

import pytest

from engine.core.errors import ModelLoadError
from engine.models.tower_config import TowerConfig
from engine.models.tower_config_formats import read_config
from tests.unit.models.tower_models import (
    nemo_diarizer_config,
    nemo_whole_config,
    tiny_config,
    tiny_speaker_config,
    transformers_diarizer_config,
    transformers_whole_config,
)


def _plain(config: TowerConfig) -> dict[str, Any]:
    """The keys that serving code uses."""
    mel, online, head = config.preprocessor, config.online, config.sortformer
    content: dict[str, Any] = {
        "preprocessor": {
            "n_fft": mel.n_fft, "hop_length": mel.hop_length, "win_length": mel.win_length,
            "preemph": mel.preemph, "log_zero_guard_value": mel.log_zero_guard_value,
            "mag_power": mel.mag_power, "pad_value": mel.pad_value, "n_mels": mel.n_mels,
        },
        "speaker_encoder": _encoder(config.speaker_encoder),
        "sortformer": {
            "num_speakers": head.num_speakers, "tf_d_model": head.tf_d_model,
            "fc_d_model": head.fc_d_model, "max_index": 99_999,
            "spkcache_sil_frames_per_spk": head.spkcache_sil_frames_per_spk,
            "pred_score_threshold": 0.25, "scores_boost_latest": 0.05,
            "strong_boost_rate": 0.75, "weak_boost_rate": 1.5, "min_pos_scores_rate": 0.5,
        },
        "online": {
            "window_frames": online.window_frames,
            "left_context_frames": online.left_context_frames,
            "right_context_frames": online.right_context_frames,
            "fifo_len": online.cache.fifo_len, "spkcache_len": online.cache.spkcache_len,
            "spkcache_update_period": online.cache.spkcache_update_period,
        },
        "fusion": {
            "speaker_feature_mode": "thresholded", "speaker_activity_threshold": 0.5,
            "spk_kernel_scale": 1.0,
        },
    }  # fmt: skip
    if config.asr_encoder is not None and config.projection is not None:
        content["asr_encoder"] = _encoder(config.asr_encoder)
        content["projection"] = {
            "input_dim": config.projection.input_dim,
            "output_dim": config.projection.output_dim,
        }
    return content


def _encoder(encoder: Any) -> dict[str, Any]:
    names = (
        "d_model n_heads n_layers feat_in subsampling_factor rotary_fraction rope_base xscaling"
        " pre_block_norm ff_expansion"
    )
    return {name: getattr(encoder, name) for name in names.split()}


@pytest.mark.parametrize("config", [tiny_config(), TowerConfig()], ids=["tiny", "released"])
def test_read_when_the_whole_is_described_in_any_way_gives_the_same(config: TowerConfig) -> None:
    coarse = replace(config, preprocessor=replace(config.preprocessor, table_dtype="bfloat16"))
    assert read_config(_plain(config), "here") == config
    assert read_config(nemo_whole_config(config), "here") == coarse
    assert read_config(transformers_whole_config(config), "here") == coarse


@pytest.mark.parametrize(
    "config", [tiny_speaker_config(), TowerConfig.speaker_only()], ids=["tiny", "released"]
)
def test_read_when_the_speaker_branch_is_described_in_any_way_gives_the_same(
    config: TowerConfig,
) -> None:
    assert read_config(_plain(config), "here") == config
    assert read_config(nemo_diarizer_config(config), "here") == config
    assert read_config(transformers_diarizer_config(config), "here") == config


def test_read_when_the_bundle_stands_alone_takes_its_front_end_from_the_diarizer() -> None:
    config = tiny_config()
    bundle = nemo_whole_config(config)["pe_encoder_config"]
    assert read_config(bundle, "here").preprocessor == config.preprocessor


def test_read_when_transformers_front_end_is_given_uses_it() -> None:
    front_end = {"mel_filters_dtype": "float32", "preemphasis": 0.5, "feature_size": 16}
    config = read_config(transformers_whole_config(tiny_config()), "here", front_end)
    assert config.preprocessor.preemph == 0.5
    assert config.preprocessor.table_dtype == "float32"


def test_read_when_released_sizes_are_used_counts_the_published_parameters() -> None:
    import torch

    from engine.models.transcribe_tower import Nemotron3_5TranscribeAudioTower

    with torch.device("meta"):
        tower = Nemotron3_5TranscribeAudioTower(TowerConfig())
    encoder = tower.encoder
    counts = [
        sum(parameter.numel() for parameter in module.parameters())
        for module in (encoder.asr_encoder, encoder.diarization_model, encoder, tower.proj)
    ]
    assert counts == [630_887_424, 99_226_504, 730_116_504, 3_443_328]


def _changed(content: dict[str, Any], path: str, value: object) -> dict[str, Any]:
    *parents, last = path.split(".")
    section = content
    for name in parents:
        section = section[name]
    if value is None:
        del section[last]
    else:
        section[last] = value
    return content


@pytest.mark.parametrize(
    ("path", "value", "told"),
    [
        ("encoder.self_attention_model", "rel_pos", "encoder.self_attention_model is 'rel_pos'"),
        ("encoder.self_attention_model", None, "self_attention_model is 'rel_pos'"),
        ("encoder.attn_mode", "causal", "attn_mode is 'causal'"),
        ("encoder.qkv_bias", True, "qkv_bias is True"),
        ("encoder.d_model", None, "lacks encoder.d_model"),
        ("encoder.d_model", "wide", "encoder.d_model must be a whole number"),
        ("encoder.d_model", 33, "multiple of n_heads"),
        ("encoder.qk_norm", 1, "qk_norm must be true or false"),
        ("encoder", 5, "encoder must be a section"),
        ("high_resolution", False, "high_resolution is False"),
        ("sortformer_modules.use_learnable_sil_emb", None, "use_learnable_sil_emb is False"),
        ("sortformer_modules.num_spks", "${nowhere.at.all}", "num_spks"),
        ("sortformer_modules.spkcache_len", 2, "spkcache_len must be at least 8"),
        ("preprocessor.normalize", "per_feature", "normalize is 'per_feature'"),
    ],
)
def test_read_when_a_value_is_wrong_names_it(path: str, value: object, told: str) -> None:
    content = _changed(nemo_diarizer_config(tiny_speaker_config()), path, value)
    with pytest.raises(ModelLoadError) as caught:
        read_config(content, "the place")
    assert told in str(caught.value)
    assert "the place" in str(caught.value)


@pytest.mark.parametrize(
    ("path", "value", "told"),
    [
        ("pe_encoder_config.asr_encoder_type", "fastconformer", "asr_encoder_type"),
        ("pe_encoder_config.asr_normalize_type", None, "asr_normalize_type is 'none'"),
        ("pe_encoder_config.speaker_feature_mode", "learned", "speaker_feature_mode"),
    ],
)
def test_read_when_a_bundle_is_of_another_variant_names_it(
    path: str, value: object, told: str
) -> None:
    content = _changed(nemo_whole_config(tiny_config()), path, value)
    with pytest.raises(ModelLoadError, match=told):
        read_config(content, "the place")


@pytest.mark.parametrize("content", [{}, {"model_type": "llama", "hidden_size": 64}])
def test_read_when_it_is_of_another_model_says_so(content: dict[str, Any]) -> None:
    with pytest.raises(ModelLoadError, match="neither an audio tower's nor a diarizer's"):
        read_config(content, "the place")


def test_read_when_values_refer_to_each_other_in_a_circle_gives_up() -> None:
    content = nemo_diarizer_config(tiny_speaker_config())
    content["max_num_of_spks"] = "${max_num_of_spks}"
    with pytest.raises(ModelLoadError, match="num_spks"):
        read_config(content, "the place")
