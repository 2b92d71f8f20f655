"""Writes WAV files that survive a crash."""

import contextlib
import os
import struct
from pathlib import Path

import numpy as np

from engine.core.errors import AudioFileError, reason_of
from engine.core.types import Pcm

HEADER_BYTES = 44
"""Where the samples of our files begin."""
SAMPLE_BYTES = 2
_MAX_DATA_BYTES = 0xFFFFFFFF - HEADER_BYTES


class WavWriter:
    """Writes mono 16-bit WAV, readable up to the last `sync` whenever the process dies.

    The file is readable and writable by its owner alone. Thread: one at a time.

    Args:
        path: made anew; an existing file is replaced.
        sample_rate: Hz.

    Raises:
        AudioFileError: it cannot be written.
    """

    def __init__(self, path: str | os.PathLike[str], sample_rate: int) -> None:
        self.path = Path(path)
        self.sample_rate = sample_rate
        self._num_samples = 0
        try:
            fd = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
            if hasattr(os, "fchmod"):
                os.fchmod(fd, 0o600)
        except OSError as error:
            raise _cannot_write(self.path, error) from error
        # Unbuffered: what was appended is the system's to keep, whatever becomes of the process.
        self._file = os.fdopen(fd, "wb", buffering=0)
        try:
            self._write_at(0, wav_header(sample_rate, 0))
        except OSError as error:
            self._file.close()
            raise _cannot_write(self.path, error) from error

    @property
    def num_samples(self) -> int:
        """Samples appended so far."""
        return self._num_samples

    def append(self, pcm: Pcm) -> None:
        """Add samples; what is beyond full scale is clipped.

        Raises:
            AudioFileError: the disk is full, or gone. The samples that it took count as appended,
                and the next ones follow them.
        """
        try:
            self._write_at(self._end, as_int16(pcm))
        except OSError as error:
            size_bytes = max(self._end, os.fstat(self._file.fileno()).st_size)
            self._num_samples += (size_bytes - self._end) // SAMPLE_BYTES
            with contextlib.suppress(OSError):
                self._file.truncate(self._end)
            raise _cannot_write(self.path, error) from error
        self._num_samples += len(pcm)

    def sync(self) -> None:
        """Put everything on the disk, with a header that covers it.

        Raises:
            AudioFileError: the disk is full, or gone.
        """
        try:
            self._write_at(0, wav_header(self.sample_rate, self._num_samples))
            os.fsync(self._file.fileno())
        except OSError as error:
            raise _cannot_write(self.path, error) from error

    def close(self) -> None:
        """Sync and close; idempotent.

        Raises:
            AudioFileError: the disk is full, or gone.
        """
        if self._file.closed:
            return
        try:
            self.sync()
        finally:
            self._file.close()

    @property
    def _end(self) -> int:
        return HEADER_BYTES + SAMPLE_BYTES * self._num_samples

    def _write_at(self, position: int, data: bytes) -> None:
        # Never where the last call happens to have left the file: it may have failed half-way.
        self._file.seek(position)
        rest = memoryview(data)
        while rest:
            rest = rest[self._file.write(rest) :]


def write_wav(path: str | os.PathLike[str], pcm: Pcm, sample_rate: int) -> None:
    """Write a whole mono WAV file.

    Raises:
        AudioFileError: it cannot be written.
    """
    writer = WavWriter(path, sample_rate)
    try:
        writer.append(pcm)
    finally:
        writer.close()


def as_int16(pcm: Pcm) -> bytes:
    """Return samples as a 16-bit WAV file has them, clipped to full scale."""
    data: bytes = np.rint(np.clip(pcm, -1.0, 1.0) * 32767.0).astype("<i2").tobytes()
    return data


def from_int16(data: bytes) -> Pcm:
    """Return the whole samples in bytes of a 16-bit WAV file, (n,) float32."""
    whole = len(data) // SAMPLE_BYTES * SAMPLE_BYTES
    return np.frombuffer(data[:whole], dtype="<i2").astype(np.float32) / np.float32(32767.0)


def wav_header(rate: int, num_samples: int) -> bytes:
    """Return the first `HEADER_BYTES` of a mono 16-bit WAV file."""
    num_bytes = min(SAMPLE_BYTES * num_samples, _MAX_DATA_BYTES)
    return struct.pack(
        "<4sI4s4sIHHIIHH4sI",
        *(b"RIFF", num_bytes + HEADER_BYTES - 8, b"WAVE"),
        *(b"fmt ", 16, 1, 1, rate, 2 * rate, 2, 16),
        *(b"data", num_bytes),
    )


def _cannot_write(path: Path, error: OSError) -> AudioFileError:
    return AudioFileError(
        f"{path} cannot be written: {reason_of(error)}.",
        advice="Check the folder, its permissions, and the space on the disk.",
    )
