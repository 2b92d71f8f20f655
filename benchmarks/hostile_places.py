"""What is no file of audio: folders, pipes, devices, loops, other kinds of files, odd names."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from benchmarks.hostile_case import Case, Expects, Run
from benchmarks.hostile_commands import FAKES, command
from engine.audio.wav import write_wav

_DEVICES = ("zero", "null", "full", "random", "stdin", "fd/0", "tty")
_SUFFIXES = ("wav", "flac", "ogg", "mp3", "m4a", "webm", "aiff", "caf", "xyz", "")


def cases(seed: int) -> Iterator[Case]:
    """Yield places that cannot be read as audio, each by three commands."""
    for name, make, expects in _places(seed):
        for label, run in _COMMANDS:
            yield Case(
                "places",
                f"{name}, {label}",
                _prepared(make, run),
                expects,
                is_unprivileged=name.startswith("unreadable"),
            )


_COMMANDS: tuple[tuple[str, Callable[[Path], Run]], ...] = (
    ("transcribe", lambda path: command("transcribe", path, *FAKES)),
    ("listen", lambda path: command("listen", "--input", f"file:{path}", "--fast", *FAKES)),
    ("codec", lambda path: command("codec", path, "-o", "out.wav", "--untrained")),
)


def _prepared(make: Callable[[Path], Path], run: Callable[[Path], Run]) -> Callable[[Path], Run]:
    return lambda folder: run(make(folder))


def _places(seed: int) -> Iterator[tuple[str, Callable[[Path], Path], Expects]]:
    rng = np.random.default_rng(seed)
    for device in _DEVICES:
        yield f"/dev/{device}", lambda _, name=device: Path("/dev") / name, Expects.REFUSED
    yield "a folder", lambda folder: folder, Expects.REFUSED
    yield "a pipe", _pipe, Expects.REFUSED
    yield "a loop of links", _loop, Expects.REFUSED
    yield "a link to nothing", _dangling, Expects.REFUSED
    yield "a link to /dev/zero", lambda folder: _link(folder, "/dev/zero"), Expects.REFUSED
    yield "a long name", lambda folder: folder / ("a" * 300), Expects.REFUSED
    yield "a very long path", lambda folder: folder / ("a/" * 3000), Expects.REFUSED
    yield "nobody's home", lambda _: Path("~nobody-of-this-name/sound.wav"), Expects.REFUSED
    yield "a name that is no text", _no_text, Expects.REFUSED
    yield "unreadable", _unreadable, Expects.REFUSED
    yield "memory of the kernel", lambda _: Path("/proc/kmsg"), Expects.REFUSED
    yield "an endless process file", lambda _: Path("/proc/self/mem"), Expects.REFUSED
    contents = {
        "empty": b"", "text": b"Hello, this is no sound.\n" * 50, "zeros": bytes(5000),
        "one byte": b"R", "HTML": b"<!doctype html><html>" * 99, "noise": rng.bytes(5000),
        "ELF": b"\x7fELF" + rng.bytes(4000), "a playlist": b"#EXTM3U\n/etc/passwd\n",
        "a network playlist": b"#EXTM3U\n#EXTINF:1,\nhttp://127.0.0.1:9/x.mp3\n",
        "concat": b"ffconcat version 1.0\nfile /etc/passwd\n",
    }  # fmt: skip
    for number, (name, content) in enumerate(contents.items()):
        for suffix in (_SUFFIXES[number % len(_SUFFIXES)], "wav", "mp3")[: 2 + number % 2]:
            yield f"{name} named .{suffix}", _file(content, suffix), Expects.REFUSED


def _file(content: bytes, suffix: str) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        path = folder / (f"sound.{suffix}" if suffix else "sound")
        path.write_bytes(content)
        return path

    return make


def _pipe(folder: Path) -> Path:
    os.mkfifo(folder / "pipe.wav")
    return folder / "pipe.wav"


def _link(folder: Path, target: str) -> Path:
    (folder / "link.wav").symlink_to(target)
    return folder / "link.wav"


def _loop(folder: Path) -> Path:
    (folder / "other.wav").symlink_to(folder / "link.wav")
    return _link(folder, str(folder / "other.wav"))


def _dangling(folder: Path) -> Path:
    return _link(folder, "nowhere")


def _no_text(folder: Path) -> Path:
    return folder / os.fsdecode(b"\xff\xfe.wav")


def _unreadable(folder: Path) -> Path:
    write_wav(folder / "secret.wav", np.zeros(1000, np.float32), 16_000)
    (folder / "secret.wav").chmod(0)
    return folder / "secret.wav"
