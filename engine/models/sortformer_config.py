"""The configuration of the speaker head and its cache. The defaults are the released values."""

from dataclasses import dataclass

from engine.models.config_checks import require, require_positive

_MAX_WIDTH = 2**16
_MAX_FRAMES = 100_000


@dataclass(frozen=True, slots=True)
class SortformerConfig:
    """The speaker head, and what its cache keeps when it is full.

    Args:
        num_speakers: slots, in order of arrival.
        tf_d_model: width of the head.
        fc_d_model: width of the encoder before it.
        spkcache_sil_frames_per_spk: cache slots of each speaker that hold silence.
        pred_score_threshold: floor of probabilities before their logarithm is taken.
        scores_boost_latest: added to the scores of frames that are new to the cache.
        strong_boost_rate: share of a speaker's slots that its best frames are sure to get.
        weak_boost_rate: the same, with half the boost.
        min_pos_scores_rate: share of a speaker's slots; with as many clear frames, its overlapped
            frames are left out.
    """

    num_speakers: int = 8
    tf_d_model: int = 192
    fc_d_model: int = 512
    spkcache_sil_frames_per_spk: int = 1
    pred_score_threshold: float = 0.25
    scores_boost_latest: float = 0.05
    strong_boost_rate: float = 0.75
    weak_boost_rate: float = 1.5
    min_pos_scores_rate: float = 0.5

    def __post_init__(self) -> None:
        require_positive(self, "num_speakers", "tf_d_model", "fc_d_model")
        for name in ("tf_d_model", "fc_d_model"):
            require(getattr(self, name) <= _MAX_WIDTH, name, getattr(self, name), "at most 65536")
        require(
            self.spkcache_sil_frames_per_spk >= 0,
            "spkcache_sil_frames_per_spk",
            self.spkcache_sil_frames_per_spk,
            "0 or more",
        )
        require(
            0.0 < self.pred_score_threshold < 1.0,
            "pred_score_threshold",
            self.pred_score_threshold,
            "between 0 and 1",
        )
        for name in ("strong_boost_rate", "weak_boost_rate", "min_pos_scores_rate"):
            require(getattr(self, name) >= 0.0, name, getattr(self, name), "0 or more")


@dataclass(frozen=True, slots=True)
class CacheGeometry:
    """How much of the past the speaker branch attends to, in frames.

    Args:
        fifo_len: most recent frames kept as they came.
        spkcache_len: frames of the speaker cache.
        spkcache_update_period: frames that move from the fifo to the cache at a time.
    """

    fifo_len: int = 40
    spkcache_len: int = 188
    spkcache_update_period: int = 300

    def __post_init__(self) -> None:
        require(0 <= self.fifo_len <= _MAX_FRAMES, "fifo_len", self.fifo_len, "0 to 100000")
        require(
            self.spkcache_len <= _MAX_FRAMES, "spkcache_len", self.spkcache_len, "at most 100000"
        )
        require_positive(self, "spkcache_len", "spkcache_update_period")


def check_cache(sortformer: SortformerConfig, cache: CacheGeometry) -> None:
    """Check that the cache has room for a frame and the silence of every speaker.

    Raises:
        ValueError: it has not.
    """
    least = (1 + sortformer.spkcache_sil_frames_per_spk) * sortformer.num_speakers
    require(
        cache.spkcache_len >= least,
        "spkcache_len",
        cache.spkcache_len,
        f"at least {least} for {sortformer.num_speakers} speakers",
    )
