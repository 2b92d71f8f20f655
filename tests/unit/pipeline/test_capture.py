"""Capture over devices that come and go, in virtual time: every hole as long as it was."""

import threading

import numpy as np
import pytest

from engine.audio.device import InputBlock, InputStream
from engine.audio.levels import LevelAlarm, Levels
from engine.core.errors import AudioFileError, DeviceError
from engine.core.events import Severity, SpanMarked
from engine.core.timebase import VirtualClock
from tests.helpers.capture import (
    PATIENCE_S,
    RATE,
    TICK_S,
    CaptureBench,
    Microphone,
    assert_in_step,
    gone,
    lost_after,
)

pytestmark = pytest.mark.unit


@pytest.mark.parametrize("rate", [RATE, 44_100, 8_000])
def test_input_when_lost_and_back_at_any_rate_then_the_gap_is_as_long_as_it_was(rate: int) -> None:
    bench = CaptureBench(lost_after(2.0), [*gone(4), lambda clock: Microphone(clock, rate)])
    bench.run(10.0)
    ((start_s, end_s, reason),) = bench.gaps()
    assert start_s == pytest.approx(2.0, abs=TICK_S)
    # Attempts at 0, 0.25, 0.75, 1.25 and 1.75 s.
    assert end_s - start_s == pytest.approx(1.75, abs=3 * TICK_S)
    assert reason == "the microphone Microphone was lost"
    assert_in_step(bench, 10.0)
    lost, back = bench.notices()
    assert lost.severity is Severity.WARNING
    assert "It was unplugged." in lost.message
    assert back.message.startswith("The microphone Microphone is back; 1.")
    assert all(stream.is_closed for stream in bench.streams)  # type: ignore[attr-defined]


def test_input_when_it_stays_away_then_the_gap_grows_and_what_else_there_is_is_told_once() -> None:
    bench = CaptureBench(lost_after(2.0))
    bench.run(60.0)
    ((start_s, end_s, _),) = bench.gaps()
    assert (start_s, end_s) == (pytest.approx(2.0, abs=TICK_S), pytest.approx(60.0, abs=TICK_S))
    assert_in_step(bench, 60.0)
    _, offer = bench.notices()
    assert "is not back yet" in offer.message
    assert "Choose one: Spare." in offer.advice
    assert bench.capture.levels.get().alarm is LevelAlarm.NO_BLOCKS  # type: ignore[union-attr]
    # Twice a second at most, and the mark is told less and less often.
    assert len(bench.opened) < 120
    assert len([e for e in bench.events if isinstance(e, SpanMarked)]) < 40


def test_input_when_it_comes_and_goes_then_is_given_time() -> None:
    flaps = [lost_after(0.3) for _ in range(20)]
    bench = CaptureBench(lost_after(0.3), flaps)
    bench.run(20.0)
    # At once, then after 1, 2, 4, 4 s and so on.
    assert len(bench.opened) <= 7
    assert_in_step(bench, 20.0)


def test_input_when_another_is_chosen_then_is_left_without_a_gap() -> None:
    bench = CaptureBench(
        lambda clock: Microphone(clock), [lambda clock: Microphone(clock, 48_000, name="Headset")]
    )
    bench.clock.at(2.0, lambda: bench.capture.change_input("headset"))
    bench.run(4.0)
    assert bench.opened[0][0] == "headset"
    assert sum(end - start for start, end, _ in bench.gaps()) <= TICK_S
    assert_in_step(bench, 4.0)
    assert [n.message for n in bench.notices()] == [
        "Recording goes on with the microphone Headset."
    ]
    assert bench.capture.input_name == "Headset"


def test_input_when_another_is_chosen_and_cannot_be_opened_then_the_old_one_goes_on() -> None:
    bench = CaptureBench(lambda clock: Microphone(clock), gone(1))
    bench.clock.at(2.0, lambda: bench.capture.change_input("headset"))
    bench.run(4.0)
    assert bench.gaps() == []
    assert_in_step(bench, 4.0)
    (notice,) = bench.notices()
    assert (notice.severity, notice.message) == (Severity.ERROR, "There is no such device.")
    assert notice.advice == "Choose one: Spare. Recording goes on with Microphone."


def test_input_when_another_is_chosen_while_it_is_away_then_that_is_opened_at_once() -> None:
    bench = CaptureBench(
        lost_after(1.0), [*gone(3), lambda clock: Microphone(clock, name="Headset")]
    )
    bench.clock.at(3.0, lambda: bench.capture.change_input("headset"))
    bench.run(5.0)
    name, at_s = bench.opened[-1]
    assert (name, at_s) == ("headset", pytest.approx(3.0, abs=3 * TICK_S))
    assert_in_step(bench, 5.0)


def test_input_when_the_server_moves_it_then_is_told_and_nothing_is_missing() -> None:
    bench = CaptureBench(lambda clock: Microphone(clock))
    bench.clock.at(1.0, lambda: setattr(bench.streams[0], "title", "Headset"))
    bench.run(2.0)
    assert bench.gaps() == []
    assert [n.message for n in bench.notices()] == [
        "Recording goes on with the microphone Headset."
    ]


@pytest.mark.parametrize(("hole_s", "is_told"), [(0.3, False), (1.5, True), (3.5, True)])
def test_input_when_it_falls_silent_and_comes_back_by_itself_then_the_hole_is_drawn(
    hole_s: float, is_told: bool
) -> None:
    bench = CaptureBench(
        lambda clock: Microphone(clock, silent=(clock.now_s() + 2.0, clock.now_s() + 2.0 + hole_s))
    )
    bench.run(8.0)
    assert bench.notices() == []
    if is_told:
        ((start_s, end_s, reason),) = bench.gaps()
        assert start_s == pytest.approx(2.0, abs=TICK_S)
        assert end_s - start_s == pytest.approx(hole_s, abs=2 * TICK_S)
        assert reason == "the microphone brought nothing"
        assert_in_step(bench, 8.0)
    else:
        assert bench.gaps() == []


def test_input_when_it_is_late_and_brings_everything_then_nothing_is_missing() -> None:
    class Late(Microphone):
        def read(self) -> InputBlock:
            now_s = self._clock_.now_s() - 102.0
            return InputBlock(np.zeros(0, np.float32)) if 0 <= now_s < 2.0 else super().read()

    bench = CaptureBench(lambda clock: Late(clock))
    bench.run(6.0)
    assert bench.gaps() == []
    assert_in_step(bench, 6.0)


def test_computer_when_it_slept_then_the_gap_is_as_long_and_the_input_is_opened_again() -> None:
    bench = CaptureBench(lambda clock: Microphone(clock), [lambda clock: Microphone(clock)])

    def sleep() -> None:
        bench.slept_s += 125.0

    bench.clock.at(2.0, sleep)
    bench.run(4.0)
    ((start_s, end_s, reason),) = bench.gaps()
    assert start_s == pytest.approx(2.0, abs=TICK_S)
    assert end_s - start_s == pytest.approx(125.0, abs=3 * TICK_S)
    assert reason == "the computer slept"
    assert_in_step(bench, 129.0)
    assert [n.message for n in bench.notices()] == [
        "The computer slept for 00:02:05. Recording goes on."
    ]
    assert len(bench.opened) == 1


def test_computer_when_it_slept_for_a_night_then_an_hour_of_it_is_drawn() -> None:
    bench = CaptureBench(lambda clock: Microphone(clock), [lambda clock: Microphone(clock)])

    def sleep() -> None:
        bench.slept_s += 8 * 3600.0

    bench.clock.at(1.0, sleep)
    bench.run(2.0)
    ((start_s, end_s, reason),) = bench.gaps()
    assert end_s - start_s == pytest.approx(3600.0, abs=3 * TICK_S)
    assert reason == "the computer slept for 08:00:00"


def test_computer_when_it_slept_while_paused_then_no_time_has_passed() -> None:
    bench = CaptureBench(lambda clock: Microphone(clock), [lambda clock: Microphone(clock)])
    resumed = threading.Timer(0.3, bench.capture.resume)

    def pause() -> None:
        bench.slept_s += 500.0
        bench.capture.pause()
        resumed.start()

    bench.clock.at(1.0, pause)
    bench.run(3.0)
    resumed.join()
    assert bench.gaps() == []
    assert bench.timeline.end / RATE == pytest.approx(3.0, abs=3 * TICK_S)
    assert len(bench.opened) == 1


def test_levels_when_paused_then_nothing_is_heard() -> None:
    bench = CaptureBench(lambda clock: Microphone(clock))
    heard: list[Levels | None] = []
    resumed = threading.Timer(0.3, bench.capture.resume)

    def pause() -> None:
        heard.append(bench.capture.levels.get())
        bench.capture.pause()
        look = threading.Timer(0.15, lambda: heard.append(bench.capture.levels.get()))
        look.start()
        resumed.start()

    bench.clock.at(1.0, pause)
    bench.run(2.0)
    resumed.join()
    before, paused = heard
    assert before != Levels()
    assert paused == Levels()


def test_pause_when_the_input_is_gone_then_the_recording_goes_on_when_it_is_back() -> None:
    class Unstoppable(Microphone):
        def pause(self) -> None:
            if not self.is_closed:
                raise DeviceError("It does not answer.")

        def close(self) -> None:
            self.is_closed = True

    bench = CaptureBench(lambda clock: Unstoppable(clock), [lambda clock: Microphone(clock)])
    resumed = threading.Timer(0.3, bench.capture.resume)

    def pause() -> None:
        bench.capture.pause()
        resumed.start()

    bench.clock.at(1.0, pause)
    bench.run(3.0)
    resumed.join()
    assert not any(n.severity is Severity.ERROR for n in bench.notices())
    assert bench.timeline.end / RATE == pytest.approx(3.0, abs=4 * TICK_S)


def test_file_when_it_fails_then_the_recording_ends_and_does_not_begin_again() -> None:
    bench = CaptureBench(lost_after(1.0, error=AudioFileError("The file broke off.")))
    with pytest.MonkeyPatch.context() as patch:
        # It is logged as well; what matters here is what is told.
        patch.setattr("engine.pipeline.capture.logger.exception", lambda *_: None)
        bench.capture.start()
        assert bench.ended.wait(PATIENCE_S)
    assert bench.capture.stop(PATIENCE_S)
    assert bench.opened == []
    assert bench.notices()[0].message == "Recording stopped: The file broke off."


def test_stop_when_the_sound_system_hangs_then_ends_within_a_second() -> None:
    never = threading.Event()
    opening = threading.Event()
    late = []

    def hang(clock: VirtualClock) -> InputStream:
        opening.set()
        never.wait(PATIENCE_S)
        late.append(Microphone(clock))
        return late[0]

    bench = CaptureBench(lost_after(1.0), [hang])
    bench.capture.start()
    assert opening.wait(PATIENCE_S)
    assert bench.capture.stop(1.0)
    never.set()
    for _ in range(200):
        if late and late[0].is_closed:
            break
        threading.Event().wait(0.01)
    assert late[0].is_closed, "a stream that came too late was left open"


def test_clock_when_the_wall_clock_jumps_then_nobody_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    def jump() -> float:
        raise AssertionError("the wall clock has no part in a recording")

    monkeypatch.setattr("time.time", jump)
    monkeypatch.setattr("time.time_ns", jump)
    bench = CaptureBench(lost_after(1.0), [lambda clock: Microphone(clock)])
    bench.run(3.0)
    assert_in_step(bench, 3.0)


def test_file_when_the_computer_sleeps_then_it_goes_on_where_it_stood() -> None:
    bench = CaptureBench(lambda clock: Microphone(clock), input_name="file:talk.wav")

    def sleep() -> None:
        bench.slept_s += 60.0

    bench.clock.at(1.0, sleep)
    bench.run(3.0)
    assert (bench.gaps(), bench.opened, bench.notices()) == ([], [], [])
    assert_in_step(bench, 3.0)
