"""Recorded audio heard through a session: running, last and kept recordings."""

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from engine.audio.virtual_output import NullOutput
from engine.core.config import KeepPolicy
from engine.core.events import (
    PlayChanged,
    PlayState,
    RecordingStopped,
    SpanMarked,
    UtteranceChanged,
    UtteranceState,
)
from engine.core.timebase import MonotonicClock
from engine.core.types import Pcm, SpanKind
from engine.session import recording
from engine.store.library import SessionLibrary
from tests.helpers.session import (
    RATE,
    ScriptedDevices,
    ScriptedInput,
    SessionBench,
    array_input,
    block,
)

pytestmark = pytest.mark.unit

FADE = round(0.01 * RATE)
ENDS = (PlayState.ENDED, PlayState.FAILED)


class QuickOutput(NullOutput):
    """Plays in no time and remembers."""

    def __init__(self) -> None:
        super().__init__(MonotonicClock(), RATE, is_live=False)
        self.played: list[Pcm] = []

    def _play(self, pcm: Pcm) -> None:
        super()._play(pcm)
        self.played.append(pcm.copy())


Make = Callable[..., SessionBench]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    benches = []

    def build(devices: ScriptedDevices | None = None, **options: object) -> SessionBench:
        benches.append(
            SessionBench(tmp_path / "sessions", devices or ScriptedDevices(), **options)  # type: ignore[arg-type]
        )
        return benches[-1]

    yield build
    for bench in benches:
        bench.session.close()
    left = [t.name for t in threading.enumerate() if t.name.startswith("vivavoce")]
    assert left == []


def until(condition: Callable[[], object], timeout_s: float = 10.0) -> None:
    clock = MonotonicClock()
    end_s = clock.now_s() + timeout_s
    while not condition():
        assert clock.now_s() < end_s, "it did not happen in time"
        clock.sleep(0.005)


def ends(bench: SessionBench) -> list[PlayChanged]:
    return [event for event in bench.told(PlayChanged) if event.state in ENDS]


def play(bench: SessionBench, *where: object) -> PlayChanged:
    """Play to the end and return what was told then."""
    before = len(ends(bench))
    bench.session.play(*where)  # type: ignore[arg-type]
    until(lambda: len(ends(bench)) > before)
    return ends(bench)[-1]


def recorded(seconds: float) -> Pcm:
    """Return what `array_input` brings."""
    source = array_input(seconds)
    source.start()
    blocks = []
    while len(pcm := source.read().pcm):
        blocks.append(pcm)
    return np.concatenate(blocks)


def sound(bench: SessionBench) -> Pcm:
    outputs = [output for output in bench.devices.outputs if isinstance(output, QuickOutput)]
    return np.concatenate([np.zeros(0, np.float32), *[p for o in outputs for p in o.played]])


def quick(seconds: float, num_recordings: int = 1) -> ScriptedDevices:
    return ScriptedDevices([array_input(seconds) for _ in range(num_recordings)], QuickOutput)


def live_recording(bench: SessionBench, seconds: float) -> None:
    """Record from a microphone until so much is there."""
    bench.session.start().result(5)
    until(lambda: bench.session.recorded_s() >= seconds)


def microphone(seconds: float) -> ScriptedInput:
    return ScriptedInput([block(RATE // 2) for _ in range(round(2 * seconds))])


@pytest.mark.parametrize("keep", [KeepPolicy.AUDIO_AND_TEXT, KeepPolicy.TEXT, KeepPolicy.NOTHING])
def test_play_when_the_recording_has_ended_then_its_samples_are_heard(
    make: Make, keep: KeepPolicy
) -> None:
    bench = make(quick(5), keep=keep)
    bench.run()
    end = play(bench, RATE, 3 * RATE)
    assert end == PlayChanged(PlayState.ENDED, RATE, 3 * RATE)
    heard = sound(bench)
    assert len(heard) == 2 * RATE
    np.testing.assert_allclose(
        heard[FADE:-FADE], recorded(5)[RATE + FADE : 3 * RATE - FADE], atol=1 / 32767
    )


def test_play_when_the_session_is_stored_then_is_heard_while_another_is_newest(
    make: Make, tmp_path: Path
) -> None:
    bench = make(quick(5, 2))
    bench.run()
    stored_id = SessionLibrary(tmp_path / "sessions").open("last").header.id
    bench.run()
    end = play(bench, 4 * RATE, None, stored_id)
    assert end == PlayChanged(PlayState.ENDED, 4 * RATE, 5 * RATE)
    assert len(sound(bench)) == RATE


def test_play_when_only_text_was_kept_then_says_so(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recording, "MEMORY_S", 3.0)
    bench = make(quick(8), keep=KeepPolicy.TEXT)
    bench.run()
    stored_id = SessionLibrary(tmp_path / "sessions").open("last").header.id
    for where in ((0, RATE, stored_id), (0, RATE)):
        end = play(bench, *where)
        assert end.state is PlayState.FAILED
        assert end.message.startswith("Only the text of this recording was kept, so ")
        assert end.message.endswith("Choose to keep audio and text before the next recording.")
    # The newest is in memory until the next recording.
    assert play(bench, 7 * RATE).state is PlayState.ENDED
    assert len(sound(bench)) == RATE


def test_play_when_nothing_is_kept_then_only_what_is_in_memory_is_heard(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recording, "MEMORY_S", 3.0)
    devices = ScriptedDevices([microphone(8)], QuickOutput)
    bench = make(devices, keep=KeepPolicy.NOTHING)
    live_recording(bench, 8.0)
    end = play(bench, RATE, 2 * RATE)
    assert end.state is PlayState.FAILED
    assert end.message.startswith("Nothing of this recording is kept, so this moment cannot")
    assert play(bench, 7 * RATE).state is PlayState.ENDED


def test_play_when_text_alone_is_kept_then_all_is_heard_while_it_runs(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recording, "MEMORY_S", 3.0)
    bench = make(ScriptedDevices([microphone(8)], QuickOutput), keep=KeepPolicy.TEXT)
    live_recording(bench, 8.0)
    assert play(bench, 0, 8 * RATE).state is PlayState.ENDED
    assert len(sound(bench)) == 8 * RATE


@pytest.mark.parametrize(
    ("stored_id", "message"),
    [("", "Nothing has been recorded yet."), ("2001", "There is no session '2001'")],
)
def test_play_when_there_is_no_such_recording_then_says_so(
    make: Make, stored_id: str, message: str
) -> None:
    end = play(make(), 0, None, stored_id)
    assert end.state is PlayState.FAILED
    assert end.message.startswith(message)


def test_play_when_the_audio_was_deleted_then_says_so(make: Make, tmp_path: Path) -> None:
    bench = make(quick(3))
    bench.run()
    SessionLibrary(tmp_path / "sessions").delete("last")
    end = play(bench, 0)
    assert end.state is PlayState.FAILED
    assert "It was deleted" in end.message


def test_play_when_the_next_recording_cannot_start_then_the_last_is_still_heard(
    make: Make,
) -> None:
    bench = make(quick(3))
    bench.run()
    track = bench.session.level_track()
    bench.session.start("missing").exception(5)
    assert bench.session.level_track() is track
    assert play(bench, 0).state is PlayState.ENDED


def test_play_when_recording_then_ends_at_what_there_is_and_is_held_back(make: Make) -> None:
    bench = make(ScriptedDevices([microphone(2)], QuickOutput))
    live_recording(bench, 2.0)
    assert play(bench, RATE).end == 2 * RATE
    assert len(sound(bench)) == RATE
    bench.session.stop().result(10)
    spans = [span for span in bench.session.document.spans if span.kind is SpanKind.OWN_VOICE]
    assert [(span.start, span.end) for span in spans] == [(2 * RATE, 2 * RATE + 4800)]


def test_play_when_the_user_wears_headphones_then_nothing_is_held_back(make: Make) -> None:
    devices = ScriptedDevices([microphone(2)], QuickOutput)
    bench = make(devices, hold_back_own_voice=False)
    live_recording(bench, 2.0)
    play(bench, RATE)
    assert bench.told(SpanMarked) == []


def test_play_when_the_recording_ends_meanwhile_then_goes_on_and_marks_nothing_after(
    make: Make,
) -> None:
    bench = make(ScriptedDevices([microphone(1)]))
    live_recording(bench, 1.0)
    bench.session.play(0)
    until(lambda: bench.told(PlayChanged))
    bench.session.stop().result(10)
    assert bench.session.is_playing
    until(lambda: ends(bench))
    assert ends(bench) == [PlayChanged(PlayState.ENDED, 0, RATE)]
    stopped = bench.events.index(bench.told(RecordingStopped)[0])
    marks = [i for i, event in enumerate(bench.events) if isinstance(event, SpanMarked)]
    assert len(marks) == 2
    assert max(marks) < stopped
    assert bench.events[marks[1]].end == RATE


def test_play_when_only_text_stays_and_the_recording_ends_meanwhile_then_ends_or_says_why(
    make: Make, tmp_path: Path
) -> None:
    bench = make(ScriptedDevices([microphone(1)]), keep=KeepPolicy.TEXT)
    live_recording(bench, 1.0)
    bench.session.play(0)
    until(lambda: bench.told(PlayChanged))
    bench.session.stop().result(10)
    until(lambda: ends(bench))
    assert ends(bench)[0].state is PlayState.ENDED
    assert list(tmp_path.rglob("audio.wav")) == []


def test_speak_when_something_is_played_then_that_ends(make: Make) -> None:
    bench = make(ScriptedDevices([array_input(60)]))
    bench.run()
    bench.session.play(0)
    until(lambda: bench.told(PlayChanged))
    bench.session.speak("Hello.")
    until(lambda: any(e.state is UtteranceState.DONE for e in bench.told(UtteranceChanged)))
    assert [event.state for event in bench.told(PlayChanged)] == [
        PlayState.PLAYING,
        PlayState.ENDED,
    ]
    # One device for both.
    assert len(bench.devices.outputs) == 1


@pytest.mark.parametrize("is_paused", [False, True])
def test_play_when_a_text_is_spoken_then_that_is_cancelled(make: Make, is_paused: bool) -> None:
    bench = make(ScriptedDevices([array_input(1)]))
    bench.run()
    bench.session.speak("One word after the other. " * 20)
    until(lambda: any(e.state is UtteranceState.SPEAKING for e in bench.told(UtteranceChanged)))
    if is_paused:
        bench.session.pause_speaking()
        until(lambda: bench.told(UtteranceChanged)[-1].state is UtteranceState.PAUSED)
    assert play(bench, 0).state is PlayState.ENDED
    assert bench.told(UtteranceChanged)[-1].state is UtteranceState.CANCELLED
    assert len(bench.devices.outputs) == 1


def test_replay_when_something_is_played_then_that_ends(make: Make) -> None:
    bench = make(ScriptedDevices([array_input(60)]))
    bench.run()
    bench.session.replay_speech()
    bench.session.speak("Hello.")
    until(lambda: any(e.state is UtteranceState.DONE for e in bench.told(UtteranceChanged)))
    for again in (bench.session.replay_speech, lambda: bench.session.seek_speech(0.0)):
        bench.session.play(0)
        until(lambda: bench.session.playing_at() is not None)
        again()
        until(lambda: not bench.session.is_playing)


def test_output_when_changed_while_playing_then_another_is_opened(make: Make) -> None:
    bench = make(ScriptedDevices([array_input(60)]))
    bench.run()
    bench.session.play(0)
    until(lambda: bench.session.playing_at() is not None)
    bench.session.change_settings(replace(bench.session.settings, output="another"))
    until(lambda: len(bench.devices.outputs) == 2)
    bench.session.pause_playing()
    until(lambda: bench.told(PlayChanged)[-1].state is PlayState.PAUSED)
    bench.session.resume_playing()
    until(lambda: bench.told(PlayChanged)[-1].state is PlayState.PLAYING)
    bench.session.stop_playing()
    until(lambda: bench.told(PlayChanged)[-1].state is PlayState.ENDED)
    assert bench.session.playing_at() is None


@pytest.mark.parametrize("is_paused", [False, True])
def test_close_when_playing_then_ends_soon(make: Make, is_paused: bool) -> None:
    bench = make(ScriptedDevices([array_input(60)]))
    bench.run()
    bench.session.play(0)
    until(lambda: bench.session.playing_at() is not None)
    if is_paused:
        bench.session.pause_playing()
    clock = MonotonicClock()
    asked_s = clock.now_s()
    bench.session.close()
    assert clock.now_s() - asked_s < 2.0
    assert ends(bench)[-1].state is PlayState.ENDED


def test_levels_when_recording_then_cover_it_and_are_silent_where_samples_were_lost(
    make: Make,
) -> None:
    blocks = [block(1600), block(1600, lost=1600), block(1600)]
    bench = make(ScriptedDevices([ScriptedInput(blocks)]))
    assert bench.session.level_track() is None
    live_recording(bench, 0.4)
    track = bench.session.level_track()
    assert track is not None
    peaks, first, size = track.overview(0, track.num_samples, 1000)
    assert (first, size, track.num_samples) == (0, 160, 6400)
    assert peaks.tolist() == [0.5] * 10 + [0.0] * 10 + [0.5] * 20
    bench.session.stop().result(10)
    assert bench.session.level_track() is track
