"""Silero VAD on onnxruntime, with its streaming state outside the module.

The weights are a file of the silero-vad wheel, found without importing that package (which would
import torch).
"""

import importlib.util
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.core.errors import ModelMissingError
from engine.core.types import Pcm, as_pcm

SAMPLE_RATE = 16_000
WINDOW_SAMPLES = 512
"""Samples of one probability: 32 ms."""
_CONTEXT_SAMPLES = 64


def silero_weights() -> Path:
    """Return the path of the ONNX file in the installed silero-vad wheel.

    Raises:
        ModelMissingError: the wheel is not installed.
    """
    spec = importlib.util.find_spec("silero_vad")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        path = Path(folder) / "data" / "silero_vad_16k_op15.onnx"
        if path.is_file():
            return path
    raise ModelMissingError(
        "The speech detector's weights are missing: the silero-vad package is not installed.",
        advice="Install it with: pip install 'silero-vad>=6.2,<7'.",
    )


@dataclass(slots=True)
class VadState:
    """What one stream of the detector remembers; 1.3 kB, constant.

    Args:
        hidden: (2, 1, 128) float32, the recurrent state.
        context: (64,) float32, the samples before the next window.
        pending: (< 512,) float32, samples that do not fill a window yet.
    """

    hidden: NDArray[np.float32] = field(
        default_factory=lambda: np.zeros((2, 1, 128), dtype=np.float32)
    )
    context: NDArray[np.float32] = field(
        default_factory=lambda: np.zeros(_CONTEXT_SAMPLES, dtype=np.float32)
    )
    pending: NDArray[np.float32] = field(default_factory=lambda: np.zeros(0, dtype=np.float32))


class VoiceActivity:
    """Probability of speech for each 32 ms of 16 kHz audio. Latency: one window.

    Follows the calling convention of the silero-vad 6.2 package: 64 samples of context before
    each window, a recurrent state after it. Weights only; any number of streams may share it.
    """

    def __init__(self, weights: Path | None = None) -> None:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.inter_op_num_threads = 1
        options.intra_op_num_threads = 1
        options.log_severity_level = 3
        self._session: Any = onnxruntime.InferenceSession(
            str(weights or silero_weights()), options, providers=["CPUExecutionProvider"]
        )
        self._rate = np.array(SAMPLE_RATE, dtype=np.int64)

    def step(self, pcm: Pcm, state: VadState) -> NDArray[np.float32]:
        """Advance `state` by `pcm` and return the probability of each window completed.

        Args:
            pcm: (n,) float32 at 16 kHz; any n.
            state: changed in place.

        Returns:
            (num_windows,) float32; window i of the stream covers [i, i + 1) * 512 samples.
        """
        audio = np.concatenate([state.pending, as_pcm(pcm)])
        num_windows = len(audio) // WINDOW_SAMPLES
        probabilities = np.empty(num_windows, dtype=np.float32)
        for i in range(num_windows):
            window = audio[i * WINDOW_SAMPLES : (i + 1) * WINDOW_SAMPLES]
            inputs = np.concatenate([state.context, window])[np.newaxis]
            output, state.hidden = self._session.run(
                None, {"input": inputs, "state": state.hidden, "sr": self._rate}
            )
            probabilities[i] = output[0, 0]
            state.context = window[-_CONTEXT_SAMPLES:].copy()
        state.pending = audio[num_windows * WINDOW_SAMPLES :].copy()
        return probabilities
