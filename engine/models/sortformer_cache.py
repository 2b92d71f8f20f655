"""The speaker cache: which frames of the past the speaker branch keeps, and how it moves on.

New frames enter a fifo. When it overflows, its oldest frames move to the cache; when that
overflows, every speaker keeps the frames in which it is clearest, and a few slots hold silence.
Speakers keep their slots because their frames stay in the cache.

Nothing here has weights or depends on the time passed: a state is at most
spkcache_len + fifo_len embeddings and spkcache_len rows of probabilities.
"""

import math
from dataclasses import dataclass

import torch
from torch.nn import functional

from engine.models.sortformer_config import CacheGeometry, SortformerConfig

_SPEECH_PROBABILITY = 0.5
_LOG_HALF = math.log(0.5)


@dataclass(slots=True)
class SpeakerCacheState:
    """What the speaker branch remembers of B streams that move in step.

    Args:
        spkcache: (B, S, D) embeddings, S at most spkcache_len.
        fifo: (B, F, D) embeddings of the newest frames, F at most fifo_len between steps.
        spkcache_preds: (B, S, speakers) probabilities of the cached frames; None while it is empty.
        spkcache_compressed: whether the cache has overflowed: its frames are then out of order and
            keep the probabilities they came with, where before every step estimates them anew.
    """

    spkcache: torch.Tensor
    fifo: torch.Tensor
    spkcache_preds: torch.Tensor | None = None
    spkcache_compressed: bool = False

    @property
    def context_len(self) -> int:
        """Frames that come before a new chunk."""
        return self.spkcache.shape[1] + self.fifo.shape[1]

    def has_room(self, num_new: int, geometry: CacheGeometry) -> bool:
        """Whether new frames fit into the fifo, so that none moves to the cache."""
        return self.fifo.shape[1] + num_new <= geometry.fifo_len


def advance_cache(
    state: SpeakerCacheState,
    chunk: torch.Tensor,
    probs: torch.Tensor,
    chunk_start: int,
    silence: torch.Tensor,
    geometry: CacheGeometry,
    config: SortformerConfig,
) -> SpeakerCacheState:
    """Return the state after a chunk.

    Args:
        state: the one the chunk was seen with; left as it is.
        chunk: (B, C, D) embeddings, without context frames.
        probs: (B, N, speakers) of all frames of the step: cache, fifo, left context, chunk, right
            context. Not looked at while the fifo has room.
        chunk_start: where the chunk begins among the N.
        silence: (D,) embedding of silence.
        geometry: sizes; may differ from those of the step before.
        config: what the cache keeps.
    """
    num_cached, num_queued, num_new = state.spkcache.shape[1], state.fifo.shape[1], chunk.shape[1]
    fifo = torch.cat([state.fifo, chunk], dim=1)
    if state.has_room(num_new, geometry):
        return SpeakerCacheState(
            state.spkcache, fifo, state.spkcache_preds, state.spkcache_compressed
        )
    excess = num_queued + num_new - geometry.fifo_len
    num_moved = min(max(geometry.spkcache_update_period, excess), num_queued + num_new)
    queued = probs[:, num_cached : num_cached + num_queued]
    fifo_probs = torch.cat([queued, probs[:, chunk_start : chunk_start + num_new]], dim=1)
    cached_probs = probs[:, :num_cached]
    if state.spkcache_compressed and state.spkcache_preds is not None:
        cached_probs = state.spkcache_preds
    spkcache = torch.cat([state.spkcache, fifo[:, :num_moved]], dim=1)
    spkcache_preds = torch.cat([cached_probs, fifo_probs[:, :num_moved]], dim=1)
    compressed = state.spkcache_compressed
    if spkcache.shape[1] > geometry.spkcache_len:
        kept = select_cache_frames(spkcache_preds, geometry.spkcache_len, config)
        spkcache, spkcache_preds = gather_cache_frames(spkcache, spkcache_preds, kept, silence)
        compressed = True
    # A copy: a view would keep the frames that left alive.
    return SpeakerCacheState(spkcache, fifo[:, num_moved:].clone(), spkcache_preds, compressed)


def select_cache_frames(
    probs: torch.Tensor, spkcache_len: int, config: SortformerConfig
) -> torch.Tensor:
    """Return which frames an overflowing cache keeps.

    Frames lie by speaker, and in order of time within one; a frame may be kept for several
    speakers. Of frames with equal scores the earlier one, of the lower speaker, is kept.

    Args:
        probs: (B, N, speakers); frames from spkcache_len on are new to the cache.
        spkcache_len: slots.
        config: what it keeps.

    Returns:
        (B, spkcache_len) int64 indices of frames; -1 for a slot of silence.
    """
    B, num_frames, num_speakers = probs.shape
    per_speaker = spkcache_len // num_speakers - config.spkcache_sil_frames_per_spk
    scores = _frame_scores(probs, math.floor(per_speaker * config.min_pos_scores_rate), config)
    scores[:, spkcache_len:] += config.scores_boost_latest
    for rate, halvings in ((config.strong_boost_rate, 2), (config.weak_boost_rate, 1)):
        best = _best(scores, math.floor(per_speaker * rate))
        boost = scores.new_tensor(-halvings * _LOG_HALF).expand(best.shape)
        scores = scores.scatter_add(1, best, boost)
    # Frames behind the last one stand for silence; nothing outdoes them.
    scores = functional.pad(
        scores, (0, 0, 0, config.spkcache_sil_frames_per_spk), value=float("inf")
    )
    by_speaker = scores.transpose(1, 2).reshape(B, -1)
    chosen = _best(by_speaker, spkcache_len)
    is_empty = by_speaker.gather(1, chosen) == float("-inf")
    after_all = by_speaker.shape[1]
    chosen = chosen.masked_fill(is_empty, after_all).sort(dim=1).values
    frames = chosen % scores.shape[1]
    is_silence = (chosen == after_all) | (frames >= num_frames)
    frames = frames.masked_fill(is_silence, -1)
    # With fewer scores than slots, the slots left over hold silence as well.
    return functional.pad(frames, (0, spkcache_len - frames.shape[1]), value=-1)


def gather_cache_frames(
    embeddings: torch.Tensor, probs: torch.Tensor, frames: torch.Tensor, silence: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the embeddings and probabilities of chosen frames; silence has probability 0.

    Args:
        embeddings: (B, N, D).
        probs: (B, N, speakers).
        frames: (B, K) int64, -1 for silence.
        silence: (D,).

    Returns:
        (B, K, D) and (B, K, speakers).
    """
    is_silence = (frames < 0).unsqueeze(-1)
    index = frames.clamp(min=0).unsqueeze(-1)
    kept = embeddings.gather(1, index.expand(-1, -1, embeddings.shape[2]))
    kept_probs = probs.gather(1, index.expand(-1, -1, probs.shape[2]))
    return (
        torch.where(is_silence, silence.to(kept.dtype), kept),
        kept_probs.masked_fill(is_silence, 0.0),
    )


def _frame_scores(probs: torch.Tensor, enough_clear: int, config: SortformerConfig) -> torch.Tensor:
    """Return (B, N, speakers): how clearly each frame is the speaker's alone; -inf if not at all.

    The score is log p - log(1 - p) + sum over all speakers of log(1 - q) - log 0.5, above 0 where
    nobody else speaks. A speaker with `enough_clear` such frames does without its others.
    """
    floor = config.pred_score_threshold
    log_absent = (1.0 - probs).clamp(min=floor).log()
    scores = probs.clamp(min=floor).log() - log_absent
    scores = scores + log_absent.sum(dim=2, keepdim=True) - _LOG_HALF
    is_speech = probs > _SPEECH_PROBABILITY
    is_clear = is_speech & (scores > 0)
    has_enough = is_clear.sum(dim=1, keepdim=True) >= enough_clear
    return scores.masked_fill(~(is_clear | (is_speech & ~has_enough)), float("-inf"))


def _best(scores: torch.Tensor, count: int) -> torch.Tensor:
    """Return the indices of the highest scores along dim 1, the lower index first in a tie."""
    return scores.sort(dim=1, descending=True, stable=True).indices[:, :count]
