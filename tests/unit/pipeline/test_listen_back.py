"""The listening lane in virtual time: the right samples, no click, every play told to its end."""

import random
import threading
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from engine.audio.resample import StreamResampler
from engine.core.errors import StoreError
from engine.core.events import PlayChanged, PlayState, SpanMarked
from engine.core.types import Pcm
from tests.helpers.output_bench import Loudspeaker
from tests.helpers.speech import largest_step, tone
from tests.helpers.tape import ENDS, RATE, ListenBench, Tape

pytestmark = pytest.mark.unit

FADE = round(0.01 * RATE)


class LateLoudspeaker(Loudspeaker):
    """Is heard a while after it has taken samples."""

    latency_s = 0.1


Make = Callable[..., ListenBench]


@pytest.fixture
def make() -> Iterator[Make]:
    benches = []

    def build(**options: object) -> ListenBench:
        benches.append(ListenBench(**options))  # type: ignore[arg-type]
        return benches[-1]

    yield build
    for bench in benches:
        bench.lane.close()


def states(bench: ListenBench) -> list[PlayState]:
    return [event.state for event in bench.told()]


def assert_no_click(sound: Pcm, pcm: Pcm) -> None:
    """Whatever was cut, no step is beyond those of the tone and of a fade."""
    assert largest_step(sound) <= largest_step(pcm[FADE:-FADE]) + 0.5 / FADE


def test_stretch_when_played_then_is_bitwise_what_was_recorded_between_its_fades(
    make: Make,
) -> None:
    pcm, bench = tone(3 * RATE, RATE), make()
    tape = Tape(pcm)
    bench.play(tape, 10_000, 30_001)
    end = bench.wait_for_end()
    assert end == PlayChanged(PlayState.ENDED, 10_000, 30_001)
    assert states(bench) == [PlayState.PLAYING, PlayState.ENDED]
    sound = bench.sound
    assert len(sound) == 20_001
    np.testing.assert_array_equal(sound[FADE:-FADE], pcm[10_000 + FADE : 30_001 - FADE])
    assert sound[0] == sound[-1] == 0.0
    assert_no_click(sound, pcm)
    assert tape.num_closed == 1
    assert bench.outputs[0].num_underflows == 0


@pytest.mark.parametrize(
    ("rate", "device_rate"), [(16_000, 48_000), (44_100, 48_000), (48_000, 16_000)]
)
def test_stretch_when_the_rate_differs_then_every_moment_is_played_once(
    make: Make, rate: int, device_rate: int
) -> None:
    pcm, bench = tone(3 * rate, rate), make(rates=(device_rate,))
    bench.play(Tape(pcm, rate), rate // 2, 2 * rate)
    bench.wait_for_end()
    resampler = StreamResampler(rate, device_rate)
    whole = np.concatenate((resampler.push(pcm), resampler.flush()))
    expected = whole[device_rate // 2 : 2 * device_rate]
    assert len(bench.sound) == len(expected)
    fade = round(0.01 * device_rate)
    np.testing.assert_allclose(bench.sound[fade:-fade], expected[fade:-fade], atol=1e-3)


@pytest.mark.parametrize("num_samples", [1, 2, FADE, FADE + 1, 2 * FADE - 1])
def test_stretch_when_shorter_than_its_fades_then_is_played(make: Make, num_samples: int) -> None:
    bench = make()
    bench.play(Tape(tone(RATE, RATE)), 100, 100 + num_samples)
    assert bench.wait_for_end().state is PlayState.ENDED
    assert len(bench.sound) == num_samples
    assert largest_step(bench.sound) <= 0.1


@pytest.mark.parametrize(
    ("start", "end"), [(500, 500), (500, 400), (RATE, None), (RATE + 5, 2 * RATE)]
)
def test_stretch_when_empty_then_ends_and_no_device_is_opened(
    make: Make, start: int, end: int | None
) -> None:
    bench = make()
    bench.play(Tape(tone(RATE, RATE)), start, end)
    assert bench.wait_for_end().state is PlayState.ENDED
    assert states(bench) == [PlayState.ENDED]
    assert bench.outputs == []


@pytest.mark.parametrize("at", [1, 800, 1600, 7000, 15_000])
def test_stop_when_at_any_moment_then_fades_there(make: Make, at: int) -> None:
    pcm, bench = tone(2 * RATE, RATE), make()
    bench.at(at, bench.lane.stop)
    bench.play(Tape(pcm))
    end = bench.wait_for_end()
    sound = bench.sound
    assert end.state is PlayState.ENDED
    assert at <= len(sound) < at + 0.1 * RATE
    np.testing.assert_array_equal(sound[FADE:-FADE], pcm[FADE : len(sound) - FADE])
    assert sound[-1] == 0.0
    assert_no_click(sound, pcm)
    assert not bench.lane.is_playing


def test_pause_when_resumed_then_goes_on_where_it_was_heard(make: Make) -> None:
    pcm, bench = tone(2 * RATE, RATE), make()
    bench.at(RATE, bench.lane.pause)
    bench.when_told(PlayState.PAUSED, bench.lane.resume)
    bench.play(Tape(pcm))
    bench.wait_for_end()
    sound = bench.sound
    assert states(bench) == [
        PlayState.PLAYING,
        PlayState.PAUSED,
        PlayState.PLAYING,
        PlayState.ENDED,
    ]
    assert len(sound) == len(pcm)
    changed = np.flatnonzero(sound[FADE:-FADE] != pcm[FADE:-FADE]) + FADE
    assert changed[0] >= RATE
    assert changed[-1] - changed[0] <= 2 * FADE
    assert_no_click(sound, pcm)
    assert bench.outputs[0].num_underflows == 0


def test_pause_when_nothing_is_played_then_the_next_play_is_not_held(make: Make) -> None:
    bench = make()
    bench.lane.pause()
    bench.play(Tape(tone(RATE, RATE)))
    assert bench.wait_for_end().state is PlayState.ENDED
    assert len(bench.sound) == RATE


def test_jump_when_something_is_played_then_the_new_place_is_heard_without_a_click(
    make: Make,
) -> None:
    pcm, bench = tone(10 * RATE, RATE), make()
    tape = Tape(pcm)
    bench.at(RATE, lambda: bench.play(tape, 5 * RATE, 6 * RATE))
    bench.play(tape)
    end = bench.wait_for_end(2)
    sound = bench.sound
    assert end == PlayChanged(PlayState.ENDED, 5 * RATE, 6 * RATE)
    np.testing.assert_array_equal(
        sound[-RATE + FADE : -FADE], pcm[5 * RATE + FADE : 6 * RATE - FADE]
    )
    assert len(sound) < 2.1 * RATE
    assert_no_click(sound, pcm)
    assert states(bench) == [PlayState.PLAYING, PlayState.ENDED] * 2


def test_jump_when_paused_then_plays(make: Make) -> None:
    pcm, bench = tone(10 * RATE, RATE), make()
    tape = Tape(pcm)
    bench.at(RATE, bench.lane.pause)
    bench.when_told(PlayState.PAUSED, lambda: bench.play(tape, 5 * RATE, 6 * RATE))
    bench.play(tape)
    bench.wait_for_end(2)
    assert len(bench.sound) > 2 * RATE
    assert_no_click(bench.sound, pcm)


def test_recording_when_it_grows_then_is_followed_as_far_as_it_goes(make: Make) -> None:
    pcm, bench = tone(4 * RATE, RATE), make()
    tape = Tape(pcm)
    tape.end = RATE
    bench.at(RATE // 2, lambda: setattr(tape, "end", 3 * RATE))
    bench.play(tape, 0, None)
    end = bench.wait_for_end()
    assert end == PlayChanged(PlayState.ENDED, 0, 3 * RATE)
    assert bench.told()[0].end == RATE
    assert len(bench.sound) == 3 * RATE
    np.testing.assert_array_equal(bench.sound[FADE:-FADE], pcm[FADE : 3 * RATE - FADE])


def test_recording_when_its_file_is_shorter_than_it_says_then_ends_there(make: Make) -> None:
    pcm, bench = tone(RATE, RATE), make()
    tape = Tape(pcm)
    tape.end = 2 * RATE
    bench.play(tape)
    assert bench.wait_for_end() == PlayChanged(PlayState.ENDED, 0, RATE)
    assert len(bench.sound) == RATE


def test_audio_when_the_moment_is_gone_then_says_why_and_what_to_do(make: Make) -> None:
    bench = make()
    bench.play(Tape(tone(4 * RATE, RATE), start=2 * RATE), 0, RATE)
    end = bench.wait_for_end()
    assert end == PlayChanged(PlayState.FAILED, 0, RATE, "It is gone. Keep it.")
    assert bench.outputs == []


def test_audio_when_its_beginning_is_gone_then_plays_the_rest(make: Make) -> None:
    pcm, bench = tone(6 * RATE, RATE), make()
    bench.play(Tape(pcm, start=2 * RATE), 0, None)
    assert bench.wait_for_end().state is PlayState.ENDED
    # Not from the very edge, which is dropped next.
    np.testing.assert_array_equal(bench.sound[FADE:-FADE], pcm[3 * RATE + FADE : -FADE])


def test_audio_when_dropped_while_paused_then_fails_with_the_reason(make: Make) -> None:
    bench = make()
    tape = Tape(tone(4 * RATE, RATE))

    def drop() -> None:
        tape.start = 3 * RATE
        bench.lane.resume()

    bench.at(RATE, bench.lane.pause)
    bench.when_told(PlayState.PAUSED, drop)
    bench.play(tape)
    assert bench.wait_for_end().message == "It is gone. Keep it."
    assert tape.num_closed == 1


def test_audio_when_it_cannot_be_opened_then_fails_and_the_next_play_is_heard(
    make: Make,
) -> None:
    bench = make()

    def fail() -> Tape:
        raise StoreError("There is no audio.")

    bench.lane.play(fail, 5, None)
    assert bench.wait_for_end() == PlayChanged(PlayState.FAILED, 5, 5, "There is no audio.")
    bench.play(Tape(tone(RATE, RATE)))
    assert bench.wait_for_end().state is PlayState.ENDED


def test_output_when_lost_then_the_rest_is_heard_once_it_is_open_again(make: Make) -> None:
    bench = make(lost_at=(RATE,))
    bench.play(Tape(tone(3 * RATE, RATE)))
    assert bench.wait_for_end().state is PlayState.ENDED
    first, second = bench.outputs
    assert first.is_closed
    assert first.num_played + second.num_played == 3 * RATE
    assert not bench.gate.is_open


def test_output_when_changed_then_the_rest_is_heard_on_the_new_one(make: Make) -> None:
    bench = make(rates=(RATE, 48_000))
    bench.at(RATE, bench.lane.change_output)
    bench.play(Tape(tone(3 * RATE, RATE)))
    assert bench.wait_for_end().state is PlayState.ENDED
    first, second = bench.outputs
    assert first.is_closed
    assert first.sound[-1] == 0.0
    seconds = first.num_played / RATE + second.num_played / 48_000
    assert seconds == pytest.approx(3.0, abs=1e-3)


def test_own_voice_when_playing_then_is_held_back_and_not_while_paused(make: Make) -> None:
    bench = make()
    is_open = []

    def rest_100_s() -> None:
        is_open.append(bench.gate.is_open)
        bench.clock.advance(100.0)
        bench.lane.resume()

    bench.at(RATE, bench.lane.pause)
    bench.when_told(PlayState.PAUSED, rest_100_s)
    bench.when_told(PlayState.PLAYING, lambda: is_open.append(bench.gate.is_open))
    bench.play(Tape(tone(3 * RATE, RATE)))
    bench.wait_for_end()
    assert is_open == [True, False, True]
    assert not bench.gate.is_open
    spans = {mark.mark_id: mark for mark in bench.events if isinstance(mark, SpanMarked)}
    first, second = spans.values()
    assert second.start - first.end > 95 * RATE
    assert sum(mark.end - mark.start for mark in spans.values()) >= 3 * RATE


def test_place_when_playing_then_is_what_is_heard_and_never_goes_back(make: Make) -> None:
    bench = make(make_output=LateLoudspeaker)
    places: list[int] = []
    errors: list[float] = []

    def look() -> None:
        place = bench.lane.playing_at()
        if place is not None and bench.outputs:
            heard_s = bench.outputs[0].num_played / RATE - LateLoudspeaker.latency_s
            places.append(place)
            errors.append(place / RATE - max(2.0, 2.0 + heard_s))

    bench.on_wait = look
    bench.at(RATE, bench.lane.pause)
    bench.when_told(PlayState.PAUSED, bench.lane.resume)
    bench.play(Tape(tone(6 * RATE, RATE)), 2 * RATE, 5 * RATE)
    assert bench.lane.playing_at() in (None, 2 * RATE)
    bench.wait_for_end()
    assert bench.lane.playing_at() is None
    assert places == sorted(places)
    assert places[0] == 2 * RATE
    assert 5 * RATE - 0.05 * RATE <= places[-1] <= 5 * RATE
    # What fades out when it is paused is counted as heard before it is.
    assert min(errors) >= -0.005
    assert max(errors) <= LateLoudspeaker.latency_s + 0.02


def test_read_when_the_stretch_is_long_then_little_is_read_ahead(make: Make) -> None:
    bench = make(keeps=False)
    tape = Tape(np.zeros(120 * RATE, np.float32))
    ahead: list[int] = []
    bench.on_wait = lambda: ahead.append(tape.read_until - bench.num_played)
    bench.play(tape)
    bench.wait_for_end()
    assert tape.longest_read <= 0.1 * RATE
    assert max(ahead) <= 0.6 * RATE
    assert bench.outputs[0].num_underflows == 0


def test_commands_when_given_by_many_threads_then_every_play_ends_once(make: Make) -> None:
    bench = make(keeps=False)
    tape = Tape(np.zeros(60 * RATE, np.float32))
    num_plays = 0
    lock = threading.Lock()

    def command(seed: int) -> None:
        nonlocal num_plays
        rng = random.Random(seed)
        for _ in range(100):
            match rng.randrange(4):
                case 0:
                    bench.play(tape, rng.randrange(60 * RATE))
                    with lock:
                        num_plays += 1
                case 1:
                    bench.lane.pause()
                case 2:
                    bench.lane.resume()
                case _:
                    bench.lane.playing_at()

    threads = [threading.Thread(target=command, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    bench.lane.stop()
    bench.wait_for_end(num_plays)
    assert not bench.lane.is_playing
    assert tape.num_closed <= num_plays
    assert PlayState.FAILED not in states(bench)
    assert sum(state in ENDS for state in states(bench)) == num_plays
