"""Feeds sound that is kept to one output, from a place in it, without a click at any edge."""

from typing import Protocol

import numpy as np

from engine.audio.device import OutputStream
from engine.audio.resample import StreamResampler
from engine.core.timebase import rescale, samples
from engine.core.types import Pcm

AHEAD_S = 0.4
"""Speech in the device's ring at most, so that Stop has little to throw away."""
LOW_S = 0.06
"""Speech left in the ring at which a missing piece is bridged by a fade."""
FADE_S = 0.01
_READ_S = 0.1
_CONTEXT_S = 0.04
_EMPTY = np.zeros(0, dtype=np.float32)


class Playable(Protocol):
    """Sound by sample index. Thread: the one that plays."""

    @property
    def sample_rate(self) -> int:
        """Hz."""
        ...

    @property
    def start(self) -> int:
        """First sample that can be read."""
        ...

    @property
    def end(self) -> int:
        """One past the last sample that can be read now."""
        ...

    @property
    def is_finished(self) -> bool:
        """Whether what is there now is all that is to be played."""
        ...

    def read(self, start: int, num_samples: int) -> Pcm:
        """Return up to `num_samples` from `start` on; fewer if they are not there."""
        ...


class OutputFeed:
    """Reads, resamples and writes ahead of the loudspeaker; knows what of it was heard.

    The last `FADE_S` are held back until something follows, so that they can be faded if nothing
    does. Thread: the one that plays.

    Args:
        sound: what to play.
        output: started.
        position: sample of the sound to begin at.
        is_faded_in: whether it begins within the sound, not at its own beginning.
        is_faded_out: whether the end of what is played is not the sound's own end.
    """

    def __init__(
        self,
        sound: Playable,
        output: OutputStream,
        position: int,
        *,
        is_faded_in: bool,
        is_faded_out: bool = False,
    ) -> None:
        self._sound = sound
        self._output = output
        self._rate = output.sample_rate
        self._begin = position
        self._read_at = position
        self._base = output.num_played
        self._num_written = 0
        self._pending = _EMPTY
        self._resampler = StreamResampler(sound.sample_rate, self._rate)
        self._is_faded_out = is_faded_out
        self._is_flushed = False
        self._num_faded = samples(FADE_S, self._rate)
        self._fade_in = self._ramp() if is_faded_in else _EMPTY
        self._num_to_skip = 0
        self._prime()

    @property
    def num_written(self) -> int:
        """Samples given to the output."""
        return self._num_written

    @property
    def read_at(self) -> int:
        """Sample of the sound that is read next."""
        return self._read_at

    @property
    def num_heard(self) -> int:
        """Of those, samples that left for the loudspeaker."""
        return min(self._num_written, self._output.num_played - self._base)

    @property
    def position(self) -> int:
        """Sample of the sound up to which it was heard."""
        heard = rescale(self.num_heard, self._rate, self._sound.sample_rate)
        return min(self._begin + heard, self._read_at)

    def rewound(self, latency_s: float) -> tuple[int, int]:
        """Return (position, num_heard) without what was lost on its way to the loudspeaker."""
        num_heard = max(0, self.num_heard - samples(latency_s, self._rate))
        heard = rescale(num_heard, self._rate, self._sound.sample_rate)
        return min(self._begin + heard, self._read_at), num_heard

    @property
    def is_drained(self) -> bool:
        """Whether all of the sound was heard."""
        is_written = self._is_flushed and len(self._pending) == 0
        return is_written and self._output.num_buffered() == 0

    @property
    def is_starving(self) -> bool:
        """Whether the ring is about to run dry and nothing is there to fill it."""
        if self._is_flushed or self._num_written == 0:
            return False
        return self._output.num_buffered() <= samples(LOW_S, self._rate)

    @property
    def wait_s(self) -> float:
        """Time until something has to be done."""
        left_s = self._output.num_buffered() / self._rate
        return min(0.05, max(0.005, (left_s - LOW_S) / 2))

    def write(self) -> None:
        """Fill the ring as far as it may be filled.

        Raises:
            DeviceError: the device was lost.
        """
        # A lost device says so also when nothing is left to be written.
        self._output.write(_EMPTY)
        room = samples(AHEAD_S, self._rate) - self._output.num_buffered()
        while room > 0:
            while not self._is_flushed and len(self._pending) <= self._num_faded:
                if not self._fetch():
                    return
            held = 0 if self._is_flushed else self._num_faded
            count = self._put(self._pending[: min(room, len(self._pending) - held)])
            if count == 0:
                break
            room -= count
        if self._is_flushed and len(self._pending) == 0:
            self._output.end_of_stream()

    def bridge(self) -> int:
        """Let the sound die down softly: the next piece is late. What follows is faded in.

        Returns:
            1, or 0 if the ring has run dry already and the device has counted it.
        """
        is_in_time = self._output.num_buffered() > 0
        if is_in_time:
            ending = self._pending[: self._num_faded]
            ending = ending * np.linspace(1.0, 0.0, len(ending), dtype=np.float32)
            self._put(ending)
        self._output.end_of_stream()
        self._fade_in = self._ramp()
        return int(is_in_time)

    def stop(self) -> int:
        """Fade out at once and return the sample of the sound up to which it is heard."""
        self._output.stop_now()
        return self.position

    def _put(self, pcm: Pcm) -> int:
        faded = min(len(self._fade_in), len(pcm))
        sound = pcm
        if faded:
            sound = pcm.copy()
            sound[:faded] *= self._fade_in[:faded]
        count = self._output.write(sound) if len(sound) else 0
        self._fade_in = self._fade_in[count:]
        self._pending = self._pending[count:]
        self._num_written += count
        return count

    def _fetch(self) -> bool:
        pcm = self._sound.read(self._read_at, samples(_READ_S, self._sound.sample_rate))
        if len(pcm):
            self._read_at += len(pcm)
            self._take(self._resampler.push(pcm))
        elif self._sound.is_finished and self._read_at == self._sound.end:
            self._is_flushed = True
            self._take(self._resampler.flush())
            if self._is_faded_out:
                self._fade_out()
        else:
            return False
        return True

    def _take(self, pcm: Pcm) -> None:
        skipped = min(self._num_to_skip, len(pcm))
        self._num_to_skip -= skipped
        self._pending = np.concatenate((self._pending, pcm[skipped:]))

    def _prime(self) -> None:
        """Give the resampler what came before, so that it begins as if it had never stopped."""
        rate = self._sound.sample_rate
        start = max(self._sound.start, self._begin - samples(_CONTEXT_S, rate))
        if start >= self._begin or rate == self._rate:
            return
        context = self._sound.read(start, self._begin - start)
        self._num_to_skip = rescale(len(context), rate, self._rate)
        self._take(self._resampler.push(context))

    def _fade_out(self) -> None:
        """Let what is pending end in silence."""
        num_faded = min(self._num_faded, len(self._pending))
        self._pending = self._pending.copy()
        self._pending[len(self._pending) - num_faded :] *= np.linspace(
            1.0, 0.0, num_faded, dtype=np.float32
        )

    def _ramp(self) -> Pcm:
        return np.linspace(0.0, 1.0, self._num_faded, dtype=np.float32)
