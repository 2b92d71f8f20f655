import os
from pathlib import Path

import numpy as np
import pytest

from engine.audio.files import read_audio
from engine.audio.virtual import ArrayInput, FileInput, NullInput
from engine.audio.virtual_output import FileOutput, NullOutput
from engine.audio.wav import write_wav
from engine.core.timebase import VirtualClock

pytestmark = pytest.mark.unit

RATE = 16_000


def _noise(num_samples: int) -> np.ndarray:
    return np.random.default_rng(0).uniform(-0.5, 0.5, num_samples).astype(np.float32)


def test_live_input_when_time_passes_then_gives_exactly_what_is_due() -> None:
    clock = VirtualClock()
    pcm = _noise(RATE)
    source = ArrayInput(pcm, RATE, clock)
    assert len(source.read().pcm) == 0
    source.start()
    assert source.is_live
    parts = []
    for step_s in (0.03, 0.0, 0.101, 0.5):
        clock.advance(step_s)
        parts.append(source.read().pcm)
    assert [len(part) for part in parts] == [480, 0, 1616, 8000]
    np.testing.assert_array_equal(np.concatenate(parts), pcm[:10096])


def test_live_input_when_the_source_ends_then_says_so_after_the_last_sample() -> None:
    clock = VirtualClock()
    source = ArrayInput(_noise(1000), RATE, clock)
    source.start()
    clock.advance(1.0)
    block = source.read()
    assert len(block.pcm) == 1000
    assert block.is_end
    assert source.read().is_end
    assert len(source.read().pcm) == 0


def test_live_input_when_paused_then_time_does_not_count_but_what_was_due_is_kept() -> None:
    clock = VirtualClock()
    pcm = _noise(RATE)
    source = ArrayInput(pcm, RATE, clock)
    source.start()
    clock.advance(0.1)
    source.pause()
    clock.advance(5.0)
    assert len(source.read().pcm) == 1600
    assert len(source.read().pcm) == 0
    source.start()
    clock.advance(0.1)
    np.testing.assert_array_equal(source.read().pcm, pcm[1600:3200])


def test_live_input_when_read_for_an_hour_then_no_sample_is_lost_to_rounding() -> None:
    clock = VirtualClock()
    source = NullInput(clock, 44_100)
    source.start()
    num_samples = 0
    for _ in range(3600 * 10):
        clock.advance(0.1)
        num_samples += len(source.read().pcm)
    assert num_samples == pytest.approx(3600 * 44_100, abs=1)


def test_fast_input_when_read_then_gives_a_tenth_of_a_second_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "noise.wav"
    pcm = _noise(4000)
    write_wav(path, pcm, RATE)
    source = FileInput(path, VirtualClock(), is_live=False)
    source.start()
    blocks = [source.read() for _ in range(3)]
    assert [len(block.pcm) for block in blocks] == [1600, 1600, 800]
    assert [block.is_end for block in blocks] == [False, False, True]
    joined = np.concatenate([block.pcm for block in blocks])
    np.testing.assert_allclose(joined, pcm, atol=1 / 32767)
    assert source.name == "noise.wav"
    assert not any(block.is_truncated for block in blocks)
    source.close()
    source.close()
    assert source.read().is_end


def test_file_when_it_was_cut_off_then_says_so_at_its_end(tmp_path: Path) -> None:
    path = tmp_path / "cut.wav"
    write_wav(path, _noise(4000), RATE)
    os.truncate(path, path.stat().st_size // 2)
    source = FileInput(path, VirtualClock(), is_live=False)
    source.start()
    blocks = [source.read(), source.read()]
    assert [(block.is_end, block.is_truncated) for block in blocks] == [
        (False, False),
        (True, True),
    ]


def test_null_input_when_given_a_generator_then_asks_it_for_each_sample_once() -> None:
    clock = VirtualClock()
    source = NullInput(clock, RATE, lambda start, end: np.arange(start, end, dtype=np.float32))
    source.start()
    clock.advance(0.05)
    first = source.read().pcm
    clock.advance(0.05)
    np.testing.assert_array_equal(np.concatenate([first, source.read().pcm]), np.arange(1600))


def test_output_when_time_passes_then_plays_at_the_pace_of_the_clock() -> None:
    clock = VirtualClock()
    output = NullOutput(clock, RATE)
    output.start()
    clock.advance(1.0)
    assert output.write(_noise(RATE)) == RATE
    assert output.num_buffered() == RATE
    clock.advance(0.25)
    assert output.num_played == 4000
    assert output.num_buffered() == 12_000
    assert output.num_underflows == 0


def test_output_when_it_runs_dry_then_counts_once_unless_the_end_was_told() -> None:
    clock = VirtualClock()
    output = NullOutput(clock, RATE)
    output.start()
    output.write(_noise(1600))
    clock.advance(0.2)
    assert output.num_underflows == 1
    clock.advance(0.2)
    assert output.num_underflows == 1
    output.write(_noise(1600))
    output.end_of_stream()
    clock.advance(0.2)
    assert output.num_played == 3200
    assert output.num_underflows == 1


def test_output_when_full_then_takes_only_what_fits() -> None:
    output = NullOutput(VirtualClock(), RATE)
    output.start()
    taken = output.write(_noise(10 * RATE))
    assert 2 * RATE <= taken < 10 * RATE
    assert output.write(_noise(10)) == 0


def test_file_output_when_stopped_now_then_ends_in_a_fade_of_what_was_really_played(
    tmp_path: Path,
) -> None:
    clock = VirtualClock()
    path = tmp_path / "out.wav"
    output = FileOutput(path, clock, RATE)
    output.start()
    output.write(np.full(RATE, 0.5, dtype=np.float32))
    clock.advance(0.5)
    num_played = output.stop_now()
    assert num_played == 8000 + 160
    assert output.num_played == num_played
    assert output.num_buffered() == 0
    clock.advance(1.0)
    assert output.num_underflows == 0
    output.close()
    output.close()
    pcm, rate = read_audio(path)
    assert (len(pcm), rate) == (num_played, RATE)
    assert np.abs(np.diff(pcm)).max() < 0.01
    assert pcm[-1] == 0.0


def test_file_output_when_not_live_then_writes_all_at_once(tmp_path: Path) -> None:
    path = tmp_path / "out.wav"
    output = FileOutput(path, VirtualClock(), RATE, is_live=False)
    output.start()
    pcm = _noise(5 * RATE)
    position = 0
    while position < len(pcm):
        position += output.write(pcm[position:])
    assert output.num_played == len(pcm)
    output.close()
    np.testing.assert_allclose(read_audio(path)[0], pcm, atol=1 / 32767)


def test_output_when_not_started_then_keeps_what_was_written() -> None:
    clock = VirtualClock()
    output = NullOutput(clock, RATE)
    output.write(_noise(100))
    clock.advance(1.0)
    assert output.num_played == 0
    output.start()
    clock.advance(1.0)
    assert output.num_played == 100
