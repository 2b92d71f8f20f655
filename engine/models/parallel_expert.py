"""The Parallel Expert Encoder: recognition and speaker branch over the same windows, fused.

Long audio is cut into windows with context on both sides. The recognition branch sees each window
for itself; the speaker branch carries its cache from one to the next. Who is active is then added
to the recognition states as a fixed sinusoid a speaker.

`forward` encodes whole clips. For audio that is still coming, call `encode_window` with the
windows of `plan_windows` as they fill, and `fuse`; the speaker state is passed in and out.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from torch import nn

from engine.models.align import align_frames
from engine.models.normalize import normalize_per_feature
from engine.models.sortformer import SortformerSpeakerEncoder, SpeakerActivity
from engine.models.sortformer_cache import SpeakerCacheState
from engine.models.tower_config import OnlineConfig, TowerConfig
from engine.models.transformer import TransformerEncoder


@dataclass(frozen=True, slots=True)
class Window:
    """A window in mel frames: it answers for start to end, and sees context_start to context_end.

    Args:
        context_start: first frame seen.
        start: first frame answered for.
        end: one past the last frame answered for.
        context_end: one past the last frame seen.
    """

    context_start: int
    start: int
    end: int
    context_end: int

    @property
    def left_offset(self) -> int:
        """Frames of left context."""
        return self.start - self.context_start

    @property
    def right_offset(self) -> int:
        """Frames of right context."""
        return self.context_end - self.end


def plan_windows(num_mel_frames: int, online: OnlineConfig, factor: int) -> Iterator[Window]:
    """Yield the windows of a clip in order; context is cut off at its ends.

    Args:
        num_mel_frames: length of the clip.
        online: sizes in encoder frames.
        factor: mel frames in an encoder frame.
    """
    size = online.window_frames * factor
    for start in range(0, num_mel_frames, size):
        end = min(start + size, num_mel_frames)
        yield Window(
            context_start=max(start - online.left_context_frames * factor, 0),
            start=start,
            end=end,
            context_end=min(end + online.right_context_frames * factor, num_mel_frames),
        )


@dataclass(frozen=True, slots=True, eq=False)
class EncodedClips:
    """What both branches make of B clips; T encoder frames of the longest.

    Args:
        fused: (B, T, d_model) recognition states with speaker activity added.
        asr_states: (B, T, d_model) recognition states as they left the branch.
        speaker_probs: (B, T, speakers), 80 ms a row.
        fine_speaker_probs: (B, T * 8, speakers), 10 ms a row.
    """

    fused: torch.Tensor
    asr_states: torch.Tensor
    speaker_probs: torch.Tensor
    fine_speaker_probs: torch.Tensor


class ParallelExpertEncoder(nn.Module):
    """Both branches and their fusion. Needs a configuration with a recognition branch."""

    diar_kernel: torch.Tensor

    def __init__(self, config: TowerConfig) -> None:
        """Build both branches.

        Raises:
            ValueError: the configuration has no recognition branch.
        """
        super().__init__()
        if config.asr_encoder is None:
            raise ValueError("asr_encoder must be configured, got None")
        self.online = config.online
        self.fusion = config.fusion
        self.precision = config.precision
        self.asr_encoder = TransformerEncoder(config.asr_encoder)
        self.diarization_model = SortformerSpeakerEncoder(config)
        self.subsampling_factor = config.asr_encoder.subsampling_factor
        num_speakers, width = config.sortformer.num_speakers, config.asr_encoder.d_model
        self.asr_norm = nn.LayerNorm(width)
        self.diar_norm = nn.LayerNorm(num_speakers)
        self.register_buffer(
            "diar_kernel", _speaker_sinusoids(num_speakers, width), persistent=False
        )

    @property
    def dtype(self) -> torch.dtype:
        """Of the recognition branch and the fusion; the speaker branch may differ."""
        return self.asr_norm.weight.dtype

    @property
    def window_feat_len(self) -> int:
        """Mel frames that one window answers for."""
        return self.online.window_frames * self.subsampling_factor

    def forward(
        self, mel: torch.Tensor, mel_lengths: torch.Tensor, max_feat_len: int
    ) -> torch.Tensor:
        """Return the fused states of clips: (B, d_model, T').

        Args:
            mel: (B, n_mels, T) features, not normalised.
            mel_lengths: (B,) int64 on the host: valid frames.
            max_feat_len: frames of the longest clip.
        """
        return self.encode(mel, mel_lengths, max_feat_len).fused.transpose(1, 2)

    @torch.inference_mode()
    def encode(
        self,
        mel: torch.Tensor,
        mel_lengths: torch.Tensor,
        max_feat_len: int,
        on_window: Callable[[int], None] | None = None,
    ) -> EncodedClips:
        """Return all that both branches know of clips.

        Args:
            mel: as of `forward`.
            mel_lengths: as of `forward`.
            max_feat_len: as of `forward`.
            on_window: told after each window the mel frames done; may raise to give up.
        """
        factor = self.subsampling_factor
        num_mel_frames = min(mel.shape[2], max_feat_len)
        mel = mel[:, :, :num_mel_frames]
        if not self.precision.normalize_in_float32:
            mel = mel.to(self.dtype)
        asr_mel = normalize_per_feature(mel, mel_lengths)
        state = self.diarization_model.init_state(mel.shape[0])
        states: list[torch.Tensor] = []
        coarse: list[torch.Tensor] = []
        fine: list[torch.Tensor] = []
        for window in plan_windows(num_mel_frames, self.online, factor):
            seen = slice(window.context_start, window.context_end)
            lengths = (mel_lengths.cpu() - window.context_start).clamp(0, seen.stop - seen.start)
            state, window_states, activity = self.encode_window(
                asr_mel[:, :, seen],
                mel[:, :, seen],
                lengths,
                state,
                window.left_offset,
                window.right_offset,
            )
            num_frames = math.ceil(window.end / factor) - math.ceil(window.start / factor)
            states.append(window_states)
            coarse.append(align_frames(activity.coarse, num_frames))
            fine.append(align_frames(activity.fine, num_frames * factor))
            if on_window is not None:
                on_window(window.end)
        return self._join(states, coarse, fine, mel)

    def _join(
        self,
        states: list[torch.Tensor],
        coarse: list[torch.Tensor],
        fine: list[torch.Tensor],
        mel: torch.Tensor,
    ) -> EncodedClips:
        if not states:
            B, width, speakers = (
                mel.shape[0],
                self.asr_encoder.d_model,
                self.diarization_model.n_spk,
            )
            nothing = mel.new_zeros(B, 0, width, dtype=self.dtype)
            nobody = mel.new_zeros(B, 0, speakers)
            return EncodedClips(nothing, nothing, nobody, nobody)
        asr_states, probs = torch.cat(states, dim=1), torch.cat(coarse, dim=1)
        return EncodedClips(self.fuse(asr_states, probs), asr_states, probs, torch.cat(fine, dim=1))

    @torch.inference_mode()
    def encode_window(
        self,
        asr_mel: torch.Tensor,
        mel: torch.Tensor,
        lengths: torch.Tensor,
        state: SpeakerCacheState,
        left_offset: int,
        right_offset: int,
    ) -> tuple[SpeakerCacheState, torch.Tensor, SpeakerActivity]:
        """Encode one window.

        Args:
            asr_mel: (B, n_mels, T) normalised features of the window with its context.
            mel: (B, n_mels, T) the same, not normalised.
            lengths: (B,) int64 on the host: valid frames.
            state: of the speaker branch before the window.
            left_offset: mel frames of left context.
            right_offset: mel frames of right context.

        Returns:
            state: of the speaker branch behind the window.
            asr_states: (B, T', d_model) of the frames answered for.
            activity: of the same frames.
        """
        encoded, _ = self.asr_encoder(asr_mel.to(self.asr_encoder.dtype), lengths)
        first = left_offset // self.subsampling_factor
        last = encoded.shape[2] - math.ceil(right_offset / self.subsampling_factor)
        asr_states = encoded.transpose(1, 2)[:, first:last]
        state, activity = self.diarization_model.advance(
            mel, lengths, state, left_offset, right_offset
        )
        return state, asr_states, activity

    @torch.inference_mode()
    def fuse(self, asr_states: torch.Tensor, speaker_probs: torch.Tensor) -> torch.Tensor:
        """Return recognition states with speaker activity added.

        Args:
            asr_states: (B, T, d_model).
            speaker_probs: (B, T', speakers); cut or filled up to T.

        Returns:
            (B, T, d_model).
        """
        states = asr_states.to(self.dtype)
        probs = align_frames(speaker_probs, states.shape[1])
        if self.fusion.speaker_feature_mode == "thresholded":
            probs = probs > self.fusion.speaker_activity_threshold
        speakers = self.diar_norm(probs.to(self.dtype))
        infusion = torch.matmul(speakers, self.diar_kernel.to(self.dtype))
        normed: torch.Tensor = self.asr_norm(states)
        return normed.add_(infusion, alpha=self.fusion.spk_kernel_scale)


def _speaker_sinusoids(num_speakers: int, width: int) -> torch.Tensor:
    """Return (num_speakers, width) float32: sines in even columns, cosines in odd ones."""
    speakers = torch.arange(num_speakers, dtype=torch.float32, device="cpu").unsqueeze(1)
    columns = torch.arange(0, width, 2, dtype=torch.float32, device="cpu")
    angles = speakers * torch.exp(columns * -(math.log(10_000.0) / width))
    return torch.stack([angles.sin(), angles.cos()], dim=2).flatten(1)[:, :width]
