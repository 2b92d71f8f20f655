"""Reads stretches of a WAV file that is still being written."""

import os
import threading
from pathlib import Path

from engine.audio.wav import HEADER_BYTES, SAMPLE_BYTES, from_int16
from engine.core.errors import StoreError, reason_of
from engine.core.types import Pcm


class AudioSpanReader:
    """Random access to a file of `engine.audio.wav.WavWriter` or a journal. Thread: any."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._file: int | None = None
        self._is_closed = False

    @property
    def num_samples(self) -> int:
        """Samples in the file now; 0 if it is gone."""
        try:
            size_bytes = self._path.stat().st_size
        except OSError:
            return 0
        return max(0, size_bytes - HEADER_BYTES) // SAMPLE_BYTES

    def read(self, start: int, end: int) -> Pcm:
        """Return the samples [start, end), fewer where the file is shorter.

        Raises:
            StoreError: the file is gone, or closed.
        """
        with self._lock:
            if self._is_closed:
                raise StoreError(
                    f"The recording {self._path} is not read any more.",
                    advice="Open it again.",
                )
            try:
                if self._file is None:
                    self._file = os.open(self._path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
                os.lseek(self._file, HEADER_BYTES + start * SAMPLE_BYTES, os.SEEK_SET)
                data = os.read(self._file, max(0, end - start) * SAMPLE_BYTES)
            except OSError as error:
                raise StoreError(
                    f"The recording {self._path} cannot be read: {reason_of(error)}.",
                    advice="Check that the disk is there.",
                ) from error
        return from_int16(data)

    def close(self) -> None:
        """Release the file; idempotent."""
        with self._lock:
            self._is_closed = True
            if self._file is not None:
                os.close(self._file)
                self._file = None
