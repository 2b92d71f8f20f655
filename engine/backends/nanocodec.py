"""The codec "nanocodec": audio to codes and back, by any of the published variants."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from engine.backends.nanocodec_weights import (
    LICENCE,
    SAMPLE_RATE,
    CodecWeights,
    model_id,
    released_codec,
)
from engine.backends.protocols import BackendContext, BackendSpec, ProgressCallback
from engine.backends.protocols_codec import CodecStream
from engine.core.errors import BackendError
from engine.core.sync import CancelToken
from engine.core.types import BackendKind, Pcm
from engine.models.nanocodec.config import NANOCODEC_21HZ

if TYPE_CHECKING:
    from engine.models.nanocodec.codec import NanoCodec


class NanoCodecBackend:
    """The codec of one variant.

    Args:
        context: finds its weights.
        codec_id: a published codec.

    Raises:
        BackendError: there is no such codec.
    """

    def __init__(self, context: BackendContext, codec_id: str) -> None:
        self._config = released_codec(codec_id)
        self._weights = CodecWeights(context)
        self._codec: NanoCodec | None = None

    @property
    def codec_id(self) -> str:
        """The name under which the codec was published."""
        return self._config.codec_id

    @property
    def spec(self) -> BackendSpec:
        """What it is."""
        is_untrained = self._weights.is_untrained(self.codec_id)
        return BackendSpec(
            id="nanocodec",
            title=f"NanoCodec, {self._config.frame_rate_hz:.1f} frames a second",
            kinds=(BackendKind.CODEC,),
            sample_rate=SAMPLE_RATE,
            block_size=self._config.samples_per_frame,
            licence=LICENCE,
            models=() if is_untrained else (model_id(self.codec_id),),
            is_trained=not is_untrained,
        )

    def load(self, progress: ProgressCallback, cancel: CancelToken) -> None:
        """Read the weights.

        Raises:
            ModelMissingError, ModelFileError, ModelLoadError: with what to do.
            CancelledError: cancel was set.
        """
        cancel.check()
        progress(-1.0, "Loading the codec")
        self._codec, _ = self._weights.codec(self.codec_id)
        progress(1.0, "Ready")

    def encode(self, pcm: Pcm) -> NDArray[np.int64]:
        """Return (T, D) codes; see `engine.backends.protocols.Codec`."""
        import torch

        audio = torch.from_numpy(np.ascontiguousarray(pcm))[None]
        codes, _ = self._loaded().encode(audio, torch.tensor([len(pcm)]))
        frames: NDArray[np.int64] = codes[0].T.contiguous().cpu().numpy()
        return frames

    def decode(self, codes: NDArray[np.int64]) -> Pcm:
        """Return the audio of a whole clip, faded out as a stream's is."""
        import torch

        from engine.models.nanocodec.stream import STREAM_FADE_MS
        from engine.models.nanocodec.tail import apply_end_of_speech_tail

        frames = torch.from_numpy(np.ascontiguousarray(codes)).T[None]
        audio = self._loaded().decode_from_codes(frames, torch.tensor([len(codes)]))[0].cpu()
        pcm: Pcm = apply_end_of_speech_tail(audio, SAMPLE_RATE, STREAM_FADE_MS, 0.0).numpy()
        return pcm

    def open_stream(self, decoding: str, lookback: int | None) -> CodecStream:
        """Return a new stream; see `engine.backends.protocols.Codec`."""
        codec = self._loaded()
        from engine.models.nanocodec.stream import CodecStream, StreamDecoding

        return CodecStream(
            codec,
            decoding=StreamDecoding(decoding),
            lookback="exact" if lookback is None else lookback,
        )

    def close(self) -> None:
        """Give memory back; idempotent."""
        self._codec = None
        self._weights.close()

    def _loaded(self) -> "NanoCodec":
        if self._codec is None:
            raise BackendError("The codec is not loaded yet.", advice="Load it first.")
        return self._codec


def create(context: BackendContext, argument: str) -> NanoCodecBackend:
    """Return the codec; the argument is a published codec's name, the 21.5 Hz one if empty.

    Raises:
        BackendError: there is no such codec.
    """
    return NanoCodecBackend(context, argument or NANOCODEC_21HZ.codec_id)
