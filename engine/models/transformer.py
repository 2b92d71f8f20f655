"""The transformer encoder of both branches: stacked mel frames, rotary positions, full attention.

Blocks are pre-norm: x + attention(norm(x)), then x + feed_forward(norm(x)). Lengths live on the
host, so that nothing waits for a device, and no mask is made where every frame is valid.
Parameter names are those of the published checkpoints.
"""

import math
from typing import cast

import torch
from torch import nn
from torch.nn import functional

from engine.models.packed_linear import PackableLinear
from engine.models.rotary import RotaryEmbedding
from engine.models.tower_config import EncoderConfig


class FeatureStacking(nn.Module):
    """Stacks `factor` mel frames and projects them to the encoder's width."""

    def __init__(self, factor: int, feat_in: int, feat_out: int) -> None:
        super().__init__()
        self.factor = factor
        self.proj = PackableLinear(factor * feat_in, feat_out, bias=False)

    def forward(self, x: torch.Tensor, lengths: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the embeddings of mel frames; zeros fill up the last stack.

        Args:
            x: (B, C, T) features.
            lengths: (B,) valid frames.

        Returns:
            embeddings: (B, ceil(T / factor), feat_out).
            lengths: (B,) valid embeddings; a stack counts if its first frame does.
        """
        missing = -x.shape[2] % self.factor
        frames = functional.pad(x, (0, missing)).transpose(1, 2)
        stacks = frames.reshape(x.shape[0], -1, self.factor * x.shape[1])
        embeddings: torch.Tensor = self.proj(stacks)
        return embeddings, torch.div(lengths + self.factor - 1, self.factor, rounding_mode="floor")


class _Attention(nn.Module):
    def __init__(self, config: EncoderConfig, rope: RotaryEmbedding) -> None:
        super().__init__()
        self.n_heads = config.n_heads
        self.head_dim = config.d_model // config.n_heads
        self.rope = rope
        self.w_qkv = PackableLinear(config.d_model, 3 * config.d_model, bias=False)
        self.out_proj = PackableLinear(config.d_model, config.d_model)
        self.qk_norm = config.qk_norm
        if config.qk_norm:
            self.q_norm = nn.LayerNorm(self.head_dim)
            self.k_norm = nn.LayerNorm(self.head_dim)

    def add_to(
        self,
        residual: torch.Tensor,
        x: torch.Tensor,
        mask: torch.Tensor | None,
        cos_sin: tuple[torch.Tensor, torch.Tensor],
    ) -> torch.Tensor:
        """Return residual plus what its frames, the last ones of x, see in all of x."""
        q, k, v = self._heads(x, cos_sin)
        q = q[:, x.shape[1] - residual.shape[1] :]
        mixed = functional.scaled_dot_product_attention(
            q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2), attn_mask=mask
        )
        return self.out_proj.add_to(residual, mixed.transpose(1, 2).reshape(residual.shape))

    def _heads(
        self, x: torch.Tensor, cos_sin: tuple[torch.Tensor, torch.Tensor]
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        heads = self.w_qkv(x).view(*x.shape[:2], 3 * self.n_heads, self.head_dim)
        q, k, v = heads.chunk(3, dim=2)
        if self.qk_norm:
            return (
                self.rope.apply_(self.q_norm(q), *cos_sin),
                self.rope.apply_(self.k_norm(k), *cos_sin),
                v,
            )
        # Queries and keys lie side by side: turned together, where they are.
        self.rope.apply_(heads[:, :, : 2 * self.n_heads], *cos_sin)
        return q, k, v


class _FeedForward(nn.Module):
    def __init__(self, config: EncoderConfig) -> None:
        super().__init__()
        hidden = int(config.d_model * config.ff_expansion)
        # Checkpoints number the layers with activation and dropout between them.
        self.net = nn.Sequential(
            PackableLinear(config.d_model, hidden),
            nn.Identity(),
            nn.Identity(),
            PackableLinear(hidden, config.d_model),
        )

    def add_to(self, residual: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        """Return residual plus the network's output for x, frame by frame."""
        wide, narrow = cast(PackableLinear, self.net[0]), cast(PackableLinear, self.net[3])
        return narrow.add_to(residual, wide.gelu(x))


class TransformerBlock(nn.Module):
    """One pre-norm block of attention and feed-forward network."""

    def __init__(self, config: EncoderConfig, rope: RotaryEmbedding) -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm(config.d_model)
        self.attn = _Attention(config, rope)
        self.norm2 = nn.LayerNorm(config.d_model)
        self.ffn = _FeedForward(config)

    def forward(
        self,
        x: torch.Tensor,
        mask: torch.Tensor | None,
        cos_sin: tuple[torch.Tensor, torch.Tensor],
        first: int = 0,
    ) -> torch.Tensor:
        """Pass `x` through the block, and return it or what is left of it.

        Args:
            x: (B, T, d_model), contiguous; its memory may be used for the output.
            mask: (B, 1, 1, T) bool, True for keys that may be looked at; None for all.
            cos_sin: of T positions, from `RotaryEmbedding.cos_sin`.
            first: the frame from which on the output is wanted.

        Returns:
            (B, T - first, d_model).
        """
        normed = self.norm1(x)
        x = x[:, first:].contiguous()
        x = self.attn.add_to(x, normed, mask, cos_sin)
        return self.ffn.add_to(x, self.norm2(x))


class TransformerEncoder(nn.Module):
    """Mel features, or embeddings made before, to states. Sees all frames at once; no state."""

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__()
        self.d_model = config.d_model
        self.subsampling_factor = config.subsampling_factor
        self.pre_encode = FeatureStacking(config.subsampling_factor, config.feat_in, config.d_model)
        self.xscale = math.sqrt(config.d_model) if config.xscaling else None
        self.rope = RotaryEmbedding(
            config.d_model // config.n_heads, config.rotary_fraction, config.rope_base
        )
        self.embed_norm = nn.LayerNorm(config.d_model) if config.pre_block_norm else nn.Identity()
        self.layers = nn.ModuleList(
            TransformerBlock(config, self.rope) for _ in range(config.n_layers)
        )
        self.final_norm = nn.LayerNorm(config.d_model)

    @property
    def dtype(self) -> torch.dtype:
        """Of its weights."""
        return self.final_norm.weight.dtype

    def forward(
        self,
        x: torch.Tensor,
        lengths: torch.Tensor,
        bypass_pre_encode: bool = False,
        first: int = 0,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the states of all frames; positions start at 0.

        Frames past a row's length never influence the valid ones; what comes out in their place
        is finite and meaningless. A row without a valid frame looks at its first.

        Args:
            x: (B, C, T) features, or (B, T', d_model) embeddings with `bypass_pre_encode`.
            lengths: (B,) int64 on the host: valid frames of x.
            bypass_pre_encode: x holds the output of `pre_encode`.
            first: the frame from which on states are wanted; the last block leaves out the others.

        Returns:
            states: (B, d_model, T' - first).
            lengths: (B,) int64 valid frames, of all T'.
        """
        if not bypass_pre_encode:
            x, lengths = self.pre_encode(x, lengths)
        if self.xscale is not None:
            x = x * self.xscale
        # Blocks work in place: on memory that is not the caller's.
        x = self.embed_norm(x) if isinstance(self.embed_norm, nn.LayerNorm) else x.clone()
        mask = _key_mask(lengths, x)
        cos_sin = self.rope.cos_sin(x.shape[1], x.dtype, x.device)
        for index, layer in enumerate(self.layers):
            is_last = index == len(self.layers) - 1
            x = layer(x, mask, cos_sin, first if is_last else 0)
        states: torch.Tensor = self.final_norm(x if len(self.layers) else x[:, first:])
        return states.transpose(1, 2), lengths


def _key_mask(lengths: torch.Tensor, x: torch.Tensor) -> torch.Tensor | None:
    """Return (B, 1, 1, T) bool on x's device, True for valid keys; None where all are."""
    num_frames = x.shape[1]
    if min(lengths.tolist(), default=num_frames) >= num_frames:
        return None
    # At least one key: a softmax over none is not a number.
    valid = torch.arange(num_frames) < lengths.cpu().clamp(min=1).unsqueeze(1)
    return valid[:, None, None, :].to(x.device)
