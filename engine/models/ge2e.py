"""The GE2E speaker encoder: a stretch of speech to a point on a sphere, near for the same voice.

Generalized end-to-end loss for speaker verification (Wan et al., 2018), with the published
weights of the Resemblyzer package.
"""

import pickle
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.core.errors import ModelFileError, ModelLoadError, ModelMissingError, reason_of
from engine.models.ge2e_features import NUM_MELS

EMBEDDING_SIZE = 256
WINDOW_FRAMES = 160
"""Mel frames the encoder was trained on: 1.6 s. Fewer work, less surely."""
_HIDDEN_SIZE = 256
_NUM_LAYERS = 3
_FETCH_ADVICE = "Fetch the model ge2e-speaker-encoder again."

_thread_setting = threading.Lock()


@contextmanager
def _single_thread(torch: Any) -> Iterator[None]:
    """Run torch on the calling thread alone, and put its setting back.

    One window is too little work to share: two threads take longer and spend five times the CPU.
    """
    with _thread_setting:
        num_threads = torch.get_num_threads()
        torch.set_num_threads(1)
        try:
            yield
        finally:
            torch.set_num_threads(num_threads)


def _read_weights(torch: Any, path: Path) -> dict[str, Any]:
    if not path.is_file():
        raise ModelMissingError(
            f"The speaker encoder's weights are missing: there is no file {path}.",
            advice="Fetch the model ge2e-speaker-encoder.",
            command="vivavoce models pull ge2e-speaker-encoder",
        )
    try:
        checkpoint = torch.load(path, map_location="cpu", weights_only=True)
    except (OSError, RuntimeError, EOFError, ValueError, pickle.UnpicklingError) as error:
        raise ModelFileError(
            f"The speaker encoder's weights cannot be read from {path}: {reason_of(error)}.",
            advice=_FETCH_ADVICE,
        ) from error
    weights = checkpoint.get("model_state") if isinstance(checkpoint, dict) else None
    if not isinstance(weights, dict):
        raise ModelLoadError(
            f"{path} is not a GE2E speaker encoder: it has no model_state.", advice=_FETCH_ADVICE
        )
    return weights


class SpeakerEncoder:
    """Three LSTM layers 40 -> 256, a linear layer, ReLU, length 1. No state between windows.

    Weights only; any number of streams may share it.
    """

    def __init__(self, weights: Path) -> None:
        """Read the weights.

        Args:
            weights: `pretrained.pt` of the Resemblyzer package.

        Raises:
            ModelMissingError: the file is not there.
            ModelFileError: it is truncated or not a weights file.
            ModelLoadError: it holds another model.
        """
        import torch

        self._torch: Any = torch
        tensors = _read_weights(torch, weights)
        self._lstm = torch.nn.LSTM(NUM_MELS, _HIDDEN_SIZE, _NUM_LAYERS, batch_first=True)
        self._linear = torch.nn.Linear(_HIDDEN_SIZE, EMBEDDING_SIZE)
        try:
            for name, module in (("lstm.", self._lstm), ("linear.", self._linear)):
                module.load_state_dict(
                    {k.removeprefix(name): v for k, v in tensors.items() if k.startswith(name)}
                )
        except RuntimeError as error:
            raise ModelLoadError(
                f"{weights} is not a GE2E speaker encoder: {reason_of(error)}.",
                advice=_FETCH_ADVICE,
            ) from error
        self._lstm.eval().requires_grad_(False)
        self._linear.eval().requires_grad_(False)

    def embed(self, mel: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return where one stretch of speech lies among voices.

        Args:
            mel: (T, 40) float32, see `engine.models.ge2e_features`; T is 160 at best, at least 1.

        Returns:
            (256,) float32, none negative, length 1 (0 in the odd case of no active unit).

        Raises:
            ValueError: mel has another shape.
        """
        if mel.ndim != 2 or mel.shape[0] == 0 or mel.shape[1] != NUM_MELS:
            raise ValueError(f"mel must be (T >= 1, {NUM_MELS}), got {mel.shape}")
        torch = self._torch
        with torch.inference_mode(), _single_thread(torch):
            frames = torch.from_numpy(np.ascontiguousarray(mel, dtype=np.float32))
            _, (hidden, _) = self._lstm(frames[np.newaxis])
            raw = torch.relu(self._linear(hidden[-1, 0])).numpy()
        norm = float(np.linalg.norm(raw))
        result: NDArray[np.float32] = raw / np.float32(norm) if norm > 0.0 else raw
        return result
