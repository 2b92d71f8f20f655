"""Reads a configuration with our own names of sections and keys, as serving code writes it."""

from engine.models.config_keys import ConfigKeys
from engine.models.sortformer_config import CacheGeometry, SortformerConfig
from engine.models.tower_config import (
    EncoderConfig,
    FusionConfig,
    MelConfig,
    OnlineConfig,
    ProjectionConfig,
    SpeakerFeatureMode,
    TableDtype,
    TowerConfig,
)


def read_plain(keys: ConfigKeys) -> TowerConfig:
    """Return the configuration of nested sections `preprocessor`, `asr_encoder` and so on."""
    online = keys.section("online")
    has_asr = keys.has("asr_encoder")
    return TowerConfig(
        preprocessor=_mel(keys.section("preprocessor")),
        speaker_encoder=read_encoder(keys.section("speaker_encoder"), qk_norm=False),
        sortformer=read_sortformer(keys.section("sortformer")),
        online=OnlineConfig(
            online.integer("window_frames"),
            online.integer("left_context_frames"),
            online.integer("right_context_frames"),
            CacheGeometry(
                online.integer("fifo_len"),
                online.integer("spkcache_len"),
                online.integer("spkcache_update_period"),
            ),
        ),
        asr_encoder=read_encoder(keys.section("asr_encoder"), qk_norm=True) if has_asr else None,
        fusion=_fusion(keys.section("fusion")) if keys.has("fusion") else FusionConfig(),
        projection=_projection(keys.section("projection")) if has_asr else None,
    )


def read_encoder(keys: ConfigKeys, qk_norm: bool) -> EncoderConfig:
    """Return an encoder's sizes, under the names that NeMo uses too.

    Args:
        keys: the encoder's section.
        qk_norm: what holds where the section does not say.
    """
    return EncoderConfig(
        d_model=keys.integer("d_model"),
        n_heads=keys.integer("n_heads"),
        n_layers=keys.integer("n_layers"),
        feat_in=keys.integer("feat_in"),
        subsampling_factor=keys.integer("subsampling_factor"),
        rotary_fraction=keys.number("rotary_fraction", 1.0),
        rope_base=keys.number("rope_base", 10_000.0),
        xscaling=keys.flag("xscaling", False),
        pre_block_norm=keys.flag("pre_block_norm", True),
        qk_norm=keys.flag("qk_norm", qk_norm),
        ff_expansion=keys.number("ff_expansion", 4.0),
    )


def read_sortformer(keys: ConfigKeys) -> SortformerConfig:
    """Return the head and cache policy, under the names that NeMo uses too."""
    default = SortformerConfig()
    speakers = "num_speakers" if keys.has("num_speakers") else "num_spks"
    return SortformerConfig(
        num_speakers=keys.integer(speakers),
        tf_d_model=keys.integer("tf_d_model"),
        fc_d_model=keys.integer("fc_d_model"),
        spkcache_sil_frames_per_spk=keys.integer("spkcache_sil_frames_per_spk"),
        pred_score_threshold=keys.number("pred_score_threshold", default.pred_score_threshold),
        scores_boost_latest=keys.number("scores_boost_latest", default.scores_boost_latest),
        strong_boost_rate=keys.number("strong_boost_rate", default.strong_boost_rate),
        weak_boost_rate=keys.number("weak_boost_rate", default.weak_boost_rate),
        min_pos_scores_rate=keys.number("min_pos_scores_rate", default.min_pos_scores_rate),
    )


def read_feature_mode(keys: ConfigKeys) -> SpeakerFeatureMode:
    """Return how speaker activity is fed to the recognition states."""
    mode = keys.text("speaker_feature_mode", "thresholded")
    if mode == "thresholded":
        return "thresholded"
    keys.require("speaker_feature_mode", "raw")
    return "raw"


def table_dtype(name: str) -> TableDtype:
    """Return the precision of the front end's tables.

    Raises:
        ValueError: no such precision.
    """
    if name == "bfloat16":
        return "bfloat16"
    if name == "float32":
        return "float32"
    raise ValueError(f"table_dtype must be float32 or bfloat16, got {name!r}")


def _mel(keys: ConfigKeys) -> MelConfig:
    default = MelConfig()
    return MelConfig(
        sample_rate=keys.integer("sample_rate", default.sample_rate),
        n_fft=keys.integer("n_fft"),
        hop_length=keys.integer("hop_length"),
        win_length=keys.integer("win_length"),
        preemph=keys.number("preemph", default.preemph),
        log_zero_guard_value=keys.number("log_zero_guard_value", default.log_zero_guard_value),
        mag_power=keys.number("mag_power", default.mag_power),
        pad_value=keys.number("pad_value", default.pad_value),
        n_mels=keys.integer("n_mels"),
        table_dtype=table_dtype(keys.text("table_dtype", default.table_dtype)),
    )


def _fusion(keys: ConfigKeys) -> FusionConfig:
    return FusionConfig(
        speaker_feature_mode=read_feature_mode(keys),
        speaker_activity_threshold=keys.number("speaker_activity_threshold", 0.5),
        spk_kernel_scale=keys.number("spk_kernel_scale", 1.0),
    )


def _projection(keys: ConfigKeys) -> ProjectionConfig:
    return ProjectionConfig(keys.integer("input_dim"), keys.integer("output_dim"))
