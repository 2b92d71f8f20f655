"""The speaker branch on its own, live: samples in, speaker activity out.

    model = load_speaker_model(path)          # engine.models.checkpoints
    state = model.init_state()
    state, steps = model.push(audio, state, PROFILES["low"])     # as often as audio comes
    state, last = model.flush(state)

Each step answers for `chunk_frames` of 80 ms and says what it thinks, tentatively, of the frames
behind them. How audio is cut into pushes makes no difference. The profile may change from one
push to the next: cache and speakers stay. Latency is chunk and right context; a state holds at
most one step of features and the speaker cache, about 1.5 MB.
"""

from dataclasses import dataclass, replace

import torch
from torch import nn

from engine.models.mel import AudioPreprocessor, MelState
from engine.models.sortformer import SortformerSpeakerEncoder, SpeakerActivity
from engine.models.sortformer_cache import SpeakerCacheState
from engine.models.sortformer_config import CacheGeometry
from engine.models.stream_profiles import StreamProfile
from engine.models.tower_config import TowerConfig


@dataclass(slots=True)
class SpeakerStreamState:
    """What B streams that move in step remember; its size is bounded.

    Args:
        mel: of the features.
        features: (B, n_mels, T) float32 mel frames that wait for their step.
        speakers: of the speaker branch.
    """

    mel: MelState
    features: torch.Tensor
    speakers: SpeakerCacheState


class SpeakerModel(nn.Module):
    """Log-mel features and speaker branch. Weights only; any thread may share them."""

    def __init__(self, config: TowerConfig) -> None:
        super().__init__()
        self.config = config
        self.preprocessor = AudioPreprocessor(config.preprocessor)
        self.diarization_model = SortformerSpeakerEncoder(config)
        self.requires_grad_(False).eval()

    @property
    def sample_rate(self) -> int:
        """Of the audio it takes, Hz."""
        return self.config.preprocessor.sample_rate

    @property
    def num_speakers(self) -> int:
        """Slots, in order of arrival."""
        return self.config.sortformer.num_speakers

    @property
    def samples_per_frame(self) -> int:
        """Samples that one coarse row stands for."""
        return self.config.preprocessor.hop_length * self.diarization_model.subsampling_factor

    def init_state(self, batch_size: int = 1) -> SpeakerStreamState:
        """Return the state of streams at time 0."""
        mel = self.preprocessor.featurizer
        return SpeakerStreamState(
            mel=mel.init_state(batch_size),
            features=torch.zeros(
                batch_size, self.config.preprocessor.n_mels, 0, device=mel.window.device
            ),
            speakers=self.diarization_model.init_state(batch_size),
        )

    @torch.inference_mode()
    def push(
        self, audio: torch.Tensor, state: SpeakerStreamState, profile: StreamProfile
    ) -> tuple[SpeakerStreamState, tuple[SpeakerActivity, ...]]:
        """Take the next samples and make what steps they complete.

        Args:
            audio: (B, n) float32; any n, also 0.
            state: left as it is.
            profile: of the steps from here on.

        Returns:
            state: the new one.
            steps: their activity in order; only the last one's `ahead` is still of use.

        Raises:
            ValueError: a sample is NaN or infinite; it would stay in the cache for ever.
        """
        if not bool(torch.isfinite(audio).all()):
            raise ValueError("audio must be finite, got NaN or infinity")
        device = self.preprocessor.featurizer.window.device
        mel, mel_state = self.preprocessor.featurizer.step(audio.to(device), state.mel)
        features = torch.cat([state.features, mel], dim=2)
        factor, speakers = self.diarization_model.subsampling_factor, state.speakers
        seen, right = profile.latency_frames * factor, profile.right_context_frames * factor
        steps, start = [], 0
        while features.shape[2] - start >= seen:
            speakers, activity = self._step(
                features[:, :, start : start + seen], speakers, right, profile.cache
            )
            steps.append(activity)
            start += profile.chunk_frames * factor
        rest = features[:, :, start:].clone() if start else features
        return SpeakerStreamState(mel_state, rest, speakers), tuple(steps)

    @torch.inference_mode()
    def flush(
        self, state: SpeakerStreamState, profile: StreamProfile
    ) -> tuple[SpeakerStreamState, SpeakerActivity | None]:
        """Answer for what is still waiting: audio ends here.

        The state returned knows the speakers; time in it starts anew, with a fresh frame at the
        next sample.

        Returns:
            The state, and the last step's activity: `fine` has a row for each 10 ms that began,
            `ahead` is empty. None if nothing was waiting.
        """
        mel = self.preprocessor.featurizer
        features = torch.cat([state.features, mel.flush(state.mel)], dim=2)
        fresh = replace(self.init_state(features.shape[0]), speakers=state.speakers)
        num_mel_frames = features.shape[2]
        if num_mel_frames == 0:
            return fresh, None
        fresh.speakers, activity = self._step(features, state.speakers, 0, profile.cache)
        return fresh, replace(activity, fine=activity.fine[:, :num_mel_frames])

    def _step(
        self,
        features: torch.Tensor,
        speakers: SpeakerCacheState,
        right_offset: int,
        cache: CacheGeometry,
    ) -> tuple[SpeakerCacheState, SpeakerActivity]:
        B, _, T = features.shape
        return self.diarization_model.advance(
            features, torch.full((B,), T), speakers, 0, right_offset, cache
        )
