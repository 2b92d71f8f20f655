"""The soak in a few virtual minutes: every kind of fault, and checks that can fail."""

import os
from pathlib import Path

import numpy as np
import pytest

from benchmarks.soak import soak_fakes
from benchmarks.soak_audio import Identified, identify
from benchmarks.soak_faults import FAULTS, plan
from benchmarks.soak_memory import memory_slope
from benchmarks.soak_signal import RATE, coded, make_tones
from engine.audio.wav import write_wav
from engine.core.events import SpanMarked
from engine.core.types import Pcm, SpanKind

_HOURS = 0.05
_INTERVAL_S = 7.0
_SEED = 3


@pytest.mark.skipif(os.name == "nt", reason="a disk that refuses is made of a limit of POSIX")
@pytest.mark.expects_log
def test_session_when_every_fault_befalls_it_then_loses_nothing_that_is_not_drawn() -> None:
    names = [name for _, name in plan(_HOURS * 3600, _INTERVAL_S, _SEED)]
    assert set(names) == set(FAULTS)

    report = soak_fakes(_HOURS, _SEED, _INTERVAL_S)

    assert report.failures == []
    assert dict(report.figures)["faults"] == len(names)


def test_plan_when_the_seed_is_the_same_then_is_the_same_and_no_kind_comes_twice_in_turn() -> None:
    told = plan(4 * 3600.0, 60.0, 1)

    assert told == plan(4 * 3600.0, 60.0, 1)
    assert told != plan(4 * 3600.0, 60.0, 2)
    assert 200 < len(told) < 280
    for at in range(0, len(told) - len(FAULTS), len(FAULTS)):
        assert {name for _, name in told[at : at + len(FAULTS)]} == set(FAULTS)


def _identified(folder: Path, *parts: Pcm, spans: tuple[SpanMarked, ...] = ()) -> Identified:
    write_wav(folder / "audio.wav", np.concatenate(parts), RATE)
    return identify(folder / "audio.wav", spans, make_tones())


def _gap(start: int, end: int) -> SpanMarked:
    return SpanMarked(0, SpanKind.GAP, start, end)


def test_identify_when_all_was_heard_in_order_then_nothing_is_found(tmp_path: Path) -> None:
    tones = make_tones().at(np.arange(200_000, 240_000) / RATE).astype(np.float32)

    found = _identified(
        tmp_path,
        *(coded(100_000, 180_000), np.zeros(20_000, np.float32), tones, coded(240_000, 250_000)),
        spans=(_gap(80_000, 100_000),),
    )

    assert (found.unknown, found.unmarked, found.shifts) == ([], [], [0])
    assert (found.num_exact, found.num_tones, found.num_gap) == (90_000, 40_000, 20_000)


def test_identify_when_one_sample_is_missing_then_tells_where(tmp_path: Path) -> None:
    found = _identified(tmp_path, coded(0, 50_000), coded(50_001, 90_000))

    assert found.unmarked == [(50_000, 50_000)]


def test_identify_when_silence_is_not_drawn_then_tells_it(tmp_path: Path) -> None:
    silence = np.zeros(20_000, np.float32)

    found = _identified(tmp_path, coded(0, 50_000), silence, coded(70_000, 90_000))

    assert len(found.unknown) >= 2


def test_identify_when_a_gap_is_too_long_then_tells_by_how_much(tmp_path: Path) -> None:
    silence = np.zeros(20_000, np.float32)

    found = _identified(
        tmp_path,
        *(coded(0, 50_000), silence, coded(65_000, 90_000)),
        spans=(_gap(50_000, 70_000),),
    )

    assert found.shifts == [-5_000]


def test_identify_when_sound_lies_in_a_gap_then_tells_it(tmp_path: Path) -> None:
    found = _identified(tmp_path, coded(0, 50_000), spans=(_gap(10_000, 20_000),))

    assert found.unknown == [(10_000, 20_000)]


def test_memory_slope_when_memory_grows_then_tells_how_fast() -> None:
    memory = [(hours, 50.0 + 3.0 * hours) for hours in np.linspace(0.2, 4.0, 30)]

    assert memory_slope(memory, 0.1) == pytest.approx(3.0)
    assert memory_slope(memory, 3.9) is None
