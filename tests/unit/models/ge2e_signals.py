"""The signal whose published features and embeddings are stored in ge2e_reference.npz."""

import numpy as np

from engine.core.types import Pcm


def voiced_tone() -> Pcm:
    """Return 2.5 s at 16 kHz of a quiet, gliding, swelling harmonic tone."""
    time_s = np.arange(40_000) / 16_000
    pitch_hz = 120 + 30 * np.sin(2 * np.pi * 1.5 * time_s)
    phase = 2 * np.pi * np.cumsum(pitch_hz) / 16_000
    harmonics = sum(np.sin(k * phase) / k for k in range(1, 20))
    swell = 0.55 + 0.45 * np.sin(2 * np.pi * 3 * time_s)
    return (0.01 * harmonics * swell).astype(np.float32)
