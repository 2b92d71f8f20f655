"""Reads the configurations of transformers: the audio part of the whole model, and the diarizer."""

from engine.models.config_keys import ConfigKeys
from engine.models.sortformer_config import CacheGeometry, SortformerConfig
from engine.models.tower_config import (
    EncoderConfig,
    FusionConfig,
    MelConfig,
    OnlineConfig,
    ProjectionConfig,
    TowerConfig,
)
from engine.models.tower_config_plain import table_dtype


def read_transformers_audio(
    keys: ConfigKeys, front_end: ConfigKeys, text: ConfigKeys | None
) -> TowerConfig:
    """Return the configuration of both branches.

    Args:
        keys: of the audio part.
        front_end: of the features; may be empty.
        text: of the language model, if there is one.
    """
    asr_encoder = _encoder(keys.section("asr_config"), rotary_fraction=0.5, qk_norm=True)
    diarizer = keys.section("diarization_config")
    output_dim = ProjectionConfig().output_dim
    if text is not None:
        output_dim = text.integer("hidden_size", output_dim)
    speaker_encoder = _encoder(diarizer.section("audio_config"))
    return TowerConfig(
        # The released checkpoint keeps the tables in bfloat16.
        preprocessor=_mel(front_end, speaker_encoder.feat_in, "bfloat16"),
        speaker_encoder=speaker_encoder,
        sortformer=_sortformer(diarizer),
        online=_online(diarizer),
        asr_encoder=asr_encoder,
        fusion=FusionConfig(
            speaker_activity_threshold=keys.number("speaker_activity_threshold", 0.5)
        ),
        projection=ProjectionConfig(asr_encoder.d_model, output_dim),
    )


def read_transformers_diarizer(keys: ConfigKeys, front_end: ConfigKeys) -> TowerConfig:
    """Return the configuration of the speaker branch alone."""
    speaker_encoder = _encoder(keys.section("audio_config"))
    return TowerConfig(
        preprocessor=_mel(front_end, speaker_encoder.feat_in, "float32"),
        speaker_encoder=speaker_encoder,
        sortformer=_sortformer(keys),
        online=_online(keys),
        asr_encoder=None,
        projection=None,
    )


def _encoder(
    keys: ConfigKeys, rotary_fraction: float = 1.0, qk_norm: bool = False
) -> EncoderConfig:
    keys.require("hidden_act", "gelu", default="gelu")
    d_model = keys.integer("hidden_size")
    n_heads = keys.integer("num_attention_heads")
    keys.require("num_key_value_heads", n_heads, default=n_heads)
    rope_base = keys.number("rope_theta", 10_000.0)
    if keys.has("rope_parameters"):
        rope = keys.section("rope_parameters")
        rope.require("rope_type", "default", default="default")
        rope_base = rope.number("rope_theta", rope_base)
        rotary_fraction = rope.number("partial_rotary_factor", rotary_fraction)
    return EncoderConfig(
        d_model=d_model,
        n_heads=n_heads,
        n_layers=keys.integer("num_hidden_layers"),
        feat_in=keys.integer("num_mel_bins"),
        subsampling_factor=keys.integer("subsampling_factor", 8),
        rotary_fraction=rotary_fraction,
        rope_base=rope_base,
        qk_norm=qk_norm,
        ff_expansion=keys.integer("intermediate_size") / d_model,
    )


def _sortformer(diarizer: ConfigKeys) -> SortformerConfig:
    head, policy = diarizer.section("head_config"), diarizer.section("streaming_config")
    default = SortformerConfig()
    return SortformerConfig(
        num_speakers=head.integer("num_speakers", default.num_speakers),
        tf_d_model=head.integer("hidden_size", default.tf_d_model),
        fc_d_model=diarizer.section("audio_config").integer("hidden_size"),
        spkcache_sil_frames_per_spk=policy.integer("speaker_cache_silence_frames_per_speaker", 1),
        pred_score_threshold=policy.number(
            "prediction_score_threshold", default.pred_score_threshold
        ),
        scores_boost_latest=policy.number("latest_frames_score_boost", default.scores_boost_latest),
        strong_boost_rate=policy.number("strong_boost_rate", default.strong_boost_rate),
        weak_boost_rate=policy.number("weak_boost_rate", default.weak_boost_rate),
        min_pos_scores_rate=policy.number("min_positive_scores_rate", default.min_pos_scores_rate),
    )


def _online(diarizer: ConfigKeys) -> OnlineConfig:
    return OnlineConfig(
        diarizer.integer("chunk_length", 340),
        diarizer.integer("chunk_left_context", 0),
        diarizer.integer("chunk_right_context", 40),
        CacheGeometry(
            diarizer.integer("fifo_length", 40),
            diarizer.section("streaming_config").integer("speaker_cache_length", 264),
            diarizer.integer("speaker_cache_update_period", 300),
        ),
    )


def _mel(keys: ConfigKeys, n_mels: int, dtype: str) -> MelConfig:
    default = MelConfig()
    return MelConfig(
        sample_rate=keys.integer("sampling_rate", default.sample_rate),
        n_fft=keys.integer("n_fft", default.n_fft),
        hop_length=keys.integer("hop_length", default.hop_length),
        win_length=keys.integer("win_length", default.win_length),
        preemph=keys.number("preemphasis", default.preemph),
        n_mels=keys.integer("feature_size", n_mels),
        table_dtype=table_dtype(keys.text("mel_filters_dtype", dtype)),
    )
