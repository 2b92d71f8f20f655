"""Model files that ask for too much, or that break what reads them, are refused by name."""

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.backends.piper_files import read_settings
from engine.core.errors import CodesError, ModelFileError, ModelLoadError
from engine.models.checkpoint_files import SafetensorsSource
from engine.models.nanocodec.codes_file import read_codes
from engine.models.tower_config_formats import read_config
from engine.models.whisper_folder import check_folder
from tests.unit.models.tower_models import nemo_diarizer_config, tiny_speaker_config

pytestmark = pytest.mark.unit


@pytest.mark.parametrize(
    ("section", "name", "value"),
    [
        ("encoder", "d_model", float("inf")), ("encoder", "d_model", 10**9),
        ("encoder", "n_layers", 10**9), ("encoder", "n_layers", 100_000),
        ("preprocessor", "n_fft", 10**12), ("preprocessor", "features", 10**9),
        ("preprocessor", "window_stride", float("nan")),
        ("sortformer_modules", "fifo_len", 10**12), ("sortformer_modules", "tf_d_model", 10**9),
        ("sortformer_modules", "spkcache_len", 10**12),
    ],
)  # fmt: skip
def test_config_when_a_size_is_beyond_reason_then_refused(
    section: str, name: str, value: Any
) -> None:
    content = nemo_diarizer_config(tiny_speaker_config())
    content[section][name] = value
    with pytest.raises(ModelLoadError):
        read_config(content, "a file")


@pytest.mark.parametrize("name", ["x" * 5000, "a\0b", "", ".", "..", "a/b"])
def test_index_when_a_file_has_no_plain_name_then_refused(tmp_path: Path, name: str) -> None:
    index = {"weight_map": {"a": name}}
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps(index))
    with pytest.raises(ModelFileError, match="names a file outside its folder"):
        SafetensorsSource(tmp_path)


def _npy(array: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def _codes(path: Path, **members: bytes) -> Path:
    whole = {
        "codec_id": _npy(np.array("x")),
        "layout": _npy(np.array("per_dim")),
        "codes": _npy(np.zeros((2, 32), np.int32)),
    }
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in (whole | members).items():
            archive.writestr(f"{name}.npy", content)
    return path


def test_codes_when_their_shape_lies_then_refused(tmp_path: Path) -> None:
    text = f"{{'descr': '<i4', 'fortran_order': False, 'shape': ({2**40}, 32), }}".encode()
    text = text.ljust(117) + b"\n"
    lie = b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + bytes(100)
    with pytest.raises(CodesError, match="cannot be read as a file of codes"):
        read_codes(_codes(tmp_path / "x.npz", codes=lie))


def test_codes_when_the_codec_is_no_name_then_refused(tmp_path: Path) -> None:
    names = _npy(np.array([["x"] * 3] * 3))
    with pytest.raises(CodesError, match="is no name"):
        read_codes(_codes(tmp_path / "x.npz", codec_id=names))
    assert read_codes(_codes(tmp_path / "y.npz")).codec_id == "x"


@pytest.mark.parametrize("content", [b'{"a":' * 100_000, b"\xff", b"[1]"])
def test_json_of_models_when_deep_or_no_object_then_the_file_is_named(
    tmp_path: Path, content: bytes
) -> None:
    (tmp_path / "voice.onnx.json").write_bytes(content)
    with pytest.raises(ModelFileError, match=r"voice\.onnx\.json are damaged"):
        read_settings(tmp_path / "voice.onnx")
    for name in ("model.bin", "tokenizer.json", "vocabulary.txt"):
        (tmp_path / name).write_bytes(b"{}")
    (tmp_path / "config.json").write_bytes(content)
    with pytest.raises(ModelFileError, match=r"config\.json is not"):
        check_folder(tmp_path)
