"""Real streams over fake drivers: what is done when a device, or the sound system, goes wrong."""

import threading

import numpy as np
import pytest

from engine.audio.live import LiveInput
from engine.audio.live_output import OUTPUT_STALL_S, LiveOutput
from engine.audio.virtual_output import NullOutput
from engine.core.errors import DeviceError
from engine.core.timebase import VirtualClock
from engine.core.types import Pcm

pytestmark = pytest.mark.unit

RATE = 8_000
ZEROS = np.zeros(100, np.float32)


class Watch:
    def __init__(self) -> None:
        self.title = "Headset"
        self.is_there = True
        self.is_closed = False

    def is_device_there(self) -> bool:
        return self.is_there

    def close(self) -> None:
        self.is_closed = True


class HangingDriver:
    """An input whose sound system never answers when it is stopped or closed."""

    num_channels = 1
    sample_rate = RATE
    num_device_overflows = 0

    def __init__(self) -> None:
        self.answer = threading.Event()
        self.closed = threading.Event()

    def start(self) -> None:
        pass

    def stop(self) -> None:
        self.answer.wait(20)

    def close(self) -> None:
        self.answer.wait(20)
        self.closed.set()

    def is_active(self) -> bool:
        return True

    def stream_time_s(self) -> float:
        return 0.0

    def drain(self) -> tuple[Pcm, int]:
        return ZEROS, 0


def test_input_when_the_sound_system_hangs_then_it_is_left_alone_with_the_stream() -> None:
    driver = HangingDriver()
    source = LiveInput("Microphone", driver, VirtualClock())
    source.start()
    with pytest.raises(DeviceError, match="does not answer"):
        source.pause()
    assert len(source.read().pcm) == len(ZEROS)
    source.close()
    assert not source.is_released
    driver.answer.set()
    assert driver.closed.wait(10)


def test_name_when_the_server_moves_a_stream_then_is_that_of_the_new_device() -> None:
    watch = Watch()
    clock = VirtualClock()
    source = LiveInput("Headset", HangingDriver(), clock, watch)
    output = LiveOutput("Headset", NullOutput(clock, RATE), clock, watch)
    watch.title = "Built-in"
    assert (source.name, output.name) == ("Built-in", "Built-in")


def test_output_when_the_device_is_unplugged_then_write_raises_though_the_stream_runs() -> None:
    watch, clock = Watch(), VirtualClock()
    output = LiveOutput("Headset", NullOutput(clock, RATE), clock, watch)
    output.start()
    assert output.write(ZEROS) == len(ZEROS)
    watch.is_there = False
    with pytest.raises(DeviceError, match="Headset is gone"):
        output.write(ZEROS[:0])
    output.close()
    output.close()
    assert watch.is_closed
    assert output.is_released
    assert output.latency_s == 0.0


def test_output_when_it_takes_nothing_then_write_raises_even_with_nothing_to_write() -> None:
    clock = VirtualClock()
    output = LiveOutput("Speaker", NullOutput(VirtualClock(), RATE), clock)
    output.start()
    output.write(ZEROS)
    output.write(ZEROS[:0])
    clock.advance(OUTPUT_STALL_S + 0.1)
    with pytest.raises(DeviceError, match="has taken nothing for 2 s"):
        output.write(ZEROS[:0])


def test_output_when_it_rests_then_is_not_taken_as_lost() -> None:
    clock = VirtualClock()
    output = LiveOutput("Speaker", NullOutput(clock, RATE), clock)
    output.start()
    output.write(ZEROS)
    output.end_of_stream()
    clock.advance(600.0)
    output.write(ZEROS)
    clock.advance(1.0)
    assert output.write(ZEROS) == len(ZEROS)


def test_close_when_another_stream_is_being_opened_then_waits_its_turn() -> None:
    alone, driver = threading.Lock(), HangingDriver()
    driver.answer.set()
    source = LiveInput("Microphone", driver, VirtualClock(), alone=alone)
    with alone:
        source.close()
        assert not driver.closed.is_set()
    assert driver.closed.wait(10)


class StartingDriver(HangingDriver):
    """An input whose sound system does not answer when it is started."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[str] = []

    def start(self) -> None:
        self.calls.append("start")
        self.answer.wait(20)
        self.calls.append("started")

    def close(self) -> None:
        self.calls.append("close")
        self.closed.set()


class StartingOutput(NullOutput):
    """The same for an output."""

    def __init__(self, clock: VirtualClock) -> None:
        super().__init__(clock, RATE)
        self.driver = StartingDriver()

    def start(self) -> None:
        self.driver.start()

    def close(self) -> None:
        self.driver.close()


@pytest.mark.parametrize("kind", ["input", "output"])
def test_start_when_the_sound_system_hangs_then_raises_and_the_stream_is_closed_after_it(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.audio.live.START_S", 0.05)
    monkeypatch.setattr("engine.audio.live_output.START_S", 0.05)
    clock, alone = VirtualClock(), threading.Lock()
    stream: LiveInput | LiveOutput
    if kind == "input":
        driver = StartingDriver()
        stream = LiveInput("Headset", driver, clock, alone=alone)
    else:
        output = StartingOutput(clock)
        driver = output.driver
        stream = LiveOutput("Headset", output, clock, alone=alone)
    with pytest.raises(DeviceError, match=f"The {kind} Headset cannot be started: .*not answer"):
        stream.start()
    stream.close()
    # Others can be opened meanwhile, and the stream is not freed under the call.
    assert not alone.locked()
    assert driver.calls == ["start"]
    assert not stream.is_released
    driver.answer.set()
    assert driver.closed.wait(10)
    assert driver.calls == ["start", "started", "close"]


def test_input_when_its_clock_fails_then_what_it_brought_is_taken_all_the_same() -> None:
    class Fading(HangingDriver):
        def stream_time_s(self) -> float:
            raise DeviceError("It tells no time.")

    source = LiveInput("Microphone", Fading(), VirtualClock())
    source.start()
    block = source.read()
    assert (len(block.pcm), block.lost_samples) == (len(ZEROS), 0)
