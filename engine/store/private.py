"""Files that their owner alone may read, written whole or not at all."""

import errno
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from engine.core.errors import StoreError, reason_of

FILE_MODE = 0o600
FOLDER_MODE = 0o700


def make_folder(path: Path, *, exist_ok: bool = True) -> None:
    """Make a folder, and those above it, that its owner alone may enter.

    Raises:
        OSError: it cannot be made, or is there and must not be.
    """
    path.parent.mkdir(parents=True, exist_ok=True, mode=FOLDER_MODE)
    path.mkdir(mode=FOLDER_MODE, exist_ok=exist_ok)


def make_file(path: Path) -> None:
    """Make a new, empty file that its owner alone may read.

    Raises:
        OSError: it cannot be made, or is there already.
    """
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, FILE_MODE))


def sync_folder(path: Path) -> None:
    """Make the names in a folder survive a power cut, where the system can.

    Raises:
        OSError: the disk is full or gone.
    """
    if os.name == "nt":
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        # Some network file systems cannot, and say so.
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(descriptor)


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """Open a file for writing that takes the place of `path` once it is whole and on disk.

    If the block raises, `path` stays as it was. The file is its owner's alone.

    Raises:
        StoreError: it cannot be written; says why.
    """
    scratch = path.with_name(f".{path.name[:100]}.{secrets.token_hex(4)}")
    try:
        make_file(scratch)
        try:
            with scratch.open("wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            scratch.replace(path)
            sync_folder(path.parent)
        finally:
            with suppress(FileNotFoundError):
                scratch.unlink()
    except OSError as error:
        raise StoreError(
            f"{path} cannot be written: {reason_of(error)}.",
            advice="Check the folder, its permissions and the free disk space.",
        ) from error


def write_whole(path: Path, data: bytes) -> None:
    """Write a file in one go, as `replacing` does.

    Raises:
        StoreError: it cannot be written; says why.
    """
    with replacing(path) as file:
        file.write(data)
