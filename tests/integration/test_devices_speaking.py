"""Loudspeakers that come, go and change while something is heard, on a real sound server."""

import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
import soundfile

from engine.audio.device import OutputStream
from engine.backends.protocols import BackendSpec, SpeechChunk
from engine.core.events import Event, Notice, UtteranceChanged, UtteranceState
from engine.core.timebase import MonotonicClock
from engine.core.types import BackendKind
from engine.pipeline.playback import PlaybackHooks, SpeakLane
from tests.helpers import pulse
from tests.helpers.device_scenes import CountingDevices, until
from tests.helpers.pulse import RATE, SPEAKER, VirtualSound
from tests.helpers.timecode import WINDOW_S, read_timecode, timecode

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(not pulse.is_available(), reason="PulseAudio is not installed"),
]

SPEECH_S = 4.0
SPARE = "Spare Speaker"
JOIN_S = 0.25
"""Missing or told twice where speech goes on: what is under way in the server is not known."""


class _TimecodeVoice:
    """Says the time since it began."""

    def speak(self, text: str) -> Iterator[SpeechChunk]:
        pcm = timecode(SPEECH_S, RATE)
        for start in range(0, len(pcm), 4800):
            yield SpeechChunk(pcm[start : start + 4800], 0, len(text))

    def cancel(self) -> None:
        pass

    def close(self) -> None:
        pass


class Stage:
    """A speak lane on a real sound server."""

    def __init__(self, sound: VirtualSound, output_name: str) -> None:
        self.sound = sound
        self.output_name = output_name
        self.devices = CountingDevices()
        self.events: list[Event] = []
        spec = BackendSpec("voice", "Voice", (BackendKind.SYNTHESIZER,), RATE)
        self.lane = SpeakLane(
            PlaybackHooks(
                wait_for_voice=lambda _cancel: (spec, _TimecodeVoice()),
                open_output=self._open,
                post=self.events.append,
                gate=lambda: None,
                now_s=MonotonicClock().now_s,
            )
        )

    def speak(self, heard_s: float) -> None:
        """Begin, and wait until so much was heard."""
        self.lane.speak("Text.")
        until(lambda: (place := self.lane.place()) is not None and place.position_s > heard_s)

    def states(self) -> list[UtteranceState]:
        return [e.state for e in self.events if isinstance(e, UtteranceChanged)]

    def end(self) -> UtteranceChanged:
        """Wait until everything was heard."""
        until(lambda: self.states()[-1] in (UtteranceState.DONE, UtteranceState.FAILED))
        time.sleep(0.3)
        return [e for e in self.events if isinstance(e, UtteranceChanged)][-1]

    def notices(self) -> list[str]:
        return [e.message for e in self.events if isinstance(e, Notice)]

    def _open(self) -> OutputStream:
        output = self.devices.open_output(self.output_name)
        output.start()
        return output


@pytest.fixture
def sound() -> Iterator[VirtualSound]:
    with VirtualSound() as virtual, pytest.MonkeyPatch.context() as patch:
        from engine.audio import portaudio

        for key, value in virtual.env().items():
            patch.setenv(key, value)
        portaudio.refresh_devices()
        yield virtual
    # A call that nobody waits for any more may still be in PortAudio.
    until(portaudio.refresh_devices)


@pytest.fixture
def stage(sound: VirtualSound) -> Iterator[Callable[..., Stage]]:
    made: list[Stage] = []

    def build(output_name: str = "default") -> Stage:
        made.append(Stage(sound, output_name))
        return made[-1]

    yield build
    for each in made:
        each.lane.close()


def heard_times(wavs: Sequence[Path]) -> list[tuple[float, float]]:
    """Return the (first, last) time told on each loudspeaker, by its timecode."""
    told = []
    for wav in wavs:
        pcm = soundfile.read(wav, dtype="float32")[0]
        loud = np.flatnonzero(np.abs(pcm) > 1e-2)
        assert len(loud), f"nothing was heard in {wav.name}"
        pcm = pcm[loud[0] : loud[-1] + 1]
        size = round(WINDOW_S * RATE)
        half_s = WINDOW_S / 2
        first, last = read_timecode(pcm[:size], RATE), read_timecode(pcm[-size:], RATE)
        told.append((first - half_s, last + half_s))
    return told


def test_default_loudspeaker_when_unplugged_then_speech_goes_on_with_the_other(
    stage: Callable[..., Stage], sound: VirtualSound, tmp_path: Path
) -> None:
    sound.plug_speaker("spare", SPARE)
    made = stage()
    with sound.recorded_monitor("spare.monitor", tmp_path / "spare.wav"):
        made.speak(1.0)
        at_s = made.lane.place().position_s  # type: ignore[union-attr]
        sound.unload("sink_name=speaker ")
        sound.run("pactl", "set-default-sink", "spare")
        end = made.end()
    assert end.state is UtteranceState.DONE
    assert end.heard_samples == round(SPEECH_S * RATE)
    ((first_s, last_s),) = heard_times([tmp_path / "spare.wav"])
    assert first_s == pytest.approx(at_s, abs=JOIN_S)
    assert last_s == pytest.approx(SPEECH_S, abs=0.05)


def test_named_loudspeaker_when_unplugged_then_waits_says_so_and_goes_on_where_it_stopped(
    stage: Callable[..., Stage], sound: VirtualSound, tmp_path: Path
) -> None:
    sound.plug_speaker("spare", SPARE)
    made = stage(SPARE)
    made.speak(1.0)
    sound.unload("sink_name=spare")
    until(lambda: made.states()[-1] is UtteranceState.PAUSED)
    at_s = made.lane.place().position_s  # type: ignore[union-attr]
    assert "no output device 'Spare Speaker'" in made.notices()[0]
    assert made.events[-1].message  # type: ignore[union-attr]
    sound.plug_speaker("spare", SPARE)
    with sound.recorded_monitor("spare.monitor", tmp_path / "spare.wav"):
        assert made.end().state is UtteranceState.DONE
    assert made.notices()[1] == f"The sound goes on with the loudspeaker {SPARE}."
    ((first_s, last_s),) = heard_times([tmp_path / "spare.wav"])
    # The recorder may join a little later than the speech.
    assert at_s - 0.05 <= first_s <= at_s + 1.0
    assert last_s == pytest.approx(SPEECH_S, abs=0.05)


def test_named_loudspeaker_when_gone_then_another_can_be_chosen(
    stage: Callable[..., Stage], sound: VirtualSound, tmp_path: Path
) -> None:
    sound.plug_speaker("spare", SPARE)
    made = stage(SPARE)
    with sound.recorded_monitor("speaker.monitor", tmp_path / "speaker.wav"):
        made.speak(1.0)
        sound.unload("sink_name=spare")
        until(lambda: made.states()[-1] is UtteranceState.PAUSED)
        at_s = made.lane.place().position_s  # type: ignore[union-attr]
        # What the server moved over before it was noticed is no part of what goes on.
        time.sleep(0.3)
        made.output_name = SPEAKER
        made.lane.change_output()
        assert made.end().state is UtteranceState.DONE
    pcm = soundfile.read(tmp_path / "speaker.wav", dtype="float32")[0]
    last = np.flatnonzero(np.abs(pcm) > 1e-2)[-1]
    told_s = read_timecode(pcm[last - round(WINDOW_S * RATE) : last], RATE) + WINDOW_S / 2
    assert told_s == pytest.approx(SPEECH_S, abs=0.05)
    rest_s = SPEECH_S - at_s
    begin = last - round((rest_s - 0.1) * RATE)
    told_s = read_timecode(pcm[begin : begin + round(WINDOW_S * RATE)], RATE)
    assert told_s == pytest.approx(at_s + 0.1 + WINDOW_S / 2, abs=0.05)


def test_server_when_killed_while_speaking_then_speech_goes_on_where_it_was_heard(
    stage: Callable[..., Stage], sound: VirtualSound, tmp_path: Path
) -> None:
    made = stage()
    made.speak(1.0)
    at_s = made.lane.place().position_s  # type: ignore[union-attr]
    sound.kill_server()
    sound.start_server()
    end = made.end()
    assert end.state is UtteranceState.DONE
    assert UtteranceState.FAILED not in made.states()
    # What was in the server when it died is said again, no more.
    resumed_s = SPEECH_S - made.devices.outputs[-1].num_played / RATE
    assert resumed_s == pytest.approx(at_s, abs=JOIN_S)


def test_speech_when_stopped_while_the_loudspeaker_is_gone_then_ends_at_once(
    stage: Callable[..., Stage], sound: VirtualSound
) -> None:
    made = stage()
    made.speak(1.0)
    sound.kill_server()
    time.sleep(0.5)
    began_s = time.monotonic()
    made.lane.stop()
    until(lambda: not made.lane.is_speaking)
    assert time.monotonic() - began_s < 1.0


def test_loudspeaker_when_it_takes_nothing_then_is_opened_again_and_nothing_is_missing(
    stage: Callable[..., Stage], sound: VirtualSound
) -> None:
    made = stage()
    made.speak(1.0)
    sound.run("pactl", "suspend-sink", "speaker", "1")
    until(lambda: len(made.devices.outputs) > 1)
    sound.run("pactl", "suspend-sink", "speaker", "0")
    end = made.end()
    assert end.state is UtteranceState.DONE
    assert end.heard_samples == pytest.approx(SPEECH_S * RATE, abs=0.05 * RATE)
