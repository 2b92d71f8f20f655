"""The speaker branch: steps, context, cache and fifo."""

from dataclasses import replace

import pytest
import torch

from engine.models.sortformer import SortformerSpeakerEncoder
from engine.models.sortformer_cache import SpeakerCacheState, advance_cache
from engine.models.sortformer_config import CacheGeometry, SortformerConfig
from tests.unit.models.tower_models import tiny_speaker_config, tiny_speaker_model

HEAD = SortformerConfig(num_speakers=2, tf_d_model=4, fc_d_model=3)


def _encoder() -> SortformerSpeakerEncoder:
    return tiny_speaker_model().diarization_model


def _mel(num_frames: int, batch_size: int = 1, seed: int = 0) -> torch.Tensor:
    return torch.randn(batch_size, 16, num_frames, generator=torch.Generator().manual_seed(seed))


def _lengths(*lengths: int) -> torch.Tensor:
    return torch.tensor(lengths)


def _run(
    encoder: SortformerSpeakerEncoder, state: SpeakerCacheState, num_steps: int, seed: int = 0
) -> tuple[SpeakerCacheState, torch.Tensor]:
    probs = []
    for index in range(num_steps):
        state, step = encoder.step(_mel(40, seed=seed * 1000 + index), _lengths(40), state, 0, 8)
        probs.append(step)
    return state, torch.cat(probs, dim=1)


def _same(a: SpeakerCacheState, b: SpeakerCacheState) -> bool:
    assert a.spkcache_preds is not None
    assert b.spkcache_preds is not None
    return (
        torch.equal(a.spkcache, b.spkcache)
        and torch.equal(a.fifo, b.fifo)
        and torch.equal(a.spkcache_preds, b.spkcache_preds)
    )


def test_step_when_taken_leaves_the_old_state_as_it_was() -> None:
    encoder = _encoder()
    state, _ = _run(encoder, encoder.init_state(), 12)
    assert state.spkcache_compressed
    before = SpeakerCacheState(
        state.spkcache.clone(), state.fifo.clone(), state.spkcache_preds.clone(), True
    )  # type: ignore[union-attr]
    first = encoder.step(_mel(40), _lengths(40), state, 0, 8)
    second = encoder.step(_mel(40), _lengths(40), state, 0, 8)
    assert _same(state, before)
    assert torch.equal(first[1], second[1])


def test_step_when_two_streams_take_turns_neither_disturbs_the_other() -> None:
    encoder = _encoder()
    _, alone = _run(encoder, encoder.init_state(), 12, seed=1)
    one, two, heard = encoder.init_state(), encoder.init_state(), []
    for index in range(12):
        one, probs = encoder.step(_mel(40, seed=1000 + index), _lengths(40), one, 0, 8)
        two, _ = encoder.step(_mel(40, seed=7000 + index), _lengths(40), two, 0, 8)
        heard.append(probs)
    assert torch.equal(torch.cat(heard, dim=1), alone)


def test_step_when_the_state_is_fresh_again_repeats_itself() -> None:
    encoder = _encoder()
    assert torch.equal(
        _run(encoder, encoder.init_state(), 8)[1], _run(encoder, encoder.init_state(), 8)[1]
    )


def test_step_when_many_are_taken_keeps_the_state_within_its_sizes() -> None:
    encoder = _encoder()
    state = encoder.init_state()
    for index in range(60):
        state, _ = encoder.step(_mel(40, seed=index), _lengths(40), state, 0, 8)
        assert state.spkcache.shape[1] <= 24
        assert state.fifo.shape[1] <= 6
        assert state.fifo.untyped_storage().nbytes() <= 10 * 32 * 4
        assert state.spkcache.untyped_storage().nbytes() <= 24 * 32 * 4


def test_step_when_batched_gives_each_row_what_it_gets_alone() -> None:
    encoder = _encoder()
    state, singles = encoder.init_state(2), [encoder.init_state(), encoder.init_state()]
    for index in range(12):
        mel = _mel(40, batch_size=2, seed=index)
        state, probs = encoder.step(mel, _lengths(40, 40), state, 0, 8)
        for row in range(2):
            singles[row], alone = encoder.step(mel[row : row + 1], _lengths(40), singles[row], 0, 8)
            torch.testing.assert_close(probs[row : row + 1], alone, atol=1e-5, rtol=0)


def test_step_when_a_row_is_shorter_gives_it_what_it_gets_alone_and_zeros_behind() -> None:
    encoder = _encoder()
    mel = _mel(40, batch_size=2)
    mel[1, :, 21:] = 50.0
    mel[1, :, 21:24] = 0.0  # the last stack of a clip is filled up with zeros
    _, probs = encoder.step(mel, _lengths(40, 21), encoder.init_state(2), 0, 0)
    _, alone = encoder.step(mel[1:, :, :21], _lengths(21), encoder.init_state(), 0, 0)
    torch.testing.assert_close(probs[1:, :3], alone, atol=1e-5, rtol=0)
    assert not probs[1, 3:].any()


def test_advance_when_it_looks_ahead_answers_for_the_chunk_and_guesses_the_rest() -> None:
    encoder = _encoder()
    _, activity = encoder.advance(_mel(48), _lengths(48), encoder.init_state(), 8, 16)
    assert activity.coarse.shape == (1, 3, 4)
    assert activity.fine.shape == (1, 24, 4)
    assert activity.ahead.shape == (1, 16, 4)
    torch.testing.assert_close(activity.coarse, activity.fine.reshape(1, 3, 8, 4).mean(2))


@pytest.mark.parametrize(("left", "right"), [(3, 0), (-8, 0), (0, -1), (24, 24), (0, 48)])
def test_advance_when_offsets_do_not_fit_is_refused(left: int, right: int) -> None:
    encoder = _encoder()
    with pytest.raises(ValueError, match="offset"):
        encoder.advance(_mel(40), _lengths(40), encoder.init_state(), left, right)


def test_advance_when_sizes_change_keeps_the_cached_speakers() -> None:
    encoder = _encoder()
    state, _ = _run(encoder, encoder.init_state(), 12)
    wide = CacheGeometry(fifo_len=20, spkcache_len=24, spkcache_update_period=8)
    grown, _ = encoder.advance(_mel(40), _lengths(40), state, 0, 8, wide)
    assert torch.equal(grown.spkcache, state.spkcache)
    assert grown.fifo.shape[1] == state.fifo.shape[1] + 4
    for index in range(5):
        grown, _ = encoder.advance(_mel(40, seed=index), _lengths(40), grown, 0, 8, wide)
    back, _ = encoder.advance(_mel(40), _lengths(40), grown, 0, 8)
    assert back.fifo.shape[1] <= 6


def test_cache_when_it_first_overflows_uses_what_the_step_now_thinks_of_its_frames() -> None:
    """Probabilities from when a frame came would give speakers that were since taken back."""
    geometry = CacheGeometry(fifo_len=0, spkcache_len=4, spkcache_update_period=1)
    silence = torch.full((3,), -1.0)
    state = SpeakerCacheState(torch.zeros(1, 0, 3), torch.zeros(1, 0, 3))
    phantom = torch.tensor([[[0.1, 0.9]] * 3])
    chunk = torch.arange(9.0).reshape(1, 3, 3)
    state = advance_cache(state, chunk, phantom, 0, silence, geometry, HEAD)
    assert not state.spkcache_compressed
    better = torch.tensor([[[0.9, 0.1]] * 3 + [[0.9, 0.1]] * 2])
    state = advance_cache(state, chunk[:, :2], better, 3, silence, geometry, HEAD)
    assert state.spkcache_compressed
    assert state.spkcache_preds is not None
    assert float(state.spkcache_preds[..., 1].max()) < 0.5
    # From now on cached frames keep theirs: they are out of order.
    later = torch.tensor([[[0.1, 0.9]] * 4 + [[0.9, 0.1]]])
    state = advance_cache(state, chunk[:, :1], later, 4, silence, geometry, HEAD)
    assert state.spkcache_preds is not None
    assert float(state.spkcache_preds[..., 1].max()) < 0.5


def test_cache_when_frames_leave_the_fifo_takes_the_oldest_first() -> None:
    geometry = CacheGeometry(fifo_len=3, spkcache_len=10, spkcache_update_period=2)
    state = SpeakerCacheState(torch.zeros(1, 0, 3), torch.zeros(1, 0, 3))
    frames = torch.arange(15.0).reshape(1, 5, 3)
    probs = torch.rand(1, 8, 2)
    state = advance_cache(state, frames[:, :3], probs, 0, torch.zeros(3), geometry, HEAD)
    assert (state.spkcache.shape[1], state.fifo.shape[1]) == (0, 3)
    state = advance_cache(state, frames[:, 3:4], probs, 3, torch.zeros(3), geometry, HEAD)
    assert torch.equal(state.spkcache, frames[:, :2])
    assert torch.equal(state.fifo, frames[:, 2:4])
    assert state.spkcache_preds is not None
    assert torch.equal(state.spkcache_preds, probs[:, :2])


def test_head_when_weights_are_coarse_gives_probabilities_in_float32() -> None:
    model = tiny_speaker_model().to(torch.bfloat16)
    _, probs = model.diarization_model.step(
        _mel(40), _lengths(40), model.diarization_model.init_state(), 0, 0
    )
    assert probs.dtype == torch.float32
    config = tiny_speaker_config()
    coarse = replace(config, precision=replace(config.precision, decide_in_float32=False))
    model = tiny_speaker_model(coarse).to(torch.bfloat16)
    _, probs = model.diarization_model.step(
        _mel(40), _lengths(40), model.diarization_model.init_state(), 0, 0
    )
    assert probs.dtype == torch.bfloat16


def test_config_when_the_cache_has_no_room_for_every_speaker_is_refused() -> None:
    online = replace(tiny_speaker_config().online, cache=CacheGeometry(6, 7, 12))
    with pytest.raises(ValueError, match="at least 8 for 4 speakers"):
        tiny_speaker_config(online=online)
