"""The codec's contract, on the native engine."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from engine.core.errors import (
    BackendError,
    ConfigError,
    ModelFileError,
    ModelLoadError,
    ModelMissingError,
)
from engine.models.nanocodec.codec import NanoCodec
from engine.models.nanocodec.config import NANOCODEC_21HZ, CodecConfig
from engine.models.nanocodec.layout import CodesError
from engine.models.nanocodec.weights import random_tensors
from tests.unit.models.nanocodec.nemo_files import write_nemo
from tests.unit.models.nanocodec.small import IDS, SMALL, SMALLEST, random_codes

CONFIG = SMALL[0]


@pytest.fixture(scope="module")
def codec() -> NanoCodec:
    made = NanoCodec(untrained=CONFIG, fade_ms=10.0, silence_ms=20.0)
    made.load("cpu")
    return made


def test_codec_when_made_then_cheap_and_not_loaded(tmp_path: Path) -> None:
    codec = NanoCodec(path=tmp_path / "nothing.nemo", engine="nemo")
    assert codec.codec_id == NANOCODEC_21HZ.codec_id
    assert codec.sample_rate == 22_050
    assert not codec.is_loaded
    assert codec.config == NANOCODEC_21HZ
    with pytest.raises(BackendError, match="not loaded"):
        codec.decode_from_codes(random_codes(CONFIG, 2), torch.tensor([2]))
    with pytest.raises(BackendError, match="not loaded"):
        codec.decode_stream(random_codes(CONFIG, 2)[0].T, start_idx=0)


def test_import_when_codec_is_native_then_nemo_stays_out() -> None:
    script = (
        "import sys; from engine.models.nanocodec import codec, stream;"
        "c = codec.NanoCodec(); print([m for m in ('nemo', 'lightning', 'omegaconf') "
        "if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stderr


def test_decode_from_codes_when_clips_differ_in_length_then_each_as_if_alone(
    codec: NanoCodec,
) -> None:
    codes = random_codes(CONFIG, 12, rows=3)
    codes[1, :, 7:] = -1  # padding may be anything
    lengths = torch.tensor([12, 7, 0])
    codes[2] = 99
    audio = codec.decode_from_codes(codes, lengths)
    size = CONFIG.samples_per_frame
    assert audio.shape == (3, 12 * size)
    alone = codec.decode_from_codes(codes[1:2, :, :7], torch.tensor([7]))
    assert (audio[1, : 7 * size] - alone[0]).abs().max() < 1e-6
    assert audio[1, 7 * size :].abs().max() == 0.0
    assert audio[2].abs().max() == 0.0


@pytest.mark.parametrize(
    ("codes", "lengths", "error", "named"),
    [
        (torch.zeros(1, 31, 4, dtype=torch.int64), [4], CodesError, "31"),
        (torch.zeros(1, 32, 4), [4], CodesError, "float32"),
        (torch.zeros(32, 4, dtype=torch.int64), [4], CodesError, r"\(32, 4\)"),
        (torch.full((1, 32, 4), 8), [4], CodesError, "Code 8 in dimension 0 of frame 0"),
        (torch.zeros(1, 32, 4, dtype=torch.int64), [5], ValueError, "0 to 4"),
        (torch.zeros(1, 32, 4, dtype=torch.int64), [4, 4], ValueError, "codes_len"),
    ],
)
def test_decode_from_codes_when_arguments_are_wrong_then_error_names_them(
    codec: NanoCodec, codes: torch.Tensor, lengths: list[int], error: type[Exception], named: str
) -> None:
    with pytest.raises(error, match=named):
        codec.decode_from_codes(codes, torch.tensor(lengths))


@pytest.mark.parametrize("config", SMALL, ids=IDS)
def test_decode_stream_when_lookback_is_exact_then_whole_decode_and_8_is_not(
    config: CodecConfig,
) -> None:
    codec = NanoCodec(config.codec_id, untrained=config)
    codec.load("cpu")
    frames = random_codes(config, 60)[0].T
    whole = codec.decode_from_codes(frames.T[None], torch.tensor([60]))[0]

    def streamed(lookback: int | str) -> torch.Tensor:
        parts, start = [], 0
        for end in (2, 7, 17, 40, 41, 60):
            part = codec.decode_stream(frames[:end], start_idx=start, lookback=lookback)
            assert part is not None
            parts.append(part)
            start = end
        return torch.cat(parts)

    exact_error = (streamed("exact") - whole).abs().max().item()
    short_error = (streamed(8) - whole).abs().max().item()
    assert streamed("exact").shape == whole.shape
    # Exact: float rounding. 8 frames: a tenth of full scale is usual with these weights.
    assert exact_error < 5e-6
    assert short_error > 1e-3, f"exact {exact_error:.1e}, 8 frames {short_error:.1e}"


def test_decode_stream_when_nothing_is_new_then_none(codec: NanoCodec) -> None:
    frames = random_codes(CONFIG, 5)[0].T
    assert codec.decode_stream(frames, start_idx=5) is None
    assert codec.decode_stream(frames, start_idx=9) is None
    assert codec.decode_stream(frames[:0], start_idx=0) is None


def test_decode_stream_when_arguments_are_wrong_then_error_names_them(codec: NanoCodec) -> None:
    frames = random_codes(CONFIG, 5)[0].T
    with pytest.raises(ValueError, match="-1"):
        codec.decode_stream(frames, start_idx=-1)
    for lookback in (-2, "long"):
        with pytest.raises(ValueError, match=str(lookback)):
            codec.decode_stream(frames, start_idx=0, lookback=lookback)  # type: ignore[arg-type]
    with pytest.raises(CodesError, match=r"\(1, 5, 32\)"):
        codec.decode_stream(frames[None], start_idx=0)
    with pytest.raises(CodesError, match="31"):
        codec.decode_stream(frames[:, :31], start_idx=0)


def test_decode_stream_when_final_then_faded_and_silence_behind(codec: NanoCodec) -> None:
    frames = random_codes(CONFIG, 5)[0].T
    plain = codec.decode_stream(frames, start_idx=3)
    final = codec.decode_stream(frames, start_idx=3, is_final=True)
    assert plain is not None
    assert final is not None
    assert len(final) == len(plain) + 441
    assert final[len(plain) - 1 :].abs().max() == 0.0
    assert torch.equal(final[: len(plain) - 220], plain[:-220])


def test_encode_when_clips_differ_in_length_then_whole_frames_and_zeros_behind(
    codec: NanoCodec,
) -> None:
    audio = torch.randn(2, 3 * 1024 + 1, generator=torch.Generator().manual_seed(0)) * 0.1
    codes, lengths = codec.encode(audio, torch.tensor([3 * 1024 + 1, 1024]))
    assert codes.shape == (2, 32, 4)
    assert lengths.tolist() == [4, 1]
    assert codes[1, :, 1:].abs().max() == 0
    assert codec.decode_from_codes(codes, lengths).shape == (2, 4 * 1024)
    assert codec.encode(torch.zeros(1, 0), torch.tensor([0]))[0].shape == (1, 32, 0)
    with pytest.raises(TypeError, match="float64"):
        codec.encode(audio.double(), torch.tensor([1, 1]))
    with pytest.raises(ValueError, match="finite"):
        codec.encode(audio * torch.nan, torch.tensor([1, 1]))
    with pytest.raises(ValueError, match="0 to 3073"):
        codec.encode(audio, torch.tensor([3074, 1]))


def test_load_when_file_is_nemo_or_safetensors_or_their_folder_then_same_audio(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    write_nemo(tmp_path / "a" / "codec.nemo", SMALLEST)
    save_file(random_tensors(SMALLEST), tmp_path / "b" / "model.safetensors")
    monkeypatch.setitem(
        importlib.import_module("engine.models.nanocodec.loading").RELEASED, "smallest", SMALLEST
    )
    expected = NanoCodec("smallest", untrained=SMALLEST)
    expected.load("cpu")
    codes, lengths = random_codes(SMALLEST, 9), torch.tensor([9])
    for path in (tmp_path / "a", tmp_path / "a" / "codec.nemo", tmp_path / "b"):
        codec = NanoCodec("smallest", path=path)
        codec.load("cpu")
        assert codec.config == SMALLEST
        assert torch.equal(
            codec.decode_from_codes(codes, lengths), expected.decode_from_codes(codes, lengths)
        )


def test_load_when_file_is_missing_or_unclear_then_error_says_so(tmp_path: Path) -> None:
    for path in (tmp_path / "no.nemo", tmp_path):
        with pytest.raises(ModelMissingError, match=r"\.nemo"):
            NanoCodec(path=path).load("cpu")
    with pytest.raises(ModelMissingError, match="not on this machine"):
        NanoCodec("nobody/such-codec").load("cpu")
    save_file(random_tensors(SMALLEST), tmp_path / "x.safetensors")
    with pytest.raises(ModelFileError, match="what shape"):
        NanoCodec("mine", path=tmp_path).load("cpu")
    with pytest.raises(ModelLoadError, match="expected"):
        NanoCodec(path=tmp_path).load("cpu")


def test_load_when_sample_rate_is_another_then_refused() -> None:
    codec = NanoCodec("x", 44_100, untrained=SMALLEST)
    with pytest.raises(ConfigError, match="22050 Hz"):
        codec.load("cpu")
    assert not codec.is_loaded


def test_codec_when_engine_is_unknown_then_refused() -> None:
    with pytest.raises(ConfigError, match="fast"):
        NanoCodec(engine="fast")  # type: ignore[arg-type]


@pytest.mark.skipif(importlib.util.find_spec("nemo") is not None, reason="NeMo is installed")
def test_load_when_engine_is_nemo_but_not_installed_then_advice(tmp_path: Path) -> None:
    codec = NanoCodec(path=write_nemo(tmp_path / "a.nemo", SMALLEST), engine="nemo")
    with pytest.raises(ModelLoadError, match="Use the engine native"):
        codec.load("cpu")
