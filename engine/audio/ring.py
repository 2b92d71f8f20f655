"""A ring of samples between an audio callback and one other thread."""

import numpy as np

from engine.core.types import Pcm


class SampleRing:
    """Single-producer, single-consumer ring of float32 values, without locks.

    `write` and `read_into` copy into memory that exists already, so either may run in an audio
    callback. Both counters only grow, so a full ring and an empty one cannot be confused.

    Args:
        min_capacity: values it must hold; rounded up to a power of two.
    """

    def __init__(self, min_capacity: int) -> None:
        if min_capacity < 1:
            raise ValueError(f"a ring needs room for at least one value, got {min_capacity}")
        self._capacity = 1 << (min_capacity - 1).bit_length()
        self._mask = self._capacity - 1
        self._data = np.zeros(self._capacity, dtype=np.float32)
        # NB: written by the producer alone, after the samples are in place; read by both.
        self._num_written = 0
        # NB: written by the consumer alone, after the samples were copied out; read by both.
        self._num_read = 0

    @property
    def capacity(self) -> int:
        """Values it holds at most."""
        return self._capacity

    @property
    def num_written(self) -> int:
        """Values ever written."""
        return self._num_written

    @property
    def num_read(self) -> int:
        """Values ever read."""
        return self._num_read

    @property
    def num_readable(self) -> int:
        """Values waiting for the consumer."""
        return self._num_written - self._num_read

    @property
    def num_writable(self) -> int:
        """Values the producer can write now."""
        return self._capacity - self.num_readable

    def write(self, pcm: Pcm) -> int:
        """Copy in what fits, from the front, and return how many values that was."""
        n = min(len(pcm), self.num_writable)
        start = self._num_written & self._mask
        head = min(n, self._capacity - start)
        self._data[start : start + head] = pcm[:head]
        self._data[: n - head] = pcm[head:n]
        self._num_written += n
        return n

    def read_into(self, out: Pcm) -> int:
        """Fill the front of `out` with the oldest values and return how many there were."""
        n = min(len(out), self.num_readable)
        start = self._num_read & self._mask
        head = min(n, self._capacity - start)
        out[:head] = self._data[start : start + head]
        out[head:n] = self._data[: n - head]
        self._num_read += n
        return n

    def read(self, n: int) -> Pcm:
        """Return up to `n` of the oldest values in a new array."""
        out = np.empty(max(0, min(n, self.num_readable)), dtype=np.float32)
        self.read_into(out)
        return out

    def read_all(self) -> Pcm:
        """Return all waiting values in a new array."""
        return self.read(self.num_readable)

    def skip(self, n: int) -> int:
        """Drop up to `n` of the oldest values (consumer only); return how many that was."""
        n = min(n, self.num_readable)
        self._num_read += n
        return n
