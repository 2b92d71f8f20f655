"""Finite scalar quantization (Mentzer et al., 2023): each dimension rounded to a few levels.

The formulas are those of FiniteScalarQuantizer in NVIDIA NeMo 3.0.0, in the same order of
operations, so that values come out bitwise the same.
"""

from itertools import accumulate

import torch
from torch import Tensor

from engine.models.nanocodec.config import CodecConfig
from engine.models.nanocodec.layout import CodesError, code_out_of_range

# Keeps tanh's ends off the rounding limits.
_SHRINK = 1e-3
_INTEGERS = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)


class FiniteScalarQuantizer:
    """Latents to per-dimension codes and back; dimension 4g + i is dimension i of group g.

    Args:
        config: the groups and levels.
    """

    def __init__(self, config: CodecConfig) -> None:
        self._config = config
        self._levels = torch.tensor(config.levels * config.num_groups, dtype=torch.int32)

    def check(self, codes: Tensor) -> None:
        """Refuse what are no codes of this codec.

        Args:
            codes: (B, D, T) integers.

        Raises:
            CodesError: names the type, the shape, or the first dimension and value out of range.
        """
        self.check_shape(codes)
        limits = self._levels.to(codes.device)[:, None]
        is_wrong = (codes < 0) | (codes >= limits)
        if bool(is_wrong.any()):
            row, dimension, frame = (int(index) for index in is_wrong.nonzero()[0])
            raise code_out_of_range(
                int(codes[row, dimension, frame]),
                int(self._levels[dimension]),
                frame,
                f"dimension {dimension}",
            )

    def check_shape(self, codes: Tensor) -> None:
        """Like `check`, but look at no values."""
        if codes.dtype not in _INTEGERS:
            raise CodesError(
                f"Codes must be integers, not {codes.dtype}.",
                advice="Check that they are codes of this codec.",
            )
        if codes.ndim != 3 or codes.shape[1] != self._config.num_dims:
            raise CodesError(
                f"Codes must be (B, {self._config.num_dims}, T), got {tuple(codes.shape)}.",
                advice="Check that they are per-dimension codes of this codec.",
            )

    def dequantize(self, codes: Tensor) -> Tensor:
        """Return the latents (B, D, T) float32, from -1 to 1, that codes (B, D, T) stand for."""
        half = (self._levels // 2).to(codes.device)[:, None]
        return (codes.to(torch.int32) - half) / half

    def quantize(self, latents: Tensor) -> Tensor:
        """Return the nearest codes, (B, D, T) int64.

        Args:
            latents: (B, D, T) float32, any values.
        """
        levels = self._levels.to(latents.device)[:, None]
        scale = (levels - 1) / 2 * (1 - _SHRINK)
        offset = torch.where(levels % 2 == 0, 0.5, 0)
        shift = (offset / scale).tan()
        compressed = scale * (latents + shift).tanh() - offset
        return torch.round(compressed).to(torch.int64) + levels // 2

    def pack(self, codes: Tensor) -> Tensor:
        """Return one number a group, (B, G, T) int64, of codes (B, D, T)."""
        B, _, T = codes.shape
        grouped = codes.to(torch.int64).view(B, self._config.num_groups, -1, T)
        return (grouped * self._radix(codes.device)[:, None]).sum(dim=2)

    def unpack(self, packed: Tensor) -> Tensor:
        """Return codes (B, D, T) int64 of one number a group, (B, G, T)."""
        B, _, T = packed.shape
        levels = torch.tensor(self._config.levels, device=packed.device)[:, None]
        radix = self._radix(packed.device)[:, None]
        codes = (packed.to(torch.int64)[:, :, None] // radix) % levels
        return codes.reshape(B, self._config.num_dims, T)

    def _radix(self, device: torch.device) -> Tensor:
        bases = list(accumulate(self._config.levels[:-1], int.__mul__, initial=1))
        return torch.tensor(bases, device=device)
