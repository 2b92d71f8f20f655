"""Tables of the log-mel front end: the filterbank on Slaney's scale and the window."""

import numpy as np
import torch
from numpy.typing import NDArray

from engine.models.tower_config import MelConfig

_LINEAR_HZ_PER_MEL = 200.0 / 3.0
_LOG_START_HZ = 1000.0
_LOG_START_MEL = _LOG_START_HZ / _LINEAR_HZ_PER_MEL
_MELS_PER_LOG_HZ = 27.0 / np.log(6.4)


def _hz_of_mel(mel: NDArray[np.float64]) -> NDArray[np.float64]:
    """Slaney's scale: linear up to 1 kHz, logarithmic above."""
    above = _LOG_START_HZ * np.exp((mel - _LOG_START_MEL) / _MELS_PER_LOG_HZ)
    return np.where(mel < _LOG_START_MEL, mel * _LINEAR_HZ_PER_MEL, above)


def mel_filterbank(config: MelConfig) -> torch.Tensor:
    """Return the (n_mels, 1 + n_fft // 2) float32 weights from power spectrum to mel bands.

    Triangles of equal area, rounded to `config.table_dtype`.
    """
    nyquist_hz = config.sample_rate / 2.0
    top = nyquist_hz / _LINEAR_HZ_PER_MEL
    if nyquist_hz > _LOG_START_HZ:
        top = _LOG_START_MEL + np.log(nyquist_hz / _LOG_START_HZ) * _MELS_PER_LOG_HZ
    edges_hz = _hz_of_mel(np.linspace(0.0, top, config.n_mels + 2))
    bins_hz = np.linspace(0.0, nyquist_hz, 1 + config.n_fft // 2)
    widths_hz = np.diff(edges_hz)
    offsets_hz = edges_hz[:, np.newaxis] - bins_hz
    rising = -offsets_hz[:-2] / widths_hz[:-1, np.newaxis]
    falling = offsets_hz[2:] / widths_hz[1:, np.newaxis]
    areas = 2.0 / (edges_hz[2:] - edges_hz[:-2])
    # Rounded before and after the scaling, as librosa does: the last bit is then the same.
    triangles = np.maximum(0.0, np.minimum(rising, falling)).astype(np.float32)
    weights = triangles * areas[:, np.newaxis]
    return _rounded(torch.from_numpy(weights.astype(np.float32)), config)


def analysis_window(config: MelConfig) -> torch.Tensor:
    """Return the (win_length,) float32 symmetric Hann window, rounded to `config.table_dtype`."""
    window = torch.hann_window(config.win_length, periodic=False, dtype=torch.float32, device="cpu")
    return _rounded(window, config)


def _rounded(table: torch.Tensor, config: MelConfig) -> torch.Tensor:
    dtype: torch.dtype = getattr(torch, config.table_dtype)
    return table.to(dtype).float()
