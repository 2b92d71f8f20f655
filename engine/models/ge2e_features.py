"""Mel frames of the GE2E speaker encoder, streaming, on numpy and scipy.

Power mel without a logarithm: 25 ms Hann windows each 10 ms, 40 bands on Slaney's scale with
bands of equal area, at 16 kHz.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.fft import rfft
from scipy.signal import get_window

from engine.core.types import Pcm, as_pcm

SAMPLE_RATE = 16_000
NUM_MELS = 40
HOP_SAMPLES = 160
WINDOW_SAMPLES = 400
_HALF_WINDOW = WINDOW_SAMPLES // 2
TARGET_DBFS = -30.0
"""Loudness that quieter speech is raised to; louder speech is left as it is."""

_HZ_PER_MEL = 200.0 / 3.0
_LOG_START_HZ = 1000.0
_LOG_STEP = np.log(6.4) / 27.0


def _mel_to_hz(mel: NDArray[np.float64]) -> NDArray[np.float64]:
    """Slaney's scale: linear below 1 kHz, logarithmic above."""
    log_start = _LOG_START_HZ / _HZ_PER_MEL
    above = _LOG_START_HZ * np.exp(_LOG_STEP * (np.maximum(mel, log_start) - log_start))
    return np.where(mel < log_start, mel * _HZ_PER_MEL, above)


def mel_filterbank() -> NDArray[np.float32]:
    """Return the (201, 40) float32 weights from power spectrum to mel bands."""
    top_mel = _LOG_START_HZ / _HZ_PER_MEL + np.log(SAMPLE_RATE / 2 / _LOG_START_HZ) / _LOG_STEP
    edges_hz = _mel_to_hz(np.linspace(0.0, top_mel, NUM_MELS + 2))
    bins_hz = np.fft.rfftfreq(WINDOW_SAMPLES, 1.0 / SAMPLE_RATE)[:, np.newaxis]
    low, centre, high = edges_hz[:-2], edges_hz[1:-1], edges_hz[2:]
    rising = (bins_hz - low) / (centre - low)
    falling = (high - bins_hz) / (high - centre)
    weights = np.maximum(0.0, np.minimum(rising, falling)) * (2.0 / (high - low))
    return weights.astype(np.float32)


def loudness_gain(mean_square: float) -> float:
    """Return the factor that raises audio of this mean square to `TARGET_DBFS`, at least 1.

    Digital silence is left alone.
    """
    if mean_square <= 0.0:
        return 1.0
    return float(max(1.0, 10.0 ** (TARGET_DBFS / 20.0) / np.sqrt(mean_square)))


@dataclass(slots=True)
class MelState:
    """What one stream of frames remembers; at most 2.2 kB.

    Args:
        pending: samples from the start of the next frame's window on; silence comes before time 0.
    """

    pending: Pcm = field(default_factory=lambda: np.zeros(_HALF_WINDOW, dtype=np.float32))


class MelFrames:
    """Power mel frames of 10 ms. Frame i is centred on sample 160 i; latency: 200 samples.

    Read-only tables; any number of streams may share it.
    """

    def __init__(self) -> None:
        self._window = get_window("hann", WINDOW_SAMPLES).astype(np.float32)
        self._filterbank = mel_filterbank()

    def step(self, pcm: Pcm, state: MelState) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Advance `state` by `pcm` and return what frames it completed.

        Args:
            pcm: (n,) float32 at 16 kHz; any n.
            state: changed in place.

        Returns:
            mel: (T, 40) float32, power.
            mean_square: (T,) float32, of the 10 ms of samples that begin at each frame's centre.
        """
        audio = np.concatenate([state.pending, as_pcm(pcm)])
        num_frames = max(0, (len(audio) - WINDOW_SAMPLES) // HOP_SAMPLES + 1)
        state.pending = audio[num_frames * HOP_SAMPLES :].copy()
        if num_frames == 0:
            return np.zeros((0, NUM_MELS), np.float32), np.zeros(0, np.float32)
        windows = np.lib.stride_tricks.sliding_window_view(audio, WINDOW_SAMPLES)
        frames = windows[: num_frames * HOP_SAMPLES : HOP_SAMPLES]
        mel = np.empty((num_frames, NUM_MELS), dtype=np.float32)
        # One frame at a time: a matrix product's rounding depends on how many rows it has.
        for row, frame in zip(mel, frames, strict=True):
            spectrum = rfft(frame * self._window)
            row[:] = (spectrum.real**2 + spectrum.imag**2) @ self._filterbank
        hops = frames[:, _HALF_WINDOW : _HALF_WINDOW + HOP_SAMPLES]
        return mel, np.mean(hops**2, axis=1, dtype=np.float32)


def mel_spectrogram(pcm: Pcm) -> NDArray[np.float32]:
    """Return all frames of one piece of audio, as if silence lay on both sides.

    Args:
        pcm: (n,) float32 at 16 kHz.

    Returns:
        (1 + n // 160, 40) float32.
    """
    padded = np.concatenate([as_pcm(pcm), np.zeros(_HALF_WINDOW, dtype=np.float32)])
    mel, _ = MelFrames().step(padded, MelState())
    return mel
