import itertools
import threading

import numpy as np
import pytest

from engine.audio.timeline import AudioTimeline
from engine.core.errors import BackendError, ComputeDeviceError, StoreError
from engine.core.events import ActivityRevised, Notice, Severity, SpanMarked
from engine.core.types import Pcm, SpanKind
from engine.pipeline.lane import Lane, LaneBackend, LaneHooks
from engine.text.document import TranscriptDocument
from tests.helpers.coded_speech import (
    RATE,
    WORD_SAMPLES,
    CodedDiarizer,
    CodedRecognizer,
    coded_pcm,
    numbers_told,
    words_in,
)

pytestmark = pytest.mark.unit
WORDS_A_S = RATE / WORD_SAMPLES


class Bench:
    """A lane on a timeline that the test fills, and a clock that it moves.

    Args:
        backend: of the lane.
        is_kept: whether all audio can be read again.
        is_live: whether audio comes at its own pace.
        on_cpu: what the lane moves to when its GPU fails.
    """

    def __init__(self, backend, *, is_kept: bool = True, is_live: bool = True, on_cpu=None) -> None:
        self.events: list = []
        self.now_s = 0.0
        self.kept = np.zeros(0, np.float32)
        self.timeline = AudioTimeline(RATE, 60 * RATE, self.read if is_kept else None)
        has_rows = isinstance(backend, CodedDiarizer)
        marks, epochs = itertools.count(), itertools.count()

        def move(error, cancel):
            if on_cpu is None:
                raise error
            return LaneBackend(on_cpu.spec, on_cpu.open_stream)

        self.lane = Lane(
            "diarizer" if has_rows else "recognizer",
            self.timeline,
            None,
            LaneHooks(
                wait_for_backend=lambda _: LaneBackend(backend.spec, backend.open_stream),
                post=self.events.append,
                next_mark_id=marks.__next__,
                next_epoch=epochs.__next__,
                now_s=lambda: self.now_s,
                is_live=is_live,
                move_to_cpu=move,
            ),
            has_rows=has_rows,
        )

    def read(self, start: int, end: int):
        return self.kept[start:end]

    def capture(self, pcm) -> None:
        self.kept = np.concatenate([self.kept, pcm])
        self.timeline.append(pcm)

    def until(self, condition) -> None:
        for _ in range(2000):
            if condition():
                return
            threading.Event().wait(0.005)
        raise TimeoutError("it did not happen in time")

    def until_live(self) -> None:
        self.until(lambda: self.lane.backlog == 0)

    def end(self) -> None:
        self.timeline.close()
        assert self.lane.join(20)

    def told(self, kind: type) -> list:
        return [event for event in self.events if isinstance(event, kind)]

    def marks(self) -> dict:
        """Return the newest form of every mark."""
        return {mark.mark_id: mark for mark in self.told(SpanMarked)}


class Stall:
    """Lets pushes wait from a moment on, until it is released."""

    def __init__(self, at: int) -> None:
        self.at = at
        self.is_reached = threading.Event()
        self.go_on = threading.Event()

    def __call__(self, start: int, block: Pcm) -> None:
        if start + len(block) > self.at and not self.go_on.is_set():
            self.is_reached.set()
            assert self.go_on.wait(20)


def stalled(num_words: int, *, is_kept: bool = True, backend=CodedRecognizer) -> Bench:
    """Return a bench whose lane stood still while `num_words` came, and is live again."""
    stall = Stall(10 * RATE)
    bench = Bench(backend(stall), is_kept=is_kept)
    bench.lane.start()
    bench.capture(coded_pcm(30))
    assert stall.is_reached.wait(10)
    bench.capture(coded_pcm(num_words, first=30))
    stall.go_on.set()
    bench.until_live()
    return bench


def test_lane_when_a_push_stalls_for_a_minute_then_goes_on_near_the_present_and_marks_it():
    bench = stalled(150)

    marked = bench.told(SpanMarked)
    assert [mark.kind for mark in marked] == [SpanKind.UNTRANSCRIBED]
    # The last seconds are live; all before that is left for later.
    assert 72 * RATE - marked[0].end < 4 * RATE
    assert "will be filled in" in marked[0].reason
    assert bench.told(Notice)[0].severity is Severity.WARNING
    assert bench.lane.num_left_out > 50 * RATE
    assert max(numbers_told(bench.events)) == 179
    bench.end()


def test_backfill_when_the_recording_ends_then_every_word_was_told_once_and_no_mark_is_left():
    bench = stalled(150)
    bench.end()

    assert sorted(numbers_told(bench.events)) == list(range(180))
    document = TranscriptDocument()
    document.sample_rate = RATE
    for event in bench.events:
        document.apply(event)
    assert document.text() == " ".join(str(number) for number in range(180))
    assert document.spans == ()


def test_backfill_when_the_lane_keeps_up_again_then_it_is_done_before_the_end():
    bench = stalled(150)
    assert bench.lane.num_left_out > 0
    first = 180
    while bench.lane.num_left_out:
        bench.now_s += 2.0
        bench.capture(coded_pcm(1, first=first))
        bench.until_live()
        first += 1
        assert first < 600, "it is not filled in"

    assert sorted(numbers_told(bench.events)) == list(range(first))
    infos = [notice for notice in bench.told(Notice) if notice.severity is Severity.INFO]
    assert ["keeps up again" in notice.message for notice in infos] == [True]
    bench.end()


def test_mark_when_it_is_filled_in_then_it_shrinks_from_its_start():
    bench = stalled(150)
    bench.end()

    marked = bench.told(SpanMarked)
    starts = [mark.start for mark in marked]
    assert len(marked) > 20
    assert starts == sorted(starts)
    assert {mark.end for mark in marked} == {marked[0].end}
    assert marked[-1].start == marked[-1].end


def test_backfill_when_no_audio_is_kept_then_the_mark_stays_and_says_so():
    bench = stalled(450, is_kept=False)
    bench.end()

    left = [mark for mark in bench.marks().values() if mark.end > mark.start]
    assert len(left) == 1
    assert "the audio is not kept" in left[0].reason
    # What was still in memory is filled in: a minute, less the seconds that passed.
    told = numbers_told(bench.events)
    assert len(told) == len(set(told))
    assert (left[0].end - left[0].start) / RATE == pytest.approx(130, abs=15)
    assert len(told) == pytest.approx(480 - 130 * WORDS_A_S, abs=40)


@pytest.mark.expects_log
def test_backfill_when_the_audio_cannot_be_read_then_the_mark_stays_and_says_why():
    bench = stalled(300)

    def refuse(start: int, end: int):
        raise StoreError("The disk is gone.")

    bench.timeline._disk = refuse
    bench.end()

    left = [mark for mark in bench.marks().values() if mark.end > mark.start]
    assert len(left) == 1
    assert "The disk is gone" in left[0].reason


def test_backfill_when_the_rest_is_discarded_then_the_mark_stays_and_says_so():
    bench = stalled(150)
    bench.lane.cancel()
    bench.end()

    left = [mark for mark in bench.marks().values() if mark.end > mark.start]
    assert len(left) == 1
    assert "before the end" in left[0].reason


def test_lane_when_the_source_is_a_file_then_nothing_is_left_out():
    bench = Bench(CodedRecognizer(), is_live=False)
    bench.capture(coded_pcm(200))
    bench.lane.start()
    bench.end()

    assert numbers_told(bench.events) == list(range(200))
    assert bench.told(SpanMarked) == []


def test_speakers_when_the_lane_stalls_then_they_are_the_same_after_and_filled_in_at_the_end():
    bench = stalled(300, backend=CodedDiarizer)
    assert bench.told(Notice)
    assert bench.told(SpanMarked) == []
    bench.end()

    live = [rows for rows in bench.told(ActivityRevised) if not rows.is_settled]
    filled = [rows for rows in bench.told(ActivityRevised) if rows.is_settled]
    assert {rows.epoch for rows in live} == {0}
    assert len(filled) == 1
    covered = (filled[0].first_frame, filled[0].first_frame + len(filled[0].probabilities))
    assert covered[0] <= 100
    assert covered[1] > 1200
    active = filled[0].probabilities.max(axis=1) > 0.5
    # Three of four frames hold a word, in the hole as elsewhere.
    assert active.mean() == pytest.approx(0.75, abs=0.03)
    last = live[-1]
    assert last.first_frame + len(last.probabilities) == 1320


@pytest.mark.expects_log
def test_gpu_when_it_fails_in_the_middle_then_the_rest_and_what_was_lost_come_from_the_cpu():
    def fail(start: int, block: Pcm) -> None:
        if start + len(block) > 8 * RATE:
            raise ComputeDeviceError("The GPU is out of memory.")

    cpu = CodedRecognizer()
    bench = Bench(CodedRecognizer(fail, device="Test GPU"), on_cpu=cpu)
    bench.capture(coded_pcm(50))
    bench.lane.start()
    bench.end()

    assert sorted(numbers_told(bench.events)) == list(range(50))
    assert [mark for mark in bench.marks().values() if mark.end > mark.start] == []


@pytest.mark.expects_log
def test_gpu_when_it_fails_for_speakers_then_they_are_of_a_new_epoch():
    def fail(start: int, block: Pcm) -> None:
        if start + len(block) > 8 * RATE:
            raise ComputeDeviceError("The GPU is gone.")

    bench = Bench(CodedDiarizer(fail, device="Test GPU"), on_cpu=CodedDiarizer())
    bench.capture(coded_pcm(50))
    bench.lane.start()
    bench.end()

    live = [rows for rows in bench.told(ActivityRevised) if not rows.is_settled]
    assert {rows.epoch for rows in live} == {0, 1}


@pytest.mark.expects_log
@pytest.mark.parametrize("num_words", [35, 100])
def test_lane_when_it_fails_again_at_the_same_place_then_goes_on_behind_it_and_marks_it(
    num_words,
):
    def fail(start: int, block: Pcm) -> None:
        if any(number == 3 for number, _, _ in words_in(block)):
            raise BackendError("It chokes on this.")

    bench = Bench(CodedRecognizer(fail))
    bench.capture(coded_pcm(num_words))
    bench.lane.start()
    bench.end()

    marks = [mark for mark in bench.marks().values() if mark.end > mark.start]
    assert all("It chokes on this" in mark.reason for mark in marks)
    told = numbers_told(bench.events)
    assert len(told) == len(set(told))
    for number in set(range(num_words)) - set(told):
        middle = number * WORD_SAMPLES + 2400
        assert any(mark.start <= middle < mark.end for mark in marks)
    # The block with the word in it, and what is not certain before it.
    assert num_words - 6 <= len(told) < num_words


@pytest.mark.expects_log
def test_lane_when_it_is_given_up_then_the_rest_of_the_recording_is_marked():
    def fail(start: int, block: Pcm) -> None:
        if start + len(block) > 8 * RATE:
            raise BackendError("It broke.", recoverable=False)

    bench = Bench(CodedRecognizer(fail))
    bench.capture(coded_pcm(25))
    bench.lane.start()
    bench.until(lambda: not bench.lane.is_running)
    bench.capture(coded_pcm(25, first=25))
    bench.end()
    bench.lane.tell_unheard(bench.timeline.end, "the recognizer was stopped before")

    told = set(numbers_told(bench.events))
    silent = [n for n in range(50) if n not in told]
    marks = list(bench.marks().values())
    for number in silent:
        middle = number * WORD_SAMPLES + 2400
        assert any(mark.start <= middle < mark.end for mark in marks)
    assert bench.timeline.end == max(mark.end for mark in marks)


def test_backfill_when_the_lane_is_abandoned_then_its_marks_promise_nothing():
    bench = stalled(150)
    bench.lane.abandon()
    bench.end()

    (mark,) = bench.marks().values()
    assert "before the end" in mark.reason


def test_lane_when_it_is_abandoned_then_nothing_more_is_heard_of_it():
    stall = Stall(4 * RATE)
    bench = Bench(CodedRecognizer(stall))
    bench.lane.start()
    bench.capture(coded_pcm(20))
    assert stall.is_reached.wait(10)
    bench.lane.abandon()
    told = len(bench.events)
    stall.go_on.set()
    bench.end()

    assert len(bench.events) == told
    bench.lane.tell_unheard(bench.timeline.end, "it did not answer")
    (mark,) = bench.told(SpanMarked)
    assert mark.start <= 4 * RATE
    assert mark.end == bench.timeline.end
