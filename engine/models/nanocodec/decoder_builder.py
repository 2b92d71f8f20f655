"""Makes the decoder's layers, multiplying into weights what need not be computed each time.

Folded, in float64: weight norm; the division by alpha behind each snake and, where a convolution
is in front of it, the factor alpha; the mean over the three branches of a stage.
"""

from collections.abc import Iterator

import torch
from torch import Tensor

from engine.models.nanocodec.config import (
    DECODER_OUT_KERNEL,
    IN_KERNEL,
    RESBLOCK_DILATIONS,
    RESBLOCK_KERNELS,
    CodecConfig,
)
from engine.models.nanocodec.convolution import Convolution, HalfSnake, PairUpsampling
from engine.models.nanocodec.decoder_layers import ResidualBlock, Stage
from engine.models.nanocodec.weights import CodecWeights

_TYPICAL_CHUNK_FRAMES = 10
_ALPHA = "activation.snake_act.alpha"
# Snake tends to the identity as alpha goes to 0; from here on they differ by less than 1e-6 x².
_SMALLEST_ALPHA = 1e-6


class DecoderBuilder:
    """Takes tensors from a codec's weights, in the order of the network.

    Args:
        config: the geometry.
        weights: checked against it.
        device: where the layers will compute.
        dtype: what they will compute in.
    """

    def __init__(
        self, config: CodecConfig, weights: CodecWeights, device: torch.device, dtype: torch.dtype
    ) -> None:
        self._config = config
        self._weights = weights
        self._device = device
        self._dtype = dtype

    def first_convolution(self) -> Convolution:
        """Return the layer from latents to channels."""
        name = "audio_decoder.pre_conv.conv"
        shape = (self._config.base_channels, self._config.num_dims, IN_KERNEL)
        kernel = self._weights.kernel(name, shape)
        return self._convolution(kernel, self._bias(name, shape[0]), length=1)

    def stages(self) -> Iterator[Stage]:
        """Yield the upsampling stages."""
        channels, length = self._config.base_channels, 1
        for number, rate in enumerate(self._config.up_rates):
            length *= rate
            branches = 1 if number == 0 else len(RESBLOCK_KERNELS)
            alpha = self._alpha(f"audio_decoder.activations.{number}", channels)
            name = f"audio_decoder.up_sample_conv_layers.{number}.conv"
            kernel = self._weights.kernel(name, (channels, 1, 2 * rate))
            kernel = kernel * _undo(alpha, channels, branches).view(-1, 1, 1)
            bias = self._bias(name, channels // 2)
            yield Stage(
                num_inputs=channels,
                activation=HalfSnake(channels, self._cast(alpha / branches)),
                upsampling=PairUpsampling(self._cast(kernel), self._cast(bias), rate),
                branches=tuple(
                    tuple(self._blocks(number, branch, channels // 2, length))
                    for branch in range(len(RESBLOCK_KERNELS))
                ),
            )
            channels //= 2

    def last_layers(self) -> tuple[HalfSnake, Convolution]:
        """Return the layers from channels to samples."""
        channels = self._config.base_channels >> len(self._config.up_rates)
        branches = len(RESBLOCK_KERNELS)
        alpha = self._alpha("audio_decoder.post_activation", channels)
        name = "audio_decoder.post_conv.conv"
        kernel = self._weights.kernel(name, (1, channels, DECODER_OUT_KERNEL))
        kernel = kernel * _undo(alpha, channels, branches).view(1, -1, 1)
        convolution = self._convolution(
            kernel, self._bias(name, 1), length=self._config.samples_per_frame
        )
        return HalfSnake(channels, self._cast(alpha / branches)), convolution

    def _blocks(
        self, stage: int, branch: int, channels: int, length: int
    ) -> Iterator[ResidualBlock]:
        shape = (channels, channels, RESBLOCK_KERNELS[branch])
        for number, dilation in enumerate(RESBLOCK_DILATIONS):
            place = f"audio_decoder.res_layers.{stage}.res_blocks.{branch}.res_blocks.{number}"
            first = self._alpha(f"{place}.input_activation", channels)
            second = self._alpha(f"{place}.skip_activation", channels)
            dilated = self._weights.kernel(f"{place}.input_conv.conv", shape)
            plain = self._weights.kernel(f"{place}.skip_conv.conv", shape)
            # The factor of the second activation is brought by the convolution in front of it.
            gain = torch.ones(channels, dtype=torch.float64)
            gain[: channels // 2] = second
            dilated = dilated * gain.view(-1, 1, 1) * _undo(first, channels).view(1, -1, 1)
            plain = plain * _undo(second, channels).view(1, -1, 1)
            dilated_bias = self._bias(f"{place}.input_conv.conv", channels) * gain
            plain_bias = self._bias(f"{place}.skip_conv.conv", channels)
            yield ResidualBlock(
                HalfSnake(channels, self._cast(first)),
                self._convolution(dilated, dilated_bias, dilation=dilation, length=length),
                HalfSnake(channels, None),
                self._convolution(plain, plain_bias, length=length),
            )

    def _alpha(self, name: str, channels: int) -> Tensor:
        alpha = self._weights.vector(f"{name}.{_ALPHA}", channels // 2)
        smallest = torch.full_like(alpha, _SMALLEST_ALPHA)
        return torch.where(alpha.abs() < smallest, torch.copysign(smallest, alpha), alpha)

    def _bias(self, name: str, num_channels: int) -> Tensor:
        return self._weights.vector(f"{name}.bias", num_channels)

    def _convolution(
        self, kernel: Tensor, bias: Tensor, *, length: int, dilation: int = 1
    ) -> Convolution:
        return Convolution(
            self._cast(kernel),
            self._cast(bias),
            dilation=dilation,
            typical_length=_TYPICAL_CHUNK_FRAMES * length,
        )

    def _cast(self, tensor: Tensor) -> Tensor:
        return tensor.to(device=self._device, dtype=self._dtype)


def _undo(alpha: Tensor, channels: int, branches: int = 1) -> Tensor:
    """Return (channels,): what turns `HalfSnake`'s output back into the published activation's.

    The activation was given the sum of `branches` branches where their mean is meant: the snake
    half has that in its scale already, the leaky half passes it through.
    """
    factors = torch.full((channels,), 1.0 / branches, dtype=torch.float64)
    factors[: channels // 2] = 1.0 / alpha
    return factors
