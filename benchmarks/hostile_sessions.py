"""Stored sessions whose files are torn, altered, missing, or something else."""

import json
import os
import struct
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from benchmarks.hostile_case import Case, Expects, Run
from benchmarks.hostile_commands import command

_ID, _OTHER = "20260102-030405-aaaa", "20260102-030406-bbbb"
_WORDS = ("alpha", "bravo", "charlie", "delta")
_HEADER = {
    "id": _ID, "started_at": "2026-01-02T03:04:05+00:00", "sample_rate": 16_000, "title": "Talk",
    "is_closed": True, "num_samples": 64_000, "num_words": 4,
}  # fmt: skip
_SHOW, _EXPORT = ("sessions", "show", _ID), ("sessions", "export", _ID, "-f", "json")
_LIST = ("sessions", "list")
_MB = 2**20


def cases(seed: int) -> Iterator[Case]:
    """Yield damaged headers, journals and folders beside one that is whole."""
    rng = np.random.default_rng(seed)
    yield _case("sessions", "whole", lambda _: None, _SHOW, Expects.WHOLE, _WORDS)
    for name, content in _headers().items():
        for what in (_LIST, _SHOW):
            shows = (_ID, _OTHER) if what is _LIST else _WORDS
            change = _file("session.json", content)
            yield _case(
                "session headers", f"{name}, {what[1]}", change, what, Expects.EITHER, shows
            )
    for name, (content, shows, expects) in _journals(rng).items():
        for what in (_SHOW, _EXPORT):
            change = _file("events.jsonl", content)
            is_slow = len(content) > _MB
            yield _case("journals", f"{name}, {what[1]}", change, what, expects, shows, is_slow)
    for place in ("session.json", "events.jsonl", "audio.wav"):
        for name, change in _OTHER_THINGS.items():
            # Whatever one file of a session is, both are in the list.
            yield _case(
                "session folders",
                f"{place} is {name}, list",
                lambda folder, change=change, place=place: change(folder / place),
                _LIST,
                Expects.EITHER,
                (_ID, _OTHER),
            )
            yield _case(
                "session folders",
                f"{place} is {name}, show",
                lambda folder, change=change, place=place: change(folder / place),
                _SHOW,
                Expects.TOLD if place == "events.jsonl" else Expects.EITHER,
                () if place == "events.jsonl" else _WORDS,
            )


def _headers() -> dict[str, bytes]:
    whole = json.dumps(_HEADER).encode()
    found = {
        "empty": b"", "zero bytes": bytes(500), "cut short": whole[:40], "no object": b"[1, 2]",
        "deep": b"[" * 200_000, "deep in a value": whole[:-1] + b', "x": ' + b'{"a":' * 100_000,
        "no UTF-8": b'{"id": "\xff\xfe"}', "unpaired surrogate": b'{"title": "\\ud800"}',
        "large": whole[:-1] + b', "device": "' + b"x" * (8 * _MB) + b'"}',
        "twice a key": whole[:-1] + b', "sample_rate": 0}', "null": b"null",
    }  # fmt: skip
    strange: dict[str, object] = {
        "sample_rate": 0, "sample_rate ": 10**30, "num_samples": -1, "num_samples ": 10**400,
        "num_words": -7, "started_at": "yesterday", "started_at ": "0001-01-01T00:00:00+23:59",
        "started_at  ": "9999-12-31T23:59:59-23:59", "id": "../../etc", "title": "\x1b[2J\x07",
        "title ": "a\nb", "keep": "all", "is_closed": "yes", "schema_version": 99,
        "started_at   ": None, "unknown": {"a": 1},
    }  # fmt: skip
    for key, value in strange.items():
        found[f"{key.strip()} {str(value)[:20]!r}"] = json.dumps(
            _HEADER | {key.strip(): value}
        ).encode()
    return found


def _line(event: str, **fields: object) -> bytes:
    return json.dumps({"event": event, **fields}).encode() + b"\n"


def _words(first: int = 0) -> list[bytes]:
    return [
        _line(
            "final_words",
            words=[
                {"text": f" {w}", "start": at * 8000, "end": at * 8000 + 6000, "probability": 0.9}
            ],
        )
        for at, w in enumerate(_WORDS[first:])
    ]


def _journals(rng: np.random.Generator) -> dict[str, tuple[bytes, tuple[str, ...], Expects]]:
    lines = [_line("schema", version=1), *_words()]
    whole = b"".join(lines)
    told, either = Expects.TOLD, Expects.EITHER
    found: dict[str, tuple[bytes, tuple[str, ...], Expects]] = {
        "empty": (b"", (), either),
        "last line torn": (whole[:-20], _WORDS[:3], told),
        "first line torn": (whole[5:], _WORDS, either),
        "zero bytes behind": (whole + bytes(4096), _WORDS, either),
        "zero bytes between": (lines[0] + bytes(4096) + b"".join(lines[1:]), _WORDS, either),
        "zero bytes alone": (bytes(5000), (), either),
        "no line ends": (whole.replace(b"\n", b" "), (), told),
        "CRLF": (whole.replace(b"\n", b"\r\n"), _WORDS, either),
        "binary between": (whole + rng.bytes(500) + b"\n" + whole, _WORDS, told),
        "one line of 100 MB": (whole + b"x" * (100 * _MB) + b"\n" + lines[1], _WORDS, told),
        "one word of 20 MB": (
            whole
            + _line(
                "final_words", words=[{"text": "x" * (20 * _MB), "start": 90_000, "end": 90_001}]
            ),
            _WORDS,
            either,
        ),
        "a newer schema": (_line("schema", version=99) + b"".join(lines[1:]), _WORDS, either),
    }
    damaged = {
        "deep nesting": b"[" * 100_000,
        "deep in an event": b'{"event": "final_words", "words": ' + b"[" * 100_000,
        "unknown event": _line("telepathy"),
        "event of a number": _line("7") + b'{"event": 7}',
        "event of a list": b'{"event": []}',
        "words of numbers": _line("final_words", words=[1, 2]),
        "words null": _line("final_words", words=None),
        "surrogate": b'{"event": "final_words", "words": [{"text": "\\ud800"}]}',
        "no UTF-8": b'{"event": "final_words", "words": [{"text": "\xff"}]}',
        "ragged rows": _line("activity_revised", first_frame=0, frame_ms=80,
                             probabilities=[[1], [1, 2]], final_until=2),
        "rows of 99 speakers": _line("activity_revised", first_frame=0, frame_ms=80,
                                     probabilities=[[0.5] * 99], final_until=1),
        "rows of text": _line("activity_revised", first_frame=0, frame_ms=80,
                              probabilities=[["a"]], final_until=1),
        "rows in rows": _line("activity_revised", first_frame=0, frame_ms=80,
                              probabilities=[[[0.5]]], final_until=1),
        "frames of 0 ms": _line("activity_revised", first_frame=0, frame_ms=0,
                                probabilities=[[0.5]], final_until=1),
        "a frame far away": _line("activity_revised", first_frame=10**12, frame_ms=80,
                                  probabilities=[[0.5, 0.1]], final_until=10**12),
        "a frame before the first": _line("activity_revised", first_frame=-5, frame_ms=80,
                                          probabilities=[[0.5, 0.1]], final_until=1),
        "a slot of 10^9": _line("speaker_renamed", speaker={"epoch": 0, "slot": 10**9}, name="X"),
        "a slot of -1": _line("speaker_renamed", speaker={"epoch": 0, "slot": -1}, name="X"),
    }  # fmt: skip
    for name, line in damaged.items():
        found[name] = (b"".join([*lines[:3], line + b"\n", *lines[3:]]), _WORDS, either)
    numbers = {"start": 10**30, "end": -(10**30), "probability": 1e308, "start ": -1, "end ": 2**62}
    for name, number in numbers.items():
        word = {"text": " far", "start": 0, "end": 100, "probability": 0.5} | {name.strip(): number}
        line = _line("final_words", words=[word])
        found[f"{name.strip()} {number:.0e}"] = (whole + line, _WORDS, either)
    for number in range(6):
        altered = bytearray(whole)
        for at in rng.integers(0, len(whole), 3):
            altered[at] = rng.integers(256)
        found[f"altered {number}"] = (bytes(altered), (), either)
    return found


def _case(
    family: str,
    name: str,
    change: Callable[[Path], None],
    what: tuple[str, ...],
    expects: Expects,
    shows: tuple[str, ...],
    is_slow: bool = False,
) -> Case:
    def prepare(folder: Path) -> Run:
        root = folder.parent / "home" / "data" / "sessions"
        for session_id in (_ID, _OTHER):
            _write_session(root / session_id)
        change(root / _ID)
        return command(*what)

    return Case(family, name, prepare, expects, shows, is_slow=is_slow)


def _write_session(folder: Path) -> None:
    folder.mkdir(parents=True)
    (folder / "session.json").write_text(json.dumps(_HEADER | {"id": folder.name}))
    (folder / "events.jsonl").write_bytes(_line("schema", version=1) + b"".join(_words()))
    head = struct.pack("<IHHIIHH", 16, 1, 1, 16_000, 32_000, 2, 16)
    data = b"WAVEfmt " + head + b"data" + struct.pack("<I", 128_000) + bytes(128_000)
    (folder / "audio.wav").write_bytes(b"RIFF" + struct.pack("<I", len(data)) + data)


def _file(name: str, content: bytes) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        (folder / name).write_bytes(content)

    return change


def _replaced(make: Callable[[Path], object]) -> Callable[[Path], None]:
    def change(path: Path) -> None:
        path.unlink()
        make(path)

    return change


_OTHER_THINGS: dict[str, Callable[[Path], None]] = {
    "missing": _replaced(lambda _: None),
    "a folder": _replaced(lambda path: path.mkdir()),
    "a pipe": _replaced(lambda path: os.mkfifo(path)),
    "a link to itself": _replaced(lambda path: path.symlink_to(path)),
    "a link to /dev/zero": _replaced(lambda path: path.symlink_to("/dev/zero")),
    "a link to nothing": _replaced(lambda path: path.symlink_to("nowhere")),
    "empty": _replaced(lambda path: path.touch()),
}
