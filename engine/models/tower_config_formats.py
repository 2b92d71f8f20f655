"""Reads `TowerConfig` from what checkpoints bring along.

Four ways of saying the same: a dictionary with our own names; a NeMo model's configuration (the
diarizer's, an encoder bundle's, or the `config.json` of the whole speech language model); and the
configurations of transformers, of the whole model, its audio part or the diarizer. Which one it is
shows in its keys.
"""

from collections.abc import Mapping
from typing import Any

from engine.core.errors import ModelLoadError, reason_of
from engine.models.config_keys import ConfigKeys
from engine.models.tower_config import TowerConfig
from engine.models.tower_config_nemo import read_nemo_bundle, read_nemo_diarizer
from engine.models.tower_config_plain import read_plain
from engine.models.tower_config_transformers import (
    read_transformers_audio,
    read_transformers_diarizer,
)


def read_config(
    content: Mapping[str, Any], where: str, preprocessor: Mapping[str, Any] | None = None
) -> TowerConfig:
    """Return the configuration that a checkpoint states.

    Args:
        content: the object in its configuration file.
        where: the file or folder, for messages.
        preprocessor: transformers' settings of the front end, kept in a file of their own.

    Raises:
        ModelLoadError: it is of another model, of a variant that is not supported, or a value is
            missing or out of range.
    """
    keys = ConfigKeys(content, where)
    front_end = ConfigKeys(preprocessor or {}, where)
    try:
        return _read(keys, front_end)
    except (ValueError, TypeError) as error:
        raise ModelLoadError(
            f"The configuration of {where} is out of range: {reason_of(error)}.",
            advice="Check that it is the checkpoint you mean.",
        ) from error


def _read(keys: ConfigKeys, front_end: ConfigKeys) -> TowerConfig:
    if keys.has("online") and keys.has("sortformer"):
        return read_plain(keys)
    if keys.has("audio_config") and keys.section("audio_config").has("asr_config"):
        text = keys.section("text_config") if keys.has("text_config") else None
        return read_transformers_audio(keys.section("audio_config"), front_end, text)
    if keys.has("asr_config") and keys.has("diarization_config"):
        return read_transformers_audio(keys, front_end, None)
    if keys.has("head_config") and keys.has("streaming_config"):
        return read_transformers_diarizer(keys, front_end)
    if keys.has("pe_encoder_config"):
        return read_nemo_bundle(keys.section("pe_encoder_config"), keys)
    if keys.has("asr_encoder_cfg") and keys.has("diarization_model_cfg"):
        return read_nemo_bundle(keys, None)
    if keys.has("sortformer_modules") and keys.has("encoder"):
        return read_nemo_diarizer(keys)
    raise ModelLoadError(
        f"The configuration of {keys.where} is neither an audio tower's nor a diarizer's: it has"
        f" the keys {', '.join(sorted(keys.names)[:8]) or 'none'}.",
        advice="Choose a Nemotron 3 Diarization or Nemotron 3.5 Transcribe checkpoint.",
    )
