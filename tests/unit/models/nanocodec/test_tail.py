"""How speech ends."""

import pytest
import torch

from engine.models.nanocodec.tail import HeldTail, apply_end_of_speech_tail

RATE = 1000


def test_apply_when_nothing_is_asked_for_then_the_same_object() -> None:
    audio, empty = torch.ones(50), torch.zeros(0)
    assert apply_end_of_speech_tail(audio, RATE) is audio
    assert apply_end_of_speech_tail(audio, RATE, -1.0, 0.0) is audio
    assert apply_end_of_speech_tail(empty, RATE, 10.0, 10.0) is empty


@pytest.mark.parametrize("shape", [(50,), (2, 50)])
def test_apply_when_fading_then_line_to_zero_and_silence_behind(shape: tuple[int, ...]) -> None:
    audio = torch.ones(shape)
    ended = apply_end_of_speech_tail(audio, RATE, fade_ms=11.0, silence_ms=5.0)
    assert ended.shape[-1] == 55
    assert torch.equal(ended[..., :39], audio[..., :39])
    assert torch.allclose(ended[..., 39:50], torch.linspace(1, 0, 11).expand(*shape[:-1], 11))
    assert ended[..., 49:].abs().max() == 0.0
    assert torch.equal(audio, torch.ones(shape))


@pytest.mark.parametrize("fade_ms", [1.0, 50.0, 1e6])
def test_apply_when_fade_is_one_sample_or_longer_than_the_clip_then_ends_at_zero(
    fade_ms: float,
) -> None:
    ended = apply_end_of_speech_tail(torch.ones(50), RATE, fade_ms)
    assert ended.shape == (50,)
    assert ended[-1] == 0.0


@pytest.mark.parametrize("chunks", [[100], [1] * 100, [90, 10], [97, 3], [40, 60, 0], [0, 5, 95]])
def test_held_tail_when_cut_anywhere_then_as_the_whole_clip(chunks: list[int]) -> None:
    audio = torch.rand(100, generator=torch.Generator().manual_seed(0))
    tail = HeldTail(RATE, 10.0, 7.0)
    parts = [tail.push(part) for part in audio.split(chunks)]
    assert sum(map(len, parts)) == 90
    whole = torch.cat([*parts, tail.finish()])
    assert torch.equal(whole, apply_end_of_speech_tail(audio, RATE, 10.0, 7.0))


def test_held_tail_when_clip_is_shorter_than_the_fade_then_all_of_it_is_faded() -> None:
    tail = HeldTail(RATE, 10.0, 0.0)
    assert len(tail.push(torch.ones(4))) == 0
    assert torch.allclose(tail.finish(), torch.linspace(1, 0, 4))
    assert len(tail.finish()) == 0


def test_held_tail_when_reset_then_next_clip_begins_clean() -> None:
    tail = HeldTail(RATE, 10.0, 0.0)
    tail.push(torch.ones(20))
    tail.reset()
    assert tail.push(torch.full((30,), 0.5)).unique().tolist() == [0.5]
