"""Python callbacks over a ring, for machines without rtmixer.

They copy into or out of the ring and add to counters, nothing else. They need the interpreter, so
`engine.audio.rtmix` is preferred where it is installed.
"""

import time
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from engine.audio.ring import SampleRing
from engine.audio.stream import (
    FADE_S,
    INPUT_RING_S,
    OUTPUT_BLOCK_S,
    OUTPUT_RING_S,
    OpenStream,
    StreamFormat,
    check_output,
)
from engine.core.types import Pcm

_STOP_WAIT_S = 0.3


class CallbackStatus(Protocol):
    """The flags a callback gets that matter here."""

    @property
    def input_overflow(self) -> bool:
        """Whether input was lost before this block."""
        ...

    @property
    def output_underflow(self) -> bool:
        """Whether the device went without output before this block."""
        ...


StreamCallback = Callable[[Any, int, Any, CallbackStatus], None]
"""Called with the block ((n, channels) float32), n, times, and flags."""


class CallbackInput:
    """An input whose Python callback fills a ring; an `engine.audio.live.InputDriver`.

    Args:
        format_: what the stream is opened with.
        open_stream: opens it with the callback that it is given.

    Raises:
        DeviceError: the device refuses the format.
    """

    def __init__(
        self, format_: StreamFormat, open_stream: Callable[[StreamCallback], OpenStream]
    ) -> None:
        self.num_channels = format_.num_channels
        self.sample_rate = format_.sample_rate
        self._ring = SampleRing(round(INPUT_RING_S * format_.sample_rate) * self.num_channels)
        # NB: the next three are written by the callback alone, read by the capture thread.
        self.num_device_overflows = 0
        self._num_dropped = 0  # samples; written after the place
        self._dropped_at = 0  # values written before the newest loss
        # NB: the capture thread's own.
        self._num_dropped_told = 0
        self._stream = open_stream(self._take)

    def start(self) -> None:
        """See `InputDriver`."""
        self._stream.start()

    def stop(self) -> None:
        """See `InputDriver`."""
        self._stream.stop()

    def close(self) -> None:
        """See `InputDriver`."""
        self._stream.close()

    def is_active(self) -> bool:
        """See `InputDriver`."""
        return self._stream.is_active()

    def stream_time_s(self) -> float:
        """See `InputDriver`."""
        return self._stream.time_s()

    def drain(self) -> tuple[Pcm, int]:
        """See `InputDriver`."""
        num_dropped = self._num_dropped
        num_lost = num_dropped - self._num_dropped_told
        num_before = self._dropped_at - self._ring.num_read
        if num_lost and num_before > 0:
            return self._ring.read(num_before), 0
        self._num_dropped_told = num_dropped
        return self._ring.read_all(), num_lost

    def _take(self, indata: Any, num_frames: int, _time: Any, status: CallbackStatus) -> None:
        if status.input_overflow:
            self.num_device_overflows += 1
        if self._ring.num_writable < indata.size:
            self._dropped_at = self._ring.num_written
            self._num_dropped += num_frames
        else:
            self._ring.write(indata.reshape(-1))


class CallbackOutput:
    """An output whose Python callback drains a ring.

    Thread: one at a time writes and asks; the callback belongs to the sound system.

    Args:
        format_: what the stream is opened with.
        open_stream: opens it with the callback that it is given.

    Raises:
        DeviceError: the device refuses the format.
    """

    def __init__(
        self, format_: StreamFormat, open_stream: Callable[[StreamCallback], OpenStream]
    ) -> None:
        self._name = format_.name
        self._rate = format_.sample_rate
        self._ring = SampleRing(round(OUTPUT_RING_S * self._rate))
        self._fade = np.linspace(1.0, 0.0, round(FADE_S * self._rate), dtype=np.float32)
        self._mono = np.zeros(round(2 * OUTPUT_BLOCK_S * self._rate), dtype=np.float32)
        # NB: written by the writer alone, read by the callback.
        self._end_at = 0  # num_written up to which nothing more was promised
        self._stop_at = 0  # num_written when stop was last asked for
        self._num_stops = 0  # written after _stop_at
        # NB: written by the callback alone, read by the writer.
        self._num_stopped = 0
        self._num_dropped = 0
        self._num_underflows = 0
        self.num_device_underflows = 0
        """How often the sound system said that it ran dry itself, though the ring held enough."""
        self._dry_at = 0
        self._is_started = False
        self._stream = open_stream(self._give)

    @property
    def name(self) -> str:
        """The device's name."""
        return self._name

    @property
    def sample_rate(self) -> int:
        """Hz, the device's own."""
        return self._rate

    @property
    def num_played(self) -> int:
        """Samples written that have left for the loudspeaker."""
        return self._ring.num_read - self._num_dropped

    @property
    def latency_s(self) -> float:
        """Seconds between a sample leaving the ring and its being heard."""
        return self._stream.latency_s()

    @property
    def num_underflows(self) -> int:
        """How often the ring ran dry while more was promised."""
        return self._num_underflows

    def start(self) -> None:
        """Begin to play.

        Raises:
            DeviceError: the device is gone, busy, or may not be used.
        """
        if not self._is_started:
            self._stream.start()
            self._is_started = True

    def write(self, pcm: Pcm) -> int:
        """Copy into the ring what fits and return how many samples that was.

        Raises:
            DeviceError: the device was lost.
        """
        check_output(self._name, self._is_started, self._stream)
        return self._ring.write(pcm)

    def end_of_stream(self) -> None:
        """Say that nothing follows for now."""
        self._end_at = self._ring.num_written

    def num_buffered(self) -> int:
        """Samples in the ring that have not been played."""
        return self._ring.num_readable

    def stop_now(self) -> int:
        """Fade out within 10 ms, drop the rest of the ring, return samples really played.

        Waits for the callback, one block as a rule.
        """
        self._stop_at = self._ring.num_written
        self._end_at = self._stop_at
        self._num_stops += 1
        deadline_s = time.monotonic() + _STOP_WAIT_S
        while self._num_stopped != self._num_stops and time.monotonic() < deadline_s:
            if not self._is_started or not self._stream.is_active():
                break
            time.sleep(0.002)
        return self.num_played

    def close(self) -> None:
        """Release the device; idempotent."""
        self._is_started = False
        self._stream.close()

    def _give(self, outdata: Any, num_frames: int, _time: Any, status: CallbackStatus) -> None:
        mono = self._mono[:num_frames]
        # A device that runs dry between two sounds is not heard.
        if status.output_underflow and self._ring.num_readable:
            self.num_device_underflows += 1
        if self._num_stopped != self._num_stops:
            n = self._fade_out(mono)
        else:
            n = self._ring.read_into(mono)
            num_written = self._ring.num_written
            if n < num_frames and num_written not in (self._end_at, self._dry_at):
                self._num_underflows += 1
                self._dry_at = num_written
        mono[n:] = 0.0
        outdata[:] = mono[:, np.newaxis]

    def _fade_out(self, mono: Pcm) -> int:
        num_stops = self._num_stops
        num_left = max(0, self._stop_at - self._ring.num_read)
        n = self._ring.read_into(mono[: min(len(self._fade), num_left)])
        mono[:n] *= self._fade[len(self._fade) - n :]
        self._num_dropped += self._ring.skip(num_left - n)
        self._num_stopped = num_stops
        return n
