import threading

import numpy as np
import pytest

from engine.core.timebase import MonotonicClock
from engine.pipeline.kept_speech import KeptSpeech

pytestmark = pytest.mark.unit

RATE = 1000


def until_end(speech: KeptSpeech, end: int) -> None:
    clock = MonotonicClock()
    deadline_s = clock.now_s() + 10.0
    while speech.end < end:
        assert clock.now_s() < deadline_s
        clock.sleep(0.001)


def ramp(start: int, size: int) -> np.ndarray:
    return np.arange(start, start + size, dtype=np.float32)


def test_read_when_it_spans_blocks_then_is_contiguous_and_ends_where_speech_does():
    speech = KeptSpeech(RATE)
    for start in range(0, 100, 7):
        speech.put(ramp(start, 7), 0, 1)
    np.testing.assert_array_equal(speech.read(5, 50), ramp(5, 50))
    np.testing.assert_array_equal(speech.read(100, 50), ramp(100, 5))
    assert len(speech.read(105, 50)) == 0
    assert len(KeptSpeech(RATE).read(0, 5)) == 0


def test_kept_when_more_is_played_than_fits_then_the_oldest_goes_and_the_rest_stays():
    speech = KeptSpeech(RATE, max_kept_s=1.0)
    for start in range(0, 5000, 100):
        speech.put(ramp(start, 100), start, start + 100)
        speech.set_position(start + 100)
    assert (speech.start, speech.end) == (4000, 5000)
    np.testing.assert_array_equal(speech.read(4000, 9999), ramp(4000, 1000))
    assert speech.sentence_at(4050) == (4000, 4100)
    assert speech.sentence_at(4999) == (4900, 5000)


def test_kept_when_nothing_was_played_then_nothing_is_dropped():
    speech = KeptSpeech(RATE, max_kept_s=0.5)
    for start in range(0, 1000, 100):
        speech.put(ramp(start, 100), 0, 1)
    assert (speech.start, speech.end) == (0, 1000)


def test_put_when_far_ahead_then_waits_until_it_is_played_or_abandoned():
    speech = KeptSpeech(RATE, max_ahead_s=0.2)
    results = []

    def write() -> None:
        results.extend(speech.put(ramp(0, 100), 0, 1) for _ in range(5))

    writer = threading.Thread(target=write)
    writer.start()
    until_end(speech, 200)
    assert speech.end == 200
    speech.set_position(100)
    until_end(speech, 300)
    speech.abandon()
    writer.join(5)
    assert results == [True, True, True, False, False]
    assert speech.end == 300
