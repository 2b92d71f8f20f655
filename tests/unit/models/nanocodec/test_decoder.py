"""The stateful decoder against the network as published, decoded whole."""

import numpy as np
import pytest
import torch

from engine.models.nanocodec.config import NANOCODEC_21HZ, CodecConfig
from engine.models.nanocodec.decoder import CodecDecoder
from engine.models.nanocodec.layout import CodesError
from engine.models.nanocodec.weights import CodecWeights, random_tensors, random_weights
from tests.unit.models.nanocodec.reference import reference_decode
from tests.unit.models.nanocodec.small import IDS, SMALL, SMALLEST, random_codes

# What float32 rounding does to a signal of full scale over some forty layers.
TOLERANCE = 5e-6


@pytest.fixture(scope="module")
def decoder() -> CodecDecoder:
    return CodecDecoder(SMALL[0], random_weights(SMALL[0]))


@pytest.fixture(scope="module")
def whole(decoder: CodecDecoder) -> torch.Tensor:
    return decoder.step(random_codes(SMALL[0], 60), decoder.initial_state())[0]


@pytest.mark.parametrize("config", SMALL, ids=IDS)
def test_decode_when_compared_with_the_unfolded_network_then_same_audio(
    config: CodecConfig,
) -> None:
    tensors = random_tensors(config)
    # Both sides of zero, near it, and at it: what folding divides by.
    name = "audio_decoder.res_layers.1.res_blocks.2.res_blocks.0.input_activation"
    tensors[f"{name}.activation.snake_act.alpha"][:4] = torch.tensor([-0.7, 1e-4, 1e-7, 0.0])
    decoder = CodecDecoder(config, CodecWeights(tensors, "test"), dtype=torch.float64)
    codes = random_codes(config, 12, rows=2)
    exact = {key: value.double() for key, value in tensors.items()}
    latents = decoder.quantizer.dequantize(codes).double()
    audio = decoder.decode(codes)
    expected = reference_decode(exact, config, latents)
    assert expected.square().mean().sqrt() > 0.03
    assert (audio - expected).abs().max() < 1e-5
    in_float32 = CodecDecoder(config, CodecWeights(tensors, "test")).decode(codes)
    assert (in_float32 - expected).abs().max() < TOLERANCE * 2


def test_step_when_wide_enough_for_packed_kernels_then_same_audio() -> None:
    config = CodecConfig("wide", 2, (8, 7), (2, 2), base_channels=256, encoder_channels=2)
    tensors = random_tensors(config)
    decoder = CodecDecoder(config, CodecWeights(tensors, "test"))
    codes = random_codes(config, 40, rows=3)
    expected = reference_decode(tensors, config, decoder.quantizer.dequantize(codes))
    assert (decoder.decode(codes, chunk_frames=7) - expected).abs().max() < TOLERANCE


@pytest.mark.parametrize("chunk", range(1, 25))
def test_step_when_chunks_have_one_size_then_whole_decode(
    decoder: CodecDecoder, whole: torch.Tensor, chunk: int
) -> None:
    audio = decoder.decode(random_codes(SMALL[0], 60), chunk_frames=chunk)
    assert audio.shape == whole.shape
    assert (audio - whole).abs().max() < TOLERANCE


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("config", SMALL, ids=IDS)
def test_step_when_chunks_are_random_then_whole_decode(config: CodecConfig, seed: int) -> None:
    decoder = CodecDecoder(config, random_weights(config, seed))
    codes = random_codes(config, 50, rows=2, seed=seed)
    expected, _ = decoder.step(codes, decoder.initial_state(2))
    rng, state, parts, start = np.random.default_rng(seed), decoder.initial_state(2), [], 0
    while start < 50:
        end = start + int(rng.integers(0, 9))
        audio, state = decoder.step(codes[..., start:end], state)
        parts.append(audio)
        start = end
    assert (torch.cat(parts, dim=1) - expected).abs().max() < TOLERANCE
    assert state.num_frames == 50


def test_step_when_state_is_used_again_then_same_audio(decoder: CodecDecoder) -> None:
    codes = random_codes(SMALL[0], 20)
    _, middle = decoder.step(codes[..., :8], decoder.initial_state())
    copy = middle.copy()
    first, _ = decoder.step(codes[..., 8:], middle)
    again, _ = decoder.step(codes[..., 8:], middle)
    copied, _ = decoder.step(codes[..., 8:], copy)
    assert torch.equal(first, again)
    assert torch.equal(first, copied)
    assert middle.num_frames == 8


def test_copy_when_original_is_reset_then_copy_keeps_its_past(decoder: CodecDecoder) -> None:
    codes = random_codes(SMALL[0], 20)
    _, state = decoder.step(codes[..., :8], decoder.initial_state())
    copy = state.copy()
    state.reset()
    fresh, _ = decoder.step(codes[..., 8:], decoder.initial_state())
    assert torch.equal(decoder.step(codes[..., 8:], state)[0], fresh)
    assert not torch.equal(decoder.step(codes[..., 8:], copy)[0], fresh)
    assert state.num_frames == 0


def test_step_when_no_frame_comes_then_nothing_changes(decoder: CodecDecoder) -> None:
    _, state = decoder.step(random_codes(SMALL[0], 3), decoder.initial_state())
    audio, after = decoder.step(random_codes(SMALL[0], 0), state)
    assert audio.shape == (1, 0)
    assert after.num_frames == 3


def test_step_when_state_is_of_other_streams_then_refused(decoder: CodecDecoder) -> None:
    with pytest.raises(ValueError, match="state is of 1 streams"):
        decoder.step(random_codes(SMALL[0], 2, rows=2), decoder.initial_state())


def test_step_when_a_code_is_out_of_range_then_refused_and_state_is_good(
    decoder: CodecDecoder,
) -> None:
    codes, state = random_codes(SMALL[0], 4), decoder.initial_state()
    bad = codes.clone()
    bad[0, 2, 1] = 6
    with pytest.raises(CodesError, match="Code 6 in dimension 2 of frame 1"):
        decoder.step(bad, state)
    again, _ = decoder.step(codes, state)
    assert torch.equal(again, decoder.step(codes, decoder.initial_state())[0])


@pytest.mark.parametrize("config", SMALL, ids=IDS)
def test_decode_when_one_frame_is_another_then_exactly_the_receptive_field_differs(
    config: CodecConfig,
) -> None:
    decoder = CodecDecoder(config, random_weights(config, 3), dtype=torch.float64)
    reach, size, changed_frame = config.lookback_frames, config.samples_per_frame, 2
    latents = torch.rand(1, config.num_dims, changed_frame + reach + 4, dtype=torch.float64)
    other = latents.clone()
    other[..., changed_frame] += 1.0
    state = decoder.initial_state()
    # One piece: float64 arithmetic is then the same for every frame that sees the same input.
    first, _ = decoder.step_latents(latents, state)
    second, _ = decoder.step_latents(other, state)
    frames = (first - second).abs().view(-1, size)
    assert frames[:changed_frame].max() == 0.0
    last = changed_frame + reach
    assert frames[last].max() > 0.0
    assert frames[last + 1 :].max() == 0.0
    # In the last frame only the first samples still see it.
    assert frames[last, -1] == 0.0


def test_initial_state_when_full_size_then_97_contexts_of_under_a_mebibyte() -> None:
    # 19 a stage: one of the upsampling, six of each branch. Their widths scale with the codec.
    smallest = CodecDecoder(SMALLEST, random_weights(SMALLEST)).initial_state()
    assert len(smallest.contexts) == 2 * 19 + 2
    small = CodecDecoder(SMALL[0], random_weights(SMALL[0])).initial_state()
    assert len(small.contexts) == 97
    scale = NANOCODEC_21HZ.base_channels // SMALL[0].base_channels
    latents = NANOCODEC_21HZ.num_dims * 6 * 4
    assert (small.num_bytes - latents) * scale + latents == pytest.approx(0.70 * 2**20, rel=0.01)
