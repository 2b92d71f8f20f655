"""Paths as people write them, and small files read whole or not at all."""

import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

MAX_SMALL_BYTES = 4 * 2**20
"""More than any file of settings, facts or names has."""


def expanded(path: str | os.PathLike[str]) -> Path:
    """Return a path with `~` replaced; as it is where nobody of that name has a home."""
    with suppress(RuntimeError):
        return Path(path).expanduser()
    return Path(path)


def open_plain(path: Path) -> BinaryIO:
    """Open a file for reading that is no pipe and no device, which have no end or never begin.

    Raises:
        OSError: it is missing or cannot be read.
        ValueError: it is something else than a file.
    """
    # Without waiting: to open a pipe that nobody writes to would never return.
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    descriptor = os.open(path, flags)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise ValueError("it is no plain file")
    return os.fdopen(descriptor, "rb")


def read_small(path: Path, max_bytes: int = MAX_SMALL_BYTES) -> bytes:
    """Return the content of a plain file that is no larger than it should be.

    Raises:
        OSError: it is missing or cannot be read.
        ValueError: it is a pipe or a device, or too large.
    """
    with open_plain(path) as file:
        content = file.read(max_bytes + 1)
    if len(content) > max_bytes:
        raise ValueError(f"it is larger than {max_bytes} bytes")
    return content
