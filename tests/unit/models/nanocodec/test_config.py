"""The published geometries, and which NeMo configurations are accepted."""

from typing import Any

import pytest

from engine.core.errors import ModelLoadError
from engine.models.nanocodec.config import RELEASED, CodecConfig, config_from_nemo
from tests.parity.nemo_codec import nemo_settings
from tests.unit.models.nanocodec.small import IDS

RELEASES = tuple(RELEASED.values())


@pytest.mark.parametrize(
    ("config", "expected"),
    list(
        zip(
            RELEASES,
            [(32, 1024, 2016, 25), (52, 1764, 2016, 28), (16, 1764, 4032, 28)],
            strict=True,
        )
    ),
    ids=IDS,
)
def test_released_codec_when_asked_for_sizes_then_published_ones(
    config: CodecConfig, expected: tuple[int, ...]
) -> None:
    sizes = (
        config.num_dims,
        config.samples_per_frame,
        config.codebook_size,
        config.lookback_frames,
    )
    assert sizes == expected


@pytest.mark.parametrize("config", RELEASES, ids=IDS)
def test_config_from_nemo_when_settings_are_a_nanocodec_then_same_geometry(
    config: CodecConfig,
) -> None:
    assert config_from_nemo(nemo_settings(config), config.codec_id) == config


@pytest.mark.parametrize(
    ("section", "key", "value", "named"),
    [
        ("audio_decoder", "_target_", "x.HiFiGANDecoder", "CausalHiFiGANDecoder"),
        ("audio_decoder", "activation", "lrelu", "half_snake"),
        ("audio_decoder", "output_activation", "tanh", "clamp"),
        ("audio_decoder", "resblock_kernel_sizes", [3, 5], "resblock_kernel_sizes"),
        ("audio_decoder", "base_channels", 100, "base_channels"),
        ("audio_decoder", "base_channels", 2**40, "base_channels"),
        ("audio_decoder", "input_dim", 33, "input_dim"),
        ("audio_decoder", "up_sample_rates", "88422", "up_sample_rates"),
        ("audio_decoder", "up_sample_rates", [], "rates"),
        ("audio_encoder", "down_sample_rates", [8, 8], "down_sample_rates"),
        ("audio_encoder", "pad_mode", "reflect", "pad_mode"),
        ("vector_quantizer", "num_groups", None, "num_groups"),
        ("vector_quantizer", "num_groups", True, "num_groups"),
        ("vector_quantizer", "num_levels_per_group", [8, 1], "levels"),
    ],
)
def test_config_from_nemo_when_network_is_another_then_error_names_the_key(
    section: str, key: str, value: object, named: str
) -> None:
    settings: dict[str, Any] = nemo_settings(RELEASES[0])
    settings[section][key] = value
    with pytest.raises(ModelLoadError, match=named):
        config_from_nemo(settings, "x")


def test_config_from_nemo_when_a_section_is_missing_then_error_names_it() -> None:
    with pytest.raises(ModelLoadError, match="audio_decoder"):
        config_from_nemo({"sample_rate": 22050}, "x")
