"""Microphones that come, go and change while a recording runs, on a real sound server."""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers import pulse
from tests.helpers.device_scenes import Scene, scene, until
from tests.helpers.pulse import MICROPHONE, SPARE_MICROPHONE, VirtualSound

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(not pulse.is_available(), reason="PulseAudio is not installed"),
]

CLOSE_S = 5.0 + 3.0
"""What closing may take, and what a busy machine adds."""
CLOCK_S = 0.4
"""Of the session clock, on a busy machine: on one at rest it is off by 10 ms."""


@pytest.fixture(scope="module")
def server() -> Iterator[VirtualSound]:
    with VirtualSound() as virtual, pytest.MonkeyPatch.context() as patch:
        from engine.audio import portaudio

        for key, value in virtual.env().items():
            patch.setenv(key, value)
        portaudio.refresh_devices()
        yield virtual
    # A call that nobody waits for any more may still be in PortAudio.
    until(portaudio.refresh_devices)


@pytest.fixture
def sound(server: VirtualSound) -> Iterator[VirtualSound]:
    yield server
    server.unload("source_name=headset")
    sources = server.run("pactl", "list", "short", "sources")
    for name, title in (("microphone", MICROPHONE), ("spare_microphone", SPARE_MICROPHONE)):
        if f"\t{name}\t" not in sources:
            server.plug_microphone(name, title)
    server.run("pactl", "set-default-source", "microphone")


def end_of(made: Scene, more_s: float = 1.0) -> None:
    """Record a little more of the sound, then stop."""
    time.sleep(more_s)
    made.stop()


def test_named_microphone_when_unplugged_and_plugged_in_then_goes_on_after_a_gap_of_that_length(
    sound: VirtualSound,
) -> None:
    with scene(sound, input_name=SPARE_MICROPHONE) as made, made.hearing():
        made.record()
        sound.unload("source_name=spare_microphone")
        until(lambda: made.has_told("was lost"))
        time.sleep(1.0)
        sound.plug_microphone("spare_microphone", SPARE_MICROPHONE)
        until(lambda: made.has_told("is back"))
        end_of(made)
        (gap,) = made.gaps()
        assert "lost" in gap.reason
        assert (gap.end - gap.start) / 48_000 >= 1.0
        assert abs(made.clock_error_s()) < CLOCK_S


def test_named_microphone_when_it_stays_away_then_another_can_be_chosen_without_an_end(
    sound: VirtualSound,
) -> None:
    with scene(sound, input_name=SPARE_MICROPHONE) as made, made.hearing():
        made.record()
        sound.unload("source_name=spare_microphone")
        until(lambda: made.has_told("is not back yet"))
        assert any(MICROPHONE in e.advice for e in made.events if hasattr(e, "advice"))
        made.choose_input(MICROPHONE)
        until(lambda: made.has_told(f"goes on with the microphone {MICROPHONE}"))
        end_of(made)
        assert len(made.gaps()) == 1
        assert abs(made.clock_error_s()) < CLOCK_S


def test_other_microphone_when_chosen_while_recording_then_the_recording_goes_over_to_it(
    sound: VirtualSound,
) -> None:
    sound.plug_microphone("headset", "Headset", "rate=16000", "channels=2")
    with scene(sound, input_name=MICROPHONE) as made, made.hearing():
        made.record()
        made.choose_input("Headset")
        until(lambda: made.has_told("goes on with the microphone Headset"))
        end_of(made)
        assert abs(made.clock_error_s()) < CLOCK_S


def test_default_when_it_changes_then_is_followed_without_a_gap_and_told(
    sound: VirtualSound,
) -> None:
    with scene(sound) as made, made.hearing():
        made.record()
        sound.run("pactl", "set-default-source", "spare_microphone")
        until(lambda: made.has_told(f"goes on with the microphone {SPARE_MICROPHONE}"))
        end_of(made)
        assert made.gaps() == []
        assert made.devices.num_inputs == 1
        assert abs(made.clock_error_s()) < CLOCK_S


def test_default_when_no_microphone_is_left_then_the_loudspeaker_is_not_taken_for_one(
    sound: VirtualSound,
) -> None:
    with scene(sound) as made, made.hearing():
        made.record()
        sound.unload("source_name=spare_microphone")
        sound.unload("source_name=microphone ")
        until(lambda: made.has_told("was lost"))
        time.sleep(0.5)
        sound.plug_microphone("headset", "Headset", "rate=44100", "channels=2")
        until(lambda: made.has_told("goes on with the microphone Headset"))
        end_of(made)
        assert len(made.gaps()) == 1
        assert abs(made.clock_error_s()) < CLOCK_S


def test_server_when_killed_and_started_again_then_the_recording_goes_on_by_itself(
    sound: VirtualSound,
) -> None:
    with scene(sound) as made:
        made.record()
        began_s, before_s = time.monotonic(), made.session.recorded_s()
        sound.kill_server()
        until(lambda: made.has_told("was lost"))
        sound.start_server()
        until(lambda: made.has_told("is back"))

        def missing_s() -> float:
            return time.monotonic() - began_s - (made.session.recorded_s() - before_s)

        # The first samples fill the gap up to the time that has really passed.
        until(lambda: abs(missing_s()) < 0.5)
        made.stop()
        assert len(made.gaps()) == 1


def test_microphone_when_it_brings_nothing_for_four_seconds_then_is_opened_again(
    sound: VirtualSound,
) -> None:
    with scene(sound) as made, made.hearing():
        made.record()
        sound.run("pactl", "suspend-source", "microphone", "1")
        until(lambda: made.has_told("brought nothing for 4 s"))
        sound.run("pactl", "suspend-source", "microphone", "0")
        until(lambda: made.has_told("is back"))
        end_of(made)
        assert len(made.gaps()) == 1
        assert abs(made.clock_error_s()) < CLOCK_S


def test_microphone_when_it_pauses_for_a_moment_then_the_hole_is_drawn(
    sound: VirtualSound,
) -> None:
    with scene(sound) as made, made.hearing():
        made.record()
        sound.run("pactl", "suspend-source", "microphone", "1")
        time.sleep(1.5)
        sound.run("pactl", "suspend-source", "microphone", "0")
        until(lambda: bool(made.gaps()))
        end_of(made)
        assert made.notices() == []
        assert abs(made.clock_error_s()) < CLOCK_S


def test_server_when_it_hangs_then_stop_ends_soon_and_so_does_the_program(
    sound: VirtualSound, tmp_path: Path
) -> None:
    script = """
import sys, time
from pathlib import Path
from tests.helpers.device_scenes import Scene
from tests.helpers.pulse import VirtualSound
made = Scene(VirtualSound(), Path(sys.argv[1]))
made.record()
print("recording", flush=True)
sys.stdin.readline()
deadline_s = time.monotonic() + float(sys.argv[2])
while time.monotonic() < deadline_s:
    time.sleep(0.1)
print(made.stop(), flush=True)
made.session.close()
"""
    for wait_s in ("0.5", "6"):
        with subprocess.Popen(
            [sys.executable, "-c", script, str(tmp_path), wait_s],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as child:
            assert child.stdin is not None
            assert child.stdout is not None
            assert sound.server is not None
            assert child.stdout.readline() == "recording\n"
            sound.server.send_signal(signal.SIGSTOP)
            try:
                child.stdin.write("\n")
                child.stdin.flush()
                assert float(child.stdout.readline()) < 2.0
                assert child.wait(10) == 0
            finally:
                sound.server.send_signal(signal.SIGCONT)
                child.kill()


def test_microphone_when_it_comes_and_goes_then_is_not_opened_in_a_storm() -> None:
    printed = subprocess.run(
        [sys.executable, "-m", "tests.helpers.device_storm"],
        capture_output=True,
        text=True,
        timeout=100,
        check=True,
        cwd=Path(__file__).resolve().parents[2],
    ).stdout
    told = json.loads(printed)
    # At first at once, then a second apart and more.
    assert told["num_opened"] <= 4 + told["passed_s"]
    assert abs(told["clock_error_s"]) < CLOCK_S
    assert told["close_s"] < CLOSE_S
