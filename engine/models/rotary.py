"""Rotary position embedding: heads turned by angles that grow with position."""

import torch


class RotaryEmbedding:
    """Rotates the first `rot_dim` dimensions of a head, in pairs (i, i + rot_dim / 2).

    Angles are computed in float32 on the CPU, whatever dtype and device they are used in. Tables
    are made when first needed and then only read, by any number of blocks and streams.
    """

    def __init__(self, head_dim: int, rotary_fraction: float, base: float) -> None:
        """Set the angles.

        Raises:
            ValueError: the rotated share is not an even, positive number of dimensions.
        """
        self.rot_dim = int(head_dim * rotary_fraction)
        if self.rot_dim < 2 or self.rot_dim % 2:
            raise ValueError(f"rotated dimensions must be even and positive, got {self.rot_dim}")
        self.base = base
        self._tables: dict[tuple[torch.dtype, torch.device], torch.Tensor] = {}

    def cos_sin(
        self, length: int, dtype: torch.dtype, device: torch.device
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return cosines and sines of positions 0 to length - 1, each (length, 1, rot_dim).

        Sines of the first half have the opposite sign, as `apply` needs them.
        """
        table = self._tables.get((dtype, device))
        if table is None or table.shape[1] < length:
            table = self._make(length).to(device=device, dtype=dtype)
            self._tables[dtype, device] = table
        return table[0, :length], table[1, :length]

    def _make(self, length: int) -> torch.Tensor:
        """Return (2, at least length, 1, rot_dim) float32; a power of two, so remade rarely."""
        size = max(1024, 1 << (length - 1).bit_length())
        exponents = torch.arange(0, self.rot_dim, 2, dtype=torch.float32, device="cpu")
        frequencies = 1.0 / (self.base ** (exponents / self.rot_dim))
        positions = torch.arange(size, dtype=torch.float32, device="cpu")
        angles = torch.outer(positions, frequencies)
        cos, sin = angles.cos(), angles.sin()
        return torch.stack([torch.cat([cos, cos], 1), torch.cat([-sin, sin], 1)]).unsqueeze(2)

    def apply(self, t: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
        """Return `t` rotated: (..., T, H, head_dim), with `cos` and `sin` from `cos_sin(T)`."""
        return self.apply_(t.clone(), cos, sin)

    def apply_(self, t: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
        """Rotate `t` in place, and return it."""
        half = self.rot_dim // 2
        turning = t[..., : self.rot_dim]
        partners = torch.cat([turning[..., half:], turning[..., :half]], dim=-1)
        turning.mul_(cos).addcmul_(partners, sin)
        return t
