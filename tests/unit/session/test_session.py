import os
import threading
from dataclasses import replace

import numpy as np
import pytest

from engine.audio.virtual import FileInput
from engine.audio.virtual_output import NullOutput
from engine.audio.wav import write_wav
from engine.backends.fake_recognizer import RecognizerScript, words_from_text
from engine.backends.fake_synthesizer import SynthesizerScript
from engine.core.config import KeepPolicy
from engine.core.errors import BackendError, DeviceError, EngineError, ModelMissingError
from engine.core.events import (
    BackendChanged,
    BackendState,
    FinalWords,
    Notice,
    PartialWords,
    RecordingStarted,
    RecordingStopped,
    SessionState,
    Severity,
    SpanMarked,
    SpeakerRenamed,
    StateChanged,
    UtteranceChanged,
    UtteranceState,
)
from engine.core.sync import CancelToken
from engine.core.timebase import MonotonicClock
from engine.core.types import BackendKind, SpanKind
from engine.session.rendering import render_to_wav
from engine.store.library import SessionLibrary
from tests.helpers.session import (
    RATE,
    ScriptedDevices,
    ScriptedInput,
    SessionBench,
    array_input,
    block,
)


@pytest.fixture
def make(tmp_path):
    benches = []

    def build(devices=None, **options) -> SessionBench:
        bench = SessionBench(tmp_path / "sessions", devices or ScriptedDevices(), **options)
        benches.append(bench)
        return bench

    yield build
    for bench in benches:
        bench.session.close()
    left = [t.name for t in threading.enumerate() if t.name.startswith("vivavoce")]
    assert left == []


def until(condition, timeout_s: float = 10.0) -> None:
    clock = MonotonicClock()
    end_s = clock.now_s() + timeout_s
    while not condition():
        assert clock.now_s() < end_s, "it did not happen in time"
        clock.sleep(0.005)


@pytest.mark.unit
@pytest.mark.parametrize("is_cut", [True, False])
def test_recording_when_its_file_was_cut_off_then_says_so_once_at_the_end(make, tmp_path, is_cut):
    path = tmp_path / "talk.wav"
    write_wav(path, np.full(RATE, 0.1, np.float32), RATE)
    if is_cut:
        os.truncate(path, path.stat().st_size // 2)
    bench = make(ScriptedDevices([FileInput(path, MonotonicClock(), is_live=False)]))
    bench.run()

    notices = bench.told(Notice)
    assert [(n.severity, n.message) for n in notices] == is_cut * [
        (
            Severity.WARNING,
            "talk.wav was cut off or is damaged: it ends before its header says it should.",
        )
    ]
    assert len(bench.session.document.words) > 0


@pytest.mark.unit
def test_recording_when_the_input_ends_then_everything_was_told_in_order(make):
    bench = make(ScriptedDevices([array_input(10)]))
    bench.run()

    states = [event.state for event in bench.told(StateChanged)]
    assert states[0] is SessionState.STARTING
    assert states[1] is SessionState.RECORDING
    assert SessionState.STOPPING in states
    assert states[-1] is SessionState.IDLE
    started, stopped = bench.told(RecordingStarted)[0], bench.told(RecordingStopped)[0]
    assert started.recording_id == stopped.recording_id
    assert stopped.num_samples == 10 * RATE
    position = bench.events.index(stopped)
    assert not any(isinstance(e, FinalWords) for e in bench.events[position:])
    assert len(bench.session.document.words) == 25
    assert bench.session.document.partial == ()


@pytest.mark.unit
def test_tail_when_a_word_ends_100_ms_before_stop_then_it_is_final(make):
    words = words_from_text("the last", start_s=1.2)
    stream = ScriptedInput([block(1600) for _ in range(20)])
    bench = make(ScriptedDevices([stream]), recognizer=RecognizerScript(words=words))
    bench.session.start().result(5)
    until(lambda: bench.session.recorded_s() >= 2.0)
    bench.session.stop().result(10)

    assert bench.session.document.text() == "the last"
    assert stream.is_closed


@pytest.mark.unit
def test_kept_session_when_opened_again_then_equals_the_live_document(make, tmp_path):
    bench = make(ScriptedDevices([array_input(8)]))
    bench.run()
    bench.session.edit([SpeakerRenamed(0, 0, "Maria")])
    live = bench.session.document

    library = SessionLibrary(tmp_path / "sessions")
    stored = library.open("last")
    document = stored.document()
    assert document.text() == live.text()
    assert [w.speakers for w in document.words] == [w.speakers for w in live.words]
    assert document.activity.final_until == live.activity.final_until
    np.testing.assert_allclose(
        document.activity.rows(0, 10_000), live.activity.rows(0, 10_000), atol=2e-3
    )
    assert library.list()[0].has_audio
    assert not document.is_trained


@pytest.mark.unit
@pytest.mark.parametrize(
    ("keep", "has_text", "has_audio"),
    [
        (KeepPolicy.AUDIO_AND_TEXT, True, True),
        (KeepPolicy.TEXT, True, False),
        (KeepPolicy.NOTHING, False, False),
    ],
)
def test_keep_when_chosen_then_only_that_is_on_disk(make, tmp_path, keep, has_text, has_audio):
    bench = make(ScriptedDevices([array_input(3)]), keep=keep)
    bench.run()

    files = [path.name for path in (tmp_path / "sessions").rglob("*") if path.is_file()]
    assert ("events.jsonl" in files) == has_text
    assert ("audio.wav" in files) == has_audio
    assert bench.told(RecordingStarted)[0].is_kept == has_text


@pytest.mark.unit
def test_start_when_there_is_no_device_then_the_error_names_it_and_the_session_lives(make):
    bench = make(ScriptedDevices([array_input(1)]))
    with pytest.raises(DeviceError, match="missing"):
        bench.session.start("missing").result(5)
    bench.session.drain_events()

    assert bench.told(Notice)[0].severity is Severity.ERROR
    assert bench.session.state is SessionState.IDLE
    bench.run()
    assert bench.told(RecordingStopped)


@pytest.mark.unit
def test_start_when_recording_then_is_refused_and_the_recording_goes_on(make):
    stream = ScriptedInput([block(1600)] * 10)
    bench = make(ScriptedDevices([stream, array_input(1)]))
    bench.session.start().result(5)
    with pytest.raises(EngineError, match="running already"):
        bench.session.start().result(5)
    until(lambda: bench.session.recorded_s() >= 1.0)
    bench.session.stop().result(10)

    assert bench.told(RecordingStopped)[0].num_samples == 16_000


@pytest.mark.unit
def test_lost_samples_when_reported_then_the_clock_stays_right_and_a_gap_is_marked(make):
    stream = ScriptedInput([block(8000), block(8000, lost=4000), block(8000)])
    bench = make(ScriptedDevices([stream]))
    bench.session.start().result(5)
    until(lambda: bench.session.recorded_s() >= 28_000 / RATE)
    assert bench.session.health().num_overflows == 1
    assert bench.session.health().lost_s == 0.25
    bench.session.stop().result(10)

    gap = next(e for e in bench.told(SpanMarked) if e.kind is SpanKind.GAP)
    assert (gap.start, gap.end) == (8000, 12_000)
    assert bench.told(RecordingStopped)[0].num_samples == 28_000


@pytest.mark.unit
def test_lost_device_when_it_comes_back_then_the_recording_goes_on_after_a_gap(make):
    first = ScriptedInput([block(16_000), DeviceError("It was unplugged.")])
    second = ScriptedInput([block(16_000)])
    bench = make(ScriptedDevices([first, DeviceError("not yet"), second]))
    bench.session.start().result(5)
    until(lambda: len(bench.told(Notice)) == 2)
    until(lambda: bench.session.recorded_s() > 2.2)
    bench.session.stop().result(10)

    assert "was lost" in bench.told(Notice)[0].message
    assert "is back" in bench.told(Notice)[1].message
    gap = next(e for e in bench.told(SpanMarked) if e.kind is SpanKind.GAP)
    assert gap.start == 16_000
    assert gap.end - gap.start >= 0.2 * RATE
    assert first.is_closed


@pytest.mark.unit
def test_pause_when_resumed_then_no_time_passed_and_it_is_marked(make):
    stream = ScriptedInput([block(1600)] * 5)
    bench = make(ScriptedDevices([stream]))
    bench.session.start().result(5)
    until(lambda: bench.session.recorded_s() >= 0.5)
    bench.session.pause().result(5)
    until(lambda: any(e.kind is SpanKind.PAUSE for e in bench.told(SpanMarked)))
    assert bench.session.state is SessionState.PAUSED
    assert not stream.is_running
    stream._blocks.extend([block(1600)] * 5)
    bench.session.resume().result(5)
    until(lambda: bench.session.recorded_s() >= 1.0)
    bench.session.stop().result(10)

    assert bench.told(RecordingStopped)[0].num_samples == 16_000


@pytest.mark.unit
def test_pause_when_words_are_pending_then_they_are_finished_before_it_ends(make):
    stream = ScriptedInput([block(1600)] * 8)
    words = words_from_text("so that you can see that is good to know")
    script = RecognizerScript(words=words, final_delay=32_000)
    bench = make(ScriptedDevices([stream]), recognizer=script, has_diarizer=False)
    bench.session.start().result(5)
    until(lambda: bench.session.document.partial)
    until(lambda: bench.session.recorded_s() >= 0.8)
    bench.session.pause().result(5)

    until(lambda: bench.session.document.text() == "so that")
    assert bench.session.document.partial == ()
    assert bench.session.state is SessionState.PAUSED

    stream._blocks.extend([block(1600)] * 32)
    bench.session.resume().result(5)
    until(lambda: bench.session.recorded_s() >= 4.0)
    bench.session.stop().result(10)
    document = bench.session.document
    assert [entry.word.start for entry in document.words] == [word.start for word in words]
    assert [document.line_text(line) for line in document.lines] == [
        "so that",
        "you can see that is good to know",
    ]


@pytest.mark.unit
def test_model_when_missing_then_recording_goes_on_without_text(make, tmp_path):
    error = ModelMissingError("The model is missing.", advice="Fetch it.")
    bench = make(ScriptedDevices([array_input(2)]), recognizer=RecognizerScript(load_error=error))
    bench.run()

    failed = next(e for e in bench.told(BackendChanged) if e.state is BackendState.FAILED)
    assert failed.kind is BackendKind.RECOGNIZER
    assert "Fetch it." in failed.message
    assert "Recording goes on" in bench.told(Notice)[0].advice
    assert SessionLibrary(tmp_path / "sessions").open("last").audio_path is not None
    assert bench.session.document.activity.num_frames > 0


@pytest.mark.unit
def test_recording_when_models_load_slowly_then_no_word_is_lost(make):
    stream = ScriptedInput([block(1600)] * 20)
    script = RecognizerScript(words=words_from_text("early bird"), load_s=0.5)
    bench = make(ScriptedDevices([stream]), recognizer=script)
    bench.session.start().result(5)
    until(lambda: bench.session.recorded_s() >= 2.0)
    assert bench.session.document.text() == ""
    bench.session.stop().result(10)

    assert bench.session.document.text() == "early bird"


@pytest.mark.unit
def test_stop_when_the_backlog_is_discarded_then_ends_soon(make):
    script = RecognizerScript(cost_s=1.0)
    stream = ScriptedInput([block(16_000)] * 20)
    bench = make(ScriptedDevices([stream]), recognizer=script)
    bench.session.start().result(5)
    until(lambda: bench.session.recorded_s() >= 20)
    stopping = bench.session.stop()
    until(lambda: bench.session.state is SessionState.STOPPING)
    bench.session.stop(discard_backlog=True)
    stopping.result(15)

    assert bench.told(RecordingStopped)


@pytest.mark.unit
def test_close_when_recording_then_the_tail_is_told_and_threads_end(make):
    words = words_from_text("bye", start_s=0.6)
    bench = make(
        ScriptedDevices([ScriptedInput([block(16_000)])]), recognizer=RecognizerScript(words=words)
    )
    bench.session.start().result(5)
    until(lambda: bench.session.recorded_s() >= 1)
    bench.session.close()

    assert bench.session.document.text() == "bye"
    assert bench.told(StateChanged)[-1].state is SessionState.CLOSED
    bench.session.close()


@pytest.mark.unit
def test_partial_when_words_become_final_then_they_are_no_longer_partial(make):
    bench = make(ScriptedDevices([array_input(6)]))
    bench.run()

    final_end = 0
    for event in bench.events:
        if isinstance(event, FinalWords):
            final_end = max(final_end, event.words[-1].end)
        if isinstance(event, PartialWords) and event.words:
            assert event.words[0].start >= final_end - 1


@pytest.mark.unit
def test_speak_when_asked_then_every_sample_is_heard_and_sentences_follow(make):
    bench = make()
    bench.session.speak("One short sentence. And another one.")
    until(lambda: any(e.state is UtteranceState.DONE for e in bench.told(UtteranceChanged)))

    told = bench.told(UtteranceChanged)
    assert [e.state for e in told][:2] == [UtteranceState.QUEUED, UtteranceState.RENDERING]
    spoken = [(e.text_start, e.text_end) for e in told if e.state is UtteranceState.SPEAKING]
    assert spoken[0][0] == 0
    assert spoken[-1][1] == len("One short sentence. And another one.")
    assert told[-1].heard_samples == bench.devices.outputs[0].num_played > RATE / 2
    assert bench.session.health().num_underflows == 0


@pytest.mark.unit
def test_stop_speaking_when_texts_wait_then_all_are_cancelled_and_silence_is_prompt(make):
    bench = make()
    bench.session.speak("A sentence that takes a while to be said aloud. " * 4)
    bench.session.speak("Never heard.")
    until(lambda: any(e.state is UtteranceState.SPEAKING for e in bench.told(UtteranceChanged)))
    bench.session.stop_speaking()
    until(lambda: not bench.session.is_speaking)
    bench.session.drain_events()

    ends = bench.told(UtteranceChanged)[-2:]
    assert [e.state for e in ends] == [UtteranceState.CANCELLED, UtteranceState.CANCELLED]
    # The text lasts twelve seconds; what was in the ring is not played out either.
    output = bench.devices.outputs[0]
    assert output.num_buffered() == 0
    assert output.num_played == ends[0].heard_samples < 6 * RATE


@pytest.mark.unit
def test_speak_when_the_voice_fails_then_says_so_and_the_next_text_is_spoken(make):
    bench = make(synthesizer=SynthesizerScript(fail_at_piece=0))
    bench.session.speak("This fails.")
    until(lambda: not bench.session.is_speaking)
    bench.session.drain_events()

    last = bench.told(UtteranceChanged)[-1]
    assert last.state is UtteranceState.FAILED
    assert last.message
    assert bench.session.state is SessionState.IDLE


@pytest.mark.unit
def test_own_voice_when_speaking_while_recording_then_the_span_is_marked(make):
    clock = MonotonicClock()
    bench = make(ScriptedDevices([array_input(600, clock, is_live=True)]))
    bench.session.start().result(5)
    bench.session.speak("Hello.")
    until(lambda: any(e.state is UtteranceState.DONE for e in bench.told(UtteranceChanged)))
    bench.session.stop().result(10)

    marks = [e for e in bench.told(SpanMarked) if e.kind is SpanKind.OWN_VOICE]
    assert len(marks) == 2
    assert marks[0].mark_id == marks[1].mark_id
    heard_s = bench.told(UtteranceChanged)[-1].heard_samples / 16_000
    assert (marks[1].end - marks[1].start) / RATE >= heard_s


@pytest.mark.unit
def test_own_voice_when_the_user_wears_headphones_then_nothing_is_held_back(make):
    clock = MonotonicClock()
    bench = make(
        ScriptedDevices([array_input(600, clock, is_live=True)]), hold_back_own_voice=False
    )
    bench.session.start().result(5)
    bench.session.speak("Hello.")
    until(lambda: any(e.state is UtteranceState.DONE for e in bench.told(UtteranceChanged)))
    bench.session.stop().result(10)

    assert [e for e in bench.told(SpanMarked) if e.kind is SpanKind.OWN_VOICE] == []


@pytest.mark.unit
def test_render_when_cancelled_then_nothing_is_left_and_an_older_file_stays(make, tmp_path):
    bench = make()
    path = tmp_path / "speech.wav"
    seconds = render_to_wav(bench.session, "One. Two. Three.", path, CancelToken())
    assert seconds > 0.3
    before = path.read_bytes()
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(EngineError):
        render_to_wav(bench.session, "Other words.", path, cancel)

    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir() if p.is_file()] == ["speech.wav"]


@pytest.mark.unit
def test_render_when_a_text_is_being_spoken_then_both_are_whole(make, tmp_path):
    bench = make()
    text = "This is said aloud, and at the same time it is saved."
    bench.session.speak(text)
    until(lambda: any(e.state is UtteranceState.SPEAKING for e in bench.told(UtteranceChanged)))
    seconds = render_to_wav(bench.session, text, tmp_path / "speech.wav", CancelToken())
    until(lambda: any(e.state is UtteranceState.DONE for e in bench.told(UtteranceChanged)))

    heard = bench.told(UtteranceChanged)[-1]
    assert heard.heard_samples / heard.sample_rate == pytest.approx(seconds, abs=0.01)
    assert bench.session.health().num_underflows == 0


@pytest.mark.unit
def test_settings_when_models_change_while_recording_then_it_is_refused(make):
    bench = make(ScriptedDevices([ScriptedInput([block(1600)])]))
    bench.session.start().result(5)
    with pytest.raises(EngineError, match="while recording"):
        bench.session.change_settings(replace(bench.session.settings, recognizer="other"))
    bench.session.stop().result(5)


@pytest.mark.unit
def test_output_when_it_cannot_be_opened_then_the_utterance_fails_with_the_reason(make):
    def refuse() -> NullOutput:
        raise DeviceError("The loudspeaker is busy.", advice="Close the other program.")

    bench = make(ScriptedDevices(open_output=refuse))
    bench.session.speak("Hello.")
    until(lambda: not bench.session.is_speaking)
    bench.session.drain_events()

    assert "Close the other program." in bench.told(UtteranceChanged)[-1].message


@pytest.mark.unit
def test_subscriber_when_it_raises_then_the_others_still_hear(make, caplog):
    bench = make(ScriptedDevices([array_input(1)]))

    def broken(_: object) -> None:
        raise BackendError("subscriber")

    bench.session.subscribe(broken)
    heard = []
    bench.session.subscribe(heard.append)
    bench.run()

    assert len(heard) > 5
    assert "an event subscriber failed" in caplog.text
