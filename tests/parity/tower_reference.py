"""The published implementation of the tower, small, with the same weights as ours."""

from typing import Any

import torch
from torch import nn

from engine.models.checkpoint_names import Part, plan_names
from engine.models.tower_config import TowerConfig
from tests.unit.models.tower_models import transformers_diarizer_config, transformers_whole_config


def reference_tower(config: TowerConfig) -> nn.Module:
    """The audio part of transformers' Nemotron 3.5 Transcribe."""
    from transformers.models.nemotron3_5_transcribe import configuration_nemotron3_5_transcribe as c
    from transformers.models.nemotron3_5_transcribe import modeling_nemotron3_5_transcribe as m

    content = transformers_whole_config(config)["audio_config"]
    model = m.Nemotron3_5TranscribeAudioModel(c.Nemotron3_5TranscribeAudioConfig(**content))
    return model.eval().requires_grad_(False)  # type: ignore[no-any-return]


def reference_diarizer(config: TowerConfig) -> nn.Module:
    """Transformers' Nemotron 3 Diarization; live, it has the same fifo and cache as ours."""
    from transformers.models.nemotron3_diarization import configuration_nemotron3_diarization as c
    from transformers.models.nemotron3_diarization import modeling_nemotron3_diarization as m

    content = transformers_diarizer_config(config)
    content["streaming_config"] |= {
        "fifo_length": config.online.cache.fifo_len,
        "speaker_cache_update_period": config.online.cache.spkcache_update_period,
    }
    model = m.Nemotron3DiarizationForAudioFrameClassification(
        c.Nemotron3DiarizationConfig(**content)
    )
    return model.eval().requires_grad_(False)  # type: ignore[no-any-return]


def share_weights(reference: nn.Module, ours: nn.Module, part: Part, lively: bool = True) -> None:
    """Give the reference random weights, and ours the same ones."""
    generator = torch.Generator().manual_seed(11)
    for name, parameter in reference.named_parameters():
        is_gain = "norm" in name and name.endswith("weight")
        parameter.normal_(1.0 if is_gain else 0.0, 0.3 if lively else 0.02, generator=generator)
    tensors = reference.state_dict()
    filled: dict[str, Any] = {}
    for name, sources in plan_names(tensors, part).items():
        filled[name] = torch.cat([tensors[source] for source in sources])
    result = ours.load_state_dict(filled, strict=False)
    assert not result.unexpected_keys
    assert all(key.startswith(("preprocessor.", "proj.")) for key in result.missing_keys)
