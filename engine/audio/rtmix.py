"""PortAudio devices with rtmixer's C callbacks, which never wait for the interpreter.

What rtmixer does, and what follows: an action on a ring ends as soon as a block finds the ring
too full (input) or too empty (output). The input's action is therefore renewed on reading, and
the hole measured by the device times of both actions. The output's is renewed whenever the stream
is written to or asked something, and its end counted as an underflow unless the end was promised.

A cancelled action would end with a click, and a second action that fades would have to meet its
end to the sample, at a device time that is only estimated. So `stop_now` fades and blanks the
samples in the ring itself, one block ahead of the callback's read position: plain memory that the
callback reads later, with no index moved. The blanked rest is cancelled and flushed once the
callback has passed the fade.
"""

from typing import Any

import numpy as np
import rtmixer

from engine.audio.portaudio import PortAudioStream, stream_arguments
from engine.audio.stream import (
    FADE_S,
    INPUT_BLOCK_S,
    INPUT_LATENCY_S,
    INPUT_RING_S,
    OUTPUT_BLOCK_S,
    OUTPUT_LATENCY_S,
    OUTPUT_RING_S,
    StreamFormat,
    check_output,
)
from engine.core.types import Pcm

_VALUE_BYTES = 4


def _ring_size(seconds: float, rate: int) -> int:
    return 1 << (round(seconds * rate) - 1).bit_length()


class RtmixInput:
    """An input whose C callback fills a ring; an `engine.audio.live.InputDriver`.

    Raises:
        DeviceError: PortAudio refuses the format.
    """

    def __init__(self, format_: StreamFormat) -> None:
        self.num_channels = format_.num_channels
        self.sample_rate = format_.sample_rate
        self._ring = rtmixer.RingBuffer(
            _VALUE_BYTES * self.num_channels, _ring_size(INPUT_RING_S, self.sample_rate)
        )
        self._num_past_overflows = 0
        # Device time at which the action that found the ring full had taken its last sample.
        self._broken_off_s: float | None = None
        # Device time that passed while the stream was stopped within the running action.
        self._stopped_at_s: float | None = None
        self._stopped_s = 0.0
        arguments = stream_arguments(format_, INPUT_BLOCK_S, INPUT_LATENCY_S)
        self._stream = PortAudioStream(format_.name, lambda: rtmixer.Recorder(**arguments))
        self._recorder = self._stream.raw
        self._action: Any = self._recorder.record_ringbuffer(self._ring)

    @property
    def num_device_overflows(self) -> int:
        """See `InputDriver`."""
        # NB: a counter that the callback alone writes.
        return self._num_past_overflows + int(self._action.stats.input_overflows)

    def start(self) -> None:
        """See `InputDriver`."""
        if self._stopped_at_s is not None:
            self._stopped_s += self._stream.time_s() - self._stopped_at_s
            self._stopped_at_s = None
        self._stream.start()

    def stop(self) -> None:
        """See `InputDriver`."""
        self._stream.stop()
        self._stopped_at_s = self._stream.time_s()

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
        has_ended = self._action not in self._recorder.actions
        pcm = np.frombuffer(self._ring.read(), dtype=np.float32)
        num_lost = 0
        if self._broken_off_s is not None and len(pcm):
            hole_s = float(self._action.actual_time) - self._broken_off_s
            num_lost = max(0, round(hole_s * self.sample_rate))
            self._broken_off_s = None
        if has_ended:
            ended = self._action
            self._num_past_overflows += int(ended.stats.input_overflows)
            taken_s = ended.done_frames / self.sample_rate
            self._broken_off_s = ended.actual_time + self._stopped_s + taken_s
            self._stopped_s = 0.0
            self._action = self._recorder.record_ringbuffer(self._ring)
        return pcm, num_lost


class RtmixOutput:
    """An output whose C callback drains a ring.

    Thread: one at a time writes and asks. Somebody must ask now and then while samples are left
    (as whoever paces the writing does): that restarts playback when the ring had run dry.

    Raises:
        DeviceError: PortAudio refuses the format.
    """

    def __init__(self, format_: StreamFormat) -> None:
        self._name = format_.name
        self._rate = format_.sample_rate
        self._block_size = round(OUTPUT_BLOCK_S * self._rate)
        size = _ring_size(OUTPUT_RING_S, self._rate)
        # The ring's memory, one row a sample; all channels play the same.
        self._data = np.zeros((size, format_.num_channels), dtype=np.float32)
        self._ring = rtmixer.RingBuffer(
            _VALUE_BYTES * format_.num_channels, buffer=self._data.reshape(-1)
        )
        self._action: Any = None
        self._num_written = 0
        self._flushed_at = 0  # num_written when the ring last began at its front again
        self._num_unheard = 0  # blanked or flushed instead of played
        self._end_at = 0
        self._fade_end: int | None = None  # while a stopped rest has not been flushed
        self._is_cancelled = False
        self._num_underflows = 0
        self._num_past_device_underflows = 0
        self._is_started = False
        arguments = stream_arguments(format_, OUTPUT_BLOCK_S, OUTPUT_LATENCY_S)
        self._stream = PortAudioStream(format_.name, lambda: rtmixer.Mixer(**arguments))
        self._mixer = self._stream.raw

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
        self._settle()
        return self._heard()

    @property
    def latency_s(self) -> float:
        """Seconds between a sample leaving the ring and its being heard."""
        return self._stream.latency_s()

    @property
    def num_underflows(self) -> int:
        """How often the ring ran dry while more was promised."""
        self._settle()
        return self._num_underflows

    @property
    def num_device_underflows(self) -> int:
        """How often the sound system said that it ran dry itself, though the ring held enough."""
        self._settle()
        action = self._action
        running = 0 if action is None else int(action.stats.output_underflows)
        return self._num_past_device_underflows + running

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

        Nothing fits for some 50 ms after `stop_now`, until the old rest is gone.

        Raises:
            DeviceError: the device was lost.
        """
        check_output(self._name, self._is_started, self._stream)
        self._settle()
        if self._fade_end is not None:
            return 0
        n = min(len(pcm), int(self._ring.write_available))
        if n:
            rows = np.repeat(pcm[:n, np.newaxis], self._data.shape[1], axis=1)
            self._ring.write(np.ascontiguousarray(rows, dtype=np.float32))
            self._num_written += n
            self._resume()
        return n

    def end_of_stream(self) -> None:
        """Say that nothing follows for now."""
        self._settle()
        self._end_at = self._num_written

    def num_buffered(self) -> int:
        """Samples in the ring that have not been played."""
        self._settle()
        end = self._num_written if self._fade_end is None else self._fade_end
        return max(0, end - self._position())

    def stop_now(self) -> int:
        """Fade out within 10 ms, drop the rest of the ring, return samples really played.

        The fade begins a block behind what the callback took last; its end is what is returned,
        though it is reached a little later.
        """
        self._settle()
        self._end_at = self._num_written
        if self._fade_end is not None or self._action is None:
            return self._heard()
        fade_size = round(FADE_S * self._rate)
        position = self._position()
        start = min(position + self._block_size, max(position, self._num_written - fade_size))
        gain = np.zeros(self._num_written - start, dtype=np.float32)
        fade = np.linspace(1.0, 0.0, fade_size, dtype=np.float32)[: len(gain)]
        gain[: len(fade)] = fade
        rows = (np.arange(start, self._num_written) - self._flushed_at) & (len(self._data) - 1)
        self._data[rows] *= gain[:, np.newaxis]
        self._fade_end = start + len(fade)
        self._is_cancelled = False
        return self._heard()

    def close(self) -> None:
        """Release the device; idempotent."""
        self._is_started = False
        self._stream.close()

    def _position(self) -> int:
        """Samples that the callback has taken."""
        return int(self._num_written - self._ring.read_available)

    def _heard(self) -> int:
        # A stopped stream has played to the end of its fade, even while that is still to come.
        position = self._position() if self._fade_end is None else self._fade_end
        return position - self._num_unheard

    def _settle(self) -> None:
        """Take note of what the callback did since the last call, and answer it."""
        if self._action is None:
            return
        if self._action in self._mixer.actions:
            is_past = self._fade_end is not None and self._position() >= self._fade_end
            if is_past and not self._is_cancelled:
                self._mixer.cancel(self._action)
                self._is_cancelled = True
            return
        self._num_past_device_underflows += int(self._action.stats.output_underflows)
        self._action = None
        if self._fade_end is not None:
            # No action reads the ring now, so it may be flushed.
            self._ring.flush()
            self._num_unheard += self._num_written - self._fade_end
            self._flushed_at = self._num_written
            self._fade_end = None
            return
        if self._ring.read_available or self._num_written != self._end_at:
            self._num_underflows += 1
        self._resume()

    def _resume(self) -> None:
        if self._action is None and self._ring.read_available:
            self._action = self._mixer.play_ringbuffer(self._ring)
