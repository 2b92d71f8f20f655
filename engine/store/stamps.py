"""Remembers which model files were verified, so that a start need not read them all again."""

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TypeAlias

import msgspec

from engine.core.files import read_small
from engine.store.manifest import Member

Stamp: TypeAlias = tuple[int, int, str]
"""Size in bytes, time of change in nanoseconds, and the sha256 that was verified."""

_NAME = ".verified.json"


def make_stamp(path: Path, member: Member) -> Stamp:
    """Return the stamp of a file as it lies there, for the content the manifest asks for."""
    status = path.stat()
    return status.st_size, status.st_mtime_ns, member.sha256


def read_stamps(folder: Path) -> dict[str, Stamp]:
    """Return the stamps of a model's folder by member; empty if there are none to trust."""
    try:
        return msgspec.json.decode(read_small(folder / _NAME), type=dict[str, Stamp])
    except (OSError, ValueError, RecursionError):
        return {}


def write_stamps(folder: Path, stamps: Mapping[str, Stamp]) -> None:
    """Keep stamps; a folder that cannot be written to is verified at every start instead."""
    with suppress(OSError):
        scratch = folder / f"{_NAME}.{os.getpid()}"
        scratch.write_bytes(msgspec.json.encode(dict(stamps)))
        scratch.replace(folder / _NAME)
