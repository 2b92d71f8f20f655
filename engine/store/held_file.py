"""A file that only grows and that no fault of the disk can tear."""

import contextlib
import errno
import os
import threading
from pathlib import Path

from engine.store.private import make_file

_WRITE_BYTES = 2**20
"""At most so many go to the disk at a time, so that whoever adds some never waits for long."""


class HeldFile:
    """Appends to a new file and holds in memory whatever is not surely on the disk.

    What the disk refuses is written by the next call, at the very byte where it stopped. A failed
    fsync leaves open which bytes since the last one reached the disk, and the next one may report
    success without them: so all of them are written again.

    Memory: what came since the last good `sync`. Thread: `hold`, `read_held` and the counts from
    any, and they never wait for the disk; `write`, `sync` and `overwrite` from any, and a sync
    that takes long keeps nobody from writing; `close` when nobody else writes any more.

    Args:
        path: made anew, readable by its owner alone.

    Raises:
        OSError: it cannot be made, or is there already.
    """

    def __init__(self, path: Path) -> None:
        make_file(path)
        self.path = path
        self._file = path.open("r+b", buffering=0)
        # Held for moments only, and around all that is below.
        self._lock = threading.Lock()
        self._held = bytearray()
        self._num_synced = 0
        self._num_written = 0
        # Held while the disk is waited for; in this order.
        self._sync_lock = threading.Lock()
        self._write_lock = threading.Lock()

    @property
    def num_bytes(self) -> int:
        """Length of the file once everything appended is written."""
        with self._lock:
            return self._num_synced + len(self._held)

    @property
    def num_synced(self) -> int:
        """Bytes that are surely on the disk."""
        return self._num_synced

    @property
    def num_unwritten(self) -> int:
        """Bytes that the operating system has not taken so far."""
        with self._lock:
            return self._num_synced + len(self._held) - self._num_written

    @property
    def num_held(self) -> int:
        """Bytes in memory."""
        return len(self._held)

    @property
    def is_closed(self) -> bool:
        """Whether nothing more can be added."""
        return self._file.closed

    def hold(self, data: bytes) -> None:
        """Add bytes that the next `write` or `sync` writes."""
        with self._lock:
            self._held += data

    def read_held(self, position: int, num_bytes: int) -> bytes | None:
        """Return bytes from memory, fewer at the end; None where they are on the disk alone."""
        with self._lock:
            start = position - self._num_synced
            return bytes(self._held[start : start + num_bytes]) if start >= 0 else None

    def append(self, data: bytes) -> None:
        """Add bytes and hand everything to the operating system.

        Raises:
            OSError: it was refused, and is held.
        """
        self.hold(data)
        self.write()

    def write(self) -> None:
        """Hand everything to the operating system.

        Raises:
            OSError: it was refused, and is held.
        """
        with self._write_lock:
            while rest := self._next_bytes():
                self._file.seek(self._num_written)
                self._num_written += self._file.write(rest) or 0

    def sync(self) -> None:
        """Bring everything to the disk.

        Raises:
            OSError: it was refused, or the file is not at its place any more.
        """
        with self._sync_lock:
            self.write()
            reached = self._num_written
            try:
                os.fsync(self._file.fileno())
            except OSError:
                with self._write_lock:
                    self._num_written = self._num_synced
                raise
            with self._lock:
                del self._held[: reached - self._num_synced]
                self._num_synced = reached
            self._check_place()

    def overwrite(self, head: bytes) -> None:
        """Write over the beginning of the file; the next `sync` brings it to the disk.

        Raises:
            OSError: it was refused.
        """
        position, rest = 0, memoryview(head)
        with self._write_lock:
            while rest:
                self._file.seek(position)
                num_taken = self._file.write(rest) or 0
                position, rest = position + num_taken, rest[num_taken:]

    def give_up(self, unit_bytes: int = 1) -> None:
        """Forget what the disk has not taken, and cut the file after its last whole unit."""
        with self._sync_lock, self._write_lock:
            length = self._num_written // unit_bytes * unit_bytes
            with contextlib.suppress(OSError):
                self._file.truncate(length)
            with self._lock:
                self._num_synced = self._num_written = length
                self._held.clear()

    def close(self) -> None:
        """Release the file, written or not; idempotent."""
        # The operating system may tell of late faults here; `sync` has told them before.
        with contextlib.suppress(OSError):
            self._file.close()

    def _next_bytes(self) -> bytes:
        with self._lock:
            start = self._num_written - self._num_synced
            return bytes(self._held[start : start + _WRITE_BYTES])

    def _check_place(self) -> None:
        """A file that was deleted, or whose disk was taken away, still takes what is written."""
        here, there = os.fstat(self._file.fileno()), self.path.stat()
        if (here.st_dev, here.st_ino) != (there.st_dev, there.st_ino):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(self.path))
