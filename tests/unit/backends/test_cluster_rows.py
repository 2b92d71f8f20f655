import numpy as np
import pytest

from engine.backends.cluster_rows import FRAME_SAMPLES, Rows, render
from engine.backends.cluster_speech import Segment, SpeechState, VoiceWindow
from engine.backends.cluster_voices import VoiceMemory
from engine.models.voice_activity import WINDOW_SAMPLES

pytestmark = pytest.mark.unit

SECOND = 16_000


def two_voices() -> VoiceMemory:
    memory = VoiceMemory()
    memory.centroids[:2, :2] = np.eye(2)
    memory.is_present[:2] = memory.is_used[:2] = True
    return memory


def window(start_s: float, end_s: float, voice: int, likeness: float = 1.0) -> VoiceWindow:
    embedding = np.zeros(256, dtype=np.float32)
    embedding[voice] = likeness
    embedding[2] = np.sqrt(1 - likeness**2)
    return VoiceWindow(round(start_s * SECOND), round(end_s * SECOND), embedding)


def heard(*segments: tuple[float, float], length_s: float, is_open: bool = False) -> SpeechState:
    state = SpeechState()
    times = np.arange(int(length_s * SECOND) // WINDOW_SAMPLES) * WINDOW_SAMPLES / SECOND
    state.probabilities = np.zeros(len(times), dtype=np.float32)
    for start_s, end_s in segments:
        state.probabilities[(times >= start_s) & (times < end_s)] = 1.0
        state.segments.append(Segment(round(start_s * SECOND), round(end_s * SECOND), False))
    if segments:
        state.segments[-1].is_open = is_open
    return state


def at(rows: Rows, time_s: float) -> list[float]:
    return rows[int(time_s * SECOND / FRAME_SAMPLES)].tolist()


def test_render_when_nobody_speaks_gives_zeros() -> None:
    rows = render(0, 25, heard(length_s=2.0), [], VoiceMemory())
    assert rows.shape == (25, 8)
    assert rows.dtype == np.float32
    assert not rows.any()


def test_render_when_two_take_turns_decides_for_each_in_their_turn() -> None:
    state = heard((0.5, 2.1), (2.6, 4.2), length_s=5.0)
    rows = render(0, 60, state, [window(0.5, 2.1, 0), window(2.6, 4.2, 1)], two_voices())
    assert at(rows, 1.3)[0] > 0.9 > 0.1 > at(rows, 1.3)[1]
    assert at(rows, 3.4)[1] > 0.9 > 0.1 > at(rows, 3.4)[0]
    for silent_s in (0.2, 2.35, 4.6):
        assert max(at(rows, silent_s)) < 0.5
    assert np.all((rows >= 0) & (rows <= 1))


def test_render_when_one_voice_pauses_briefly_bridges_the_pause() -> None:
    state = heard((0.5, 2.1), (2.3, 3.9), length_s=5.0)
    same = render(0, 60, state, [window(0.5, 2.1, 0), window(2.3, 3.9, 0)], two_voices())
    other = render(0, 60, state, [window(0.5, 2.1, 0), window(2.3, 3.9, 1)], two_voices())
    assert at(same, 2.2)[0] > 0.5
    assert max(at(other, 2.2)) < 0.5


def test_render_when_voices_change_without_a_pause_never_decides_for_both() -> None:
    state = heard((0.0, 4.0), length_s=4.0)
    windows = [window(0.0, 1.6, 0), window(0.8, 2.4, 0, 0.7), window(1.6, 3.2, 1)]
    rows = render(0, 50, state, windows, two_voices())
    assert np.all((rows >= 0.5).sum(axis=1) == 1)
    assert at(rows, 0.5)[0] > 0.5
    assert at(rows, 3.0)[1] > 0.5


def test_render_when_a_turn_just_began_shows_a_shade_but_decides_nothing() -> None:
    state = heard((0.5, 2.1), (2.6, 3.0), length_s=3.0, is_open=True)
    rows = render(0, 37, state, [window(0.5, 2.1, 0)], two_voices())
    assert 0.1 < max(at(rows, 2.8)) < 0.5


def test_render_when_an_open_turn_is_unlike_every_voice_decides_nothing_yet() -> None:
    state = heard((0.5, 2.1), (2.6, 3.6), length_s=3.6, is_open=True)
    windows = [window(0.5, 2.1, 0), window(2.6, 3.6, 0, likeness=0.6)]
    assert max(at(render(0, 45, state, windows, two_voices()), 3.1)) < 0.5
    state.segments[-1].is_open = False
    assert max(at(render(0, 45, state, windows, two_voices()), 3.1)) > 0.5


def test_render_when_only_a_part_is_asked_for_gives_the_same_rows() -> None:
    state = heard((0.5, 2.1), (2.6, 4.2), length_s=5.0)
    windows = [window(0.5, 2.1, 0), window(2.6, 4.2, 1)]
    whole = render(0, 60, state, windows, two_voices())
    assert np.allclose(render(20, 15, state, windows, two_voices()), whole[20:35], atol=1e-6)
