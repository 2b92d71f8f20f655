"""Disks that are full, as far as a process can make them so."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def file_limit(num_bytes: int) -> Iterator[None]:
    """Let no file grow beyond a length: writes stop in the middle, as on a full disk. POSIX."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (num_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


class SmallDisk:
    """A disk of its own in memory, for whoever may mount one.

    Args:
        folder: where it is; must be there.
        size_mb: its size.
    """

    def __init__(self, folder: Path, size_mb: int) -> None:
        self.folder = folder
        self._filler = folder / "filler"
        self.is_there = shutil.which("mount") is not None and not _run(
            "mount", "-t", "tmpfs", "-o", f"size={size_mb}m", "vivavoce-test", str(folder)
        )

    def fill(self, free_bytes: int = 0) -> None:
        """Leave so much room."""
        with self._filler.open("ab") as file:
            # Not by `shutil.disk_usage`, which tests replace.
            while (left := _free_bytes(self.folder) - free_bytes) > 0:
                file.write(bytes(min(left, 2**20)))
                file.flush()

    def empty(self) -> None:
        """Take away what filled it."""
        self._filler.unlink()

    def make_read_only(self) -> None:
        """Let nobody write there any more."""
        _run("mount", "-o", "remount,ro", str(self.folder))

    def take_away(self) -> None:
        """Unplug it, in use or not."""
        if self.is_there:
            self.is_there = False
            _run("umount", "-l", str(self.folder))


def _free_bytes(folder: Path) -> int:
    found = os.statvfs(folder)
    return found.f_bavail * found.f_frsize


def _run(*command: str) -> int:
    return subprocess.run(command, check=False, capture_output=True).returncode
