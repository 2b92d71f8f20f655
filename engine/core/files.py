"""Paths as people write them, and small files read whole or not at all."""

import os
import stat
from contextlib import suppress
from pathlib import Path

MAX_SMALL_BYTES = 4 * 2**20
"""More than any file of settings, facts or names has."""


def expanded(path: str | os.PathLike[str]) -> Path:
    """Return a path with `~` replaced; as it is where nobody of that name has a home."""
    with suppress(RuntimeError):
        return Path(path).expanduser()
    return Path(path)


def read_small(path: Path, max_bytes: int = MAX_SMALL_BYTES) -> bytes:
    """Return the content of a plain file that is no larger than it should be.

    Raises:
        OSError: it is missing or cannot be read.
        ValueError: it is a pipe or a device, or too large.
    """
    # Without waiting: to open a pipe that nobody writes to would never return.
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise ValueError("it is no plain file")
        content = file.read(max_bytes + 1)
    if len(content) > max_bytes:
        raise ValueError(f"it is larger than {max_bytes} bytes")
    return content
