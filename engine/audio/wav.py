"""Writes WAV files that survive a crash."""

import os
import struct
from pathlib import Path

import numpy as np

from engine.core.errors import AudioFileError
from engine.core.types import Pcm

_HEADER_BYTES = 44
_MAX_DATA_BYTES = 0xFFFFFFFF - _HEADER_BYTES


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
            self._write(_wav_header(sample_rate, 0))
        except AudioFileError:
            self._file.close()
            raise

    @property
    def num_samples(self) -> int:
        """Samples appended so far."""
        return self._num_samples

    def append(self, pcm: Pcm) -> None:
        """Add samples; what is beyond full scale is clipped.

        Raises:
            AudioFileError: the disk is full, or gone.
        """
        scaled = np.rint(np.clip(pcm, -1.0, 1.0) * 32767.0).astype("<i2")
        self._write(scaled.tobytes())
        self._num_samples += len(pcm)

    def sync(self) -> None:
        """Put everything on the disk, with a header that covers it.

        Raises:
            AudioFileError: the disk is full, or gone.
        """
        try:
            self._file.seek(0)
            self._write(_wav_header(self.sample_rate, self._num_samples))
            self._file.seek(0, os.SEEK_END)
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

    def _write(self, data: bytes) -> None:
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[self._file.write(rest) :]
        except OSError as error:
            raise _cannot_write(self.path, error) from error


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


def _wav_header(rate: int, num_samples: int) -> bytes:
    num_bytes = min(2 * num_samples, _MAX_DATA_BYTES)
    return struct.pack(
        "<4sI4s4sIHHIIHH4sI",
        *(b"RIFF", num_bytes + _HEADER_BYTES - 8, b"WAVE"),
        *(b"fmt ", 16, 1, 1, rate, 2 * rate, 2, 16),
        *(b"data", num_bytes),
    )


def _cannot_write(path: Path, error: OSError) -> AudioFileError:
    return AudioFileError(
        f"{path} cannot be written: {error.strerror or error}.",
        advice="Check the folder, its permissions, and the space on the disk.",
    )
