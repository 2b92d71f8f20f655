from dataclasses import dataclass

import numpy as np
import pytest

from engine.audio.callback import CallbackInput, CallbackOutput, StreamCallback
from engine.audio.live import LiveInput
from engine.audio.stream import StreamFormat
from engine.core.errors import DeviceError
from engine.core.timebase import VirtualClock

pytestmark = pytest.mark.unit

RATE = 16_000
BLOCK = 320  # 20 ms


@dataclass
class _Status:
    input_overflow: bool = False
    output_underflow: bool = False


class FakeStream:
    """A sound system whose callbacks a test calls."""

    def __init__(self, callback: StreamCallback, num_channels: int) -> None:
        self._callback = callback
        self._num_channels = num_channels
        self._is_active = False
        self.now_s = 0.0

    def start(self) -> None:
        self._is_active = True

    def stop(self) -> None:
        self._is_active = False

    def close(self) -> None:
        self._is_active = False

    def is_active(self) -> bool:
        return self._is_active

    def lose(self) -> None:
        self._is_active = False

    def time_s(self) -> float:
        return self.now_s

    def latency_s(self) -> float:
        return 0.1

    def bring(self, pcm: np.ndarray, *, has_overflow: bool = False) -> None:
        self.now_s += len(pcm) / RATE
        block = np.repeat(pcm[:, np.newaxis], self._num_channels, axis=1)
        self._callback(block, len(pcm), None, _Status(has_overflow))

    def take(self, num_samples: int = BLOCK, *, has_underflow: bool = False) -> np.ndarray:
        block = np.full((num_samples, self._num_channels), np.nan, dtype=np.float32)
        self._callback(block, num_samples, None, _Status(output_underflow=has_underflow))
        assert (block == block[:, :1]).all()
        return block[:, 0]


def _open_input(num_channels: int = 1) -> tuple[LiveInput, FakeStream, VirtualClock]:
    streams: list[FakeStream] = []

    def open_stream(callback: StreamCallback) -> FakeStream:
        streams.append(FakeStream(callback, num_channels))
        return streams[0]

    clock = VirtualClock()
    driver = CallbackInput(StreamFormat(0, "fake", num_channels, RATE), open_stream)
    return LiveInput("fake", driver, clock), streams[0], clock


def _open_output(num_channels: int = 1) -> tuple[CallbackOutput, FakeStream]:
    streams: list[FakeStream] = []

    def open_stream(callback: StreamCallback) -> FakeStream:
        streams.append(FakeStream(callback, num_channels))
        return streams[0]

    output = CallbackOutput(StreamFormat(0, "fake", num_channels, RATE), open_stream)
    output.start()
    return output, streams[0]


def _ramp(start: int, num_samples: int) -> np.ndarray:
    return np.arange(start, start + num_samples, dtype=np.float32)


@pytest.mark.parametrize("num_channels", [1, 2, 3])
def test_input_when_blocks_come_then_are_read_as_mono(num_channels: int) -> None:
    source, stream, _ = _open_input(num_channels)
    source.start()
    stream.bring(_ramp(0, BLOCK))
    stream.bring(_ramp(BLOCK, BLOCK))
    block = source.read()
    np.testing.assert_allclose(block.pcm, _ramp(0, 2 * BLOCK))
    assert block.lost_samples == 0
    assert len(source.read().pcm) == 0


def test_input_when_samples_are_not_finite_then_reads_silence_for_them() -> None:
    source, stream, _ = _open_input()
    source.start()
    stream.bring(np.array([1.0, np.nan, np.inf, -1.0], dtype=np.float32))
    assert source.read().pcm.tolist() == [1.0, 0.0, 0.0, -1.0]


@pytest.mark.parametrize("num_channels", [1, 3])
def test_input_when_nobody_reads_then_the_loss_is_exact_and_in_its_place(num_channels: int) -> None:
    source, stream, _ = _open_input(num_channels)
    source.start()
    num_sent = 0
    while num_sent < 60 * RATE:
        stream.bring(_ramp(num_sent, BLOCK))
        num_sent += BLOCK
    before = source.read()
    stream.bring(_ramp(num_sent, BLOCK))
    after = source.read()
    np.testing.assert_array_equal(before.pcm, _ramp(0, len(before.pcm)))
    assert before.lost_samples == 0
    assert after.lost_samples == num_sent - len(before.pcm)
    np.testing.assert_array_equal(after.pcm, _ramp(num_sent, BLOCK))
    assert source.num_overflows == 1
    stream.bring(_ramp(0, BLOCK))
    assert source.read().lost_samples == 0


def test_input_when_the_sound_system_overflows_then_the_loss_is_told_by_its_clock() -> None:
    source, stream, _ = _open_input()
    source.start()
    for _ in range(50):
        stream.bring(_ramp(0, BLOCK))
        assert source.read().lost_samples == 0
    stream.now_s += 0.25  # samples the device had no room for
    stream.bring(_ramp(0, BLOCK), has_overflow=True)
    assert source.read().lost_samples == pytest.approx(0.25 * RATE, abs=BLOCK)
    assert source.num_overflows == 1
    stream.bring(_ramp(0, BLOCK))
    assert source.read().lost_samples == 0


def test_input_when_the_stream_is_no_longer_run_then_read_raises_with_advice() -> None:
    source, stream, _ = _open_input()
    source.start()
    stream.bring(_ramp(0, BLOCK))
    stream.lose()
    assert len(source.read().pcm) == BLOCK
    with pytest.raises(DeviceError, match="gone") as caught:
        source.read()
    assert caught.value.advice


def test_input_when_nothing_comes_for_long_then_read_raises() -> None:
    source, stream, clock = _open_input()
    source.start()
    clock.advance(3.9)
    assert len(source.read().pcm) == 0
    stream.bring(_ramp(0, BLOCK))
    source.read()
    clock.advance(4.1)
    with pytest.raises(DeviceError, match="nothing for 4 s"):
        source.read()


def test_input_when_paused_then_what_was_captured_is_read_and_silence_is_no_loss() -> None:
    source, stream, clock = _open_input()
    source.start()
    stream.bring(_ramp(0, BLOCK))
    source.pause()
    assert len(source.read().pcm) == BLOCK
    clock.advance(60)
    assert len(source.read().pcm) == 0
    source.start()
    assert len(source.read().pcm) == 0


def test_input_when_the_device_is_unplugged_then_read_raises_though_samples_come() -> None:
    class Watch:
        title = "fake"
        is_there = True
        is_closed = False

        def is_device_there(self) -> bool:
            return self.is_there

        def close(self) -> None:
            self.is_closed = True

    streams: list[FakeStream] = []

    def open_stream(callback: StreamCallback) -> FakeStream:
        streams.append(FakeStream(callback, 1))
        return streams[0]

    watch = Watch()
    driver = CallbackInput(StreamFormat(0, "fake", 1, RATE), open_stream)
    source = LiveInput("fake", driver, VirtualClock(), watch)
    source.start()
    streams[0].bring(_ramp(0, BLOCK))
    assert len(source.read().pcm) == BLOCK
    watch.is_there = False
    streams[0].bring(_ramp(0, BLOCK))
    with pytest.raises(DeviceError, match="gone"):
        source.read()
    source.close()
    source.close()
    assert watch.is_closed
    assert source.read().is_end


@pytest.mark.parametrize("num_channels", [1, 2])
def test_output_when_written_then_plays_in_order_and_silence_after(num_channels: int) -> None:
    output, stream = _open_output(num_channels)
    assert output.write(_ramp(1, 400)) == 400
    output.end_of_stream()
    np.testing.assert_array_equal(stream.take(), _ramp(1, BLOCK))
    assert (output.num_played, output.num_buffered()) == (BLOCK, 80)
    np.testing.assert_array_equal(stream.take(), [*_ramp(1 + BLOCK, 80), *np.zeros(BLOCK - 80)])
    assert output.num_played == 400
    assert output.num_underflows == 0


def test_output_when_it_runs_dry_then_counts_once_a_time() -> None:
    output, stream = _open_output()
    stream.take()
    assert output.num_underflows == 0
    output.write(_ramp(0, 10))
    stream.take()
    stream.take()
    assert output.num_underflows == 1
    output.write(_ramp(0, 10))
    stream.take()
    assert output.num_underflows == 2


def test_output_when_the_sound_system_ran_dry_then_counts_it_apart_and_only_within_a_sound() -> (
    None
):
    output, stream = _open_output()
    stream.take(has_underflow=True)
    assert output.num_device_underflows == 0
    output.write(_ramp(0, 3 * BLOCK))
    stream.take()
    stream.take(has_underflow=True)
    assert (output.num_device_underflows, output.num_underflows) == (1, 0)


def test_output_when_stopped_now_then_fades_without_a_step_and_drops_the_rest() -> None:
    output, stream = _open_output()
    output.write(np.full(4000, 0.8, dtype=np.float32))
    stream.take()
    stream.lose()  # nobody else calls the callback, so stop_now must not wait for it
    assert output.stop_now() == BLOCK
    heard = np.concatenate([stream.take(), stream.take()])
    assert heard[0] == pytest.approx(0.8)
    assert np.abs(np.diff(heard)).max() < 0.01
    assert not heard[160:].any()
    assert output.num_played == BLOCK + 160
    assert (output.num_buffered(), output.num_underflows) == (0, 0)


def test_output_when_written_after_a_stop_then_plays_the_new_sound_whole() -> None:
    output, stream = _open_output()
    output.write(np.full(4000, 0.8, dtype=np.float32))
    stream.take()
    stream.lose()
    output.stop_now()
    stream.start()
    output.write(_ramp(1, BLOCK))
    stream.take()
    np.testing.assert_array_equal(stream.take(), _ramp(1, BLOCK))
    assert output.num_played == BLOCK + 160 + BLOCK


def test_output_when_nothing_was_written_then_stop_is_silent() -> None:
    output, stream = _open_output()
    stream.lose()
    assert output.stop_now() == 0
    assert not stream.take().any()


def test_output_when_the_stream_is_no_longer_run_then_write_raises() -> None:
    output, stream = _open_output()
    stream.lose()
    with pytest.raises(DeviceError, match="gone"):
        output.write(_ramp(0, 10))
    output.close()
    output.close()
