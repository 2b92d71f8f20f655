"""Log-mel features as Whisper was trained on them, computed on one thread."""

import numpy as np
from numpy.typing import NDArray

from engine.core.types import Pcm

SAMPLE_RATE = 16_000
HOP_SAMPLES = 160
"""Samples a mel frame: 10 ms."""
_FFT_SAMPLES = 400
_FLOOR_POWER = 1e-10
_RANGE_DECADES = 8.0  # what lies further below the loudest bin is raised to that level


def slaney_filters(num_mels: int) -> NDArray[np.float32]:
    """Return triangular filters of equal area on Slaney's mel scale, 0 to 8 kHz.

    The scale is linear up to 1 kHz (200/3 Hz a step) and logarithmic above (6.4 in 27 steps).

    Args:
        num_mels: number of bands, 80 or 128 for Whisper.

    Returns:
        (num_mels, 201) float32.
    """
    steps_to_1k = 15.0
    log_step = np.log(6.4) / 27.0
    top = steps_to_1k + np.log(SAMPLE_RATE / 2 / 1000.0) / log_step
    mels = np.linspace(0.0, top, num_mels + 2)
    above = np.exp(log_step * np.maximum(0.0, mels - steps_to_1k)) * 1000.0
    edges_hz = np.where(mels < steps_to_1k, mels * 200.0 / 3.0, above)
    bins_hz = np.fft.rfftfreq(_FFT_SAMPLES, 1.0 / SAMPLE_RATE)
    left, centre, right = edges_hz[:-2, None], edges_hz[1:-1, None], edges_hz[2:, None]
    rising = (bins_hz - left) / (centre - left)
    falling = (right - bins_hz) / (right - centre)
    triangles = np.maximum(0.0, np.minimum(rising, falling))
    filters: NDArray[np.float32] = (triangles * (2.0 / (right - left))).astype(np.float32)
    return filters


class WhisperMel:
    """Turns audio into the encoder's input; no state.

    The filter bank is kept sparse (a bin lies in two bands at most): a dense product would wake
    the BLAS threads, which go on spinning on the cores that the decoder needs.
    """

    def __init__(self, num_mels: int = 80) -> None:
        from scipy.sparse import csr_array

        self.num_mels = num_mels
        self._filters = csr_array(slaney_filters(num_mels))
        angles = 2.0 * np.pi * np.arange(_FFT_SAMPLES) / _FFT_SAMPLES
        self._window = (0.5 - 0.5 * np.cos(angles)).astype(np.float32)

    def __call__(self, pcm: Pcm, num_frames: int) -> NDArray[np.float32]:
        """Return features of `pcm` followed by digital silence.

        Args:
            pcm: (n,) float32 at 16 kHz; what lies beyond `num_frames` is not heard.
            num_frames: length of the result, 100 frames a second.

        Returns:
            (num_mels, num_frames) float32; frame i is centred on sample 160 * i.
        """
        from scipy.fft import rfft

        half = _FFT_SAMPLES // 2
        audio = np.zeros(num_frames * HOP_SAMPLES, dtype=np.float32)
        audio[: min(len(pcm), len(audio))] = pcm[: len(audio)]
        num_filled = min(num_frames, (len(pcm) + half) // HOP_SAMPLES + 1)
        padded = np.pad(audio, half, mode="reflect")
        frames = np.lib.stride_tricks.sliding_window_view(padded, _FFT_SAMPLES)
        spectrum = rfft(frames[: num_filled * HOP_SAMPLES : HOP_SAMPLES] * self._window, workers=1)
        power = spectrum.real**2 + spectrum.imag**2
        mel: NDArray[np.float32] = np.full(
            (self.num_mels, num_frames), np.log10(_FLOOR_POWER), dtype=np.float32
        )
        mel[:, :num_filled] = np.log10(np.maximum(self._filters @ power.T, _FLOOR_POWER))
        np.maximum(mel, mel.max() - _RANGE_DECADES, out=mel)
        mel += 4.0
        mel *= 0.25
        return mel
