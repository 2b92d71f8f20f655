"""What devices that come, go and change cost a recording and a speech, on a real sound server.

For each event: audio lost (the gaps drawn), time from the device being usable again to samples
coming, and by how much the session clock is off afterwards, by a timecode that the microphone
hears. Needs PulseAudio. Run: python -m benchmarks.devices [--repeat N]
"""

import argparse
import os
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

from tests.helpers.device_scenes import Scene, scene, until
from tests.helpers.pulse import MICROPHONE, SPARE_MICROPHONE, VirtualSound

AWAY_S = 2.0
_RATE = 48_000


@dataclass(frozen=True)
class Cost:
    """What an event cost.

    Args:
        lost_s: length of the gaps.
        back_s: from the device being there again to samples coming; None if nothing was away.
        error_ms: of the session clock afterwards; None where nothing tells.
        num_opened: how often an input was opened again.
    """

    lost_s: float
    back_s: float | None
    error_ms: float | None
    num_opened: int


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=3)
    repeat = parser.parse_args().repeat
    print(f"{'event':44s} {'lost s':>15s} {'back after s':>15s} {'clock ms':>9s} {'opened':>6s}")
    for event, name, act in _EVENTS:
        costs = [_measure(name, act) for _ in range(repeat)]
        errors = [abs(c.error_ms) for c in costs if c.error_ms is not None]
        error = f"{max(errors):9.0f}" if errors else f"{'-':>9s}"
        print(
            f"{event:44s} {_spread([c.lost_s for c in costs])} "
            f"{_spread([c.back_s for c in costs if c.back_s is not None])} "
            f"{error} {max(c.num_opened for c in costs):6d}",
            flush=True,
        )


def _spread(values: list[float]) -> str:
    if not values:
        return f"{'-':>15s}"
    return f"{statistics.median(values):7.2f} ({max(values):5.2f})"


def _measure(name: str, act: Callable[[Scene], float | None]) -> Cost:
    with VirtualSound() as sound:
        os.environ.update(sound.env())
        from engine.audio import portaudio

        portaudio.refresh_devices()
        with scene(sound, input_name=name) as made:
            with made.hearing():
                made.record()
                back_s = act(made)
                time.sleep(1.0)
                made.stop()
            return Cost(
                lost_s=sum(gap.end - gap.start for gap in made.gaps()) / _RATE,
                back_s=back_s,
                error_ms=None if act in _UNHEARD else 1000 * made.clock_error_s(),
                num_opened=made.devices.num_inputs - 1,
            )


def _wait_back(made: Scene, part: str) -> float:
    began_s = time.monotonic()
    until(lambda: made.has_told(part))
    return time.monotonic() - began_s


def _replug(made: Scene) -> float:
    made.sound.unload("source_name=spare_microphone")
    time.sleep(AWAY_S)
    made.sound.plug_microphone("spare_microphone", SPARE_MICROPHONE)
    return _wait_back(made, "is back")


def _change_profile(made: Scene) -> float:
    made.sound.unload("source_name=spare_microphone")
    made.sound.plug_microphone("spare_microphone", SPARE_MICROPHONE, "rate=16000", "channels=2")
    return _wait_back(made, "is back")


def _choose_after_loss(made: Scene) -> float:
    made.sound.unload("source_name=spare_microphone")
    until(lambda: made.has_told("was lost"))
    made.choose_input(MICROPHONE)
    return _wait_back(made, "goes on with")


def _choose(made: Scene) -> float:
    made.choose_input(SPARE_MICROPHONE)
    return _wait_back(made, "goes on with")


def _change_default(made: Scene) -> float:
    made.sound.run("pactl", "set-default-source", "spare_microphone")
    return _wait_back(made, "goes on with")


def _unplug_default(made: Scene) -> float:
    made.sound.unload("source_name=microphone ")
    return _wait_back(made, "goes on with")


def _leave_none(made: Scene) -> float:
    made.sound.unload("source_name=spare_microphone")
    made.sound.unload("source_name=microphone ")
    time.sleep(AWAY_S)
    made.sound.plug_microphone("headset", "Headset", "rate=44100")
    return _wait_back(made, "goes on with")


def _suspend(seconds: float) -> Callable[[Scene], float]:
    def act(made: Scene) -> float:
        made.sound.run("pactl", "suspend-source", "microphone", "1")
        time.sleep(seconds)
        made.sound.run("pactl", "suspend-source", "microphone", "0")
        began_s = time.monotonic()
        until(lambda: bool(made.gaps()) and not made.num_told("lost:") > made.num_told("is back"))
        return time.monotonic() - began_s

    return act


def _flap(made: Scene) -> None:
    for _ in range(10):
        made.sound.unload("source_name=spare_microphone")
        made.sound.plug_microphone("spare_microphone", SPARE_MICROPHONE)
        time.sleep(0.2)
    time.sleep(1.0)
    until(lambda: made.num_told("was lost") == made.num_told("is back"))


def _sleep(made: Scene) -> None:
    made.sleeper.seconds += 120.0
    until(lambda: made.session.recorded_s() > 120.0)


def _restart(made: Scene) -> float:
    made.sound.kill_server()
    made.sound.start_server()
    return _wait_back(made, "is back")


_EVENTS: list[tuple[str, str, Callable[[Scene], float | None]]] = [
    (f"named: unplugged for {AWAY_S:.0f} s", SPARE_MICROPHONE, _replug),
    ("named: 48 kHz mono becomes 16 kHz stereo", SPARE_MICROPHONE, _change_profile),
    ("named: unplugged, another chosen", SPARE_MICROPHONE, _choose_after_loss),
    ("another chosen while recording", MICROPHONE, _choose),
    ("default: another made the default", "default", _change_default),
    ("default: unplugged, another there", "default", _unplug_default),
    (f"default: no microphone left for {AWAY_S:.0f} s", "default", _leave_none),
    ("brings nothing for 1.5 s", "default", _suspend(1.5)),
    ("brings nothing for 6 s (watchdog)", "default", _suspend(6.0)),
    ("comes and goes ten times within 2 s", SPARE_MICROPHONE, _flap),
    ("server killed and started again", "default", _restart),
    ("computer asleep for 120 s (simulated)", "default", _sleep),
]
# The timecode ends with the server, and does not sleep.
_UNHEARD = (_restart, _sleep)


if __name__ == "__main__":
    sys.exit(main())
