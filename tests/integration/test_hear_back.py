"""Hearing a recording while it goes on, in a room: the microphone hears the loudspeaker."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import soundfile

from engine.audio.level_track import read_level_track
from engine.audio.wav import write_wav
from tests.helpers.pulse import RATE, VirtualSound, is_available

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(not is_available(), reason="pulseaudio is not installed"),
]

TONE_HZ, LEVEL, TONE_S = 440, 0.3, 4.0
FADE = RATE // 100
BIT = 1 / 32768


@pytest.fixture(scope="module")
def room() -> Iterator[VirtualSound]:
    with VirtualSound() as server:
        server.load(
            *("module-loopback", "source=speaker.monitor", "sink=microphone_feed"),
            *("latency_msec=40", "source_dont_move=true", "sink_dont_move=true"),
        )
        yield server


def test_recording_when_heard_while_it_goes_on_then_is_right_and_not_written_down(
    room: VirtualSound, tmp_path: Path
) -> None:
    tone, spoken, sessions = tmp_path / "tone.wav", tmp_path / "spoken.wav", tmp_path / "sessions"
    phase = 2 * np.pi * TONE_HZ * np.arange(round(TONE_S * RATE)) / RATE
    write_wav(tone, (LEVEL * np.sin(phase)).astype(np.float32), RATE)
    with room.recorded_speaker(spoken):
        printed = room.run(
            sys.executable, "-m", "tests.helpers.hear_back", str(tone), str(sessions)
        )
    told = json.loads(printed)
    recorded, rate = soundfile.read(next(sessions.rglob("audio.wav")), dtype="float32")
    played, _ = soundfile.read(spoken, dtype="float32")

    assert told["messages"] == []
    assert told["states"][:2] == ["playing", "ended"]
    assert told["states"][2:] == ["playing", "paused", "playing", "ended", "playing", "ended"]
    assert told["num_underflows"] == 0
    _assert_right(played, recorded, told)
    _assert_no_click(played)
    _assert_held_back(recorded, told)
    # The levels of the kept file show what was recorded and what was heard of it.
    levels = read_level_track(next(sessions.rglob("audio.wav")))
    assert (levels.num_samples, levels.sample_rate) == (len(recorded), rate)
    assert levels.overview(*told["heard"], 10)[0] == pytest.approx(LEVEL, abs=0.01)


def _assert_right(played: np.ndarray, recorded: np.ndarray, told: dict) -> None:
    """The first stretch is played sample by sample between its fades, and told where it is."""
    start, end = told["heard"]
    assert told["rate"] == RATE
    loud = np.flatnonzero(np.abs(played) > 20 * BIT)
    # A tone looks the same every period: it begins where the sound does.
    begin = loud[0] - FADE
    expected = recorded[start + FADE : end - FADE]
    errors = [
        np.abs(played[at + FADE : at + FADE + len(expected)] - expected).max()
        for at in range(begin, begin + FADE + 1)
    ]
    assert min(errors) < 3 * BIT
    at = begin + int(np.argmin(errors))
    assert np.abs(played[at + end - start : at + end - start + RATE // 5]).max() < 3 * BIT
    places = told["places"]
    assert places == sorted(places)
    assert start <= places[0]
    assert end - RATE // 10 <= places[-1] <= end


def _assert_no_click(played: np.ndarray) -> None:
    step = 2 * LEVEL * np.sin(np.pi * TONE_HZ / RATE)
    assert np.abs(np.diff(played)).max() <= step + LEVEL / FADE + 6 * BIT


def _assert_held_back(recorded: np.ndarray, told: dict) -> None:
    """What the microphone heard of the loudspeaker lies in marked stretches and was not written."""
    own_voice = told["own_voice"]
    first_start = own_voice[0][0]
    assert len(own_voice) >= 3
    assert all(end <= first_start for _, end in told["words"])
    is_own = np.zeros(len(recorded), np.bool_)
    for start, end in own_voice:
        is_own[start:end] = True
    is_loud = np.abs(recorded) > 20 * BIT
    assert is_loud[is_own].sum() > RATE
    assert not (is_loud & ~is_own)[first_start:].any()
