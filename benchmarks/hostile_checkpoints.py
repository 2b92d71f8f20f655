"""Checkpoints of safetensors whose headers lie, and configurations that make no sense."""

import json
import os
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import save

from benchmarks.hostile_case import Case, Expects, Run
from benchmarks.hostile_models import (
    diarize,
    safetensors_bytes,
    settings,
    tensors,
    write_folder,
)

_MB = 2**20
_SPEAKERS = "sortformer_modules.num_spks"


def cases(seed: int) -> Iterator[Case]:
    """Yield weights, configurations, indices, and folders that are none."""
    rng = np.random.default_rng(seed)
    yield Case("checkpoints", "whole", _folder(safetensors_bytes()), Expects.WHOLE)
    for name, weights in _weights(rng).items():
        expects = Expects.EITHER if name.startswith("altered") else Expects.REFUSED
        yield Case("checkpoints", name, _folder(weights), expects)
    for name, config in _configs().items():
        yield Case("checkpoints", f"config: {name}", _folder(None, config), Expects.REFUSED)
    for name, index in _indices().items():
        yield Case("checkpoints", f"index: {name}", _index(index), Expects.REFUSED)
    for name, make in _THINGS.items():
        for place in ("model.safetensors", "config.json"):
            prepare = _thing(place, make)
            yield Case("checkpoints", f"{place} is {name}", prepare, Expects.REFUSED)


def _folder(weights: bytes | None, config: object = None) -> Callable[[Path], Run]:
    def prepare(folder: Path) -> Run:
        content = safetensors_bytes() if weights is None else weights
        return diarize(folder, write_folder(folder, content, config))

    return prepare


def _index(index: bytes) -> Callable[[Path], Run]:
    def prepare(folder: Path) -> Run:
        place = write_folder(folder, safetensors_bytes())
        (place / "model.safetensors").rename(place / "other.safetensors")
        (place / "model.safetensors.index.json").write_bytes(index)
        return diarize(folder, place)

    return prepare


def _thing(name: str, make: Callable[[Path], object]) -> Callable[[Path], Run]:
    def prepare(folder: Path) -> Run:
        place = write_folder(folder, safetensors_bytes())
        (place / name).unlink()
        make(place / name)
        return diarize(folder, place)

    return prepare


def _with_header(header: bytes, data: bytes = bytes(64), length: int | None = None) -> bytes:
    return struct.pack("<Q", len(header) if length is None else length) + header + data


def _tensor(dtype: str = "F32", shape: object = (4,), offsets: object = (0, 16)) -> dict[str, Any]:
    return {"dtype": dtype, "shape": shape, "data_offsets": offsets}


def _weights(rng: np.random.Generator) -> dict[str, bytes]:
    whole = safetensors_bytes()
    lies: dict[str, object] = {
        "no tensor": {}, "a list": [1], "overlapping": {"a": _tensor(), "b": _tensor()},
        "a hole": {"a": _tensor(offsets=(0, 16)), "b": _tensor(offsets=(32, 48))},
        "behind the end": {"a": _tensor(shape=(1000,), offsets=(0, 4000))},
        "backwards": {"a": _tensor(offsets=(16, 0))},
        "a huge shape": {"a": _tensor(shape=(2**40,))},
        "an overflowing shape": {"a": _tensor(shape=(2**33, 2**33, 2**33))},
        "a negative shape": {"a": _tensor(shape=(-4,))}, "huge offsets":
        {"a": _tensor(offsets=(0, 2**63))}, "an unknown type": {"a": _tensor("Q7")},
        "a shape of text": {"a": _tensor(shape="x")}, "offsets of floats":
        {"a": _tensor(offsets=(0.5, 16.5))}, "metadata of numbers": {"__metadata__": {"a": 1}},
        "a thousand axes": {"a": _tensor(shape=[1] * 1000, offsets=(0, 4))},
        "no offsets": {"a": {"dtype": "F32", "shape": [4]}},
    }  # fmt: skip
    found = {name: _with_header(json.dumps(header).encode()) for name, header in lies.items()}
    one = json.dumps(_tensor()).encode()
    found |= {
        "empty": b"", "seven bytes": bytes(7), "zero bytes": bytes(4000), "noise": rng.bytes(4000),
        "a length of 2^64": _with_header(b"{}", length=2**64 - 1), "a length of 2^40":
        _with_header(b"{}", length=2**40),
        "a length of 99 MB": _with_header(b"{}", length=99 * _MB),
        "a header of 50 MB": _with_header(b'{"a":"' + b"x" * (50 * _MB) + b'"}'),
        "a header of text": _with_header(b"no JSON at all"),
        "no UTF-8": _with_header(b'{"\xff": 1}'),
        "a name twice": _with_header(b'{"a": %b, "a": %b}' % (one, one)),
        "deep": _with_header(b"[" * 100_000), "a pickle": b"\x80\x04cos\nsystem\n(S'true'\ntR.",
        "a web page": b"<!doctype html>" * 99, "a pointer": b"version https://git-lfs.github.com/",
        "a name of 1 MB": _with_header(b'{"' + b"n" * _MB + b'": ' + one + b"}", bytes(16)),
    }  # fmt: skip
    for share in (0.01, 0.1, 0.5, 0.9, 0.999):
        found[f"cut at {share:.1%}"] = whole[: round(share * len(whole))]
    found["longer"] = whole + bytes(100)
    for name, value in (("NaN", float("nan")), ("infinity", float("inf"))):
        poisoned = {key: tensor.clone() for key, tensor in tensors().items()}
        next(iter(poisoned.values())).flatten()[0] = value
        found[name] = save(poisoned)
    some = dict(tensors())
    first = next(name for name in some if name.startswith("encoder.") and name.endswith("weight"))
    found |= {
        "a tensor less": save({key: value for key, value in some.items() if key != first}),
        "a tensor more": save(some | {"encoder.layers.99.x": torch.ones(2)}),
        "another shape": save(some | {first: torch.ones(3, 5, 7)}),
        "no axis": save(some | {first: torch.tensor(1.0)}),
        "whole numbers": save(some | {first: torch.zeros(some[first].shape, dtype=torch.int64)}),
        "truths": save(some | {first: torch.zeros(some[first].shape, dtype=torch.bool)}),
        "FP8 without scale": save(some | {first: some[first].to(torch.float8_e4m3fn)}),
        "FP8 of a wrong scale": save(some | {first: some[first].to(torch.float8_e4m3fn),
                                             f"{first}_scale": torch.ones(3, 3, 3)}),
    }  # fmt: skip
    for number in range(8):
        altered = bytearray(whole)
        for at in rng.integers(0, 400 if number % 2 else len(whole), 6):
            altered[at] = rng.integers(256)
        found[f"altered {number}"] = bytes(altered)
    return found


def _changed(path: str, value: object) -> dict[str, Any]:
    content = json.loads(json.dumps(dict(settings())))
    *folders, name = path.split(".")
    place = content
    for key in folders:
        place = place[key]
    place[name] = value
    return content


def _configs() -> dict[str, object]:
    found: dict[str, object] = {
        "empty": b"", "no JSON": b"{", "a list": b"[]", "null": b"null", "deep": b"[" * 100_000,
        "no UTF-8": b'{"\xff": 1}', "of another model": b'{"model_type": "bert"}',
        "large": b'{"a": "' + b"x" * (70 * _MB) + b'"}', "a long number": b'{"a": ' + b"9" * 9999
        + b"}", "sections of numbers": b'{"sortformer_modules": 1, "encoder": 2}',
        "a reference to itself": _changed(_SPEAKERS, f"${{{_SPEAKERS}}}"),
        "a reference to nothing": _changed(_SPEAKERS, "${nowhere.x}"),
        "NaN": json.dumps(_changed("encoder.d_model", float("nan"))).encode(),
        "infinity": json.dumps(_changed("encoder.d_model", float("inf"))).encode(),
    }  # fmt: skip
    for path, values in {
        "encoder.d_model": (0, -32, 10**9, 10**30, 33, 1.5, "32", None, [32], True),
        "encoder.n_layers": (0, -1, 10**9, "two"), "encoder.n_heads": (0, 5, 10**9),
        "preprocessor.features": (0, -1, 10**9), "preprocessor.n_fft": (0, 1, 10**9, 10**12),
        "preprocessor.window_stride": (0, -1, 1e30, 1e-30), "preprocessor.sample_rate": (0, 10**12),
        "sortformer_modules.num_spks": (0, 9, 10**9), "sortformer_modules.fifo_len": (-1, 10**12),
        "sortformer_modules.spkcache_len": (-1, 0, 10**12), "sortformer_modules.chunk_len": (0, -1),
        "sortformer_modules.tf_d_model": (0, 10**9),
    }.items():  # fmt: skip
        for value in values:
            found[f"{path} {value}"] = _changed(path, value)
    return found


def _indices() -> dict[str, bytes]:
    names = list(tensors())
    files = dict.fromkeys(names, "other.safetensors")
    maps: dict[str, object] = {
        "no map": {},
        "a list": {"weight_map": []},
        "numbers": {"weight_map": {names[0]: 1}},
        "a missing file": {"weight_map": files | {names[0]: "gone.safetensors"}},
        "outside": {"weight_map": files | {names[0]: "../../other.safetensors"}},
        "absolute": {"weight_map": files | {names[0]: "/etc/passwd"}},
        "a folder": {"weight_map": files | {names[0]: "."}},
        "no name": {"weight_map": files | {names[0]: ""}},
        "a NUL": {"weight_map": files | {names[0]: "a\0b"}},
        "a tensor that is not there": {"weight_map": files | {"encoder.gone": "other.safetensors"}},
        "a long name": {"weight_map": files | {names[0]: "x" * 5000}},
    }
    found = {name: json.dumps(content).encode() for name, content in maps.items()}
    return found | {"no JSON": b"[", "deep": b'{"weight_map":' * 50_000}


_THINGS: dict[str, Callable[[Path], object]] = {
    "a folder": lambda path: path.mkdir(),
    "a pipe": lambda path: os.mkfifo(path),
    "a link to itself": lambda path: path.symlink_to(path),
    "a link to /dev/zero": lambda path: path.symlink_to("/dev/zero"),
    "missing": lambda _: None,
}
