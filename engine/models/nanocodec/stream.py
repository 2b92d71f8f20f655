"""One stream of codec frames on its way to the loudspeaker, ended without a click."""

from enum import StrEnum
from typing import Any

import numpy as np
import torch
from torch import Tensor

from engine.core.types import Pcm
from engine.models.nanocodec.codec import Lookback, NanoCodec, context_frames
from engine.models.nanocodec.layout import CodeLayout, convert_codes
from engine.models.nanocodec.tail import HeldTail

STREAM_FADE_MS = 10.0
"""Fade at the end of a stream that is played: short to the ear, long enough not to click."""
STREAM_SILENCE_MS = 0.0


class StreamDecoding(StrEnum):
    """How the past of a chunk reaches its decode."""

    STATEFUL = "stateful"  # kept in the layers: exact, nothing decoded twice
    LOOKBACK = "lookback"  # frames decoded again in front of each chunk; works with any engine


class CodecStream:
    """Frames in, audio out, in chunks of any size; memory does not grow.

    Thread: one at a time. Any number of streams may share a codec.

    Args:
        codec: loaded.
        layout: of the frames that are pushed.
        decoding: how the past is carried along.
        lookback: frames decoded again, for `LOOKBACK`; "exact" for the receptive field.
        fade_ms: of the clip's end; that much is held back until the end is known.
        silence_ms: behind it.

    Raises:
        BackendError: the codec is not loaded, or its engine has no stateful decoder.
        ValueError: lookback is out of range.
    """

    def __init__(
        self,
        codec: NanoCodec,
        *,
        layout: CodeLayout = CodeLayout.PER_DIMENSION,
        decoding: StreamDecoding = StreamDecoding.STATEFUL,
        lookback: Lookback = "exact",
        fade_ms: float = STREAM_FADE_MS,
        silence_ms: float = STREAM_SILENCE_MS,
    ) -> None:
        if not codec.is_loaded:
            raise codec.not_loaded()
        self._codec = codec
        self._layout = layout
        self._decoder = codec.decoder if decoding is StreamDecoding.STATEFUL else None
        self._tail = HeldTail(codec.sample_rate, fade_ms, silence_ms)
        self._num_context = context_frames(lookback, codec.config)
        self.reset()

    @property
    def num_frames(self) -> int:
        """Frames decoded since the clip began."""
        return self._num_frames

    def push(self, codes: Any) -> Pcm:
        """Decode the next frames and return what can be played of all that came.

        Args:
            codes: integers in the stream's layout; any number of whole frames, also none.

        Returns:
            (n,) float32; everything but the last `fade_ms`.

        Raises:
            CodesError: they are not of this codec; names the frame (of this call), the dimension
                or group and the value. The stream can go on with the frames after.
        """
        frames = convert_codes(codes, self._layout, CodeLayout.PER_DIMENSION, self._codec.config)
        if len(frames) == 0:
            return np.zeros(0, dtype=np.float32)
        audio = self._decode(torch.from_numpy(np.ascontiguousarray(frames)))
        self._num_frames += len(frames)
        return _as_pcm(self._tail.push(audio))

    def finish(self) -> Pcm:
        """Return the rest, faded, and the silence behind it. The next push begins a new clip."""
        rest = _as_pcm(self._tail.finish())
        self.reset()
        return rest

    def reset(self) -> None:
        """Drop what is held back: the next push begins a new clip."""
        self._tail.reset()
        self._num_frames = 0
        self._state = None if self._decoder is None else self._decoder.initial_state()
        self._past = torch.zeros(0, self._codec.config.num_dims, dtype=torch.int64)

    def _decode(self, frames: Tensor) -> Tensor:
        if self._decoder is not None:
            assert self._state is not None
            audio, self._state = self._decoder.step(frames.T[None], self._state)
            return audio[0].cpu()
        history = torch.cat((self._past, frames))
        decoded = self._codec.decode_stream(
            history, start_idx=len(self._past), lookback=self._num_context
        )
        assert decoded is not None, "there were new frames"
        self._past = history[max(0, len(history) - self._num_context) :].clone()
        return decoded.cpu()


def _as_pcm(audio: Tensor) -> Pcm:
    pcm: Pcm = audio.to(torch.float32).contiguous().numpy()
    return pcm
