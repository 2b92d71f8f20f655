"""A file that only grows and that no fault of the disk can tear."""

import contextlib
import errno
import os
from pathlib import Path

from engine.store.private import make_file


class HeldFile:
    """Appends to a new file and holds in memory whatever is not surely on the disk.

    What the disk refuses is written by the next call, at the very byte where it stopped. A failed
    fsync leaves open which bytes since the last one reached the disk, and the next one may report
    success without them: so all of them are written again.

    Memory: what came since the last good `sync`. Thread: one at a time.

    Args:
        path: made anew, readable by its owner alone.

    Raises:
        OSError: it cannot be made, or is there already.
    """

    def __init__(self, path: Path) -> None:
        make_file(path)
        self.path = path
        self._file = path.open("r+b", buffering=0)
        self._held = bytearray()
        self._num_synced = 0
        self._num_written = 0

    @property
    def num_bytes(self) -> int:
        """Length of the file once everything appended is written."""
        return self._num_synced + len(self._held)

    @property
    def num_unwritten(self) -> int:
        """Bytes that the disk has refused so far."""
        return self.num_bytes - self._num_written

    @property
    def num_held(self) -> int:
        """Bytes in memory."""
        return len(self._held)

    @property
    def is_closed(self) -> bool:
        """Whether nothing more can be added."""
        return self._file.closed

    def hold(self, data: bytes) -> None:
        """Add bytes that the next `append` or `sync` writes."""
        self._held += data

    def append(self, data: bytes) -> None:
        """Add bytes and hand everything to the operating system.

        Raises:
            OSError: it was refused, and is held.
        """
        self.hold(data)
        self._write()

    def sync(self) -> None:
        """Bring everything to the disk.

        Raises:
            OSError: it was refused, or the file is not at its place any more.
        """
        self._write()
        try:
            os.fsync(self._file.fileno())
        except OSError:
            self._num_written = self._num_synced
            raise
        self._num_synced = self._num_written
        self._held.clear()
        self._check_place()

    def overwrite(self, head: bytes) -> None:
        """Write over the beginning of the file; the next `sync` brings it to the disk.

        Raises:
            OSError: it was refused.
        """
        position, rest = 0, memoryview(head)
        while rest:
            self._file.seek(position)
            num_taken = self._file.write(rest) or 0
            position, rest = position + num_taken, rest[num_taken:]

    def give_up(self, unit_bytes: int = 1) -> None:
        """Forget what the disk has not taken, and cut the file after its last whole unit."""
        length = self._num_written // unit_bytes * unit_bytes
        with contextlib.suppress(OSError):
            self._file.truncate(length)
        self._num_synced = self._num_written = length
        self._held.clear()

    def close(self) -> None:
        """Release the file, written or not; idempotent."""
        # The operating system may tell of late faults here; `sync` has told them before.
        with contextlib.suppress(OSError):
            self._file.close()

    def _write(self) -> None:
        while self.num_unwritten:
            rest = self._held[self._num_written - self._num_synced :]
            self._file.seek(self._num_written)
            self._num_written += self._file.write(rest) or 0

    def _check_place(self) -> None:
        """A file that was deleted, or whose disk was taken away, still takes what is written."""
        here, there = os.fstat(self._file.fileno()), self.path.stat()
        if (here.st_dev, here.st_ino) != (there.st_dev, there.st_ino):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(self.path))
