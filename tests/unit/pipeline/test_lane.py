import itertools
import threading
from collections.abc import Callable

import numpy as np
import pytest

from engine.audio.timeline import AudioTimeline
from engine.backends.fake_diarizer import DiarizerScript, FakeDiarizer
from engine.backends.fake_recognizer import FakeRecognizer, RecognizerScript, words_from_text
from engine.core.events import (
    ActivityRevised,
    FinalWords,
    Notice,
    PartialWords,
    Severity,
    SpanMarked,
    StreamNotice,
)
from engine.core.sync import CancelToken
from engine.core.types import SpanKind, Word
from engine.pipeline.lane import Lane, LaneBackend, LaneHooks
from engine.pipeline.own_voice import OwnVoiceGate


class Recorder:
    def __init__(self) -> None:
        self.events: list = []

    def told(self, kind: type) -> list:
        return [event for event in self.events if isinstance(event, kind)]


def run_lane(
    timeline: AudioTimeline,
    backend,
    recorder: Recorder,
    *,
    gate: OwnVoiceGate | None = None,
    is_live: bool = True,
    feed: Callable[[], None],
) -> None:
    backend.load(lambda *_: None, CancelToken())
    hooks = LaneHooks(
        wait_for_backend=lambda _: LaneBackend(backend.spec, backend.open_stream),
        post=recorder.events.append,
        next_mark_id=itertools.count().__next__,
        next_epoch=itertools.count().__next__,
        now_s=lambda: 0.0,
        is_live=is_live,
    )
    lane = Lane("recognizer", timeline, gate, hooks)
    feed()
    lane.start()
    assert lane.join(10)


def fill(timeline: AudioTimeline, seconds: float) -> Callable[[], None]:
    def feed() -> None:
        timeline.append(np.full(round(seconds * timeline.sample_rate), 0.1, np.float32))
        timeline.close()

    return feed


@pytest.mark.unit
@pytest.mark.parametrize("rate", [16_000, 44_100, 48_000, 8_000])
def test_lane_when_the_session_has_another_rate_then_words_are_on_its_clock(rate):
    timeline = AudioTimeline(rate, 10 * rate)
    recorder = Recorder()
    script = RecognizerScript(words=words_from_text("one two three", start_s=1.0))
    run_lane(timeline, FakeRecognizer(script), recorder, feed=fill(timeline, 5))

    words = [word for event in recorder.told(FinalWords) for word in event.words]
    assert [word.text for word in words] == [" one", " two", " three"]
    starts = [word.start / rate for word in words]
    assert starts == pytest.approx([1.0, 1.4, 1.8], abs=1 / rate)


@pytest.mark.unit
def test_lane_when_audio_ends_then_the_tail_is_flushed():
    timeline = AudioTimeline(16_000, 160_000)
    recorder = Recorder()
    # The word ends 100 ms before the audio does; it would be final a second later.
    script = RecognizerScript(words=words_from_text("last", start_s=1.6))
    run_lane(timeline, FakeRecognizer(script), recorder, feed=fill(timeline, 2.0))

    assert recorder.told(FinalWords)[-1].words[-1].text == " last"
    assert recorder.events[-1] == recorder.told(FinalWords)[-1] or (
        recorder.told(PartialWords)[-1].words == ()
    )


@pytest.mark.unit
@pytest.mark.expects_log
def test_lane_when_the_stream_fails_and_recovers_then_nothing_is_lost():
    timeline = AudioTimeline(16_000, 480_000)
    recorder = Recorder()
    script = RecognizerScript(words=words_from_text("one two three four"), fail_at=32_000)
    fails = iter([script, RecognizerScript(words=words_from_text("again"))])

    class Restarted(FakeRecognizer):
        def open_stream(self):
            backend = FakeRecognizer(next(fails))
            backend.load(lambda *_: None, CancelToken())
            return backend.open_stream()

    run_lane(timeline, Restarted(script), recorder, feed=fill(timeline, 6))

    *before, last = (word for event in recorder.told(FinalWords) for word in event.words)
    assert last.text == " again"
    # The new stream hears again what was not final yet; its time 0 is on the session clock.
    assert last.start == max((word.end for word in before), default=0)
    assert recorder.told(SpanMarked) == []
    assert recorder.told(Notice) == []


@pytest.mark.unit
@pytest.mark.expects_log
def test_lane_when_the_stream_cannot_recover_then_says_so_and_ends():
    timeline = AudioTimeline(16_000, 480_000)
    recorder = Recorder()
    script = RecognizerScript(fail_at=16_000, is_recoverable=False)
    run_lane(timeline, FakeRecognizer(script), recorder, feed=fill(timeline, 4))

    assert "recognizer stopped" in recorder.told(Notice)[0].message


@pytest.mark.unit
def test_lane_when_audio_is_gone_then_marks_it_and_goes_on():
    timeline = AudioTimeline(16_000, 32_000)
    recorder = Recorder()
    run_lane(timeline, FakeRecognizer(), recorder, feed=fill(timeline, 5))

    span = recorder.told(SpanMarked)[0]
    assert (span.kind, span.start, span.end) == (SpanKind.UNTRANSCRIBED, 0, 48_000)
    starts = [word.start for event in recorder.told(FinalWords) for word in event.words]
    assert min(starts) >= 48_000


@pytest.mark.unit
@pytest.mark.expects_log
def test_diarizer_lane_when_restarted_then_its_speakers_are_of_a_new_epoch():
    timeline = AudioTimeline(48_000, 480_000)
    recorder = Recorder()
    fails = iter([DiarizerScript(fail_at=64_000), DiarizerScript()])

    class Restarted(FakeDiarizer):
        def open_stream(self):
            backend = FakeDiarizer(next(fails))
            backend.load(lambda *_: None, CancelToken())
            return backend.open_stream()

    run_lane(timeline, Restarted(), recorder, feed=fill(timeline, 6))

    rows = recorder.told(ActivityRevised)
    assert {row.epoch for row in rows} == {0, 1}
    final = max(row.final_until for row in rows if row.epoch == 0)
    later = [row for row in rows if row.epoch == 1]
    # What was final stays; what was not is told again by the new stream.
    assert 0 < final <= min(row.first_frame for row in later) <= final + 1
    end = max(row.first_frame + len(row.probabilities) for row in rows)
    assert end * rows[0].frame_ms == pytest.approx(6000, abs=100)


@pytest.mark.unit
def test_gate_when_the_program_spoke_then_the_stream_hears_silence_there():
    timeline = AudioTimeline(16_000, 160_000)
    recorder = Recorder()
    position = [0]
    gate = OwnVoiceGate(
        16_000, lambda: position[0], recorder.events.append, itertools.count().__next__
    )
    position[0] = 16_000
    gate.begin()
    position[0] = 32_000
    gate.end(latency_s=0.1)
    heard: list[np.ndarray] = []

    class Listening(FakeRecognizer):
        def open_stream(self):
            stream = super().open_stream()
            push = stream.push

            def spy(pcm):
                heard.append(pcm)
                return push(pcm)

            stream.push = spy
            return stream

    run_lane(timeline, Listening(), recorder, gate=gate, feed=fill(timeline, 4))

    pcm = np.concatenate(heard)
    # 100 ms of latency and 300 ms in which the room still rings.
    assert np.all(pcm[16_000:38_400] == 0)
    assert np.all(pcm[:16_000] != 0)
    assert np.all(pcm[38_400:] != 0)
    marks = recorder.told(SpanMarked)
    assert [(m.start, m.end) for m in marks] == [(16_000, 16_000), (16_000, 38_400)]


@pytest.mark.unit
@pytest.mark.parametrize(("is_live", "told"), [(True, 64_000), (False, 0)])
def test_backlog_when_the_source_is_live_then_the_stream_is_told(is_live, told):
    timeline = AudioTimeline(48_000, 480_000)
    backlogs = [0]

    class Pacing(FakeRecognizer):
        def open_stream(self):
            stream = super().open_stream()
            stream.set_backlog = backlogs.append
            return stream

    run_lane(timeline, Pacing(), Recorder(), is_live=is_live, feed=fill(timeline, 5))

    # A second of 5 s was taken first; the rest waits, in samples of the stream's rate.
    assert max(backlogs) == told


@pytest.mark.unit
def test_lane_when_a_stream_has_news_of_itself_then_people_are_told():
    timeline = AudioTimeline(16_000, 160_000)
    recorder = Recorder()

    class Talkative(FakeDiarizer):
        def open_stream(self):
            stream = super().open_stream()
            flush = stream.flush
            stream.flush = lambda: [StreamNotice("It goes slower now."), *flush()]
            return stream

    run_lane(timeline, Talkative(), recorder, feed=fill(timeline, 1))

    assert recorder.told(Notice) == [Notice(Severity.INFO, "It goes slower now.")]
    assert recorder.told(StreamNotice) == []


@pytest.mark.unit
@pytest.mark.parametrize("rate", [16_000, 44_100, 22_050])
def test_lane_when_the_recording_is_held_then_what_was_said_is_final_and_time_goes_on(rate):
    timeline = AudioTimeline(rate, 20 * rate)
    recorder = Recorder()
    # Said 100 ms before the hold; it would be final a second later.
    words = words_from_text("before after", start_s=1.6, word_s=0.5)
    script = RecognizerScript((*words, Word(" end", 80_000, 84_000)))
    backend = FakeRecognizer(script)
    backend.load(lambda *_: None, CancelToken())
    hold_at = round(2.075 * rate)
    is_told = threading.Event()

    def post(event: object) -> None:
        recorder.events.append(event)
        if isinstance(event, FinalWords):
            is_told.set()

    hooks = LaneHooks(
        wait_for_backend=lambda _: LaneBackend(backend.spec, backend.open_stream),
        post=post,
        next_mark_id=itertools.count().__next__,
        next_epoch=itertools.count().__next__,
        now_s=lambda: 0.0,
    )
    lane = Lane("recognizer", timeline, None, hooks)
    lane.start()
    timeline.append(np.full(hold_at, 0.1, np.float32))
    timeline.hold()
    assert is_told.wait(5)
    assert timeline.end == hold_at
    for _ in range(40):
        timeline.append(np.full(rate // 100 + 1, 0.1, np.float32))
        timeline.hold()
    timeline.append(np.full(3 * rate, 0.1, np.float32))
    timeline.close()
    assert lane.join(10)

    told = [word for event in recorder.told(FinalWords) for word in event.words]
    assert [word.text for word in told] == [" before", " after", " end"]
    # Each hold rounds the stream's length, not where its words are on the session clock.
    assert [word.start / rate for word in told] == pytest.approx([1.6, 2.1, 5.0], abs=0.002)
    assert abs(recorder.told(PartialWords)[-1].heard_until - timeline.end) <= 1
