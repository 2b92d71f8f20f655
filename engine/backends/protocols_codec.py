"""The contracts that codecs and sources of their frames keep."""

from enum import StrEnum
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from engine.backends.protocols import Backend
from engine.core.types import Pcm


class EndReason(StrEnum):
    """Why a source of codec frames ended."""

    STOP = "stop"  # the speech is complete
    BUDGET = "budget"  # it was cut at the most frames allowed
    ERROR = "error"


class FrameSource(Protocol):
    """Speech as codec frames, from a file or from a model that writes them. Thread: one."""

    @property
    def codec_id(self) -> str:
        """The codec that the frames are for."""
        ...

    @property
    def layout(self) -> str:
        """How they are laid out, see `engine.models.nanocodec.layout.CodeLayout`."""
        ...

    @property
    def num_frames(self) -> int | None:
        """How many there will be; None where that is not known."""
        ...

    @property
    def end_reason(self) -> EndReason | None:
        """Why it ended; None before its end."""
        ...

    def read(self, num_frames: int) -> NDArray[np.int64]:
        """Return the next whole frames in the layout, at most `num_frames`; none at the end.

        Raises:
            EngineError: they cannot be had, or are of no use.
        """
        ...


class CodecStream(Protocol):
    """Frames to audio, chunk by chunk. Thread: one at a time."""

    def push(self, codes: NDArray[np.int64]) -> Pcm:
        """Decode the next frames, (T, D) per-dimension codes, and return what can be played."""
        ...

    def finish(self) -> Pcm:
        """Return what is held back, faded out: the clip ends here."""
        ...


class Codec(Backend, Protocol):
    """Audio to frames of codes and back."""

    @property
    def codec_id(self) -> str:
        """The name under which the codec was published."""
        ...

    def encode(self, pcm: Pcm) -> NDArray[np.int64]:
        """Return (T, D) per-dimension codes of a clip at the spec's rate, the last frame filled up.

        Raises:
            BackendError: not loaded.
        """
        ...

    def decode(self, codes: NDArray[np.int64]) -> Pcm:
        """Return the audio of a whole clip, faded out as a stream's is.

        Raises:
            BackendError: not loaded.
        """
        ...

    def open_stream(self, decoding: str, lookback: int | None) -> CodecStream:
        """Return a new stream.

        Args:
            decoding: "stateful" or "lookback".
            lookback: frames decoded again in front of each chunk; None for exactly enough.

        Raises:
            BackendError: not loaded.
        """
        ...
