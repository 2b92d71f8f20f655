"""Levels over a whole recording, with coarser ones for wide views."""

import os
import struct
import threading
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.core.errors import AudioFileError, reason_of
from engine.core.types import Pcm

CELL_S = 0.01
"""Length of the finest cell, to the nearest whole sample."""
POOL = 8
"""Cells of one level that make a cell of the next; pooled by maximum, so no peak vanishes."""
_NUM_LEVELS = 7
_MIN_CELLS = 4096
_HEADER_BYTES = 44
_READ_CELLS = 2048


class LevelTrack:
    """Peaks of every 10 ms from the beginning of a recording on.

    Memory: 2.3 bytes a cell (float16, coarser levels included), 0.82 MB an hour; at most twice
    that while it grows.

    Thread: one appends, any read. The appending thread never waits: it writes cells first and
    then, in one reference assignment, tells how many there are; readers look no further than what
    was told, and an array that has grown too small is replaced, not moved. Coarser levels are made
    by those who read, under a lock of their own.

    Args:
        sample_rate: Hz.
    """

    def __init__(self, sample_rate: int) -> None:
        if sample_rate < 1:
            raise ValueError(f"sample_rate must be positive, got {sample_rate}")
        self.sample_rate = sample_rate
        self.samples_per_cell = max(1, round(CELL_S * sample_rate))
        # NB: both are written by the appending thread alone, in this order, and read by any in the
        # other. (samples told, peak of the last cell if it is not full yet)
        self._cells = np.zeros(_MIN_CELLS, np.float16)
        self._told: tuple[int, float] = (0, 0.0)
        self._lock = threading.Lock()
        # Coarser levels, guarded by the lock: full cells only.
        self._pooled = [np.zeros(0, np.float16) for _ in range(_NUM_LEVELS - 1)]
        self._num_pooled = [0] * (_NUM_LEVELS - 1)

    @property
    def num_samples(self) -> int:
        """Samples measured so far."""
        return self._told[0]

    def append(self, pcm: Pcm) -> None:
        """Measure the next samples ((n,) float32). Thread: the appending one."""
        if len(pcm):
            self._append(np.abs(pcm), 1.0)

    def overview(
        self, start: int, end: int, max_cells: int
    ) -> tuple[NDArray[np.float32], int, int]:
        """Return peaks of the samples [start, end) for drawing.

        Cells lie at multiples of their own length, so they do not flicker when the view moves.

        Args:
            start: first sample.
            end: one past the last; what is not measured yet is left out.
            max_cells: about how many are wanted at most; there may be one more.

        Returns:
            (peaks (n,) float32, 0 to 1; first sample of the first; samples a cell).
        """
        num_samples, open_peak = self._told
        start, end = max(0, start), min(end, num_samples)
        size = self.samples_per_cell
        num_wanted = -(-end // size) - start // size
        factor = max(1, -(-num_wanted // max(1, max_cells)))
        if num_wanted <= 0:
            return np.zeros(0, np.float32), start // size * size, size
        level = 0
        while level + 1 < _NUM_LEVELS and POOL ** (level + 1) <= factor:
            level += 1
        pool = POOL**level
        step = -(-factor // pool)
        low = start // (size * pool * step)
        high = -(-end // (size * pool * step))
        cells = np.zeros((high - low) * step, np.float32)
        known = self._level(level, low * step, high * step, num_samples // size, open_peak)
        cells[: len(known)] = known
        peaks = np.minimum(cells.reshape(-1, step).max(axis=1), np.float32(1.0))
        return peaks, low * size * pool * step, size * pool * step

    def append_int16(self, samples: NDArray[np.int16]) -> None:
        """Measure the next samples as files hold them. Thread: the appending one."""
        if len(samples):
            # -32768 has no positive twin.
            self._append(np.abs(np.maximum(samples, -32767)), 1.0 / 32767.0)

    def _append(self, magnitudes: NDArray[Any], scale: float) -> None:
        """Take in (n,) magnitudes; times `scale` they are 0 to 1."""
        num_samples, open_peak = self._told
        size, n = self.samples_per_cell, len(magnitudes)
        index, num_open = divmod(num_samples, size)
        end = num_samples + n
        num_full = end // size
        if len(self._cells) <= num_full:
            self._grow(num_full + 1)
        head = min(n, size - num_open) if num_open else 0
        if head:
            open_peak = max(open_peak, float(magnitudes[:head].max()) * scale)
            if num_open + head == size:
                self._cells[index] = open_peak
                index, open_peak = index + 1, 0.0
        if num_full > index:
            whole = magnitudes[head : head + (num_full - index) * size]
            self._cells[index:num_full] = whole.reshape(-1, size).max(axis=1) * scale
            head += len(whole)
        if n > head:
            open_peak = max(open_peak, float(magnitudes[head:].max()) * scale)
        self._told = (end, open_peak)

    def _grow(self, num_cells: int) -> None:
        grown = np.zeros(max(num_cells, 2 * len(self._cells)), np.float16)
        grown[: len(self._cells)] = self._cells
        self._cells = grown

    def _level(
        self, level: int, first: int, end: int, num_full: int, open_peak: float
    ) -> NDArray[np.float16]:
        """Return cells [first, end) of a level, the unfinished one included."""
        pool = POOL**level
        num_done = num_full // pool
        if level == 0:
            done = self._cells[first : min(end, num_done)]
        else:
            done = self._pool(level, num_done)[first : min(end, num_done)]
        if not first <= num_done < end:
            return done
        rest = self._cells[num_done * pool : num_full]
        last = max(float(rest.max(initial=0.0)), open_peak)
        return np.append(done, np.float16(last))

    def _pool(self, level: int, num_cells: int) -> NDArray[np.float16]:
        """Return a coarser level whose first `num_cells` cells, at least, are made."""
        with self._lock:
            below = self._cells
            for at in range(level):
                need = num_cells * POOL ** (level - 1 - at)
                below = self._extend(at, below, need)
            return below

    def _extend(self, at: int, below: NDArray[np.float16], num_cells: int) -> NDArray[np.float16]:
        cells, num_old = self._pooled[at], self._num_pooled[at]
        if num_cells <= num_old:
            return cells
        if len(cells) < num_cells:
            grown = np.zeros(max(num_cells, 2 * len(cells)), np.float16)
            grown[:num_old] = cells[:num_old]
            cells = self._pooled[at] = grown
        fresh = below[num_old * POOL : num_cells * POOL]
        cells[num_old:num_cells] = fresh.reshape(-1, POOL).max(axis=1)
        self._num_pooled[at] = num_cells
        return cells


def read_level_track(path: str | os.PathLike[str]) -> LevelTrack:
    """Return the levels of a kept recording, as far as its file goes.

    Reads files of `engine.audio.wav.WavWriter`, broken off ones too.

    Raises:
        AudioFileError: it cannot be read, or is no such file.
    """
    path = Path(path)
    try:
        with path.open("rb") as file:
            track = LevelTrack(_sample_rate(path, file.read(_HEADER_BYTES)))
            data = bytearray(2 * _READ_CELLS * track.samples_per_cell)
            block = np.frombuffer(data, "<i2")
            while num_bytes := file.readinto(data):
                track.append_int16(block[: num_bytes // 2])
                if num_bytes < len(data):
                    break
    except OSError as error:
        raise AudioFileError(
            f"{path} cannot be read: {reason_of(error)}.", advice="Check that the disk is there."
        ) from error
    return track


def _sample_rate(path: Path, header: bytes) -> int:
    if len(header) == _HEADER_BYTES and header[:4] == b"RIFF" and header[8:12] == b"WAVE":
        kind, num_channels, rate = struct.unpack_from("<HHI", header, 20)
        num_bits = struct.unpack_from("<H", header, 34)[0]
        if (kind, num_channels, num_bits) == (1, 1, 16) and rate > 0:
            return int(rate)
    raise AudioFileError(
        f"{path} is no recording of this program.", advice="It may be damaged: delete it."
    )
