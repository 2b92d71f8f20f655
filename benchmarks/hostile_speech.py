"""Texts to speak and files of speech codes that no honest program writes."""

import io
import os
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from benchmarks.hostile_case import Case, Expects, Run
from benchmarks.hostile_commands import call, command
from engine.models.nanocodec.codes_file import read_codes
from engine.models.nanocodec.config import NANOCODEC_21HZ

_MB = 2**20


def cases(seed: int) -> Iterator[Case]:
    """Yield texts by both ways in, and codes."""
    rng = np.random.default_rng(seed)
    for name, text in _texts(rng).items():
        yield Case("texts", f"{name}, standard input", _typed(text), is_slow=len(text) > _MB)
        if len(text) < 100_000 and b"\0" not in text:
            argument = os.fsdecode(text)
            yield Case("texts", f"{name}, argument", _said(argument))
    for name, content in _codes(rng).items():
        expects = Expects.WHOLE if name == "whole" else Expects.REFUSED
        if name.startswith("altered"):
            expects = Expects.EITHER
        yield Case("codes", name, _codes_case(content), expects)


def _texts(rng: np.random.Generator) -> dict[str, bytes]:
    return {
        "empty": b"", "blanks": b" \t\n" * 50, "control characters": bytes(range(1, 32)) * 20,
        "NUL": b"a\0b", "escape sequences": b"\x1b[2J\x1b]0;x\x07 hello", "no UTF-8": b"\xff\xfe a",
        "half a letter": "\u00e4".encode()[:1], "surrogates": "\ud800\udfff x".encode(
            "utf-8", "surrogatepass"), "emoji": "\U0001f600\U0001f1e9\U0001f1ea".encode() * 50,
        "joined emoji": "\U0001f468\u200d\U0001f469\u200d\U0001f467".encode() * 30,
        "marks": ("a" + "\u0301" * 5000).encode(), "right to left": "\u202e\u05d0\u05d1".encode(),
        "no blank": b"a" * 20_000, "1 MB without a blank": b"a" * _MB,
        "noise": rng.bytes(2000), "line ends": b"\r\n\r\n.\r\n" * 300, "full stops": b"." * 5000,
        "a tag": b"<speak><break time='999999s'/></speak>", "format signs": b"%s%n{0}{}$PATH`id`",
        "numbers": b"9" * 3000, "byte order mark": b"\xef\xbb\xbfHello", "unassigned":
        "\U000e0fff\ufffe\uffff".encode() * 20, "words": b"word " * 400,
    }  # fmt: skip


def _typed(text: bytes) -> Callable[[Path], Run]:
    def prepare(folder: Path) -> Run:
        (folder / "stdin").write_bytes(text)
        return command("say", "-", "-o", "out.wav", "--voice", "fake")

    return prepare


def _said(text: str) -> Callable[[Path], Run]:
    return lambda _: command("say", "-o", "out.wav", "--voice", "fake", "--", text)


def _codes_case(content: bytes) -> Callable[[Path], Run]:
    def prepare(folder: Path) -> Run:
        path = folder / "codes.npz"
        path.write_bytes(content)
        return call(lambda: len(read_codes(path).frames(NANOCODEC_21HZ)))

    return prepare


def _codes(rng: np.random.Generator) -> dict[str, bytes]:
    good = {
        "codec_id": np.array(NANOCODEC_21HZ.codec_id), "layout": np.array("per_dim"),
        "codes": rng.integers(0, 6, (50, NANOCODEC_21HZ.num_dims)).astype(np.int32),
    }  # fmt: skip
    whole = _npz(**good)
    changes: dict[str, dict[str, object]] = {
        "floats": {"codes": good["codes"].astype(np.float32)},
        "out of range": {"codes": good["codes"] + 100},
        "negative": {"codes": -good["codes"] - 1},
        "one axis": {"codes": good["codes"].ravel()},
        "no axis": {"codes": np.array(5)},
        "five axes": {"codes": good["codes"][None, None, None]},
        "columns": {"codes": good["codes"][:, :7]},
        "text": {"codes": np.array(["a", "b"])},
        "huge numbers": {"codes": np.full((9, 32), 2**64 - 1, np.uint64)},
        "flat": {"layout": np.array("flat"), "codes": np.arange(7)},
        "layout of nothing": {"layout": np.array("diagonal")},
        "layout of bytes": {"layout": np.frombuffer(b"\xff\xfe", "S2")},
        "an array of names": {"codec_id": np.array([["x"] * 99] * 99)},
        "complex": {"codes": np.zeros((3, 32), complex)},
        "truths": {"codes": np.ones((3, 32), bool)},
        "dates": {"codes": np.zeros((3, 32), "M8[s]")},
    }
    found = {name: _npz(**(good | change)) for name, change in changes.items()}
    objects = io.BytesIO()
    np.savez(objects, allow_pickle=True, **(good | {"codes": np.array([_Trap()], object)}))
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in ("codec_id", "layout"):
            archive.writestr(f"{name}.npy", _npy(good[name]))
        archive.writestr("codes.npy", _header("<i4", (2**26, 32)) + bytes(300 * _MB))
    found |= {
        "whole": whole, "empty": b"", "noise": rng.bytes(4000), "text": b"codes" * 99,
        "one array": _npy(good["codes"]), "without codes": _npz(layout=good["layout"]),
        "objects": objects.getvalue(), "a bomb": bomb.getvalue(),
        "a shape that lies": _zip(good, _header("<i4", (2**40, 32)) + bytes(100)),
        "a negative shape": _zip(good, _header("<i4", (-5, 32)) + bytes(100)),
        "a header of code": _zip(good, b"\x93NUMPY\x01\x00\x40\x00" + b"exit()".ljust(64)),
        "a header without end": _zip(good, b"\x93NUMPY\x02\x00\xff\xff\xff\xff" + b"x" * 99),
        "a deep header": _zip(good, b"\x93NUMPY\x02\x00\x40\x9c\x00\x00" + b"(" * 40_000),
    }  # fmt: skip
    for share in (0.1, 0.5, 0.9, 0.99):
        found[f"cut at {share:.0%}"] = whole[: round(share * len(whole))]
    for number in range(8):
        altered = bytearray(whole)
        for at in rng.integers(0, len(whole), 5):
            altered[at] = rng.integers(256)
        found[f"altered {number}"] = bytes(altered)
    return found


class _Trap:
    def __reduce__(self) -> tuple[object, ...]:
        return (os.kill, (0, 9))


def _npz(**arrays: object) -> bytes:
    stream = io.BytesIO()
    np.savez_compressed(stream, **arrays)  # type: ignore[arg-type]
    return stream.getvalue()


def _npy(array: object) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=False)  # type: ignore[arg-type]
    return stream.getvalue()


def _header(dtype: str, shape: tuple[int, ...]) -> bytes:
    text = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}".encode()
    text = text.ljust(118) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text


def _zip(good: dict[str, np.ndarray], codes: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name in ("codec_id", "layout"):
            archive.writestr(f"{name}.npy", _npy(good[name]))
        archive.writestr("codes.npy", codes)
    return stream.getvalue()
