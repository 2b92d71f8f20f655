"""Whatever a model file holds, its reader raises errors of ours and runs nothing."""

import io
import json
import struct
import tarfile
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import torch
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.core.errors import EngineError, ModelFileError
from engine.models.checkpoint_files import SafetensorsSource
from engine.models.checkpoints import load_speaker_model
from engine.models.nanocodec.archive import NemoArchive as CodecArchive
from engine.models.nanocodec.codes_file import CodeLayout, CodesFile, read_codes, write_codes
from engine.models.nanocodec.config import NANOCODEC_21HZ, config_from_nemo
from engine.models.nemo_archive import NemoArchive
from engine.models.tower_config_formats import read_config
from tests.unit.models.tower_models import nemo_diarizer_config, tiny_speaker_config

pytestmark = pytest.mark.property

numbers = st.integers(-4, 2**64) | st.sampled_from([2**31, 2**63, 2**64 - 1, 10**30])
tensors = st.fixed_dictionaries(
    {},
    optional={
        "dtype": st.sampled_from(["F32", "F16", "BF16", "I64", "BOOL", "F8_E4M3", "Q9", 7]),
        "shape": st.lists(numbers, max_size=4) | st.text(max_size=3),
        "data_offsets": st.lists(numbers, max_size=3) | st.none(),
    },
)
tables = st.dictionaries(st.sampled_from(["a", "b", "__metadata__", "\u00e9"]), tensors, max_size=3)


@given(
    tables.map(lambda table: json.dumps(table).encode()) | st.binary(max_size=80),
    st.none() | numbers.filter(lambda n: 0 <= n < 2**64),
    st.binary(max_size=64),
)
def test_safetensors_when_the_header_is_anything_then_read_or_model_file_error(
    header: bytes, length: int | None, data: bytes
) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.safetensors"
        size = len(header) if length is None else length
        path.write_bytes(struct.pack("<Q", size) + header + data)
        try:
            source = SafetensorsSource(path)
            for name in source.names:
                source.read(name)
        except ModelFileError:
            return


def _tar(config: bytes, weights: bytes) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as tar:
        for name, content in (("model_config.yaml", config), ("model_weights.ckpt", weights)):
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return stream.getvalue()


def _saved(content: object) -> bytes:
    stream = io.BytesIO()
    torch.save(content, stream)
    return stream.getvalue()


_ARCHIVE = _tar(b"a: 1\n", _saved({"a": torch.ones(3)}))
changes = st.lists(st.tuples(st.integers(0, len(_ARCHIVE) - 1), st.integers(0, 255)), max_size=8)


@given(changes, st.integers(0, len(_ARCHIVE)))
def test_archive_when_bytes_are_changed_and_the_end_is_cut_then_read_or_engine_error(
    changed: list[tuple[int, int]], end: int
) -> None:
    content = bytearray(_ARCHIVE)
    for at, value in changed:
        content[at] = value
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.nemo"
        path.write_bytes(content[: end or None])
        for read in (_read_as_diarizer, _read_as_codec):
            try:
                read(path)
            except EngineError:
                continue


def _read_as_diarizer(path: Path) -> object:
    return NemoArchive(path).names


def _read_as_codec(path: Path) -> object:
    archive = CodecArchive(path)
    archive.check()
    return archive.read_config(), archive.read_tensors()


settings_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6)
    | st.sampled_from(["${encoder.d_model}", "${a}", "${encoder}", 10**9, -1, 0]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3)
    ),
    max_leaves=5,
)  # fmt: skip
_PATHS = [
    (section, name)
    for section, content in nemo_diarizer_config(tiny_speaker_config()).items()
    if isinstance(content, dict)
    for name in content
]


@given(st.lists(st.tuples(st.sampled_from(_PATHS), settings_values), min_size=1, max_size=3))
def test_configuration_when_values_are_anything_then_read_or_engine_error(
    changed: list[tuple[tuple[str, str], Any]],
) -> None:
    content = nemo_diarizer_config(tiny_speaker_config())
    for (section, name), value in changed:
        content[section][name] = value
    try:
        read_config(content, "a file")
    except EngineError:
        return


_SECTIONS = st.sampled_from(["audio_decoder", "audio_encoder", "vector_quantizer", "sample_rate"])


@given(st.dictionaries(_SECTIONS, settings_values))
def test_codec_configuration_when_it_is_anything_then_engine_error(content: dict[str, Any]) -> None:
    with pytest.raises(EngineError):
        config_from_nemo(content, "a codec")


@settings(max_examples=25)
@given(st.text(max_size=40) | settings_values.map(lambda value: yaml.safe_dump({"encoder": value})))
def test_speaker_model_when_the_yaml_is_anything_then_engine_error(text: str) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.nemo"
        path.write_bytes(_tar(text.encode("utf-8", "replace"), _saved({})))
        with pytest.raises(EngineError):
            load_speaker_model(path)


def _codes() -> bytes:
    import numpy as np

    with TemporaryDirectory() as folder:
        path = Path(folder) / "codes.npz"
        codes = np.zeros((4, NANOCODEC_21HZ.num_dims), np.int64)
        write_codes(path, CodesFile(NANOCODEC_21HZ.codec_id, CodeLayout.PER_DIMENSION, codes))
        return path.read_bytes()


_CODES = _codes()


@given(
    st.lists(st.tuples(st.integers(0, len(_CODES) - 1), st.integers(0, 255)), max_size=6),
    st.integers(1, len(_CODES)),
)
def test_codes_when_bytes_are_changed_and_the_end_is_cut_then_read_or_engine_error(
    changed: list[tuple[int, int]], end: int
) -> None:
    content = bytearray(_CODES)
    for at, value in changed:
        content[at] = value
    with TemporaryDirectory() as folder:
        path = Path(folder) / "codes.npz"
        path.write_bytes(content[:end])
        try:
            read_codes(path).frames(NANOCODEC_21HZ)
        except EngineError:
            return
