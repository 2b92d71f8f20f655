"""A codec's tensors by name: checked as they are taken, weight norm folded, or drawn at random."""

import math
from collections.abc import Iterator, Mapping

import torch
from torch import Tensor

from engine.core.errors import ModelLoadError
from engine.models.nanocodec.config import (
    DECODER_OUT_KERNEL,
    ENCODER_OUT_KERNEL,
    IN_KERNEL,
    RESBLOCK_DILATIONS,
    RESBLOCK_KERNELS,
    CodecConfig,
)

_NORM = "parametrizations.weight.original0"
_DIRECTION = "parametrizations.weight.original1"


class CodecWeights:
    """Tensors under the names NeMo gives them.

    Args:
        tensors: name to tensor; weight norm may still be apart.
        source: where they come from, for messages.
    """

    def __init__(self, tensors: Mapping[str, Tensor], source: str) -> None:
        self._tensors = tensors
        self._source = source

    def vector(self, name: str, num_values: int) -> Tensor:
        """Return a bias or a snake's alphas, (num_values,) float64.

        Raises:
            ModelLoadError: it is missing, has another number of values, or is not finite.
        """
        tensor = self._find(name)
        if tensor.numel() != num_values:
            raise self._misshapen(name, tensor, (num_values,))
        return self._checked(name, tensor).reshape(num_values)

    def kernel(self, name: str, shape: tuple[int, int, int]) -> Tensor:
        """Return a convolution's kernel, float64, norm and direction multiplied.

        Args:
            name: the convolution's, without ".weight".
            shape: expected.

        Raises:
            ModelLoadError: it is missing, has another shape, or is not finite.
        """
        if f"{name}.weight" in self._tensors:
            return self._shaped(f"{name}.weight", shape)
        direction = self._shaped(f"{name}.{_DIRECTION}", shape)
        norm = self._shaped(f"{name}.{_NORM}", (shape[0], 1, 1))
        # A direction of length 0 would be no direction: it stands for a kernel of zeros.
        length = torch.linalg.vector_norm(direction, dim=(1, 2), keepdim=True)
        kernel: Tensor = direction * (norm / length.clamp_min(torch.finfo(torch.float32).tiny))
        return kernel

    def _find(self, name: str) -> Tensor:
        tensor = self._tensors.get(name)
        if not isinstance(tensor, Tensor):
            raise ModelLoadError(
                f"{self._source} lacks the tensor {name}.",
                advice="Fetch the codec's file again.",
            )
        return tensor

    def _shaped(self, name: str, shape: tuple[int, ...]) -> Tensor:
        tensor = self._find(name)
        if tuple(tensor.shape) != shape:
            raise self._misshapen(name, tensor, shape)
        return self._checked(name, tensor)

    def _checked(self, name: str, tensor: Tensor) -> Tensor:
        if not tensor.is_floating_point() or not bool(torch.isfinite(tensor).all()):
            raise ModelLoadError(
                f"{self._source}: the tensor {name} holds values that are no finite numbers.",
                advice="Fetch the codec's file again.",
            )
        return tensor.detach().to(device="cpu", dtype=torch.float64)

    def _misshapen(self, name: str, tensor: Tensor, shape: tuple[int, ...]) -> ModelLoadError:
        return ModelLoadError(
            f"{self._source}: the tensor {name} has the shape {tuple(tensor.shape)}, "
            f"expected {shape}.",
            advice="Choose the file of the same codec as its configuration.",
        )


def random_weights(config: CodecConfig, seed: int = 0) -> CodecWeights:
    """Return untrained weights; see `random_tensors`."""
    return CodecWeights(random_tensors(config, seed), "the untrained codec")


def random_tensors(config: CodecConfig, seed: int = 0) -> dict[str, Tensor]:
    """Return untrained tensors by name: noise through which a signal neither dies nor explodes.

    Args:
        config: the geometry.
        seed: of the noise; the same seed gives the same codec.
    """
    generator = torch.Generator().manual_seed(seed)
    tensors: dict[str, Tensor] = {}
    for name, shape in _kernels(config):
        fan_in = shape[1] * shape[2]
        if "up_sample" in name:
            # Two channels and, of the two strides' taps, one each.
            fan_in = 4
        bound = math.sqrt(3.0 / fan_in)
        # Residual branches add up, and the clamp behind the last layer must not cut.
        bound *= 0.3 if "skip_conv" in name else 0.2 if "decoder.post_conv" in name else 1.0
        tensors[f"{name}.weight"] = (torch.rand(shape, generator=generator) * 2 - 1) * bound
        num_out = shape[0] // 2 if "up_sample" in name else shape[0]
        tensors[f"{name}.bias"] = (torch.rand(num_out, generator=generator) * 2 - 1) * 0.02
    for name, num_channels in _activations(config):
        tensors[name] = torch.rand(num_channels // 2, generator=generator) + 0.5
    return tensors


def _kernels(config: CodecConfig) -> Iterator[tuple[str, tuple[int, int, int]]]:
    channels = config.base_channels
    yield "audio_decoder.pre_conv.conv", (channels, config.num_dims, IN_KERNEL)
    for stage, rate in enumerate(config.up_rates):
        yield f"audio_decoder.up_sample_conv_layers.{stage}.conv", (channels, 1, 2 * rate)
        channels //= 2
        yield from _residual_kernels(f"audio_decoder.res_layers.{stage}", channels)
    yield "audio_decoder.post_conv.conv", (1, channels, DECODER_OUT_KERNEL)
    channels = config.encoder_channels
    yield "audio_encoder.pre_conv.conv", (channels, 1, IN_KERNEL)
    for stage, rate in enumerate(config.down_rates):
        yield from _residual_kernels(f"audio_encoder.res_layers.{stage}", channels)
        name = f"audio_encoder.down_sample_conv_layers.{stage}.conv"
        yield name, (2 * channels, channels, 2 * rate)
        channels *= 2
    yield "audio_encoder.post_conv.conv", (config.num_dims, channels, ENCODER_OUT_KERNEL)


def _residual_kernels(layer: str, channels: int) -> Iterator[tuple[str, tuple[int, int, int]]]:
    for branch, kernel_size in enumerate(RESBLOCK_KERNELS):
        for block in range(len(RESBLOCK_DILATIONS)):
            for conv in ("input_conv", "skip_conv"):
                name = f"{layer}.res_blocks.{branch}.res_blocks.{block}.{conv}.conv"
                yield name, (channels, channels, kernel_size)


def _activations(config: CodecConfig) -> Iterator[tuple[str, int]]:
    suffix = "activation.snake_act.alpha"
    channels = config.base_channels
    for stage in range(len(config.up_rates)):
        yield f"audio_decoder.activations.{stage}.{suffix}", channels
        channels //= 2
        for branch in range(len(RESBLOCK_KERNELS)):
            for block in range(len(RESBLOCK_DILATIONS)):
                place = f"audio_decoder.res_layers.{stage}.res_blocks.{branch}.res_blocks.{block}"
                for activation in ("input_activation", "skip_activation"):
                    yield f"{place}.{activation}.{suffix}", channels
    yield f"audio_decoder.post_activation.{suffix}", channels
