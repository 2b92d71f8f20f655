"""Which frames the speaker cache keeps, against a slow version written out a number at a time."""

import math

import numpy as np
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from engine.models.sortformer_cache import gather_cache_frames, select_cache_frames
from engine.models.sortformer_config import SortformerConfig

Probs = NDArray[np.float64]
# Values at and around every threshold, so that ties and borders are common.
_PROBABILITIES = st.sampled_from(
    [0.0, 0.1, 0.25, 0.3, 0.5, 0.500001, 0.6, 0.7, 0.74, 0.75, 0.76, 0.9, 0.99, 1.0]
) | st.floats(0.0, 1.0)


def _plain_selection(probs: Probs, num_slots: int, config: SortformerConfig) -> list[int]:
    """Return the frames kept, -1 for silence: loops over Python numbers, float64."""
    num_frames, num_speakers = probs.shape
    per_speaker = num_slots // num_speakers - config.spkcache_sil_frames_per_spk
    enough = math.floor(per_speaker * config.min_pos_scores_rate)
    table = [_plain_scores(probs, speaker, enough, config) for speaker in range(num_speakers)]
    for scores in table:
        for frame in range(num_slots, num_frames):
            scores[frame] += config.scores_boost_latest
        for rate, amount in (
            (config.strong_boost_rate, 2 * math.log(2)),
            (config.weak_boost_rate, math.log(2)),
        ):
            ranked = sorted(range(num_frames), key=lambda frame: (-scores[frame], frame))
            for frame in ranked[: math.floor(per_speaker * rate)]:
                scores[frame] += amount
    silence = [math.inf] * config.spkcache_sil_frames_per_spk
    flat = [
        (-score, speaker, frame)
        for speaker, scores in enumerate(table)
        for frame, score in enumerate([*scores, *silence])
    ]
    kept = [entry for entry in sorted(flat)[:num_slots] if entry[0] != math.inf]
    in_order = sorted((speaker, frame) for _, speaker, frame in kept)
    frames = [frame if frame < num_frames else -1 for _, frame in in_order]
    return frames + [-1] * (num_slots - len(frames))


def _plain_scores(probs: Probs, speaker: int, enough: int, config: SortformerConfig) -> list[float]:
    floor = config.pred_score_threshold
    scores = []
    for row in probs.tolist():
        score = math.log(max(row[speaker], floor)) - math.log(max(1.0 - row[speaker], floor))
        score += sum(math.log(max(1.0 - p, floor)) for p in row) - math.log(0.5)
        scores.append(score if row[speaker] > 0.5 else -math.inf)
    if sum(score > 0 for score in scores) >= enough:
        scores = [score if score > 0 else -math.inf for score in scores]
    return scores


def _selected(probs: Probs, num_slots: int, config: SortformerConfig) -> list[int]:
    return select_cache_frames(torch.from_numpy(probs)[None], num_slots, config)[0].tolist()  # type: ignore[no-any-return]


def _is_near_tie(probs: Probs, num_slots: int, config: SortformerConfig) -> bool:
    """Whether rounding in the last bits could decide: scores apart, but hardly."""
    per_speaker = num_slots // probs.shape[1] - config.spkcache_sil_frames_per_spk
    enough = math.floor(per_speaker * config.min_pos_scores_rate)
    scores: list[float] = []
    for speaker in range(probs.shape[1]):
        scores += _plain_scores(probs, speaker, enough, config)
    finite = [score for score in scores if math.isfinite(score)]
    steps = [
        i * math.log(2) + j * config.scores_boost_latest for i in range(-3, 4) for j in (-1, 0, 1)
    ]
    reach = np.sort(
        np.array([[score + step for step in steps] for score in [*finite, 0.0]]).ravel()
    )
    gaps = np.diff(reach)
    return bool(((gaps > 0) & (gaps < 1e-9)).any())


@st.composite
def _cases(draw: st.DrawFn) -> tuple[Probs, int, SortformerConfig]:
    num_speakers = draw(st.integers(1, 4))
    silence = draw(st.integers(0, 2))
    num_slots = draw(st.integers((1 + silence) * num_speakers, 20))
    num_frames = draw(st.integers(1, 40))
    values = draw(
        st.lists(
            _PROBABILITIES, min_size=num_frames * num_speakers, max_size=num_frames * num_speakers
        )
    )
    config = SortformerConfig(
        num_speakers=num_speakers,
        spkcache_sil_frames_per_spk=silence,
        scores_boost_latest=draw(st.sampled_from([0.0, 0.05, 0.3])),
        strong_boost_rate=draw(st.sampled_from([0.0, 0.75, 3.0])),
        weak_boost_rate=draw(st.sampled_from([0.0, 1.5, 9.0])),
        min_pos_scores_rate=draw(st.sampled_from([0.0, 0.5, 1.0])),
    )
    return np.array(values).reshape(num_frames, num_speakers), num_slots, config


_TWO = SortformerConfig(num_speakers=2)


@settings(max_examples=400, deadline=None, derandomize=True)
@given(case=_cases())
@example(case=(np.full((30, 2), 0.9), 8, _TWO))  # nothing but ties, and all overlapped
@example(case=(np.zeros((30, 2)), 8, _TWO))  # no speech
@example(case=(np.tile([0.9, 0.1], (30, 1)), 8, _TWO))  # one speaker
@example(case=(np.tile([0.9, 0.1], (3, 1)), 8, _TWO))  # fewer frames than slots
@example(case=(np.tile([[0.9, 0.1], [0.1, 0.9], [0.6, 0.6]], (20, 1)), 8, _TWO))  # overflow
def test_selection_when_computed_a_plain_way_is_the_same(
    case: tuple[Probs, int, SortformerConfig],
) -> None:
    probs, num_slots, config = case
    if _is_near_tie(probs, num_slots, config):
        return
    assert _selected(probs, num_slots, config) == _plain_selection(probs, num_slots, config)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(case=_cases())
def test_selection_when_batched_treats_each_row_alone(
    case: tuple[Probs, int, SortformerConfig],
) -> None:
    probs, num_slots, config = case
    both = torch.from_numpy(np.stack([probs, probs[::-1].copy()]))
    rows = select_cache_frames(both, num_slots, config).tolist()
    assert rows == [
        _selected(probs, num_slots, config), _selected(probs[::-1].copy(), num_slots, config)
    ]  # fmt: skip


def test_selection_when_nobody_speaks_is_all_silence() -> None:
    assert _selected(np.full((30, 2), 0.4), 8, _TWO) == [-1] * 8


def test_selection_when_one_speaks_alone_keeps_its_newest_frames_first() -> None:
    probs = np.tile([0.9, 0.1], (30, 1))
    kept = _selected(probs, 8, _TWO)
    assert kept.count(-1) == 2
    assert all(frame >= 8 for frame in kept if frame >= 0)


def test_selection_when_two_speak_gives_each_its_share_in_order() -> None:
    probs = np.concatenate([np.tile([0.99, 0.0], (40, 1)), np.tile([0.0, 0.8], (10, 1))])
    kept = _selected(probs, 8, _TWO)
    first, second = kept[: kept.index(-1)], kept[kept.index(-1) + 1 : -1]
    assert all(frame < 40 for frame in first)
    assert all(frame >= 40 for frame in second)
    assert len(second) >= 2  # the surer one may not push it out
    assert first == sorted(first)
    assert second == sorted(second)


def test_selection_when_scores_tie_keeps_the_earlier_frame() -> None:
    config = SortformerConfig(num_speakers=1, scores_boost_latest=0.0)
    assert _selected(np.full((9, 1), 0.9), 4, config) == [0, 1, 2, -1]


def test_gather_when_slots_are_silent_puts_silence_with_nobody_in_it() -> None:
    embeddings = torch.arange(12.0).reshape(1, 4, 3)
    probs = torch.rand(1, 4, 2)
    silence = torch.tensor([7.0, 8.0, 9.0])
    kept, kept_probs = gather_cache_frames(embeddings, probs, torch.tensor([[2, -1, 0]]), silence)
    assert torch.equal(kept[0], torch.stack([embeddings[0, 2], silence, embeddings[0, 0]]))
    assert torch.equal(kept_probs[0, 0], probs[0, 2])
    assert not kept_probs[0, 1].any()
