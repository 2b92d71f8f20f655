"""A sound that says when it was made: a rising tone, told from a tenth of a second of it."""

from pathlib import Path

import numpy as np

from engine.audio.wav import write_wav
from engine.core.types import Pcm

START_HZ = 300.0
SLOPE_HZ_PER_S = 100.0
WINDOW_S = 0.1


def timecode(seconds: float, rate: int, amplitude: float = 0.3) -> Pcm:
    """Return a tone whose frequency tells the time since its beginning."""
    t = np.arange(round(seconds * rate)) / rate
    phase = 2 * np.pi * (START_HZ * t + SLOPE_HZ_PER_S * t * t / 2)
    return (amplitude * np.sin(phase)).astype(np.float32)


def write_timecode(path: Path, seconds: float, rate: int) -> None:
    """Write it as a WAV file."""
    write_wav(path, timecode(seconds, rate), rate)


def read_timecode(pcm: Pcm, rate: int) -> float:
    """Return the time in the middle of (n,) samples, a tenth of a second or so; good to 5 ms."""
    size = 1 << (8 * len(pcm) - 1).bit_length()
    spectrum = np.abs(np.fft.rfft(pcm * np.hanning(len(pcm)), size))
    hertz = float(np.argmax(spectrum)) * rate / size
    return (hertz - START_HZ) / SLOPE_HZ_PER_S


def is_silent(pcm: Pcm) -> bool:
    """Whether there is no sound in it."""
    return bool(np.abs(pcm).max(initial=0.0) < 1e-3)
