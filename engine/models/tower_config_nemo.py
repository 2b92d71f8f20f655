"""Reads NeMo's configurations: a diarizer's, and the bundle of both branches."""

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
from engine.models.tower_config_plain import read_encoder, read_feature_mode, read_sortformer


def read_nemo_diarizer(keys: ConfigKeys) -> TowerConfig:
    """Return the configuration of a high-resolution Sortformer with a learned silence."""
    modules = keys.section("sortformer_modules")
    keys.section("preprocessor").require("normalize", "NA", default="NA")
    return TowerConfig(
        preprocessor=_mel(keys.section("preprocessor")),
        speaker_encoder=_encoder(keys.section("encoder")),
        sortformer=_sortformer(keys, modules),
        online=OnlineConfig(
            modules.integer("chunk_len"),
            modules.integer("chunk_left_context", 0),
            modules.integer("chunk_right_context", 0),
            CacheGeometry(
                modules.integer("fifo_len"),
                modules.integer("spkcache_len"),
                modules.integer("spkcache_update_period"),
            ),
        ),
        asr_encoder=None,
        projection=None,
    )


def read_nemo_bundle(bundle: ConfigKeys, whole: ConfigKeys | None) -> TowerConfig:
    """Return the configuration of both branches.

    Args:
        bundle: the section that describes them.
        whole: the speech language model's configuration around it, if there is one.
    """
    bundle.require("asr_encoder_type", "transformer", default="fastconformer")
    bundle.require("asr_normalize_type", "per_feature", default="none")
    bundle.require("diar_normalize_type", "NA", default="NA")
    diarizer = bundle.section("diarization_model_cfg")
    asr_encoder = _encoder(bundle.section("asr_encoder_cfg"))
    perception = whole.section("perception") if whole and whole.has("perception") else None
    has_front_end = perception is not None and perception.has("preprocessor")
    front_end = perception if perception is not None and has_front_end else diarizer
    return TowerConfig(
        # The whole model is stored in bfloat16, and its front end's tables with it.
        preprocessor=_mel(front_end.section("preprocessor"), is_coarse=whole is not None),
        speaker_encoder=_encoder(diarizer.section("encoder")),
        sortformer=_sortformer(diarizer, diarizer.section("sortformer_modules")),
        online=OnlineConfig(
            bundle.integer("online_inference_length", 500),
            bundle.integer("chunk_left_context", 50),
            bundle.integer("chunk_right_context", 50),
            CacheGeometry(
                bundle.integer("diar_fifo_len", 40),
                bundle.integer("diar_spkcache_len", 188),
                bundle.integer("diar_spkcache_update_period", 300),
            ),
        ),
        asr_encoder=asr_encoder,
        fusion=FusionConfig(
            speaker_feature_mode=read_feature_mode(bundle),
            speaker_activity_threshold=bundle.number("speaker_activity_threshold", 0.5),
            spk_kernel_scale=bundle.number("spk_kernel_scale", 1.0),
        ),
        projection=ProjectionConfig(asr_encoder.d_model, _output_dim(perception, whole)),
    )


def _output_dim(perception: ConfigKeys | None, whole: ConfigKeys | None) -> int:
    """Return the language model's width, wherever the configuration states it."""
    if perception is not None and perception.has("output_dim"):
        return perception.integer("output_dim")
    if whole is not None and whole.has("llm_config"):
        llm = whole.section("llm_config")
        if llm.has("hidden_size"):
            return llm.integer("hidden_size")
    return ProjectionConfig().output_dim


def _encoder(keys: ConfigKeys) -> EncoderConfig:
    keys.require("self_attention_model", "rope", default="rel_pos")
    keys.require("subsampling", "feature_stacking", default="feature_stacking")
    keys.require("attn_mode", "full", default="full")
    keys.require("qkv_bias", False, default=False)
    return read_encoder(keys, qk_norm=False)


def _sortformer(diarizer: ConfigKeys, modules: ConfigKeys) -> SortformerConfig:
    for name in ("high_resolution", "use_learnable_sil_emb"):
        (modules if modules.has(name) else diarizer).require(name, True, default=False)
    return read_sortformer(modules)


def _mel(keys: ConfigKeys, is_coarse: bool = False) -> MelConfig:
    default = MelConfig()
    keys.require("window", "hann", default="hann")
    keys.require("mel_norm", "slaney", default="slaney")
    keys.require("log", True, default=True)
    sample_rate = keys.integer("sample_rate", default.sample_rate)
    return MelConfig(
        sample_rate=sample_rate,
        n_fft=keys.integer("n_fft", default.n_fft),
        hop_length=round(keys.number("window_stride", 0.01) * sample_rate),
        win_length=round(keys.number("window_size", 0.025) * sample_rate),
        preemph=keys.number("preemph", default.preemph),
        mag_power=keys.number("mag_power", default.mag_power),
        pad_value=keys.number("pad_value", default.pad_value),
        n_mels=keys.integer("features"),
        table_dtype="bfloat16" if is_coarse else "float32",
    )
