"""The geometry of a NanoCodec, and the three geometries NVIDIA released."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from engine.core.errors import ModelLoadError, reason_of

RESBLOCK_KERNELS = (3, 7, 11)
RESBLOCK_DILATIONS = (1, 3, 5)
IN_KERNEL = 7
DECODER_OUT_KERNEL = 3
ENCODER_OUT_KERNEL = 7
_MAX_CHANNELS = 8192


@dataclass(frozen=True, slots=True)
class CodecConfig:
    """Everything that fixes a codec's shapes.

    Args:
        codec_id: the name under which it was published, or any other.
        num_groups: codebooks, each quantizing `len(levels)` of the latent's dimensions.
        levels: how many values each dimension of a group can take.
        up_rates: upsampling of the decoder's stages; their product is a frame's samples.
        base_channels: of the decoder before its first stage, halved in each.
        encoder_channels: of the encoder before its first stage, doubled in each.
        sample_rate: Hz.
    """

    codec_id: str
    num_groups: int
    levels: tuple[int, ...]
    up_rates: tuple[int, ...]
    base_channels: int = 864
    encoder_channels: int = 24
    sample_rate: int = 22_050

    def __post_init__(self) -> None:
        if self.num_groups < 1 or not self.levels or min(self.levels) < 2:
            raise ValueError(
                "a codec needs at least one group and two levels a dimension, "
                f"got {self.num_groups} and {self.levels}"
            )
        if not self.up_rates or min(self.up_rates) < 1:
            raise ValueError(f"upsampling rates must be at least 1, got {self.up_rates}")
        halvings = 2 ** len(self.up_rates)
        if not 0 < self.base_channels <= _MAX_CHANNELS or self.base_channels % halvings:
            raise ValueError(
                f"base_channels must be a multiple of {halvings} up to {_MAX_CHANNELS}, "
                f"got {self.base_channels}"
            )
        if not 0 < self.encoder_channels * halvings <= _MAX_CHANNELS:
            raise ValueError(
                f"encoder_channels must be 1 to {_MAX_CHANNELS // halvings}, "
                f"got {self.encoder_channels}"
            )
        if self.sample_rate < 1:
            raise ValueError(f"sample_rate must be positive, got {self.sample_rate}")

    @property
    def num_dims(self) -> int:
        """Dimensions of a latent frame: 32 for the 21.5 frames-a-second codec."""
        return self.num_groups * len(self.levels)

    @property
    def codebook_size(self) -> int:
        """Different packed codes of one group."""
        return math.prod(self.levels)

    @property
    def samples_per_frame(self) -> int:
        """Audio samples a frame stands for."""
        return math.prod(self.up_rates)

    @property
    def frame_rate_hz(self) -> float:
        """Frames a second."""
        return self.sample_rate / self.samples_per_frame

    @property
    def down_rates(self) -> tuple[int, ...]:
        """Downsampling of the encoder's stages."""
        return self.up_rates[::-1]

    @property
    def lookback_frames(self) -> int:
        """Left context that makes a windowed decode exact: the decoder's receptive field.

        Walks from the first sample of a frame back to the frames: each layer adds what it reaches
        to the left, each upsampling divides by its rate.
        """
        reach = DECODER_OUT_KERNEL - 1
        widest = max(RESBLOCK_KERNELS) - 1
        # A residual block has a dilated convolution and one of dilation 1.
        in_stage = widest * sum(dilation + 1 for dilation in RESBLOCK_DILATIONS)
        for rate in reversed(self.up_rates):
            # The transposed kernel spans two strides: one input frame back.
            reach = (reach + in_stage + 2 * rate - 1) // rate
        return reach + IN_KERNEL - 1


NANOCODEC_21HZ = CodecConfig(
    "nvidia/nemo-nano-codec-22khz-1.89kbps-21.5fps", 8, (8, 7, 6, 6), (8, 8, 4, 2, 2)
)
NANOCODEC_12HZ = CodecConfig(
    "nvidia/nemo-nano-codec-22khz-1.78kbps-12.5fps", 13, (8, 7, 6, 6), (7, 7, 6, 3, 2)
)
NANOCODEC_12HZ_SMALL = CodecConfig(
    "nvidia/nemo-nano-codec-22khz-0.6kbps-12.5fps", 4, (9, 8, 8, 7), (7, 7, 6, 3, 2)
)
RELEASED = {
    config.codec_id: config for config in (NANOCODEC_21HZ, NANOCODEC_12HZ, NANOCODEC_12HZ_SMALL)
}
"""The published codecs by id."""


def config_from_nemo(document: Mapping[str, Any], codec_id: str) -> CodecConfig:
    """Read the geometry out of a NeMo `model_config.yaml`.

    Args:
        document: the parsed file.
        codec_id: name to give the codec.

    Raises:
        ModelLoadError: a key is missing, or it describes another kind of network.
    """
    decoder = _section(document, "audio_decoder")
    encoder = _section(document, "audio_encoder")
    quantizer = _section(document, "vector_quantizer")
    _expect_class(decoder, "CausalHiFiGANDecoder")
    _expect_class(encoder, "HiFiGANEncoder")
    _expect_class(quantizer, "GroupFiniteScalarQuantizer")
    _expect(decoder, "activation", "half_snake")
    _expect(decoder, "output_activation", "clamp")
    _expect(encoder, "activation", "lrelu")
    _expect(encoder, "pad_mode", "replicate")
    defaults: dict[str, object] = {
        "pad_mode": "zeros",
        "n_groups_equal_to_out_channels": True,
        "in_kernel_size": IN_KERNEL,
        "out_kernel_size": DECODER_OUT_KERNEL,
        "resblock_kernel_sizes": list(RESBLOCK_KERNELS),
        "resblock_dilation_sizes": list(RESBLOCK_DILATIONS),
    }
    for key, value in defaults.items():
        if key in decoder:
            _expect(decoder, key, value)
    try:
        config = CodecConfig(
            codec_id,
            _integer(quantizer, "num_groups"),
            _integers(quantizer, "num_levels_per_group"),
            _integers(decoder, "up_sample_rates"),
            _integer(decoder, "base_channels"),
            _integer(encoder, "base_channels"),
            _integer(document, "sample_rate"),
        )
    except ValueError as error:
        raise ModelLoadError(
            f"The codec's configuration is impossible: {reason_of(error)}.",
            advice="Choose the .nemo file of a NanoCodec.",
        ) from error
    if _integers(encoder, "down_sample_rates") != config.down_rates:
        raise _other_network("down_sample_rates", list(config.down_rates), encoder)
    for section, key in ((decoder, "input_dim"), (encoder, "encoded_dim")):
        _expect(section, key, config.num_dims)
    return config


def _section(document: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    section = document.get(key) if isinstance(document, Mapping) else None
    if not isinstance(section, Mapping):
        raise ModelLoadError(
            f"This is not a codec: its configuration has no section {key}.",
            advice="Choose the .nemo file of a NanoCodec.",
        )
    return section


def _expect_class(section: Mapping[str, Any], name: str) -> None:
    target = str(section.get("_target_", ""))
    if target.rpartition(".")[2] != name:
        raise _other_network("_target_", name, section)


def _expect(section: Mapping[str, Any], key: str, value: object) -> None:
    found = section.get(key)
    if (list(found) if isinstance(found, tuple) else found) != value:
        raise _other_network(key, value, section)


def _integer(section: Mapping[str, Any], key: str) -> int:
    value = section.get(key)
    if isinstance(value, bool) or not isinstance(value, int):
        raise _other_network(key, "a whole number", section)
    return value


def _integers(section: Mapping[str, Any], key: str) -> tuple[int, ...]:
    value = section.get(key)
    if not isinstance(value, Sequence) or not all(type(item) is int for item in value):
        raise _other_network(key, "a list of whole numbers", section)
    return tuple(value)


def _other_network(key: str, expected: object, section: Mapping[str, Any]) -> ModelLoadError:
    return ModelLoadError(
        f"This codec is another network than NanoCodec: {key} should be {expected}, "
        f"is {section.get(key)}.",
        advice="Choose the .nemo file of a NanoCodec (22 kHz; 21.5 or 12.5 frames a second).",
    )
