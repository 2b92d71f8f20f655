"""What users do with files: commands of the program, and what a window or a script calls."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.hostile_case import Run
from engine.cli.main import main
from engine.core.errors import EngineError

RATE = 16_000
FAKES = ("--recognizer", "fake", "--diarizer", "fake")


def command(*arguments: object) -> Run:
    """Return a command of the command line."""
    return partial(main, ["-v", *map(str, arguments)])


def transcribe(path: Path) -> Run:
    """Return the transcription of a file by test backends."""
    return command("transcribe", path, "--recognizer", "fake", "--diarizer", "none")


def call(function: Callable[[], object]) -> Run:
    """Return a call of the library as a command: its result printed, its errors as messages."""

    def run() -> int:
        try:
            print(function())
        except EngineError as error:
            import sys

            print(f"vivavoce: {error}", file=sys.stderr)
            return 5
        return 0

    return run


def tone(seconds: float, rate: int = RATE) -> np.ndarray:
    """Return (n,) float32: a note that swells, with some noise."""
    t = np.arange(round(seconds * rate)) / rate
    noise = np.random.default_rng(5).standard_normal(len(t))
    swell = 0.5 + 0.5 * np.sin(2 * np.pi * 3 * t)
    return (0.3 * swell * np.sin(2 * np.pi * 220 * t) + 0.02 * noise).astype(np.float32)
