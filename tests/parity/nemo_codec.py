"""Builds NeMo's own NanoCodec in small, with random weights: the reference of the parity tests."""

from typing import Any

import torch

from engine.models.nanocodec.config import CodecConfig

_MODULES = "nemo.collections.tts.modules.audio_codec_modules"
_LOSSES = "nemo.collections.tts.losses.audio_codec_loss"


def nemo_settings(config: CodecConfig) -> dict[str, Any]:
    """Return the settings of an AudioCodecModel of this geometry."""
    return {
        "sample_rate": config.sample_rate,
        "samples_per_frame": config.samples_per_frame,
        # The quantizer has no commit loss; the other losses are as small as can be.
        "commit_loss_scale": 0.0,
        "loss_resolutions": [[64, 16, 64]],
        "mel_loss_dims": [5],
        "audio_encoder": {
            "_target_": f"{_MODULES}.HiFiGANEncoder",
            "down_sample_rates": list(config.down_rates),
            "encoded_dim": config.num_dims,
            "base_channels": config.encoder_channels,
            "activation": "lrelu",
            "pad_mode": "replicate",
        },
        "audio_decoder": {
            "_target_": f"{_MODULES}.CausalHiFiGANDecoder",
            "up_sample_rates": list(config.up_rates),
            "input_dim": config.num_dims,
            "base_channels": config.base_channels,
            "activation": "half_snake",
            "output_activation": "clamp",
            "pad_mode": "zeros",
            "n_groups_equal_to_out_channels": True,
        },
        "vector_quantizer": {
            "_target_": f"{_MODULES}.GroupFiniteScalarQuantizer",
            "num_groups": config.num_groups,
            "num_levels_per_group": list(config.levels),
        },
        "generator_loss": {"_target_": f"{_LOSSES}.GeneratorSquaredLoss"},
        "discriminator_loss": {"_target_": f"{_LOSSES}.DiscriminatorSquaredLoss"},
    }


def build_nemo_codec(config: CodecConfig, seed: int = 0) -> Any:
    """Return NeMo's model with weights louder than its own initial ones.

    Those leave later layers nearly idle: a wrong layer would not be seen.
    """
    from nemo.collections.tts.models import AudioCodecModel
    from omegaconf import OmegaConf

    torch.manual_seed(seed)
    model = AudioCodecModel(cfg=OmegaConf.create(nemo_settings(config))).eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name.endswith("alpha"):
                parameter.uniform_(0.4, 1.6)
            elif name.endswith("original0"):
                parameter.mul_(1.3 if "decoder" in name else 2.2)
    return model
