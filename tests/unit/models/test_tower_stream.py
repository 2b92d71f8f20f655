"""Samples in, speaker activity out: any cut, any length, no growth."""

import gc
import math

import numpy as np
import psutil
import pytest
import torch

from engine.models.sortformer import SpeakerActivity
from engine.models.sortformer_config import CacheGeometry
from engine.models.sortformer_stream import SpeakerModel, SpeakerStreamState
from engine.models.stream_profiles import PROFILES, StreamProfile
from engine.models.tower_config import MelConfig
from tests.unit.models.tower_models import noise, tiny_speaker_config, tiny_speaker_model

QUICK = StreamProfile("quick", 3, 2, CacheGeometry(6, 24, 12))
SLOW = StreamProfile("slow", 20, 4, CacheGeometry(6, 24, 12))


def _fine(
    model: SpeakerModel, audio: torch.Tensor, sizes: list[int], profile: StreamProfile = QUICK
) -> torch.Tensor:
    state, rows, start = model.init_state(), [], 0
    for size in sizes:
        state, steps = model.push(audio[None, start : start + size], state, profile)
        rows += [step.fine for step in steps]
        start += size
    _, last = model.flush(state, profile)
    return torch.cat(rows + ([last.fine] if last else []), dim=1)


@pytest.mark.parametrize("push_samples", [160, 592, 1600, 100_000])
def test_push_when_audio_is_cut_anywhere_gives_the_same_activity(push_samples: int) -> None:
    model, audio = tiny_speaker_model(), noise(50_000)
    whole = _fine(model, audio, [50_000])
    pieces = _fine(model, audio, [push_samples] * math.ceil(50_000 / push_samples))
    assert whole.shape == (1, 312, 4)
    assert torch.equal(pieces, whole)


@pytest.mark.parametrize("seed", range(3))
def test_push_when_pieces_are_of_random_size_gives_the_same_activity(seed: int) -> None:
    model, audio = tiny_speaker_model(), noise(40_000, seed)
    sizes = np.random.default_rng(seed).integers(0, 2500, size=60).tolist()
    assert sum(sizes) > 40_000
    assert torch.equal(_fine(model, audio, sizes), _fine(model, audio, [40_000]))


def test_push_when_another_stream_runs_beside_it_is_not_disturbed() -> None:
    model, audio, other = tiny_speaker_model(), noise(40_000, 1), noise(40_000, 2)
    alone = _fine(model, audio, [1600] * 25)
    mine, theirs, rows = model.init_state(), model.init_state(), []
    for start in range(0, 40_000, 1600):
        mine, steps = model.push(audio[None, start : start + 1600], mine, QUICK)
        theirs, _ = model.push(other[None, start : start + 1600], theirs, SLOW)
        rows += [step.fine for step in steps]
    _, last = model.flush(mine, QUICK)
    assert last is not None
    assert torch.equal(torch.cat([*rows, last.fine], dim=1), alone)


def test_push_when_less_than_a_step_is_there_says_nothing_yet() -> None:
    model = tiny_speaker_model()
    needed = (QUICK.latency_frames * 8 - 1) * 160 + 200
    state, steps = model.push(noise(needed - 1)[None], model.init_state(), QUICK)
    assert steps == ()
    _, steps = model.push(noise(1)[None], state, QUICK)
    assert [step.coarse.shape[1] for step in steps] == [QUICK.chunk_frames]
    assert steps[0].ahead.shape[1] == QUICK.right_context_frames * 8


def test_push_when_the_profile_changes_goes_on_in_time_with_the_same_cache() -> None:
    model, audio = tiny_speaker_model(), noise(80_000)
    state, steps = model.push(audio[None, :40_000], model.init_state(), QUICK)
    cached = state.speakers.spkcache
    assert cached.shape[1] == 24
    state, more = model.push(audio[None, 40_000:42_000], state, SLOW)
    assert torch.equal(state.speakers.spkcache, cached)
    state, later = model.push(audio[None, 42_000:], state, SLOW)
    _, last = model.flush(state, SLOW)
    activities: list[SpeakerActivity] = [*steps, *more, *later]
    assert last is not None
    assert sum(step.fine.shape[1] for step in activities) + last.fine.shape[1] == 500


@pytest.mark.parametrize(("num_samples", "num_rows"), [(0, 0), (159, 0), (160, 1), (5000, 31)])
def test_flush_when_little_was_heard_answers_for_each_frame(
    num_samples: int, num_rows: int
) -> None:
    model = tiny_speaker_model()
    state, steps = model.push(noise(num_samples)[None], model.init_state(), SLOW)
    assert steps == ()
    state, last = model.flush(state, SLOW)
    assert (0 if last is None else last.fine.shape[1]) == num_rows
    assert model.flush(state, SLOW)[1] is None


def test_flush_when_audio_goes_on_keeps_the_speakers() -> None:
    model = tiny_speaker_model()
    state, _ = model.push(noise(60_000)[None], model.init_state(), QUICK)
    flushed, _ = model.flush(state, QUICK)
    assert flushed.speakers.spkcache.shape[1] == 24
    assert flushed.features.shape[2] == 0
    _, steps = model.push(noise(20_000)[None], flushed, QUICK)
    assert len(steps) > 0


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_push_when_a_sample_is_not_finite_is_refused_and_the_state_is_unharmed(bad: float) -> None:
    model = tiny_speaker_model()
    state, _ = model.push(noise(9000)[None], model.init_state(), QUICK)
    audio = noise(9000)
    audio[17] = bad
    with pytest.raises(ValueError, match="finite"):
        model.push(audio[None], state, QUICK)
    _, steps = model.push(noise(9000)[None], state, QUICK)
    assert bool(torch.isfinite(steps[0].fine).all())


def test_push_when_there_is_silence_gives_finite_activity() -> None:
    fine = _fine(tiny_speaker_model(), torch.zeros(60_000), [60_000])
    assert bool(((fine >= 0) & (fine <= 1)).all())


def test_profiles_when_listed_have_the_published_delays() -> None:
    delays_s = {name: profile.latency_frames * 0.08 for name, profile in PROFILES.items()}
    assert delays_s == pytest.approx(
        {"ultra_low": 0.32, "very_low": 0.64, "low": 1.04, "cpu": 2.88, "high": 30.4}
    )


def _num_bytes(state: SpeakerStreamState) -> int:
    speakers = state.speakers
    tensors = [state.mel.pending, state.features, speakers.spkcache, speakers.fifo]
    tensors += [speakers.spkcache_preds] if speakers.spkcache_preds is not None else []
    return sum(tensor.untyped_storage().nbytes() for tensor in tensors)


@pytest.mark.slow
def test_push_when_ten_hours_go_by_takes_no_more_memory() -> None:
    # A rate of 2 kHz has as many frames an hour as any other, and takes a fraction of the time.
    mel = MelConfig(sample_rate=2000, n_fft=64, hop_length=20, win_length=50, n_mels=16)
    model = tiny_speaker_model(tiny_speaker_config(preprocessor=mel))
    profile = StreamProfile("long", 340, 40, CacheGeometry(40, 64, 90))
    block = noise(2000 * 60)[None]
    state, sizes, resident = model.init_state(), [], []
    for minute in range(600):
        state, _ = model.push(block, state, profile)
        sizes.append(_num_bytes(state))
        if minute % 60 == 59:
            gc.collect()
            resident.append(psutil.Process().memory_info().rss)
    assert state.mel.num_frames >= 36_000 * 100 - 2
    assert max(sizes) < 2**20
    assert max(resident[1:]) - resident[0] < 8 * 2**20
