"""The speaker branch: mel features to the activity of up to eight speakers, a chunk at a time.

Each step encodes [cache | fifo | left context | chunk | right context] and answers for the chunk;
what it has for the right context is tentative. `state, y = encoder.step(x, ..., state)`: the
state is explicit and bounded, about 1 MB a stream at the released sizes. Latency is the chunk and
its right context.
"""

import math
from dataclasses import dataclass

import torch
from torch import nn

from engine.models.align import downsample_preds
from engine.models.sortformer_cache import SpeakerCacheState
from engine.models.sortformer_config import CacheGeometry
from engine.models.sortformer_modules import SortformerModules
from engine.models.tower_config import TowerConfig
from engine.models.transformer import TransformerEncoder


@dataclass(frozen=True, slots=True, eq=False)
class SpeakerActivity:
    """Probabilities of every speaker, from one step.

    Args:
        fine: (B, 8 * C, speakers) of the chunk, 10 ms a row.
        coarse: (B, C, speakers) of the chunk, 80 ms a row: means of the fine ones.
        ahead: (B, 8 * R, speakers) of the right context, 10 ms a row; the next step decides.
    """

    fine: torch.Tensor
    coarse: torch.Tensor
    ahead: torch.Tensor


class SortformerSpeakerEncoder(nn.Module):
    """Encoder, head and cache policy of the speaker branch."""

    def __init__(self, config: TowerConfig) -> None:
        super().__init__()
        self.encoder = TransformerEncoder(config.speaker_encoder)
        self.subsampling_factor = config.speaker_encoder.subsampling_factor
        self.sortformer_modules = SortformerModules(
            config.sortformer,
            config.online.cache,
            self.subsampling_factor,
            config.precision.decide_in_float32,
        )
        self.fc_d_model = config.sortformer.fc_d_model
        self.n_spk = config.sortformer.num_speakers

    def init_state(
        self,
        batch_size: int = 1,
        dtype: torch.dtype | None = None,
        device: torch.device | None = None,
    ) -> SpeakerCacheState:
        """Return the state of streams that have heard nothing; dtype and device of the weights."""
        weight = self.encoder.final_norm.weight
        empty = torch.zeros(
            (batch_size, 0, self.fc_d_model),
            dtype=dtype or weight.dtype,
            device=device or weight.device,
        )
        return SpeakerCacheState(spkcache=empty, fifo=empty)

    def step(
        self,
        features: torch.Tensor,
        lengths: torch.Tensor,
        state: SpeakerCacheState,
        left_offset: int,
        right_offset: int,
    ) -> tuple[SpeakerCacheState, torch.Tensor]:
        """Return the new state and the chunk's probabilities, (B, C, speakers), 80 ms a row.

        Arguments as of `advance`.
        """
        state, activity = self.advance(features, lengths, state, left_offset, right_offset)
        return state, activity.coarse

    @torch.inference_mode()
    def advance(
        self,
        features: torch.Tensor,
        lengths: torch.Tensor,
        state: SpeakerCacheState,
        left_offset: int,
        right_offset: int,
        geometry: CacheGeometry | None = None,
    ) -> tuple[SpeakerCacheState, SpeakerActivity]:
        """Take one chunk with its context.

        Args:
            features: (B, n_mels, T) mel, not normalised.
            lengths: (B,) int64 on the host: valid mel frames.
            state: left as it is.
            left_offset: mel frames before the chunk, a multiple of the subsampling factor.
            right_offset: mel frames behind it.
            geometry: sizes of fifo and cache that differ from the configured ones.

        Returns:
            The new state, and the activity in the chunk and its right context.

        Raises:
            ValueError: an offset does not fit.
        """
        modules, factor = self.sortformer_modules, self.subsampling_factor
        chunk, chunk_lengths = self.encoder.pre_encode(features.to(self.encoder.dtype), lengths)
        lc, rc = self._context(left_offset, right_offset, chunk.shape[1])
        embeddings = torch.cat([state.spkcache, state.fifo, chunk], dim=1)
        start, end = state.context_len + lc, embeddings.shape[1] - rc
        # While nothing moves to the cache, nobody asks about the frames before the chunk; the
        # head's convolution looks at one of them.
        is_kept = state.has_room(end - start, geometry or modules.geometry)
        first = max(0, start - 1) if is_kept else 0
        states, state_lengths = self.encoder(
            embeddings, state.context_len + chunk_lengths, bypass_pre_encode=True, first=first
        )
        hidden = modules.encoder_proj(states.transpose(1, 2))
        fine = modules.speaker_probs(hidden, state_lengths - first)
        coarse = downsample_preds(fine, factor)
        begin, stop = start - first, end - first
        activity = SpeakerActivity(
            fine=fine[:, begin * factor : stop * factor],
            coarse=coarse[:, begin:stop],
            ahead=fine[:, stop * factor :],
        )
        return modules.update(state, chunk, coarse, lc, rc, geometry), activity

    def _context(self, left_offset: int, right_offset: int, num_frames: int) -> tuple[int, int]:
        """Return the context frames on both sides of a chunk."""
        factor = self.subsampling_factor
        if left_offset < 0 or left_offset % factor:
            raise ValueError(
                f"left_offset must be 0 or more and a multiple of {factor}, got {left_offset}"
            )
        lc, rc = left_offset // factor, math.ceil(right_offset / factor)
        if right_offset < 0 or lc + rc > num_frames:
            raise ValueError(
                f"offsets must leave a chunk of {num_frames} frames, got {left_offset} and"
                f" {right_offset} mel frames"
            )
        return lc, rc
