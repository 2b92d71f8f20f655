"""Streaming conversion of sample rates."""

import numpy as np
import soxr

from engine.core.timebase import rescale
from engine.core.types import Pcm

_EMPTY = np.zeros(0, dtype=np.float32)


class StreamResampler:
    """Converts mono audio block by block; output sample k lies at input time k / to_rate.

    Output trails input by at most about 70 ms until `flush`, which brings the rest: the whole
    output is then `rescale(total input)` samples long, however the input was cut. Equal rates
    pass through. State: the filter's history, a few thousand samples.

    Args:
        from_rate: of the input, Hz.
        to_rate: of the output, Hz.
    """

    def __init__(self, from_rate: int, to_rate: int) -> None:
        if from_rate < 1 or to_rate < 1:
            raise ValueError(f"rates must be positive, got {from_rate} and {to_rate} Hz")
        self.from_rate = from_rate
        self.to_rate = to_rate
        self._is_flushed = False
        self.reset()

    @property
    def num_pushed(self) -> int:
        """Input samples since the start or the last `reset`."""
        return self._num_pushed

    @property
    def num_returned(self) -> int:
        """Output samples since the start or the last `reset`."""
        return self._num_returned

    def push(self, pcm: Pcm) -> Pcm:
        """Take the next input and return the output that is ready, which may be empty.

        Raises:
            ValueError: the stream was flushed and not reset.
        """
        if self._is_flushed:
            raise ValueError("a flushed resampler must be reset before it is pushed again")
        self._num_pushed += len(pcm)
        if self._stream is None or len(pcm) == 0:
            return self._count(pcm)
        return self._count(self._stream.resample_chunk(pcm))

    def flush(self) -> Pcm:
        """Return the rest of the output; nothing can be pushed until `reset`."""
        if self._is_flushed:
            return _EMPTY
        self._is_flushed = True
        missing = rescale(self._num_pushed, self.from_rate, self.to_rate) - self._num_returned
        if self._stream is None or missing <= 0:
            return _EMPTY
        rest = self._stream.resample_chunk(_EMPTY, last=True)[:missing]
        # soxr rounds the length its own way; the difference is a sample at most.
        return self._count(np.pad(rest, (0, missing - len(rest))))

    def reset(self) -> None:
        """Forget all input; time starts at 0 again."""
        is_same = self.from_rate == self.to_rate
        self._stream = (
            None if is_same else soxr.ResampleStream(self.from_rate, self.to_rate, 1, "float32")
        )
        self._num_pushed = 0
        self._num_returned = 0
        self._is_flushed = False

    def _count(self, pcm: Pcm) -> Pcm:
        self._num_returned += len(pcm)
        return pcm
