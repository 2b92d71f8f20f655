"""The speaker head, and the cache policy that goes with it."""

import torch
from torch import nn
from torch.nn import functional

from engine.models.sortformer_cache import SpeakerCacheState, advance_cache
from engine.models.sortformer_config import CacheGeometry, SortformerConfig, check_cache


class SortformerModules(nn.Module):
    """Encoder states to speaker probabilities at the mel frame rate, and the cache of the past.

    Holds weights only: the state is passed in and out.
    """

    def __init__(
        self,
        config: SortformerConfig,
        geometry: CacheGeometry,
        upsample_factor: int,
        decide_in_float32: bool = True,
    ) -> None:
        """Build the head.

        Raises:
            ValueError: the cache is too small for the number of speakers.
        """
        super().__init__()
        check_cache(config, geometry)
        self.config = config
        self.geometry = geometry
        self.n_spk = config.num_speakers
        self.upsample_factor = upsample_factor
        self.decide_in_float32 = decide_in_float32
        hidden = config.tf_d_model
        self.encoder_proj = nn.Linear(config.fc_d_model, hidden)
        self.subpixel_upsample = nn.Conv1d(hidden, hidden * upsample_factor, 3, padding=1)
        self.first_hidden_to_hidden = nn.Linear(hidden, hidden)
        self.single_hidden_to_spks = nn.Linear(hidden, self.n_spk)
        self.learnable_sil_emb = nn.Parameter(torch.zeros(config.fc_d_model))

    def speaker_probs(self, hidden: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        """Return every speaker's probability, 10 ms a row.

        Args:
            hidden: (B, T, tf_d_model), from `encoder_proj`.
            lengths: (B,) int64 on the host: valid frames.

        Returns:
            (B, T * upsample_factor, speakers), float32 unless the weights are finer or
            `decide_in_float32` is off; 0 past a row's length.
        """
        B, T, width = hidden.shape
        is_ragged = min(lengths.tolist(), default=T) < T
        if is_ragged:
            padding = (torch.arange(T) >= lengths.cpu().unsqueeze(1)).to(hidden.device)
            # The convolution reads neighbours: a row must not see what pads it.
            hidden = hidden.masked_fill(padding.unsqueeze(2), 0.0)
        fine = self.subpixel_upsample(hidden.transpose(1, 2)).transpose(1, 2)
        fine = functional.relu(fine.reshape(B, T * self.upsample_factor, width))
        logits = self.single_hidden_to_spks(functional.relu(self.first_hidden_to_hidden(fine)))
        if self.decide_in_float32:
            logits = logits.to(torch.promote_types(logits.dtype, torch.float32))
        probs = torch.sigmoid(logits)
        if is_ragged:
            fine_padding = padding.repeat_interleave(self.upsample_factor, dim=1)
            probs = probs.masked_fill(fine_padding.unsqueeze(2), 0.0)
        return probs

    def update(
        self,
        state: SpeakerCacheState,
        chunk: torch.Tensor,
        preds: torch.Tensor,
        lc: int,
        rc: int,
        geometry: CacheGeometry | None = None,
    ) -> SpeakerCacheState:
        """Return the state after a chunk; `state` is left as it is.

        Args:
            state: the one the chunk was seen with.
            chunk: (B, lc + C + rc, D) embeddings.
            preds: (B, cache + fifo + lc + C + rc, speakers) probabilities, a row an embedding;
                not looked at while the fifo has room.
            lc: left context frames of the chunk.
            rc: right context frames of the chunk.
            geometry: sizes that differ from the configured ones.
        """
        return advance_cache(
            state,
            chunk[:, lc : chunk.shape[1] - rc],
            preds,
            state.context_len + lc,
            self.learnable_sil_emb,
            geometry or self.geometry,
            self.config,
        )
