import numpy as np
import pytest

from engine.audio.levels import FLOOR_DB, LevelAlarm, LevelMeter, Levels

pytestmark = pytest.mark.unit

RATE = 16_000
BLOCK = 1_600  # 100 ms


def _sine(amplitude: float) -> np.ndarray:
    return (amplitude * np.sin(2 * np.pi * 500 * np.arange(BLOCK) / RATE)).astype(np.float32)


def _meter() -> LevelMeter:
    return LevelMeter(RATE, now_s=0.0)


def test_levels_when_a_sine_is_pushed_then_are_its_peak_and_rms() -> None:
    levels = _meter().push(_sine(0.5), 0.1)
    assert levels.peak_db == pytest.approx(-6.02, abs=0.05)
    assert levels.rms_db == pytest.approx(-9.03, abs=0.05)
    assert not levels.is_clipped
    assert levels.alarm is LevelAlarm.NONE


def test_levels_when_sound_stops_then_hold_the_peak_and_fall() -> None:
    meter = _meter()
    start = meter.push(_sine(0.5), 0.1)
    quiet = np.full(BLOCK, 1e-3, dtype=np.float32)
    held = meter.push(quiet, 0.2)
    assert held.peak_db == start.peak_db
    assert held.rms_db < start.rms_db
    for k in range(20):
        fallen = meter.push(quiet, 0.3 + 0.1 * k)
    assert start.peak_db - 45 < fallen.peak_db < start.peak_db - 20
    for k in range(40):
        fallen = meter.push(quiet, 3 + 0.1 * k)
    assert fallen.peak_db == pytest.approx(-60, abs=0.1)


def test_clip_mark_when_full_scale_is_touched_then_stays_for_a_second() -> None:
    meter = _meter()
    assert meter.push(_sine(1.0), 0.1).is_clipped
    marks = [meter.push(_sine(0.1), 0.1 * k).is_clipped for k in range(2, 20)]
    assert marks.count(True) == 10
    assert marks == sorted(marks, reverse=True)


def test_alarm_when_all_samples_are_zero_for_two_seconds_then_is_all_zero() -> None:
    meter = _meter()
    zeros = np.zeros(BLOCK, dtype=np.float32)
    alarms = [meter.push(zeros, 0.1 * k).alarm for k in range(1, 21)]
    assert alarms[:19] == [LevelAlarm.NONE] * 19
    assert alarms[19] is LevelAlarm.ALL_ZERO
    assert meter.push(_sine(0.1), 2.1).alarm is LevelAlarm.NONE


def test_alarm_when_only_noise_comes_for_eight_seconds_then_is_silent() -> None:
    meter = _meter()
    alarms = [meter.push(_sine(5e-4), 0.1 * k).alarm for k in range(1, 81)]
    assert alarms[:79] == [LevelAlarm.NONE] * 79
    assert alarms[79] is LevelAlarm.SILENT


def test_alarm_when_no_block_comes_for_four_seconds_then_is_no_blocks() -> None:
    meter = _meter()
    meter.push(_sine(0.1), 1.0)
    empty = np.zeros(0, dtype=np.float32)
    assert meter.push(empty, 4.9).alarm is LevelAlarm.NONE
    assert meter.read(5.0).alarm is LevelAlarm.NO_BLOCKS
    meter.restart(5.0)
    assert meter.read(5.0).alarm is LevelAlarm.NONE


def test_levels_when_nothing_was_pushed_then_are_the_floor() -> None:
    levels = _meter().read(0.0)
    assert (levels.peak_db, levels.rms_db) == (FLOOR_DB, FLOOR_DB)


def test_levels_when_no_block_comes_then_nothing_is_heard() -> None:
    meter = _meter()
    meter.push(np.full(RATE, 1.0, np.float32), 1.0)
    assert meter.read(1.4).rms_db > -10
    assert meter.read(1.6) == Levels()
    assert meter.read(6.0) == Levels(alarm=LevelAlarm.NO_BLOCKS)
