"""The command line on a real sound system: PortAudio on a private PulseAudio server."""

import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import soundfile

from engine.core.resources import resource_path
from tests.helpers.cli import cli_command, cli_environment, run_cli
from tests.helpers.pulse import MICROPHONE, SPEAKER, VirtualSound, is_available

pytestmark = [
    pytest.mark.slow,
    pytest.mark.models,
    pytest.mark.skipif(not is_available(), reason="pulseaudio is not installed"),
]
EXPECTED = "good morning what does this program do it writes down what people say as they say it"


@pytest.fixture(scope="module")
def sound() -> Iterator[VirtualSound]:
    with VirtualSound() as server:
        yield server


def words_of(text: str) -> set[str]:
    return {word.strip(".,?!").lower() for word in text.split()}


def test_listen_when_a_file_is_played_to_the_microphone_then_its_words_are_printed(sound, tmp_path):
    path = tmp_path / "spoken.wav"
    pcm, rate = soundfile.read(resource_path("demo/conversation.flac"), stop=6 * 16_000)
    # Silence first, for the time that the program takes to start.
    soundfile.write(path, np.concatenate([np.zeros(8 * rate), pcm, np.zeros(6 * rate)]), rate)
    with sound.playing_to_microphone(path):
        outcome = run_cli(
            "listen", "--seconds", "16", "--keep", "nothing", env=sound.env(), timeout_s=120
        )
    assert outcome.status == 0, outcome.err
    expected = words_of(EXPECTED)
    heard = words_of(" ".join(line[14:] for line in outcome.lines))
    assert len(expected & heard) >= 0.8 * len(expected), outcome.out + outcome.err


def test_devices_when_listed_then_named_as_people_know_them(sound):
    outcome = run_cli("devices", env=sound.env())
    assert outcome.status == 0, outcome.err
    assert f"* {MICROPHONE}" in outcome.out
    assert f"* {SPEAKER}" in outcome.out


def test_say_when_the_loudspeaker_is_recorded_then_its_words_are_heard(sound, tmp_path):
    recorded = tmp_path / "recorded.wav"
    text = "Good morning. It writes down what people say."
    with sound.recorded_speaker(recorded):
        outcome = run_cli("say", text, env=sound.env())
    assert outcome.status == 0, outcome.err
    pcm, rate = soundfile.read(recorded, dtype="float32")
    loud = np.flatnonzero(np.abs(pcm) > 0.02)
    assert (loud[-1] - loud[0]) / rate > 1.0
    heard = words_of(run_cli("transcribe", str(recorded), "--diarizer", "none").out)
    assert {"good", "morning", "writes", "people", "say"} <= heard


def test_say_when_rendered_into_a_file_then_it_says_the_words(tmp_path):
    out = tmp_path / "out.wav"
    outcome = run_cli("say", "-", "-o", str(out), stdin="Press the button, and say something.")
    assert outcome.status == 0, outcome.err
    assert f"speech are in {out}" in outcome.err
    heard = words_of(run_cli("transcribe", str(out), "--diarizer", "none").out)
    assert {"press", "button", "something"} <= heard


def test_say_when_silenced_then_the_loudspeaker_stops_and_status_is_130(sound, tmp_path):
    recorded = tmp_path / "recorded.wav"
    text = "This is a long text that goes on and on. " * 20
    with sound.recorded_speaker(recorded):
        process = subprocess.Popen(
            cli_command("say", text), stderr=subprocess.PIPE, env=cli_environment(**sound.env())
        )
        _wait_until_loud(recorded)
        process.send_signal(signal.SIGINT)
        silenced_s = time.monotonic()
        _, err = process.communicate(timeout=30)
        assert time.monotonic() - silenced_s < 10
    assert process.returncode == 130, err
    pcm, rate = soundfile.read(recorded, dtype="float32")
    assert np.abs(pcm).max() > 0.02
    assert len(pcm) / rate < 60


def _wait_until_loud(path: Path) -> None:
    deadline_s = time.monotonic() + 60
    while time.monotonic() < deadline_s:
        if path.exists() and path.stat().st_size > 44:
            content = path.read_bytes()[44:]
            pcm = np.frombuffer(content[: len(content) // 2 * 2], "<i2").astype(np.int32)
            if np.abs(pcm).max(initial=0) > 2000:
                return
        time.sleep(0.1)
    raise AssertionError("nothing was heard")
