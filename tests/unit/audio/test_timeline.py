import threading

import numpy as np
import pytest

from engine.audio.timeline import AudioTimeline


def ramp(start: int, end: int) -> np.ndarray:
    return np.arange(start, end, dtype=np.float32)


@pytest.mark.unit
def test_cursor_when_reading_in_pieces_then_gets_every_sample_once():
    timeline = AudioTimeline(100, capacity=64)
    cursor = timeline.open_cursor()
    got = []
    for start in range(0, 200, 20):
        timeline.append(ramp(start, start + 20))
        got.append(cursor.read(1000, timeout_s=0)[1])
    timeline.close()

    np.testing.assert_array_equal(np.concatenate(got), ramp(0, 200))
    assert cursor.is_at_end


@pytest.mark.unit
def test_cursor_when_samples_fell_out_of_memory_then_says_where_it_goes_on():
    timeline = AudioTimeline(100, capacity=50)
    cursor = timeline.open_cursor()
    timeline.append(ramp(0, 120))

    start, pcm = cursor.read(1000, timeout_s=0)

    assert start == 70
    np.testing.assert_array_equal(pcm, ramp(70, 120))


@pytest.mark.unit
def test_cursor_when_samples_are_on_disk_then_reads_them_there():
    timeline = AudioTimeline(100, capacity=50, disk=ramp)
    cursor = timeline.open_cursor()
    timeline.append(ramp(0, 120))
    timeline.close()
    got = []
    while not cursor.is_at_end:
        got.append(cursor.read(32, timeout_s=0)[1])

    np.testing.assert_array_equal(np.concatenate(got), ramp(0, 120))


@pytest.mark.unit
def test_cursor_when_nothing_comes_then_returns_empty_after_the_timeout():
    timeline = AudioTimeline(100, capacity=50)
    start, pcm = timeline.open_cursor().read(10, timeout_s=0.01)

    assert (start, len(pcm)) == (0, 0)


@pytest.mark.unit
def test_wait_for_readers_when_one_is_slow_then_waits_for_it():
    timeline = AudioTimeline(100, capacity=200)
    fast, slow = timeline.open_cursor(), timeline.open_cursor()
    timeline.append(ramp(0, 100))
    fast.read(100, timeout_s=0)

    assert not timeline.wait_for_readers(50, timeout_s=0.01)
    reader = threading.Thread(target=slow.read, args=(60, 0))
    reader.start()
    assert timeline.wait_for_readers(50, timeout_s=5)
    reader.join()
    assert slow.backlog == 40


@pytest.mark.unit
def test_wait_for_readers_when_a_reader_closes_then_it_counts_no_more():
    timeline = AudioTimeline(100, capacity=200)
    cursor = timeline.open_cursor()
    timeline.append(ramp(0, 100))
    cursor.close()

    assert timeline.wait_for_readers(0, timeout_s=0.01)


@pytest.mark.unit
def test_append_when_longer_than_memory_then_the_newest_stay():
    timeline = AudioTimeline(100, capacity=30)
    timeline.append(ramp(0, 95))

    start, pcm = timeline.read(0, 95)
    assert start == 65
    np.testing.assert_array_equal(pcm, ramp(65, 95))


@pytest.mark.unit
def test_cursor_when_it_stops_at_holds_then_reads_on_once_each_is_taken():
    timeline = AudioTimeline(100, capacity=1000)
    cursor, other = timeline.open_cursor(stops_at_holds=True), timeline.open_cursor()
    timeline.append(ramp(0, 30))
    timeline.hold()
    timeline.hold()  # nothing came between
    timeline.append(ramp(30, 70))

    assert not cursor.take_hold()
    np.testing.assert_array_equal(cursor.read(1000, timeout_s=0)[1], ramp(0, 30))
    assert len(cursor.read(1000, timeout_s=0)[1]) == 0
    assert cursor.take_hold()
    assert not cursor.take_hold()
    np.testing.assert_array_equal(cursor.read(1000, timeout_s=0)[1], ramp(30, 70))
    np.testing.assert_array_equal(other.read(1000, timeout_s=0)[1], ramp(0, 70))


@pytest.mark.unit
def test_cursor_when_it_goes_back_before_a_hold_then_stops_there_again():
    timeline = AudioTimeline(100, capacity=1000)
    cursor = timeline.open_cursor(stops_at_holds=True)
    timeline.append(ramp(0, 30))
    cursor.read(1000, timeout_s=0)
    timeline.hold()
    assert cursor.take_hold()
    timeline.append(ramp(30, 70))
    cursor.read(1000, timeout_s=0)

    cursor.go_back(20)

    np.testing.assert_array_equal(cursor.read(1000, timeout_s=0)[1], ramp(20, 30))
    assert cursor.take_hold()
    cursor.skip(40)
    assert not cursor.take_hold()
