"""The encoder: audio to latent frames, for whole clips (it looks ahead, so it does not stream).

Follows HiFiGANEncoder of NVIDIA NeMo 3.0.0: leaky ReLU, edge values repeated as padding, and
what lies behind the end of a shorter clip of a batch set to zero after every convolution.
"""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from engine.models.nanocodec.config import (
    ENCODER_OUT_KERNEL,
    IN_KERNEL,
    RESBLOCK_DILATIONS,
    RESBLOCK_KERNELS,
    CodecConfig,
)
from engine.models.nanocodec.convolution import LEAKY_SLOPE
from engine.models.nanocodec.quantizer import FiniteScalarQuantizer
from engine.models.nanocodec.weights import CodecWeights


@dataclass(frozen=True, slots=True)
class _Padded:
    """A convolution that repeats the edge values `padding` times on both sides."""

    kernel: Tensor
    bias: Tensor
    padding: int
    stride: int = 1
    dilation: int = 1

    def __call__(self, x: Tensor, lengths: Tensor) -> Tensor:
        padded = functional.pad(x, (self.padding, self.padding), mode="replicate")
        y = functional.conv1d(
            padded, self.kernel, self.bias, stride=self.stride, dilation=self.dilation
        )
        positions = torch.arange(y.shape[2], device=y.device)
        return y * (positions < lengths[:, None])[:, None]


@dataclass(frozen=True, slots=True)
class _Stage:
    branches: tuple[tuple[tuple[_Padded, _Padded], ...], ...]
    downsampling: _Padded

    def __call__(self, x: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        total = torch.zeros_like(x)
        for blocks in self.branches:
            y = x
            for dilated, plain in blocks:
                inner = dilated(functional.leaky_relu(y, LEAKY_SLOPE), lengths)
                y = y + plain(functional.leaky_relu(inner, LEAKY_SLOPE), lengths)
            total = total + y
        x = functional.leaky_relu(total / len(self.branches), LEAKY_SLOPE)
        lengths = lengths // self.downsampling.stride
        return self.downsampling(x, lengths), lengths


class CodecEncoder:
    """Audio to codes. Weights only.

    Args:
        config: the geometry.
        weights: checked against it.
        device: where to compute.

    Raises:
        ModelLoadError: a tensor is missing or has another shape.
    """

    def __init__(
        self, config: CodecConfig, weights: CodecWeights, *, device: torch.device | str = "cpu"
    ) -> None:
        self.config = config
        self.quantizer = FiniteScalarQuantizer(config)
        self._weights = weights
        self._device = torch.device(device)
        channels = config.encoder_channels
        self._first = self._layer("pre_conv", (channels, 1, IN_KERNEL))
        stages = []
        for number, rate in enumerate(config.down_rates):
            stages.append(self._stage(number, channels, rate))
            channels *= 2
        self._stages = tuple(stages)
        self._last = self._layer("post_conv", (config.num_dims, channels, ENCODER_OUT_KERNEL))
        # Only needed while building.
        del self._weights

    @torch.inference_mode()
    def latents(self, audio: Tensor, audio_len: Tensor) -> tuple[Tensor, Tensor]:
        """Return what the codes approximate.

        Args:
            audio: (B, T) float32 at the codec's rate; the end is filled up to a whole frame.
            audio_len: (B,) samples of each clip.

        Returns:
            (B, D, frames) float32 and (B,) frames of each clip.
        """
        B, T = audio.shape
        frame = self.config.samples_per_frame
        lengths = (audio_len.to(self._device) + frame - 1) // frame * frame
        num_samples = int(lengths.max()) if B else 0
        if num_samples == 0:
            return torch.zeros(B, self.config.num_dims, 0, device=self._device), lengths
        x = functional.pad(audio.to(self._device), (0, num_samples - T))[:, None]
        x = self._first(x, lengths)
        for stage in self._stages:
            x, lengths = stage(x, lengths)
        return self._last(functional.leaky_relu(x, LEAKY_SLOPE), lengths), lengths

    def encode(self, audio: Tensor, audio_len: Tensor) -> tuple[Tensor, Tensor]:
        """Return per-dimension codes (B, D, frames) int64 and (B,) frames; see `latents`.

        Behind the end of a shorter clip codes are 0.
        """
        latents, lengths = self.latents(audio, audio_len)
        codes = self.quantizer.quantize(latents)
        positions = torch.arange(codes.shape[2], device=codes.device)
        return codes * (positions < lengths[:, None])[:, None], lengths

    def _stage(self, number: int, channels: int, rate: int) -> _Stage:
        place = f"res_layers.{number}.res_blocks"
        branches = tuple(
            tuple(
                (
                    self._layer(
                        f"{place}.{branch}.res_blocks.{block}.input_conv",
                        (channels, channels, kernel_size),
                        dilation=dilation,
                    ),
                    self._layer(
                        f"{place}.{branch}.res_blocks.{block}.skip_conv",
                        (channels, channels, kernel_size),
                    ),
                )
                for block, dilation in enumerate(RESBLOCK_DILATIONS)
            )
            for branch, kernel_size in enumerate(RESBLOCK_KERNELS)
        )
        downsampling = self._layer(
            f"down_sample_conv_layers.{number}",
            (2 * channels, channels, 2 * rate),
            stride=rate,
            padding=(rate + 1) // 2,
        )
        return _Stage(branches, downsampling)

    def _layer(
        self,
        name: str,
        shape: tuple[int, int, int],
        *,
        stride: int = 1,
        dilation: int = 1,
        padding: int | None = None,
    ) -> _Padded:
        path = f"audio_encoder.{name}.conv"
        kernel = self._weights.kernel(path, shape)
        bias = self._weights.vector(f"{path}.bias", shape[0])
        return _Padded(
            kernel.to(self._device, torch.float32).contiguous(),
            bias.to(self._device, torch.float32),
            padding=(shape[2] - 1) * dilation // 2 if padding is None else padding,
            stride=stride,
            dilation=dilation,
        )


def check_audio(audio: Tensor, audio_len: Tensor) -> None:
    """Refuse what cannot be encoded.

    Raises:
        TypeError: audio is not float32.
        ValueError: audio is not (B, T), not finite, or shorter than audio_len (B,) says.
    """
    if audio.dtype != torch.float32:
        raise TypeError(f"audio must be float32, got {audio.dtype}")
    if audio.ndim != 2 or audio_len.shape != audio.shape[:1]:
        raise ValueError(
            "audio must be (B, T) and audio_len (B,), "
            f"got {tuple(audio.shape)} and {tuple(audio_len.shape)}"
        )
    if bool(((audio_len < 0) | (audio_len > audio.shape[1])).any()):
        raise ValueError(f"audio_len must be 0 to {audio.shape[1]}, got {audio_len.tolist()}")
    if not bool(torch.isfinite(audio).all()):
        raise ValueError("audio must be finite numbers, got NaN or infinity")
