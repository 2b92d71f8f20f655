"""The native codec and both engines against NVIDIA NeMo's AudioCodecModel, random weights."""

import importlib.util
import io
import tarfile
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml

from engine.models.nanocodec.codec import NanoCodec
from engine.models.nanocodec.config import NANOCODEC_21HZ, RELEASED, CodecConfig
from engine.models.nanocodec.decoder import CodecDecoder
from engine.models.nanocodec.encoder import CodecEncoder
from engine.models.nanocodec.quantizer import FiniteScalarQuantizer
from engine.models.nanocodec.weights import CodecWeights
from tests.parity.nemo_codec import build_nemo_codec
from tests.unit.models.nanocodec.small import IDS, random_codes

pytestmark = [
    pytest.mark.skipif(importlib.util.find_spec("nemo") is None, reason="NeMo is not installed"),
    # NeMo's and Lightning's own, on import and while they work.
    pytest.mark.filterwarnings("ignore"),
]
# The real geometry with few channels: the same receptive field at a hundredth of the cost.
SMALL = tuple(replace(config, base_channels=64, encoder_channels=4) for config in RELEASED.values())
TOLERANCE = 1e-5
NemoCodec = Any


@pytest.fixture(scope="module")
def nemo_codec() -> Callable[[CodecConfig], NemoCodec]:
    """Builds each of NeMo's models once."""
    built: dict[CodecConfig, NemoCodec] = {}

    def build(config: CodecConfig) -> NemoCodec:
        if config not in built:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                built[config] = build_nemo_codec(config)
        return built[config]

    return build


def _weights(model: NemoCodec) -> CodecWeights:
    return CodecWeights(dict(model.state_dict()), "NeMo's model")


def _frames(*counts: int) -> torch.Tensor:
    return torch.tensor(counts)


@pytest.mark.parametrize("config", SMALL, ids=IDS)
@torch.inference_mode()
def test_quantizer_when_compared_then_values_and_codes_are_bitwise_nemo_s(
    config: CodecConfig, nemo_codec: Callable[[CodecConfig], NemoCodec]
) -> None:
    model, quantizer = nemo_codec(config), FiniteScalarQuantizer(config)
    codes = random_codes(config, 500, rows=2)
    packed, lengths = quantizer.pack(codes), _frames(500, 500)
    expected = model.dequantize(tokens=packed, tokens_len=lengths)
    assert torch.equal(quantizer.dequantize(codes), expected)
    generator = torch.Generator().manual_seed(0)
    latents = torch.randn(2, config.num_dims, 500, generator=generator) * 1.5
    tokens = model.quantize(encoded=latents, encoded_len=lengths)
    assert torch.equal(quantizer.pack(quantizer.quantize(latents)), tokens.long())
    assert torch.equal(quantizer.unpack(tokens), quantizer.quantize(latents))


@pytest.mark.parametrize("config", SMALL, ids=IDS)
@torch.inference_mode()
def test_decoder_when_compared_then_nemo_s_audio_whole_and_in_chunks(
    config: CodecConfig, nemo_codec: Callable[[CodecConfig], NemoCodec]
) -> None:
    model = nemo_codec(config)
    decoder = CodecDecoder(config, _weights(model))
    codes = random_codes(config, 45, rows=2)
    latents = decoder.quantizer.dequantize(codes)
    expected, _ = model.decode_audio(inputs=latents, input_len=_frames(45, 45))
    assert expected.square().mean().sqrt() > 0.05
    for chunk in (45, 10, 1):
        assert (decoder.decode(codes, chunk_frames=chunk) - expected).abs().max() < TOLERANCE


@pytest.mark.parametrize("config", SMALL, ids=IDS)
@torch.inference_mode()
def test_encoder_when_compared_then_nemo_s_latents_and_codes(
    config: CodecConfig, nemo_codec: Callable[[CodecConfig], NemoCodec]
) -> None:
    model = nemo_codec(config)
    encoder = CodecEncoder(config, _weights(model))
    size = config.samples_per_frame
    audio = torch.randn(2, 9 * size + 77, generator=torch.Generator().manual_seed(0)) * 0.3
    lengths = torch.tensor([9 * size + 77, 5 * size + 3])
    expected, expected_frames = model.encode_audio(audio=audio, audio_len=lengths)
    latents, frames = encoder.latents(audio, lengths)
    assert expected.std() > 0.05
    assert torch.equal(frames, expected_frames)
    assert (latents - expected).abs().max() < TOLERANCE
    tokens, _ = model.encode(audio=audio, audio_len=lengths)
    codes, _ = encoder.encode(audio, lengths)
    is_inside = torch.arange(codes.shape[2]) < frames[:, None]
    packed = encoder.quantizer.pack(codes) * is_inside[:, None]
    # A latent within rounding of a level's border may fall to either side.
    assert (packed != tokens).float().mean() <= 0.01


@pytest.mark.parametrize("config", SMALL, ids=IDS)
def test_receptive_field_when_nemo_s_gradient_is_taken_then_as_the_config_says(
    config: CodecConfig, nemo_codec: Callable[[CodecConfig], NemoCodec]
) -> None:
    import copy

    decoder = copy.deepcopy(nemo_codec(config).audio_decoder).double()
    reach, num_frames = config.lookback_frames, 33
    generator = torch.Generator().manual_seed(0)
    latents = torch.rand(1, config.num_dims, num_frames, generator=generator, dtype=torch.float64)
    latents.mul_(0.1).requires_grad_()
    # No clamp, whose gradient is zero where it cuts.
    decoder.out_activation = torch.nn.Identity()
    audio, _ = decoder(inputs=latents, input_len=_frames(num_frames))
    first, last = (num_frames - 2) * config.samples_per_frame, -1 - config.samples_per_frame
    for sample, furthest in ((first, reach), (last, reach - 1)):
        (gradient,) = torch.autograd.grad(audio[0, sample], latents, retain_graph=True)
        seen = gradient[0].abs().amax(dim=0).nonzero()[:, 0]
        assert seen.min() == num_frames - 2 - furthest
        assert seen.max() == num_frames - 2


def _with_discriminator(path: Path) -> None:
    """Make the archive ask for what only training needs, and what NeMo fetches from a network."""
    with tarfile.open(path) as archive:
        members = {
            member.name: archive.extractfile(member).read()  # type: ignore[union-attr]
            for member in archive
            if member.isfile()
        }
    with tarfile.open(path, "w") as archive:
        for name, content in members.items():
            if name.endswith("model_config.yaml"):
                settings = yaml.safe_load(content)
                module = "nemo.collections.tts.modules.audio_codec_modules"
                settings["discriminator"] = {"_target_": f"{module}.SLMDiscriminator"}
                settings["use_scl_loss"] = True
                content = yaml.safe_dump(settings).encode()
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))


@torch.inference_mode()
def test_engines_when_nemo_saved_the_file_then_both_give_nemo_s_audio_and_codes(
    tmp_path: Path, nemo_codec: Callable[[CodecConfig], NemoCodec]
) -> None:
    config = SMALL[0]
    model = nemo_codec(config)
    path = tmp_path / "codec.nemo"
    model.save_to(str(path))
    _with_discriminator(path)
    codes = random_codes(config, 60, rows=2)
    codes[1, :, 50:] = -1
    lengths = _frames(60, 50)
    quantizer = FiniteScalarQuantizer(config)
    latents = quantizer.dequantize(codes.clamp_min(0))
    expected, _ = model.decode_audio(inputs=latents, input_len=lengths)
    audio = torch.randn(1, 5000, generator=torch.Generator().manual_seed(0)) * 0.3
    tokens, _ = model.encode(audio=audio, audio_len=_frames(5000))
    for engine in ("native", "nemo"):
        codec = NanoCodec(config.codec_id, path=path, engine=engine)  # type: ignore[arg-type]
        codec.load("cpu")
        assert (codec.decode_from_codes(codes, lengths) - expected).abs().max() < TOLERANCE
        assert torch.equal(codec.encode(audio, _frames(5000))[0], quantizer.unpack(tokens))
        frames, parts, short = codes[0].T, [], []
        for start in range(0, 60, 20):
            known = frames[: start + 20]
            parts.append(codec.decode_stream(known, start_idx=start, lookback="exact"))
            short.append(codec.decode_stream(known, start_idx=start, lookback=8))
        assert (torch.cat(parts) - expected[0]).abs().max() < TOLERANCE
        assert (torch.cat(short) - expected[0]).abs().max() > 1e-3


@pytest.mark.slow
@torch.inference_mode()
def test_decoder_when_full_size_then_nemo_s_audio(
    nemo_codec: Callable[[CodecConfig], NemoCodec],
) -> None:
    model = nemo_codec(NANOCODEC_21HZ)
    decoder = CodecDecoder(NANOCODEC_21HZ, _weights(model))
    codes = random_codes(NANOCODEC_21HZ, 30)
    latents = decoder.quantizer.dequantize(codes)
    expected, _ = model.decode_audio(inputs=latents, input_len=_frames(30))
    assert expected.square().mean().sqrt() > 0.05
    state, parts = decoder.initial_state(), []
    for part in codes.split(7, dim=2):
        audio, state = decoder.step(part, state)
        parts.append(audio)
    assert (torch.cat(parts, dim=1) - expected).abs().max() < TOLERANCE
    assert state.num_bytes < 0.75 * 2**20
