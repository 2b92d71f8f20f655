"""The codecs of this machine: found, loaded once, or made at random where that is allowed."""

import threading
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from engine.backends.protocols import BackendContext
from engine.core.errors import BackendError, ConfigError, ModelMissingError
from engine.models.nanocodec.config import RELEASED, CodecConfig

if TYPE_CHECKING:
    from engine.models.nanocodec.codec import NanoCodec

SAMPLE_RATE = 22_050
LICENCE = "NVIDIA Open Model License"
UNTRAINED_LEVEL = 0.01
"""Loudness of noise from random weights: -40 dBFS."""
_NUM_TIMED_FRAMES = 8


def model_id(codec_id: str) -> str:
    """Return the name of a codec in the list of models."""
    return codec_id.rpartition("/")[2]


def released_codec(codec_id: str) -> CodecConfig:
    """Return a published codec's geometry.

    Raises:
        BackendError: no codec has this name; names those there are.
    """
    config = RELEASED.get(codec_id)
    if config is None:
        raise BackendError(
            f'The codec "{codec_id[:80]}" is not known.',
            advice=f"Known are: {', '.join(RELEASED)}.",
        )
    return config


class CodecWeights:
    """Loads codecs when they are first asked for. Thread: any.

    Args:
        context: finds the files, and says whether random weights will do in their place.
    """

    def __init__(self, context: BackendContext) -> None:
        self._context = context
        self._lock = threading.Lock()
        self._loaded: dict[str, tuple[NanoCodec, float]] = {}

    def is_untrained(self, codec_id: str) -> bool:
        """Whether random weights stand in for this codec's."""
        return self._context.allow_untrained and self._folder(codec_id) is None

    def codec(self, codec_id: str) -> tuple["NanoCodec", float]:
        """Return a loaded codec, and the gain to play it with.

        Raises:
            BackendError: there is no such codec.
            ModelMissingError, ModelFileError, ModelLoadError: with what to do.
        """
        config = released_codec(codec_id)
        with self._lock:
            if codec_id not in self._loaded:
                self._loaded[codec_id] = self._load(config)
            return self._loaded[codec_id]

    def close(self) -> None:
        """Give memory back."""
        with self._lock:
            self._loaded.clear()

    def _load(self, config: CodecConfig) -> tuple["NanoCodec", float]:
        from engine.models.nanocodec.codec import NanoCodec

        codec_id = config.codec_id
        if self.is_untrained(codec_id):
            codec = NanoCodec(codec_id, untrained=config)
        else:
            # Without a file of ours the codec looks for one that was downloaded before.
            codec = NanoCodec(codec_id, path=self._folder(codec_id))
        try:
            codec.load("cpu")
        except ModelMissingError:
            self._context.model_path(model_id(codec_id))  # says how to get it
            raise
        return codec, _gain(codec)

    def _folder(self, codec_id: str) -> Path | None:
        with suppress(ModelMissingError, ConfigError):
            return self._context.model_path(model_id(codec_id))
        return None


def _gain(codec: "NanoCodec") -> float:
    """Return what makes random weights as quiet as they must be; warms up at the same time."""
    import torch

    config = codec.config
    levels = np.tile(np.asarray(config.levels), config.num_groups)
    codes = np.random.default_rng(0).integers(0, levels, (_NUM_TIMED_FRAMES, len(levels)))
    frames = torch.from_numpy(codes).T[None]
    audio = codec.decode_from_codes(frames, torch.tensor([_NUM_TIMED_FRAMES]))
    return 1.0 if codec.is_trained else UNTRAINED_LEVEL / max(float(audio.std()), 1e-6)
