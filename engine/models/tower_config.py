"""What the audio tower is built from: one configuration, whatever form a checkpoint states it in.

`TowerConfig` describes the log-mel front end, the speaker branch, and (unless only the speaker
branch is wanted) the recognition branch, their fusion and the projection. The defaults are the
released values. `engine.models.tower_config_formats` reads it from the files of checkpoints.

Frames without further words are encoder frames of `subsampling_factor` mel frames: 80 ms.
"""

from dataclasses import dataclass, field
from typing import Literal

from engine.models.config_checks import require, require_positive
from engine.models.sortformer_config import CacheGeometry, SortformerConfig, check_cache

SpeakerFeatureMode = Literal["thresholded", "raw"]
TableDtype = Literal["float32", "bfloat16"]


# Far beyond any model: what is larger would ask for all memory before a tensor is looked at.
_MAX_FFT = 2**14
_MAX_LAYERS = 1000
_MAX_WIDTH = 2**16


@dataclass(frozen=True, slots=True)
class MelConfig:
    """The log-mel front end.

    Args:
        sample_rate: of the audio, Hz.
        n_fft: samples of one transform.
        hop_length: samples from one mel frame to the next.
        win_length: samples of the symmetric Hann window, at most n_fft.
        preemph: coefficient of the first-order pre-emphasis; 0 for none.
        log_zero_guard_value: added before the logarithm.
        mag_power: exponent of the magnitude.
        pad_value: of mel frames past the end of a clip.
        n_mels: bands, on Slaney's scale from 0 Hz to half the sample rate.
        table_dtype: precision that window and filterbank are rounded to before use; computing is
            float32 all the same.
    """

    sample_rate: int = 16_000
    n_fft: int = 512
    hop_length: int = 160
    win_length: int = 400
    preemph: float = 0.97
    log_zero_guard_value: float = 2.0**-24
    mag_power: float = 2.0
    pad_value: float = 0.0
    n_mels: int = 128
    table_dtype: TableDtype = "float32"

    def __post_init__(self) -> None:
        require_positive(self, "sample_rate", "n_fft", "hop_length", "win_length", "n_mels")
        require_positive(self, "log_zero_guard_value", "mag_power")
        require(self.n_fft % 2 == 0, "n_fft", self.n_fft, "even")
        require(self.n_fft <= _MAX_FFT, "n_fft", self.n_fft, f"at most {_MAX_FFT}")
        require(self.n_mels <= self.n_fft, "n_mels", self.n_mels, "at most n_fft")
        require(self.win_length <= self.n_fft, "win_length", self.win_length, "at most n_fft")
        # The last frame counted is centred one hop before the end: its right half must reach there.
        require(
            self.hop_length <= self.win_length // 2,
            "hop_length",
            self.hop_length,
            "at most half of win_length",
        )
        require(
            self.table_dtype in ("float32", "bfloat16"),
            "table_dtype",
            self.table_dtype,
            "float32 or bfloat16",
        )


@dataclass(frozen=True, slots=True)
class EncoderConfig:
    """A transformer encoder over stacked mel frames; the defaults are the recognition branch's.

    Args:
        d_model: width.
        n_heads: attention heads; divides d_model.
        n_layers: blocks.
        feat_in: mel bands.
        subsampling_factor: mel frames stacked into one encoder frame.
        rotary_fraction: share of each head's dimensions that is rotated by position.
        rope_base: of the rotary angles.
        xscaling: whether embeddings are multiplied by sqrt(d_model).
        pre_block_norm: whether embeddings pass a LayerNorm before the first block.
        qk_norm: whether queries and keys pass a LayerNorm over the head.
        ff_expansion: hidden width of the feed-forward part, in d_model.
    """

    d_model: int = 1280
    n_heads: int = 10
    n_layers: int = 32
    feat_in: int = 128
    subsampling_factor: int = 8
    rotary_fraction: float = 0.5
    rope_base: float = 10_000.0
    xscaling: bool = False
    pre_block_norm: bool = True
    qk_norm: bool = True
    ff_expansion: float = 4.0

    def __post_init__(self) -> None:
        require_positive(self, "d_model", "n_heads", "feat_in", "subsampling_factor")
        require_positive(self, "rope_base", "ff_expansion")
        require(0 <= self.n_layers <= _MAX_LAYERS, "n_layers", self.n_layers, "0 to 1000")
        require(self.d_model <= _MAX_WIDTH, "d_model", self.d_model, f"at most {_MAX_WIDTH}")
        require(
            self.d_model % self.n_heads == 0,
            "d_model",
            self.d_model,
            f"a multiple of n_heads ({self.n_heads})",
        )
        rot_dim = int(self.d_model // self.n_heads * self.rotary_fraction)
        require(
            0.0 < self.rotary_fraction <= 1.0 and rot_dim >= 2 and rot_dim % 2 == 0,
            "rotary_fraction",
            self.rotary_fraction,
            "a share that makes an even, positive number of dimensions of a head",
        )


def speaker_encoder_config() -> EncoderConfig:
    """Return the released encoder of the speaker branch."""
    return EncoderConfig(d_model=512, n_heads=8, n_layers=31, rotary_fraction=1.0, qk_norm=False)


@dataclass(frozen=True, slots=True)
class OnlineConfig:
    """The windows that long audio is encoded in, in frames.

    Args:
        window_frames: frames that one window answers for.
        left_context_frames: frames before them that it sees again.
        right_context_frames: frames behind them that it sees ahead.
        cache: what the speaker branch carries from window to window.
    """

    window_frames: int = 500
    left_context_frames: int = 50
    right_context_frames: int = 50
    cache: CacheGeometry = field(default_factory=CacheGeometry)

    def __post_init__(self) -> None:
        require_positive(self, "window_frames")
        for name in ("left_context_frames", "right_context_frames"):
            require(getattr(self, name) >= 0, name, getattr(self, name), "0 or more")


@dataclass(frozen=True, slots=True)
class FusionConfig:
    """How speaker activity is added to the recognition states.

    Args:
        speaker_feature_mode: "thresholded" adds who is active, "raw" the probabilities themselves.
        speaker_activity_threshold: probability above which a speaker counts as active.
        spk_kernel_scale: weight of what is added.
    """

    speaker_feature_mode: SpeakerFeatureMode = "thresholded"
    speaker_activity_threshold: float = 0.5
    spk_kernel_scale: float = 1.0

    def __post_init__(self) -> None:
        require(
            self.speaker_feature_mode in ("thresholded", "raw"),
            "speaker_feature_mode",
            self.speaker_feature_mode,
            "thresholded or raw",
        )


@dataclass(frozen=True, slots=True)
class ProjectionConfig:
    """The linear layer to the width of the language model.

    Args:
        input_dim: width of the recognition branch.
        output_dim: width of the language model.
    """

    input_dim: int = 1280
    output_dim: int = 2688

    def __post_init__(self) -> None:
        require_positive(self, "input_dim", "output_dim")


@dataclass(frozen=True, slots=True)
class PrecisionPolicy:
    """What is computed in float32 however coarse the weights are.

    Args:
        normalize_in_float32: features reach each branch's dtype after they are normalised; False
            casts them first, as the published serving code does.
        decide_in_float32: probabilities and the scores that choose cached frames; in less, near
            ties fall the other way and speakers change places.
    """

    normalize_in_float32: bool = True
    decide_in_float32: bool = True


@dataclass(frozen=True, slots=True)
class TowerConfig:
    """The whole tower, or its speaker branch alone.

    Args:
        preprocessor: log-mel front end.
        speaker_encoder: encoder of the speaker branch.
        sortformer: head and cache policy of the speaker branch.
        online: windows.
        asr_encoder: the recognition branch; None for the speaker branch alone.
        fusion: how the branches meet.
        projection: None for the speaker branch alone.
        precision: what stays float32.
    """

    preprocessor: MelConfig = field(default_factory=MelConfig)
    speaker_encoder: EncoderConfig = field(default_factory=speaker_encoder_config)
    sortformer: SortformerConfig = field(default_factory=SortformerConfig)
    online: OnlineConfig = field(default_factory=OnlineConfig)
    asr_encoder: EncoderConfig | None = field(default_factory=EncoderConfig)
    fusion: FusionConfig = field(default_factory=FusionConfig)
    projection: ProjectionConfig | None = field(default_factory=ProjectionConfig)
    precision: PrecisionPolicy = field(default_factory=PrecisionPolicy)

    def __post_init__(self) -> None:
        speaker, asr = self.speaker_encoder, self.asr_encoder
        check_cache(self.sortformer, self.online.cache)
        require(
            speaker.d_model == self.sortformer.fc_d_model,
            "sortformer.fc_d_model",
            self.sortformer.fc_d_model,
            f"speaker_encoder.d_model ({speaker.d_model})",
        )
        require(
            speaker.feat_in == self.preprocessor.n_mels,
            "speaker_encoder.feat_in",
            speaker.feat_in,
            f"preprocessor.n_mels ({self.preprocessor.n_mels})",
        )
        require(
            (asr is None) == (self.projection is None),
            "projection",
            self.projection,
            "given with asr_encoder, and only with it",
        )
        if asr is not None and self.projection is not None:
            require(
                (asr.feat_in, asr.subsampling_factor)
                == (speaker.feat_in, speaker.subsampling_factor),
                "asr_encoder.feat_in and subsampling_factor",
                (asr.feat_in, asr.subsampling_factor),
                "those of speaker_encoder",
            )
            require(
                self.projection.input_dim == asr.d_model,
                "projection.input_dim",
                self.projection.input_dim,
                f"asr_encoder.d_model ({asr.d_model})",
            )

    @classmethod
    def speaker_only(cls) -> "TowerConfig":
        """Return the released diarizer: the speaker branch with windows of its own."""
        online = OnlineConfig(340, 0, 40, CacheGeometry(40, 264, 300))
        return cls(online=online, asr_encoder=None, projection=None)
