"""The tower on audio that is still coming, against the tower on whole clips."""

import math

import numpy as np
import pytest
import torch

from engine.models.tower_stream import EncodedWindow, LiveTower
from tests.unit.models.tower_models import WINDOW_MEL_FRAMES, noise, tiny_speaker_model, tiny_tower

HOP = 160
WINDOW_FRAMES = WINDOW_MEL_FRAMES // 8
LENGTHS = [161, 3_300, 25_600, 25_760, 33_333, 100_003]


def _windows(live: LiveTower, audio: torch.Tensor, sizes: list[int]) -> list[EncodedWindow]:
    state, windows, start = live.init_state(), [], 0
    for size in sizes:
        state, new = live.push(audio[None, start : start + size], state)
        windows += new
        start += size
    return windows + list(live.flush(state)[1])


def _embeddings(window: EncodedWindow) -> torch.Tensor:
    assert window.embeddings is not None
    return window.embeddings


@pytest.mark.parametrize("num_samples", LENGTHS)
def test_activity_when_live_is_that_of_the_whole_clip(num_samples: int) -> None:
    tower, audio = tiny_tower(), noise(num_samples)
    clip = tower.encode_clips([audio], torch.tensor([num_samples]))[0]
    windows = _windows(LiveTower.of_tower(tower), audio, [1600] * math.ceil(num_samples / 1600))
    coarse = torch.cat([window.speaker_probs for window in windows])
    fine = torch.cat([window.fine_speaker_probs for window in windows])
    assert [window.first_frame for window in windows] == [
        index * WINDOW_FRAMES for index in range(len(windows))
    ]
    torch.testing.assert_close(coarse, clip.speaker_probs, atol=1e-6, rtol=0)
    torch.testing.assert_close(fine, clip.fine_speaker_probs, atol=1e-6, rtol=0)


@pytest.mark.parametrize("num_samples", LENGTHS)
def test_embeddings_when_the_clip_has_ended_see_its_whole_statistics(num_samples: int) -> None:
    tower, audio = tiny_tower(), noise(num_samples)
    clip = tower.encode_clips([audio], torch.tensor([num_samples]))[0]
    last = _windows(LiveTower.of_tower(tower), audio, [num_samples])[-1]
    expected = clip.embeddings[last.first_frame :]
    torch.testing.assert_close(_embeddings(last), expected, atol=1e-4, rtol=0)


@pytest.mark.parametrize("seed", range(3))
def test_push_when_audio_is_cut_anywhere_gives_the_same_windows(seed: int) -> None:
    live, audio = LiveTower.of_tower(tiny_tower()), noise(60_000, seed)
    sizes = np.random.default_rng(seed).integers(0, 4000, size=60).tolist()
    assert sum(sizes) > 60_000
    for ours, theirs in zip(
        _windows(live, audio, sizes), _windows(live, audio, [60_000]), strict=True
    ):
        assert torch.equal(_embeddings(ours), _embeddings(theirs))
        assert torch.equal(ours.speaker_probs, theirs.speaker_probs)


def test_window_when_given_does_not_depend_on_what_comes_after() -> None:
    live, audio = LiveTower.of_tower(tiny_tower()), noise(60_000)
    other = torch.cat([audio[:40_000], 0.1 * noise(20_000, 9)])
    first, second = _windows(live, audio, [60_000])[0], _windows(live, other, [60_000])[0]
    assert torch.equal(_embeddings(first), _embeddings(second))


def test_window_when_its_right_context_is_there_comes_at_once() -> None:
    live, audio = LiveTower.of_speaker_model(tiny_speaker_model()), noise(60_000)
    online = live.online
    needed = (online.window_frames + online.right_context_frames) * 8
    # The last frame's own window looks 200 samples ahead.
    num_samples = (needed - 1) * HOP + 200
    state, early = live.push(audio[None, : num_samples - 1], live.init_state())
    _, windows = live.push(audio[None, num_samples - 1 : num_samples], state)
    assert len(early) == 0
    assert len(windows) == 1
    assert windows[0].embeddings is None


def test_state_when_hours_pass_does_not_grow() -> None:
    live, audio = LiveTower.of_tower(tiny_tower()), noise(160_000)
    state, sizes = live.init_state(), []
    for _ in range(6):
        state, _ = live.push(audio[None], state)
        sizes.append(state.features.shape[2])
    online = live.online
    frames = online.left_context_frames + online.window_frames + online.right_context_frames
    assert max(sizes) < frames * 8
    assert state.speakers.context_len <= online.cache.spkcache_len + online.cache.fifo_len


def test_flush_when_the_stream_goes_on_keeps_the_speakers() -> None:
    live, audio = LiveTower.of_tower(tiny_tower()), noise(60_000)
    state, _ = live.push(audio[None], live.init_state())
    flushed, _ = live.flush(state)
    assert flushed.next_start == 0
    assert flushed.speakers.context_len > 0
    assert flushed.statistics.num_frames == 60_000 // HOP
