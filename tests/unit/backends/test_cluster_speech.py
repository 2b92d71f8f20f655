from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.backends.cluster_speech import (
    STEP_SAMPLES,
    SpeechState,
    VoiceListener,
    VoiceWindow,
)
from engine.core.types import Pcm
from engine.models.voice_activity import WINDOW_SAMPLES, VadState

pytestmark = pytest.mark.unit


class LoudnessDetector:
    """Takes what is louder than 0.1 for speech."""

    def step(self, pcm: Pcm, state: VadState) -> NDArray[np.float32]:
        audio = np.concatenate([state.pending, pcm])
        num_windows = len(audio) // WINDOW_SAMPLES
        state.pending = audio[num_windows * WINDOW_SAMPLES :]
        windows = audio[: num_windows * WINDOW_SAMPLES].reshape(-1, WINDOW_SAMPLES)
        return (np.abs(windows).max(axis=1) > 0.1).astype(np.float32)


@dataclass
class LengthEncoder:
    """Notes how long each stretch was that it got."""

    lengths: list[int] = field(default_factory=list)

    def embed(self, mel: NDArray[np.float32]) -> NDArray[np.float32]:
        self.lengths.append(len(mel))
        return np.eye(1, 256, dtype=np.float32)[0]


def audio_of(*stretches: tuple[float, float]) -> Pcm:
    """Return stretches of (seconds, level) of a fast square wave."""
    levels = np.concatenate([np.full(round(s * 16_000), level) for s, level in stretches])
    return (levels * np.where(np.arange(len(levels)) % 8 < 4, 1.0, -1.0)).astype(np.float32)


def listen(pcm: Pcm) -> tuple[list[VoiceWindow], SpeechState]:
    listener = VoiceListener(LoudnessDetector(), LengthEncoder())  # type: ignore[arg-type]
    state = SpeechState()
    windows = [
        window
        for i in range(0, len(pcm), STEP_SAMPLES)
        for window in listener.step(pcm[i : i + STEP_SAMPLES], state)
    ]
    return windows + listener.flush(state), state


def test_step_when_there_is_silence_hears_no_voice() -> None:
    windows, state = listen(audio_of((4.0, 0.0)))
    assert windows == []
    assert state.segments == []


def test_step_when_turns_are_apart_keeps_windows_within_them() -> None:
    windows, state = listen(audio_of((0.5, 0), (1.0, 0.5), (0.3, 0), (2.5, 0.5), (0.4, 0)))
    first, second = state.segments
    assert abs(first.start - 8000) <= WINDOW_SAMPLES
    assert abs(second.start - 28_800) <= WINDOW_SAMPLES
    for window in windows:
        assert any(s.start <= window.start and window.end <= s.end for s in state.segments)
    assert max(window.num_samples for window in windows) == 25_600


def test_step_when_a_pause_is_short_keeps_one_segment() -> None:
    _, state = listen(audio_of((1.0, 0.5), (0.06, 0.0), (1.0, 0.5), (0.5, 0.0)))
    assert len(state.segments) == 1
    assert not state.segments[0].is_open


def test_step_when_speech_runs_on_gives_a_window_each_step() -> None:
    windows, _ = listen(audio_of((8.0, 0.5)))
    long = [window for window in windows if window.num_samples == 25_600]
    assert len(long) >= 15
    for before, after in pairwise(long):
        assert after.start - before.start == pytest.approx(STEP_SAMPLES, abs=WINDOW_SAMPLES)
    short = [w for w in windows if w.num_samples < 12_800 and w.start > 25_600]
    assert len(short) >= 12, "each long window has a short one over its end"


@pytest.mark.parametrize(("length_s", "is_heard"), [(0.1, False), (0.25, True), (0.6, True)])
def test_step_when_a_turn_is_short_hears_it_once_it_has_ended(
    length_s: float, is_heard: bool
) -> None:
    windows, _ = listen(audio_of((0.5, 0.0), (length_s, 0.5), (1.0, 0.0)))
    assert bool(windows) == is_heard


def test_flush_when_speech_is_under_way_closes_it() -> None:
    windows, state = listen(audio_of((0.9, 0.5)))
    assert not state.segments[-1].is_open
    assert windows[-1].end == pytest.approx(0.9 * 16_000, abs=WINDOW_SAMPLES)


def test_step_when_audio_is_long_remembers_little() -> None:
    listener = VoiceListener(LoudnessDetector(), LengthEncoder())  # type: ignore[arg-type]
    state = SpeechState()
    turn = audio_of((0.8, 0.5), (0.8, 0.0))
    for i in range(200):
        for begin in range(0, len(turn), STEP_SAMPLES):
            listener.step(turn[begin : begin + STEP_SAMPLES], state)
        state.forget((i - 10) * len(turn))
    assert len(state.frames) <= 240
    assert len(state.segments) <= 12
    assert len(state.probabilities) <= 12 * len(turn) // WINDOW_SAMPLES


def test_step_when_speech_is_quiet_raises_it_to_the_target_loudness() -> None:
    @dataclass
    class PowerEncoder:
        power: list[float] = field(default_factory=list)

        def embed(self, mel: NDArray[np.float32]) -> NDArray[np.float32]:
            self.power.append(float(mel.sum(axis=1).mean()))
            return np.eye(1, 256, dtype=np.float32)[0]

    class EverythingDetector(LoudnessDetector):
        def step(self, pcm: Pcm, state: VadState) -> NDArray[np.float32]:
            return np.ones_like(super().step(pcm, state))

    powers = []
    for level in (0.001, 0.01):
        encoder = PowerEncoder()
        listener = VoiceListener(EverythingDetector(), encoder)  # type: ignore[arg-type]
        pcm, state = audio_of((1.6, level)), SpeechState()
        for i in range(0, len(pcm), STEP_SAMPLES):
            listener.step(pcm[i : i + STEP_SAMPLES], state)
        powers.append(encoder.power[-1])
    assert powers[0] == pytest.approx(powers[1], rel=1e-3)
