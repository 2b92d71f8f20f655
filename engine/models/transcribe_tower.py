"""The audio tower of Nemotron 3.5 Transcribe: waveforms to embeddings for a language model.

waveform -> log-mel -> Parallel Expert Encoder -> linear layer. One embedding stands for 80 ms.
Besides the embeddings, `encode_clips` returns the recognition states and the speaker activity.
The tower is offline; `ParallelExpertEncoder.encode_window` encodes audio that is still coming.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import torch
from torch import nn

from engine.models.checkpoint_assign import assign_weights
from engine.models.mel import AudioPreprocessor
from engine.models.parallel_expert import ParallelExpertEncoder
from engine.models.tower_config import TowerConfig


@dataclass(frozen=True, slots=True, eq=False)
class EncodedClip:
    """What the tower makes of one clip of T encoder frames and M mel frames.

    Args:
        embeddings: (T, output_dim), 80 ms a row, for the language model.
        asr_states: (T, d_model) of the recognition branch alone.
        speaker_probs: (T, speakers), 80 ms a row.
        fine_speaker_probs: (M, speakers), 10 ms a row.
    """

    embeddings: torch.Tensor
    asr_states: torch.Tensor
    speaker_probs: torch.Tensor
    fine_speaker_probs: torch.Tensor


class Nemotron3_5TranscribeAudioTower(nn.Module):
    """Log-mel, both branches, fusion and projection. Weights only; any thread may share them."""

    def __init__(self, config: TowerConfig) -> None:
        """Build the tower with random weights.

        Raises:
            ValueError: the configuration is of the speaker branch alone.
        """
        super().__init__()
        if config.projection is None:
            raise ValueError("projection must be configured, got None")
        self.config = config
        self.preprocessor = AudioPreprocessor(config.preprocessor)
        self.encoder = ParallelExpertEncoder(config)
        self.proj = nn.Linear(config.projection.input_dim, config.projection.output_dim)
        self.subsampling_factor = self.encoder.subsampling_factor
        self.requires_grad_(False).eval()

    def cast(
        self, *, asr: torch.dtype = torch.float32, speaker: torch.dtype = torch.float32
    ) -> "Nemotron3_5TranscribeAudioTower":
        """Set the precision of each branch and return the tower; the front end stays float32.

        Args:
            asr: of the recognition branch, the fusion and the projection.
            speaker: of the speaker branch.
        """
        self.encoder.asr_encoder.to(asr)
        self.encoder.asr_norm.to(asr)
        self.encoder.diar_norm.to(asr)
        self.proj.to(asr)
        self.encoder.diarization_model.to(speaker)
        return self

    def encode(
        self, signals: Sequence[torch.Tensor], num_samples_cpu: torch.Tensor
    ) -> list[torch.Tensor]:
        """Return the embeddings of each clip, in order. As `encode_clips`, without the rest."""
        return [clip.embeddings for clip in self.encode_clips(signals, num_samples_cpu)]

    @torch.inference_mode()
    def encode_clips(
        self,
        signals: Sequence[torch.Tensor],
        num_samples_cpu: torch.Tensor,
        sample_rate: int | None = None,
        progress: Callable[[float], None] | None = None,
    ) -> list[EncodedClip]:
        """Encode clips, several at once where they span as many windows.

        Args:
            signals: mono clips of any shape, flattened.
            num_samples_cpu: (B,) int64 on the host: samples of each that count.
            sample_rate: of the clips, Hz, to be checked; None if it is known to be right.
            progress: told the fraction done after each window; may raise to give up.

        Raises:
            ValueError: another sample rate, a clip that is not finite, or shorter than stated.
        """
        self._check(signals, num_samples_cpu, sample_rate)
        num_frames = self.preprocessor.featurizer.get_seq_len(num_samples_cpu)
        window = self.encoder.window_feat_len
        groups: dict[int, list[int]] = {}
        for index, count in enumerate(num_frames.tolist()):
            groups.setdefault(math.ceil(count / window), []).append(index)
        device = self.proj.weight.device
        results: dict[int, EncodedClip] = {}
        total, num_done = sum(max(num_frames[group].tolist()) for group in groups.values()), 0

        def tell(num_mel_frames: int) -> None:
            if progress is not None:
                progress((num_done + num_mel_frames) / total)

        for indices in groups.values():
            lengths = num_samples_cpu[indices].long()
            audio = torch.zeros(len(indices), int(lengths.max()), device=device)
            for row, index in enumerate(indices):
                length = int(lengths[row])
                audio[row, :length] = signals[index].flatten()[:length]
            results.update(zip(indices, self._encode_batch(audio, lengths, tell), strict=True))
            num_done += max(num_frames[indices].tolist())
        return [results[index] for index in range(len(signals))]

    def forward(
        self,
        audio: torch.Tensor,
        num_samples: torch.Tensor,
        num_samples_cpu: torch.Tensor | None = None,
    ) -> list[torch.Tensor]:
        """Return one (T, output_dim) tensor of embeddings a row.

        All rows run as many windows as the longest; `encode` sorts them before.

        Args:
            audio: (B, N) samples, on the tower's device.
            num_samples: (B,) valid samples of each row.
            num_samples_cpu: the same on the host, where that spares a copy.
        """
        lengths = num_samples.cpu() if num_samples_cpu is None else num_samples_cpu
        return [clip.embeddings for clip in self._encode_batch(audio, lengths)]

    @torch.inference_mode()
    def _encode_batch(
        self,
        audio: torch.Tensor,
        num_samples: torch.Tensor,
        on_window: Callable[[int], None] | None = None,
    ) -> list[EncodedClip]:
        mel, _ = self.preprocessor(audio, num_samples)
        mel_lengths = self.preprocessor.featurizer.get_seq_len(num_samples)
        longest = int(mel_lengths.max())
        encoded = self.encoder.encode(mel, mel_lengths, longest, on_window)
        embeddings = self.proj(encoded.fused)
        clips = []
        for row, num_mel_frames in enumerate(mel_lengths.tolist()):
            num_frames = math.ceil(num_mel_frames / self.subsampling_factor)
            clips.append(
                EncodedClip(
                    embeddings=embeddings[row, :num_frames],
                    asr_states=encoded.asr_states[row, :num_frames],
                    speaker_probs=encoded.speaker_probs[row, :num_frames],
                    fine_speaker_probs=encoded.fine_speaker_probs[row, :num_mel_frames],
                )
            )
        return clips

    def load_weights(self, weights: Iterable[tuple[str, torch.Tensor]]) -> set[str]:
        """Replace all weights; on an error none is.

        Args:
            weights: names as NeMo's without the leading `perception.`, and tensors of any dtype.

        Returns:
            The names taken. Names that the tower has no use for are passed over.

        Raises:
            ModelLoadError: a tensor is unexpected, misshapen, not finite or missing.
        """
        return assign_weights(self, weights, "audio tower")

    def _check(
        self,
        signals: Sequence[torch.Tensor],
        num_samples: torch.Tensor,
        sample_rate: int | None,
    ) -> None:
        wanted = self.config.preprocessor.sample_rate
        if sample_rate is not None and sample_rate != wanted:
            raise ValueError(f"sample_rate must be {wanted} Hz, got {sample_rate} Hz")
        for index, (signal, length) in enumerate(zip(signals, num_samples.tolist(), strict=True)):
            if not 0 <= length <= signal.numel():
                raise ValueError(
                    f"signal {index} has {signal.numel()} samples, fewer than the {length} stated"
                )
            if not bool(torch.isfinite(signal.flatten()[:length]).all()):
                raise ValueError(f"signal {index} must be finite, got NaN or infinity")
