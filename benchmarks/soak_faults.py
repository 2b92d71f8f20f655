"""The faults of a soak: what happens to a session, one a minute, from a seeded list."""

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING
from unittest.mock import patch

from benchmarks.soak_signal import RATE
from benchmarks.soak_sound import LOUDSPEAKERS, MICROPHONES
from engine.core.events import Event
from engine.core.types import BackendKind
from tests.helpers.full_disk import file_limit

if TYPE_CHECKING:
    from benchmarks.soak_run import Soak

_TEXTS = (
    "Good morning. This is what the program says by itself.",
    "One moment please, I am writing that down for you, and then we go on with the next point.",
    "Yes.",
)
_OTHER_RATES = (44_100, 48_000, 22_050, 8_000)

Fault = Callable[["Soak", Random], None]


def lose_microphone(soak: "Soak", rng: Random) -> None:
    """Unplug it for some seconds."""
    soak.world.is_microphone_there = False
    soak.world.generation += 1

    def back() -> None:
        soak.world.is_microphone_there = True

    soak.after(rng.uniform(0.5, 12.0), back)


def lose_samples(soak: "Soak", rng: Random) -> None:
    """Let the device overflow."""
    soak.world.num_to_lose = rng.randrange(1, 320)


def change_format(soak: "Soak", rng: Random) -> None:
    """Let devices have another rate for a while."""

    def become(rate: int) -> None:
        soak.world.rate = rate
        soak.world.generation += 1

    become(rng.choice(_OTHER_RATES))
    soak.after(rng.uniform(10.0, 25.0), lambda: become(RATE))


def bring_nothing(soak: "Soak", rng: Random) -> None:
    """Let the device bring no blocks for 5 s."""
    soak.world.silent_until_s = soak.clock.now_s() + 5.0


def bring_late(soak: "Soak", rng: Random) -> None:
    """Let the device keep its samples for a second or two and bring them all at once."""
    soak.world.held_until_s = soak.clock.now_s() + rng.uniform(0.6, 2.0)


def fail_recognizer(soak: "Soak", rng: Random) -> None:
    """Let the recognizer fail."""
    soak.troubles[BackendKind.RECOGNIZER].has_to_fail = True


def fail_diarizer(soak: "Soak", rng: Random) -> None:
    """Let the diarizer fail."""
    soak.troubles[BackendKind.DIARIZER].has_to_fail = True


def slow_recognizer(soak: "Soak", rng: Random) -> None:
    """Let the recognizer be ten times too slow for 20 to 40 s."""
    trouble = soak.troubles[BackendKind.RECOGNIZER]
    trouble.slow_until_s = soak.clock.now_s() + rng.uniform(20.0, 40.0)


def stall_push(soak: "Soak", rng: Random) -> None:
    """Let one push take many seconds."""
    kind = rng.choice((BackendKind.RECOGNIZER, BackendKind.DIARIZER))
    soak.troubles[kind].stall_s = rng.uniform(2.0, 15.0)


def lose_gpu(soak: "Soak", rng: Random) -> None:
    """Take the GPU from one that still has it; nothing happens once none has."""
    kind = rng.choice((BackendKind.RECOGNIZER, BackendKind.DIARIZER))
    if kind in soak.kinds_on_gpu:
        soak.kinds_on_gpu.discard(kind)
        soak.troubles[kind].has_to_lose_gpu = True
    else:
        fail_recognizer(soak, rng)


def refuse_disk(soak: "Soak", rng: Random) -> None:
    """Let the disk take nothing for 10 s."""
    _for_a_while(soak, 10.0, file_limit(1))


def fail_fsync(soak: "Soak", rng: Random) -> None:
    """Let the disk fail to sync for a few seconds."""
    _for_a_while(soak, rng.uniform(0.5, 4.0), _no_sync())


def pause(soak: "Soak", rng: Random) -> None:
    """Pause and go on."""
    soak.pause_for(rng.uniform(0.5, 30.0))


def speak(soak: "Soak", rng: Random) -> None:
    """Speak a text or two, sometimes with a pause within."""
    for _ in range(rng.randrange(1, 3)):
        soak.session.speak(rng.choice(_TEXTS))
    if rng.random() < 0.5:
        soak.after(1.0, soak.session.pause_speaking)
        soak.after(3.0, soak.session.resume_speaking)


def stop_speaking(soak: "Soak", rng: Random) -> None:
    """Stop speech in the middle."""
    soak.session.speak(_TEXTS[1])
    soak.session.speak(_TEXTS[0])
    soak.after(rng.uniform(0.1, 3.0), soak.session.stop_speaking)


def lose_loudspeaker(soak: "Soak", rng: Random) -> None:
    """Unplug the loudspeaker in the middle of a text."""
    soak.session.speak(_TEXTS[1])

    def go() -> None:
        soak.world.is_loudspeaker_there = False

    def back() -> None:
        soak.world.is_loudspeaker_there = True

    soak.after(1.0, go)
    soak.after(rng.uniform(2.0, 8.0), back)


def play(soak: "Soak", rng: Random) -> None:
    """Play recorded audio and stop it in the middle."""
    end = round(soak.session.recorded_s() * RATE)
    soak.session.play(rng.randrange(max(1, end)), None)
    if rng.random() < 0.5:
        soak.after(1.0, soak.session.pause_playing)
        soak.after(1.5, soak.session.resume_playing)
    soak.after(rng.uniform(2.0, 4.0), soak.session.stop_playing)


def edit(soak: "Soak", rng: Random) -> None:
    """Rename, merge, colour, assign, correct."""
    soak.edits.put(rng.randrange(2**32))


def change_settings(soak: "Soak", rng: Random) -> None:
    """Change devices and other settings."""
    settings = soak.session.settings
    soak.session.change_settings(
        replace(
            settings,
            input=rng.choice(MICROPHONES),
            output=rng.choice(LOUDSPEAKERS),
            hold_back_own_voice=rng.random() < 0.5,
            text_size_pt=rng.randrange(8, 72),
        )
    )


def sleep(soak: "Soak", rng: Random) -> None:
    """Let the computer sleep."""
    soak.world.slept_s += rng.uniform(5.0, 60.0)
    soak.world.generation += 1


def break_subscriber(soak: "Soak", rng: Random) -> None:
    """Let a subscriber raise for a second."""

    def fail(event: Event) -> None:
        raise RuntimeError("the soak made a subscriber fail")

    soak.after(1.0, soak.session.subscribe(fail))


FAULTS: dict[str, Fault] = {
    fault.__name__: fault
    for fault in (
        *(lose_microphone, lose_samples, change_format, bring_nothing, bring_late),
        *(fail_recognizer, fail_diarizer, slow_recognizer, stall_push, lose_gpu),
        *(refuse_disk, fail_fsync, pause, speak, stop_speaking, lose_loudspeaker, play),
        *(edit, change_settings, sleep, break_subscriber),
    )
}
EXPECTED_LOG = (
    "starts anew",
    "events are not written",
    "audio is not written",
    "an event subscriber failed",
)
"""What the log may say of them."""


def plan(seconds: float, interval_s: float, seed: int) -> list[tuple[float, str]]:
    """Return when what happens: every kind in turn, in an order that the seed shuffles anew."""
    rng = Random(seed)
    told: list[tuple[float, str]] = []
    names: list[str] = []
    at_s = 0.5 * interval_s
    while at_s < seconds - 0.25 * interval_s:
        if not names:
            names = rng.sample(list(FAULTS), len(FAULTS))
        told.append((at_s, names.pop()))
        at_s += interval_s * rng.uniform(0.5, 1.5)
    return told


def _for_a_while(soak: "Soak", seconds: float, trouble: AbstractContextManager[None]) -> None:
    stack = soak.enter_context(trouble)
    soak.after(seconds, stack.close)


@contextmanager
def _no_sync() -> Iterator[None]:
    def fail(descriptor: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    with patch.object(os, "fsync", fail):
        yield
