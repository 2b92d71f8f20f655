"""Log-mel features: whole clips at once, or a stream of samples cut anywhere.

Frame i is centred on sample `hop_length` * i; a clip of N samples has N // hop_length frames.
Silence lies before and behind a clip. The streaming form (`init_state`, `step`, `flush`) gives the
same frames bit for bit: its latency is half a window (200 samples), its state about 3 kB.
"""

from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional

from engine.models.mel_tables import analysis_window, mel_filterbank
from engine.models.tower_config import MelConfig

# Matrix libraries round differently for very few columns. With this many at least, a frame comes
# out the same whatever number of frames is computed with it.
_MIN_COLUMNS = 16


@dataclass(slots=True)
class MelState:
    """What a stream of features remembers; its size is bounded.

    Args:
        pending: (B, < n_fft + hop_length) float32, pre-emphasised, from the start of the next
            frame's transform on.
        last_sample: (B, 1) float32, the newest sample as it came.
        num_samples: samples taken so far.
        num_frames: frames given so far.
    """

    pending: torch.Tensor
    last_sample: torch.Tensor
    num_samples: int = 0
    num_frames: int = 0


class MelSpectrogram(nn.Module):
    """Natural logarithm of mel power, 100 frames a second at the released settings.

    Buffers `fb` (1, n_mels, 1 + n_fft // 2) and `window` (win_length,) are made from the
    configuration; a checkpoint may replace them. Computing is float32 whatever their dtype.
    """

    fb: torch.Tensor
    window: torch.Tensor

    def __init__(self, config: MelConfig) -> None:
        super().__init__()
        self.config = config
        self.register_buffer("fb", mel_filterbank(config).unsqueeze(0))
        self.register_buffer("window", analysis_window(config))

    def get_seq_len(self, num_samples: torch.Tensor) -> torch.Tensor:
        """Return how many valid frames clips of `num_samples` have: (B,) int64."""
        return torch.div(num_samples, self.config.hop_length, rounding_mode="floor").long()

    @torch.inference_mode()
    def forward(
        self, audio: torch.Tensor, num_samples: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the features of whole clips.

        Args:
            audio: (B, N) samples; rows may be padded behind their end with anything.
            num_samples: (B,) valid samples of each row.

        Returns:
            mel: (B, n_mels, 1 + N // hop_length) float32; `pad_value` from a row's length on.
            seq_len: (B,) int64 valid frames, at most N // hop_length.
        """
        samples = audio.float()
        lengths = num_samples.to(samples.device)
        emphasised = self._emphasise(samples, samples.new_zeros(samples.shape[0], 1))
        emphasised = emphasised.masked_fill(_past(lengths, samples.shape[1]), 0.0)
        margin = self.config.n_fft // 2
        mel = self._log_mel(functional.pad(emphasised, (margin, margin)))
        seq_len = self.get_seq_len(lengths)
        padding = _past(seq_len, mel.shape[2]).unsqueeze(1)
        return mel.masked_fill(padding, self.config.pad_value), seq_len

    def init_state(self, batch_size: int = 1) -> MelState:
        """Return the state of streams at time 0."""
        silence = torch.zeros(batch_size, self.config.n_fft // 2, device=self.window.device)
        return MelState(silence, silence[:, :1].clone())

    @torch.inference_mode()
    def step(self, audio: torch.Tensor, state: MelState) -> tuple[torch.Tensor, MelState]:
        """Take the next samples of streams and return the frames they complete.

        Args:
            audio: (B, n) float32; any n, also 0.
            state: left as it is.

        Returns:
            mel: (B, n_mels, T) float32; T may be 0.
            state: the new one.
        """
        if audio.shape[1] == 0:
            return self._no_frames(audio.shape[0]), state
        emphasised = self._emphasise(audio.float(), state.last_sample)
        buffer = torch.cat([state.pending, emphasised], dim=1)
        num_samples = state.num_samples + audio.shape[1]
        state = MelState(buffer, audio[:, -1:].float().clone(), num_samples, state.num_frames)
        # Behind the window's right end the transform sees zeros: no need to wait for samples there.
        ready = (buffer.shape[1] + self._right_margin - self.config.n_fft) // self.config.hop_length
        return self._take(state, max(0, ready + 1))

    @torch.inference_mode()
    def flush(self, state: MelState) -> torch.Tensor:
        """Return the frames a stream still owes when its audio ends here: (B, n_mels, T)."""
        num_frames = state.num_samples // self.config.hop_length - state.num_frames
        needed = (num_frames - 1) * self.config.hop_length + self.config.n_fft
        missing = max(0, needed - state.pending.shape[1])
        padded = MelState(
            functional.pad(state.pending, (0, missing)),
            state.last_sample,
            state.num_samples,
            state.num_frames,
        )
        return self._take(padded, num_frames)[0]

    @property
    def _right_margin(self) -> int:
        return (self.config.n_fft - self.config.win_length) // 2

    def _take(self, state: MelState, num_frames: int) -> tuple[torch.Tensor, MelState]:
        """Compute the next frames from the pending samples and drop what no frame needs again."""
        if num_frames == 0:
            return self._no_frames(state.pending.shape[0]), state
        hop = self.config.hop_length
        span = (num_frames - 1) * hop + self.config.n_fft
        samples = state.pending[:, :span]
        mel = self._log_mel(functional.pad(samples, (0, span - samples.shape[1])))
        rest = state.pending[:, num_frames * hop :].clone()
        total = state.num_frames + num_frames
        return mel, MelState(rest, state.last_sample, state.num_samples, total)

    def _no_frames(self, batch_size: int) -> torch.Tensor:
        return torch.zeros(batch_size, self.config.n_mels, 0, device=self.window.device)

    def _emphasise(self, samples: torch.Tensor, before: torch.Tensor) -> torch.Tensor:
        if not self.config.preemph:
            return samples
        delayed = torch.cat([before, samples[:, :-1]], dim=1)
        return samples - self.config.preemph * delayed

    def _log_mel(self, samples: torch.Tensor) -> torch.Tensor:
        """Return (B, n_mels, T) of (B, (T - 1) * hop_length + n_fft) emphasised samples."""
        spectrum = torch.stft(
            samples,
            n_fft=self.config.n_fft,
            hop_length=self.config.hop_length,
            win_length=self.config.win_length,
            window=self.window.float(),
            center=False,
            return_complex=True,
        )
        magnitude = torch.view_as_real(spectrum).square().sum(-1).sqrt()
        power = magnitude if self.config.mag_power == 1.0 else magnitude.pow(self.config.mag_power)
        num_frames = power.shape[2]
        power = functional.pad(power, (0, max(0, _MIN_COLUMNS - num_frames)))
        mel = torch.matmul(self.fb[0].float(), power)[..., :num_frames]
        return torch.log(mel + self.config.log_zero_guard_value)


class AudioPreprocessor(nn.Module):
    """Holds the features under the name that checkpoints know them by, `featurizer`."""

    def __init__(self, config: MelConfig) -> None:
        super().__init__()
        self.featurizer = MelSpectrogram(config)

    def forward(
        self, audio: torch.Tensor, num_samples: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return what `MelSpectrogram.forward` returns."""
        result: tuple[torch.Tensor, torch.Tensor] = self.featurizer(audio, num_samples)
        return result


def _past(lengths: torch.Tensor, size: int) -> torch.Tensor:
    """Return (B, size) bool, True from each row's length on."""
    return torch.arange(size, device=lengths.device) >= lengths.unsqueeze(1)
