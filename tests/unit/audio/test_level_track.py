"""Levels over time: exact peaks at every zoom, whatever the blocks, also while they grow."""

import threading
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from engine.audio.level_track import LevelTrack, read_level_track
from engine.audio.wav import WavWriter, write_wav
from engine.core.errors import AudioFileError
from engine.core.types import Pcm

pytestmark = pytest.mark.unit

RATE = 16_000
CELL = 160
FLOAT16 = 2**-11


def noise(num_samples: int, seed: int = 3) -> Pcm:
    rng = np.random.default_rng(seed)
    envelope = np.repeat(rng.random(-(-num_samples // 400)), 400)[:num_samples]
    return (envelope * rng.uniform(-1, 1, num_samples)).astype(np.float32)


def filled(pcm: Pcm, block: int = 481, rate: int = RATE) -> LevelTrack:
    track = LevelTrack(rate)
    for start in range(0, len(pcm), block):
        track.append(pcm[start : start + block])
    return track


def expected(pcm: Pcm, first: int, size: int, num_cells: int) -> np.ndarray:
    return np.array(
        [np.abs(pcm[first + i * size : first + (i + 1) * size]).max() for i in range(num_cells)]
    )


@pytest.mark.parametrize("block", [1, 7, 159, 160, 161, 480, 481, 5000, 10**9])
def test_append_when_blocks_have_any_length_then_peaks_are_the_same(block: int) -> None:
    pcm = noise(12_345)
    track = filled(pcm, block)
    peaks, first, size = track.overview(0, len(pcm), 10_000)
    assert (first, size, track.num_samples) == (0, CELL, 12_345)
    assert len(peaks) == 78
    np.testing.assert_allclose(peaks, expected(pcm, 0, CELL, 78), rtol=FLOAT16)


@pytest.mark.parametrize("rate", [2_000, 11_025, 22_050, 44_100, 48_000])
def test_rate_when_10_ms_are_no_whole_samples_then_cells_are_told_truly(rate: int) -> None:
    pcm = noise(3 * rate + 17)
    peaks, first, size = filled(pcm, rate=rate).overview(rate, 2 * rate, 10_000)
    assert size == round(rate / 100)
    assert first <= rate < first + size
    np.testing.assert_allclose(peaks, expected(pcm, first, size, len(peaks)), rtol=FLOAT16)


@pytest.mark.parametrize("max_cells", [1, 2, 10, 100, 333, 1000])
@pytest.mark.parametrize(("start", "end"), [(0, 10**9), (1_234, 987_654), (700_000, 700_001)])
def test_overview_when_any_stretch_is_asked_for_then_no_peak_is_lost(
    start: int, end: int, max_cells: int
) -> None:
    pcm = noise(1_000_003)
    peaks, first, size = filled(pcm, 4801).overview(start, end, max_cells)
    end = min(end, len(pcm))
    assert 0 < len(peaks) <= max_cells + 1
    assert first % size == 0
    assert first <= start < first + size
    assert first + (len(peaks) - 1) * size < end <= first + len(peaks) * size
    np.testing.assert_allclose(peaks, expected(pcm, first, size, len(peaks)), rtol=FLOAT16)


def test_overview_when_the_view_moves_then_cells_stay_where_they_are() -> None:
    track = filled(noise(400_000), 4800)
    one, at_one, size = track.overview(0, 200_000, 50)
    other, at_other, other_size = track.overview(3_000, 203_000, 50)
    assert size == other_size
    num_skipped = (at_other - at_one) // size
    count = min(len(one) - num_skipped, len(other))
    np.testing.assert_array_equal(one[num_skipped:][:count], other[:count])


def test_overview_when_nothing_is_there_then_is_empty() -> None:
    track = LevelTrack(RATE)
    assert track.overview(0, 10**9, 100)[0].shape == (0,)
    track.append(np.zeros(0, np.float32))
    assert track.num_samples == 0
    track.append(np.full(100, 0.5, np.float32))
    assert track.overview(5_000, 9_000, 100)[0].shape == (0,)
    assert track.overview(0, 100, 0)[0].tolist() == [0.5]


def test_append_when_louder_than_full_scale_then_reads_1() -> None:
    track = filled(np.array([0.1, -3.0, 0.2], np.float32))
    assert track.overview(0, 3, 10)[0].tolist() == [1.0]


def test_append_when_samples_were_lost_then_their_place_is_silent() -> None:
    track = filled(np.full(1600, 0.5, np.float32))
    track.append(np.zeros(1600, np.float32))
    track.append(np.full(1600, -0.25, np.float32))
    peaks, _, _ = track.overview(0, 4800, 30)
    assert peaks.tolist() == [0.5] * 10 + [0.0] * 10 + [0.25] * 10


def test_overview_when_read_while_it_grows_then_is_always_right() -> None:
    """Every sample of block i has the level of i, so that a wrong cell can be told."""
    track, num_blocks, done = LevelTrack(RATE), 20_000, threading.Event()
    blocks = np.repeat(np.linspace(0.1, 1.0, num_blocks), CELL).astype(np.float32)
    wrong: list[str] = []

    def read() -> None:
        while not done.is_set() or not wrong:
            is_last = done.is_set()
            num_samples = track.num_samples
            for max_cells in (10, 300, 100_000):
                peaks, first, size = track.overview(0, num_samples, max_cells)
                ends = np.minimum(first + size * np.arange(1, len(peaks) + 1), num_samples)
                # The last cell may have grown since.
                expected_peaks = blocks[ends - 1][:-1]
                if not np.allclose(peaks[:-1], expected_peaks, rtol=FLOAT16):
                    wrong.append(f"{max_cells} cells at {num_samples}")
            if is_last:
                return

    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    for start in range(0, len(blocks), 3 * CELL):
        track.append(blocks[start : start + 3 * CELL])
    done.set()
    for reader in readers:
        reader.join(30)
    assert wrong == []


def test_memory_when_an_hour_was_measured_then_is_about_a_megabyte() -> None:
    block = np.full(RATE, 0.5, np.float32)
    track = LevelTrack(RATE)
    tracemalloc.start()
    for _ in range(3600):
        track.append(block)
    track.overview(0, track.num_samples, 100)
    used, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert used < 2 * 0.83e6


def test_file_when_kept_then_has_the_levels_that_were_measured_live(tmp_path: Path) -> None:
    pcm, path = noise(1_234_567), tmp_path / "audio.wav"
    write_wav(path, pcm, RATE)
    live, stored = filled(pcm, 4801), read_level_track(path)
    assert (stored.num_samples, stored.sample_rate) == (live.num_samples, RATE)
    for max_cells in (100, 100_000):
        ours, first, size = stored.overview(0, len(pcm), max_cells)
        theirs, their_first, their_size = live.overview(0, len(pcm), max_cells)
        assert (first, size) == (their_first, their_size)
        np.testing.assert_allclose(ours, theirs, rtol=2 * FLOAT16, atol=1 / 32767)


@pytest.mark.parametrize("cut", [0, 1, 2, 3, 321])
def test_file_when_it_broke_off_then_is_read_as_far_as_it_goes(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "audio.wav"
    writer = WavWriter(path, RATE)
    writer.append(np.full(16_000, -1.0, np.float32))
    # Never synced: its header speaks of no samples at all.
    data = path.read_bytes()
    writer.close()
    path.write_bytes(data[: len(data) - cut])
    track = read_level_track(path)
    assert track.num_samples == 16_000 - (cut + 1) // 2
    assert track.overview(0, 16_000, 4)[0].tolist() == pytest.approx([1.0] * 4)


@pytest.mark.parametrize("content", [b"", b"RIFF", bytes(44), b"RIFF0000WAVE" + bytes(40)])
def test_file_when_it_is_no_recording_then_says_so(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "audio.wav"
    path.write_bytes(content)
    with pytest.raises(AudioFileError, match="no recording"):
        read_level_track(path)


def test_file_when_missing_then_says_so(tmp_path: Path) -> None:
    with pytest.raises(AudioFileError, match=r"cannot be read: No such file"):
        read_level_track(tmp_path / "audio.wav")
