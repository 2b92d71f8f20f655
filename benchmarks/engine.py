"""Speed and memory of the engine itself: an hour of virtual audio through fake backends.

Run: python -m benchmarks.engine [--hours H]
"""

import argparse
import gc
import tempfile
import time
from pathlib import Path

import numpy as np
import psutil

from engine.audio.virtual import NullInput
from engine.audio.virtual_output import NullOutput
from engine.backends.fake_diarizer import FakeDiarizer
from engine.backends.fake_recognizer import FakeRecognizer
from engine.backends.fake_synthesizer import FakeSynthesizer
from engine.core.config import Settings
from engine.core.timebase import VirtualClock
from engine.core.types import BackendKind
from engine.session.services import Services
from engine.session.session import Session

RATE = 48_000
_MAKERS = {
    BackendKind.RECOGNIZER: FakeRecognizer,
    BackendKind.DIARIZER: FakeDiarizer,
    BackendKind.SYNTHESIZER: FakeSynthesizer,
}


class _EndlessDevices:
    """One input of noise, of a set length, as fast as it is read."""

    def __init__(self, seconds: float, clock: VirtualClock) -> None:
        self._end = round(seconds * RATE)
        self._clock = clock
        rng = np.random.default_rng(1)
        self._noise = (0.05 * rng.standard_normal(RATE * 2)).astype(np.float32)

    def list_devices(self) -> tuple[()]:
        return ()

    def open_input(self, name: str) -> NullInput:
        return NullInput(self._clock, RATE, self._samples, is_live=False)

    def open_output(self, name: str) -> NullOutput:
        return NullOutput(self._clock, RATE)

    def _samples(self, start: int, end: int) -> np.ndarray:
        end = min(end, self._end)
        at = start % RATE
        return self._noise[at : at + max(0, end - start)]


def measure(hours: float, keep: str) -> dict[str, float]:
    """Return the speed, and memory at a tenth of the time and at the end, of one recording."""
    clock = VirtualClock()
    process = psutil.Process()
    seconds = hours * 3600
    with tempfile.TemporaryDirectory() as folder:
        session = Session(
            Settings(recognizer="fake", diarizer="fake", synthesizer="fake", keep=keep),
            Services(
                devices=_EndlessDevices(seconds, clock),
                create_backend=lambda kind, _id, _context: _MAKERS[kind](),
                model_path=lambda _: Path(folder),
                sessions_dir=Path(folder),
                clock=clock,
            ),
        )
        with session:
            began_s, early_bytes = time.perf_counter(), 0
            session.start().result()
            while not session.wait_until_stopped(0.05):
                if not early_bytes and session.recorded_s() >= seconds / 10:
                    gc.collect()
                    early_bytes = process.memory_info().rss
            took_s = time.perf_counter() - began_s
            gc.collect()
            late_bytes = process.memory_info().rss
            num_words = len(session.document.words)
    return {
        "audio_s": seconds,
        "times_real_time": seconds / took_s,
        "growth_mb": (late_bytes - early_bytes) / 1e6,
        "num_words": num_words,
    }


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hours", type=float, default=1.0)
    hours = parser.parse_args().hours
    for keep in ("nothing", "audio-and-text"):
        row = measure(hours, keep)
        print(
            f"keep {keep:15} {row['audio_s']:.0f} s of audio: {row['times_real_time']:.0f} times "
            f"real time, {row['growth_mb']:+.1f} MB from a tenth of the time to the end, "
            f"{row['num_words']:.0f} words"
        )


if __name__ == "__main__":
    main()
