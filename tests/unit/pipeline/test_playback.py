"""The speak lane in virtual time: nothing lost, no click, everything counted and told."""

import threading
from collections.abc import Callable, Iterator
from itertools import pairwise

import numpy as np
import pytest

from engine.core.errors import BackendError, DeviceError
from engine.core.events import Notice, SpanMarked, UtteranceState
from engine.core.types import Pcm
from tests.helpers.speech import FRAME, RATE, LaneBench, largest_step, tone

pytestmark = pytest.mark.unit

FADE = round(0.01 * RATE)
Make = Callable[..., LaneBench]


@pytest.fixture
def make() -> Iterator[Make]:
    benches = []

    def build(*args: object, **kwargs: object) -> LaneBench:
        benches.append(LaneBench(*args, **kwargs))
        return benches[-1]

    yield build
    for bench in benches:
        bench.close()


def states(bench: LaneBench) -> list[UtteranceState]:
    return [event.state for event in bench.told()]


def test_speech_when_played_then_is_bitwise_what_was_rendered(make: Make) -> None:
    speech = tone(40 * FRAME + 7)
    bench = make(speech)
    bench.speak()
    end = bench.wait_for_end()
    assert end.state is UtteranceState.DONE
    assert end.heard_samples == len(speech)
    np.testing.assert_array_equal(bench.sound, speech)
    assert bench.lane.num_underflows == 0


def test_speech_when_the_rate_differs_then_every_moment_is_played_once(make: Make) -> None:
    bench = make(tone(40 * FRAME), rates=(48_000,))
    bench.speak()
    end = bench.wait_for_end()
    expected = tone(round(40 * FRAME * 48_000 / RATE), 48_000)
    assert end.sample_rate == 48_000
    assert len(bench.sound) == end.heard_samples == len(expected)
    # Apart from the edges, where the resampler sees the silence around.
    np.testing.assert_allclose(bench.sound[500:-500], expected[500:-500], atol=1e-3)


@pytest.mark.parametrize("held_at", [(20,), (9, 25, 26)])
def test_voice_when_it_is_late_then_the_gap_is_faded_counted_and_loses_nothing(
    make: Make, held_at: tuple[int, ...]
) -> None:
    speech = tone(40 * FRAME)
    bench = make(speech, hold_at=held_at)
    bench.when_told(UtteranceState.RENDERING, bench.voice.release)
    bench.speak()
    end = bench.wait_for_end()
    assert end.state is UtteranceState.DONE
    assert 1 <= bench.lane.num_underflows <= len(held_at)
    assert end.heard_samples == len(bench.sound) == len(speech)
    changed = np.flatnonzero(bench.sound != speech)
    assert 0 < len(changed) <= 2 * FADE * bench.lane.num_underflows
    # The wave goes down to nothing and comes back: no step beyond its own and the fade's.
    assert largest_step(bench.sound) <= largest_step(speech) + 0.5 / FADE
    assert bench.outputs[0].num_underflows == 0


@pytest.mark.parametrize("frame", range(1, 24))
def test_stop_when_at_any_frame_then_fades_there_and_says_what_was_heard(
    make: Make, frame: int
) -> None:
    speech = tone(24 * FRAME)
    bench = make(speech)
    bench.at(frame * FRAME, bench.lane.stop)
    bench.speak()
    end = bench.wait_for_end()
    sound = bench.sound
    assert end.state is UtteranceState.CANCELLED
    assert end.heard_samples == len(sound) == bench.num_played
    assert frame * FRAME <= len(sound) < frame * FRAME + 0.1 * RATE
    np.testing.assert_array_equal(sound[:-FADE], speech[: len(sound) - FADE])
    assert sound[-1] == 0.0
    assert largest_step(sound) <= largest_step(speech) + 0.5 / FADE


def test_stop_when_nothing_was_heard_yet_then_nothing_is(make: Make) -> None:
    bench = make(tone(24 * FRAME), hold_at=(0,))
    bench.speak()
    bench.lane.stop()
    end = bench.wait_for_end()
    assert end.state is UtteranceState.CANCELLED
    assert end.heard_samples == 0
    assert bench.num_played == 0


def test_pause_when_resumed_then_goes_on_where_it_was_heard(make: Make) -> None:
    speech = tone(60 * FRAME)
    bench = make(speech)
    bench.at(20 * FRAME, bench.lane.pause)
    bench.when_told(UtteranceState.PAUSED, bench.lane.resume)
    bench.speak()
    bench.wait_for_end()
    sound = bench.sound
    assert states(bench).count(UtteranceState.PAUSED) == 1
    assert len(sound) == len(speech)
    changed = np.flatnonzero(sound != speech)
    assert changed[0] >= 20 * FRAME
    assert changed[-1] - changed[0] <= 2 * FADE
    assert largest_step(sound) <= largest_step(speech) + 0.5 / FADE
    assert bench.lane.num_underflows == 0
    assert not bench.lane.is_paused


def test_own_voice_when_paused_then_the_pause_is_not_held_back(make: Make) -> None:
    bench = make(tone(60 * FRAME))
    is_open = []

    def rest_100_s() -> None:
        is_open.append(bench.gate.is_open)
        bench.clock.advance(100.0)
        bench.lane.resume()

    bench.at(20 * FRAME, bench.lane.pause)
    bench.when_told(UtteranceState.PAUSED, rest_100_s)
    bench.speak()
    bench.wait_for_end()
    assert is_open == [False]
    spans = {mark.mark_id: mark for mark in bench.events if isinstance(mark, SpanMarked)}
    first, second = spans.values()
    assert second.start - first.end > 95 * 16_000
    held_s = sum(mark.end - mark.start for mark in spans.values()) / 16_000
    assert held_s >= len(bench.sound) / RATE


def test_seek_when_back_and_forth_then_plays_from_there(make: Make) -> None:
    speech = tone(200 * FRAME)
    bench = make(speech)
    bench.at(100 * FRAME, lambda: bench.lane.seek(20 * FRAME / RATE))
    bench.at(130 * FRAME, lambda: bench.lane.seek(190 * FRAME / RATE))
    bench.speak()
    end = bench.wait_for_end()
    sound = bench.sound
    assert end.heard_samples == len(sound)
    first = len(sound) - 10 * FRAME
    np.testing.assert_array_equal(sound[first + FADE :], speech[190 * FRAME + FADE :])
    assert largest_step(sound) <= largest_step(speech) + 0.5 / FADE
    assert bench.voice.num_texts == 1


def test_replay_when_the_text_ended_then_it_is_heard_again_without_rendering(make: Make) -> None:
    speech = tone(30 * FRAME)
    bench = make(speech)
    bench.speak()
    bench.wait_for_end()
    bench.lane.replay()
    end = bench.wait_for_end()
    assert end.utterance_id == 0
    assert end.heard_samples == len(speech)
    np.testing.assert_array_equal(bench.sound, np.concatenate((speech, speech)))
    assert bench.voice.num_texts == 1


def test_replay_when_nothing_was_said_then_nothing_happens(make: Make) -> None:
    bench = make(tone(FRAME))
    bench.lane.replay()
    bench.lane.seek(3.0)
    bench.lane.pause()
    assert not bench.lane.is_speaking
    assert not bench.lane.is_paused
    assert bench.lane.place() is None
    assert bench.events == []


def test_place_when_the_text_ended_then_covers_it(make: Make) -> None:
    bench = make(tone(44_100))
    bench.speak()
    bench.wait_for_end()
    place = bench.lane.place()
    assert place is not None
    assert (place.start_s, place.position_s, place.end_s) == (0.0, 2.0, 2.0)
    assert place.is_complete


def test_output_when_changed_while_speaking_then_the_rest_is_heard_on_the_new_one(
    make: Make,
) -> None:
    bench = make(tone(100 * FRAME), rates=(RATE, 48_000))
    bench.at(40 * FRAME, bench.lane.change_output)
    bench.speak()
    end = bench.wait_for_end()
    first, second = bench.outputs
    assert first.is_closed
    assert first.num_played >= 40 * FRAME
    seconds = first.num_played / RATE + second.num_played / 48_000
    assert seconds == pytest.approx(100 * FRAME / RATE, abs=1e-4)
    assert end.sample_rate == 48_000
    assert end.heard_samples == pytest.approx(seconds * 48_000, abs=2)
    assert first.sound[-1] == 0.0
    assert largest_step(second.sound[:-1]) <= largest_step(tone(9999, 48_000)) + 0.5 / FADE


def test_output_when_lost_while_speaking_then_goes_on_when_it_opens_again(make: Make) -> None:
    speech = tone(100 * FRAME)
    bench = make(speech, lost_at=(40 * FRAME,))
    bench.speak()
    end = bench.wait_for_end()
    assert end.state is UtteranceState.DONE
    assert len(bench.outputs) == 2
    assert end.heard_samples == len(bench.sound) == len(speech)


def test_output_when_lost_again_at_once_then_speech_goes_on_with_the_next(make: Make) -> None:
    speech = tone(100 * FRAME)
    bench = make(speech, lost_at=(40 * FRAME, 0))
    bench.speak()
    end = bench.wait_for_end()
    assert end.state is UtteranceState.DONE
    assert len(bench.outputs) == 3
    assert end.heard_samples == len(bench.sound) == len(speech)


def test_output_when_lost_behind_the_last_word_then_the_tail_is_heard_as_well(make: Make) -> None:
    speech = tone(40 * FRAME)
    # By then everything was given to the loudspeaker.
    bench = make(speech, lost_at=(35 * FRAME,))
    bench.speak()
    end = bench.wait_for_end()
    assert end.state is UtteranceState.DONE
    assert len(bench.outputs) == 2
    assert end.heard_samples == len(bench.sound) == len(speech)


def test_output_when_it_stays_away_then_speech_waits_says_so_and_goes_on(make: Make) -> None:
    speech = tone(100 * FRAME)
    bench = make(speech, lost_at=(40 * FRAME,))
    away_until_s = []

    def refuse() -> None:
        if not bench.outputs:
            return
        if not away_until_s:
            away_until_s.append(bench.clock.now_s() + 30.0)
        if bench.clock.now_s() < away_until_s[0]:
            raise DeviceError("There is no output.", advice="Plug one in.")

    bench.open_output = refuse
    bench.speak()
    end = bench.wait_for_end()
    assert end.state is UtteranceState.DONE
    (paused,) = [e for e in bench.told() if e.state is UtteranceState.PAUSED]
    assert paused.message == "There is no output. Plug one in."
    lost, back = [e for e in bench.events if isinstance(e, Notice)]
    assert lost.message == "Nothing can be heard: There is no output."
    assert "goes on by itself" in lost.advice
    assert "goes on" in back.message
    assert end.heard_samples == len(bench.sound) == len(speech)
    assert end.message == ""


def test_stop_when_the_output_hangs_while_it_is_opened_then_ends_and_lets_go_of_it(
    make: Make,
) -> None:
    bench = make(tone(40 * FRAME))
    opening, answer = threading.Event(), threading.Event()

    def hang() -> None:
        opening.set()
        answer.wait(20)

    bench.open_output = hang
    bench.speak()
    assert opening.wait(20)
    bench.lane.stop()
    assert bench.wait_for_end().state is UtteranceState.CANCELLED
    answer.set()


def test_computer_when_it_slept_while_speaking_then_the_output_is_opened_anew(make: Make) -> None:
    speech = tone(60 * FRAME)
    bench = make(speech)

    def sleep() -> None:
        bench.slept_s += 60.0

    bench.at(20 * FRAME, sleep)
    bench.speak()
    end = bench.wait_for_end()
    assert end.state is UtteranceState.DONE
    assert [output.is_closed for output in bench.outputs] == [True, False]
    assert end.heard_samples == len(bench.sound) == len(speech)


def test_voice_when_it_fails_then_what_it_said_is_heard_first(make: Make) -> None:
    bench = make(tone(20 * FRAME), error=BackendError("It broke.", advice="Try again."))
    bench.speak()
    end = bench.wait_for_end()
    assert end.state is UtteranceState.FAILED
    assert end.message == "It broke. Try again."
    assert bench.num_played == 20 * FRAME


def test_voice_when_slower_than_speech_then_renders_first_and_plays_without_a_gap(
    make: Make,
) -> None:
    speech = tone(200 * FRAME)
    bench = make(speech, cost=1.6)
    bench.speak("A sentence that takes as long as the speech of it does, more or less. " * 2)
    end = bench.wait_for_end()
    assert end.state is UtteranceState.DONE
    progress = [e.progress for e in bench.told() if e.progress >= 0]
    assert len(progress) > 3
    assert all(0.0 <= earlier <= 1.0 for earlier in progress)
    assert sum(later < earlier for earlier, later in pairwise(progress)) <= 1
    assert bench.lane.num_underflows == 0
    np.testing.assert_array_equal(bench.sound, speech)


def test_queue_when_it_lasts_an_hour_then_memory_is_flat_and_no_sample_is_lost(
    make: Make,
) -> None:
    second = np.zeros(RATE, np.float32)

    def speech(_text: str) -> Iterator[Pcm]:
        for _ in range(60):
            yield second.copy()

    bench = make(speech, keeps=False)
    alive = []

    def count() -> None:
        kept = [ref for ref in bench.voice.made if ref() is not None]
        bench.voice.made[:] = kept
        alive.append(len(kept))

    for minute in range(60):
        bench.at(minute * 60 * RATE, count)
        bench.speak(f"Text {minute}.")
    bench.wait_for_end(60)
    assert bench.num_played == 3600 * RATE
    assert bench.lane.num_underflows == 0
    assert len(alive) == 60
    # Seconds of speech in memory: the text being heard, and the one before while it goes.
    assert max(alive) <= 125
    assert [e.utterance_id for e in bench.told() if e.state is UtteranceState.DONE] == list(
        range(60)
    )
