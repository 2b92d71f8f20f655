"""The audio tower live: samples in, a window out as soon as its right context is there.

    live = LiveTower.of_tower(tower)           # or of_speaker_model: activity alone
    state = live.init_state()
    state, windows = live.push(audio, state)   # as often as audio comes
    state, windows = live.flush(state)

The windows are those of the offline tower, and so are their numbers, but for one thing: the
recognition branch's features are normalised by what was heard up to the end of each window's right
context. What a window was given never changes afterwards; the last window of a clip sees the
statistics of the whole clip. How audio is cut into pushes makes no difference. A state holds at
most one window of features, and the speaker cache: about 4 MB at the released sizes.
"""

import math
from dataclasses import dataclass

import torch

from engine.models.align import align_frames
from engine.models.mel import MelSpectrogram, MelState
from engine.models.normalize import FeatureStatistics
from engine.models.parallel_expert import Window
from engine.models.sortformer import SortformerSpeakerEncoder, SpeakerActivity
from engine.models.sortformer_cache import SpeakerCacheState
from engine.models.sortformer_stream import SpeakerModel
from engine.models.tower_config import OnlineConfig
from engine.models.transcribe_tower import Nemotron3_5TranscribeAudioTower


@dataclass(slots=True)
class TowerStreamState:
    """What one stream remembers; its size is bounded.

    Args:
        mel: of the features.
        features: (1, n_mels, T) float32 mel frames that a window still needs.
        first_frame: index of the first of them.
        next_start: first mel frame that no window has answered for.
        num_counted: mel frames of this stretch that are in `statistics`.
        statistics: of the features up to the end of the last window's context.
        speakers: of the speaker branch.
    """

    mel: MelState
    features: torch.Tensor
    first_frame: int
    next_start: int
    num_counted: int
    statistics: FeatureStatistics
    speakers: SpeakerCacheState


@dataclass(frozen=True, slots=True, eq=False)
class EncodedWindow:
    """What the tower makes of one window of T encoder frames and M mel frames.

    Args:
        first_frame: index of its first encoder frame.
        speaker_probs: (T, speakers), 80 ms a row.
        fine_speaker_probs: (M, speakers), 10 ms a row.
        embeddings: (T, output_dim); None from the speaker branch alone.
    """

    first_frame: int
    speaker_probs: torch.Tensor
    fine_speaker_probs: torch.Tensor
    embeddings: torch.Tensor | None


@dataclass(frozen=True, slots=True)
class LiveTower:
    """The parts of a tower that work live. Weights only; any thread may share them.

    Args:
        featurizer: log-mel.
        speaker_branch: who speaks.
        online: windows.
        tower: the whole of it; None to leave the recognition branch out.
    """

    featurizer: MelSpectrogram
    speaker_branch: SortformerSpeakerEncoder
    online: OnlineConfig
    tower: Nemotron3_5TranscribeAudioTower | None = None

    @classmethod
    def of_tower(
        cls, tower: Nemotron3_5TranscribeAudioTower, *, with_embeddings: bool = True
    ) -> "LiveTower":
        """Return a whole tower's live form."""
        return cls(
            tower.preprocessor.featurizer,
            tower.encoder.diarization_model,
            tower.config.online,
            tower if with_embeddings else None,
        )

    @classmethod
    def of_speaker_model(cls, model: SpeakerModel) -> "LiveTower":
        """Return the live form of a speaker branch: activity, no embeddings."""
        return cls(model.preprocessor.featurizer, model.diarization_model, model.config.online)

    def init_state(self) -> TowerStreamState:
        """Return the state of a stream at time 0."""
        num_mels = self.featurizer.config.n_mels
        return TowerStreamState(
            mel=self.featurizer.init_state(),
            features=torch.zeros(1, num_mels, 0, device=self.featurizer.window.device),
            first_frame=0,
            next_start=0,
            num_counted=0,
            statistics=FeatureStatistics.empty(num_mels),
            speakers=self.speaker_branch.init_state(),
        )

    @torch.inference_mode()
    def push(
        self, audio: torch.Tensor, state: TowerStreamState
    ) -> tuple[TowerStreamState, tuple[EncodedWindow, ...]]:
        """Take the next samples and encode the windows they complete.

        Args:
            audio: (1, n) float32, finite; any n, also 0.
            state: left as it is.
        """
        device = self.featurizer.window.device
        mel, mel_state = self.featurizer.step(audio.to(device), state.mel)
        state = self._with_features(state, mel, mel_state)
        size, right = self._window_sizes()
        windows = []
        while state.first_frame + state.features.shape[2] >= state.next_start + size + right:
            end = state.next_start + size
            state, window = self._encode(state, end, end + right)
            windows.append(window)
        return state, tuple(windows)

    @torch.inference_mode()
    def flush(self, state: TowerStreamState) -> tuple[TowerStreamState, tuple[EncodedWindow, ...]]:
        """Encode what is left: audio ends here.

        The state returned knows the speakers and the statistics; time in it starts anew.
        """
        state = self._with_features(state, self.featurizer.flush(state.mel), state.mel)
        total = state.first_frame + state.features.shape[2]
        size, right = self._window_sizes()
        windows = []
        while state.next_start < total:
            end = min(state.next_start + size, total)
            state, window = self._encode(state, end, min(end + right, total))
            windows.append(window)
        fresh = self.init_state()
        fresh.speakers, fresh.statistics = state.speakers, state.statistics
        return fresh, tuple(windows)

    def _window_sizes(self) -> tuple[int, int]:
        """Return the mel frames that a window answers for, and those it sees ahead."""
        online = self.online
        return self._mel_frames(online.window_frames), self._mel_frames(online.right_context_frames)

    def _mel_frames(self, num_frames: int) -> int:
        return num_frames * self.speaker_branch.subsampling_factor

    def _with_features(
        self, state: TowerStreamState, mel: torch.Tensor, mel_state: MelState
    ) -> TowerStreamState:
        return TowerStreamState(
            mel_state,
            torch.cat([state.features, mel], dim=2),
            state.first_frame,
            state.next_start,
            state.num_counted,
            state.statistics,
            state.speakers,
        )

    def _encode(
        self, state: TowerStreamState, end: int, context_end: int
    ) -> tuple[TowerStreamState, EncodedWindow]:
        """Encode the window from `next_start` to `end` and drop what no later one needs."""
        left = self._mel_frames(self.online.left_context_frames)
        window = Window(max(state.next_start - left, 0), state.next_start, end, context_end)
        offset = state.first_frame
        mel = state.features[:, :, window.context_start - offset : context_end - offset]
        fresh = state.features[0, :, state.num_counted - offset : context_end - offset]
        statistics = state.statistics.updated(fresh)
        speakers, encoded = self._both_branches(mel, window, state.speakers, statistics)
        keep_from = max(end - left, 0)
        state = TowerStreamState(
            state.mel,
            state.features[:, :, keep_from - offset :].clone(),
            keep_from,
            end,
            context_end,
            statistics,
            speakers,
        )
        return state, encoded

    def _both_branches(
        self,
        mel: torch.Tensor,
        window: Window,
        speakers: SpeakerCacheState,
        statistics: FeatureStatistics,
    ) -> tuple[SpeakerCacheState, EncodedWindow]:
        factor = self.speaker_branch.subsampling_factor
        lengths = torch.tensor([mel.shape[2]])
        offsets = window.left_offset, window.right_offset
        first_frame = math.ceil(window.start / factor)
        num_frames = math.ceil(window.end / factor) - first_frame
        embeddings = None
        activity: SpeakerActivity
        if self.tower is None:
            speakers, activity = self.speaker_branch.advance(mel, lengths, speakers, *offsets)
        else:
            encoder = self.tower.encoder
            asr_mel = statistics.normalize(mel)
            speakers, states, activity = encoder.encode_window(
                asr_mel, mel, lengths, speakers, *offsets
            )
            embeddings = self.tower.proj(encoder.fuse(states, activity.coarse))[0]
        fine = align_frames(activity.fine, num_frames * factor)
        return speakers, EncodedWindow(
            first_frame=first_frame,
            speaker_probs=align_frames(activity.coarse, num_frames)[0],
            fine_speaker_probs=fine[0, : window.end - window.start],
            embeddings=embeddings,
        )
