"""A synthesizer that speaks files of NanoCodec codes: the text is the file's path."""

import logging
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from engine.backends.nanocodec_weights import LICENCE, SAMPLE_RATE, CodecWeights, model_id
from engine.backends.protocols import BackendContext, BackendSpec, ProgressCallback, SpeechChunk
from engine.backends.protocols_codec import EndReason, FrameSource
from engine.core.errors import BackendError
from engine.core.files import expanded
from engine.core.sync import CancelToken
from engine.core.types import BackendKind, Pcm
from engine.models.nanocodec.codes_file import CodesFile, read_codes
from engine.models.nanocodec.config import NANOCODEC_21HZ, CodecConfig
from engine.models.nanocodec.layout import CodeLayout

if TYPE_CHECKING:
    from engine.models.nanocodec.stream import CodecStream

logger = logging.getLogger(__name__)

FIRST_CHUNK_FRAMES = 2
"""Small, so that sound comes soon; each chunk after is twice as long."""
MAX_CHUNK_FRAMES = {"stateful": 10, "lookback": 32}
"""Windows decode their past again, so they pay only when they are long."""
_MAX_PIECE = SAMPLE_RATE // 5
_MAX_PATH = 4096
_ADVICE = "Give the path of a file of codes (.npz)."


class CodesFileSource:
    """The frames of a file.

    Args:
        content: of the file.
        config: the codec that it is for.

    Raises:
        CodesError: a code is not of this codec.
    """

    def __init__(self, content: CodesFile, config: CodecConfig) -> None:
        self._content = content
        self._num_frames = len(content.frames(config))
        is_flat = content.layout is CodeLayout.FLAT
        self._frame_size = config.num_groups if is_flat else 1
        self._position = 0

    @property
    def codec_id(self) -> str:
        """The codec that the frames are for."""
        return self._content.codec_id

    @property
    def layout(self) -> str:
        """How they are laid out."""
        return self._content.layout

    @property
    def num_frames(self) -> int:
        """How many there are."""
        return self._num_frames

    @property
    def end_reason(self) -> EndReason | None:
        """Why it ended: a file holds whole speech."""
        return EndReason.STOP if self._position >= self._num_frames else None

    def read(self, num_frames: int) -> NDArray[np.int64]:
        """Return the next frames."""
        start, self._position = self._position, min(self._position + num_frames, self._num_frames)
        size = self._frame_size
        return self._content.codes[start * size : self._position * size]


def decode_frames(
    source: FrameSource, stream: "CodecStream", max_chunk_frames: int, cancel: CancelToken
) -> Iterator[tuple[Pcm, int]]:
    """Yield audio chunk by chunk, and the frames done; the end faded, whatever it was.

    Args:
        source: frames of the layout that `stream` was made for.
        stream: fresh.
        max_chunk_frames: chunks begin with `FIRST_CHUNK_FRAMES` and double up to this.
        cancel: ends it before the next chunk, without a tail.
    """
    num_frames = FIRST_CHUNK_FRAMES
    while not cancel.is_cancelled:
        codes = source.read(num_frames)
        if len(codes) == 0:
            break
        yield stream.push(codes), stream.num_frames
        num_frames = min(2 * num_frames, max_chunk_frames)
    else:
        return
    num_done = stream.num_frames
    yield stream.finish(), num_done
    if source.end_reason is not EndReason.STOP:
        logger.warning("the speech ended early: %s", source.end_reason)


@dataclass(frozen=True, slots=True)
class Decoding:
    """How codes become sound.

    Args:
        name: "stateful" or "lookback".
        lookback: frames decoded again before each window, or "exact" for all that matter.
        fade_ms: fade at the end of the speech.
        silence_ms: silence behind it.
    """

    name: str = "stateful"
    lookback: int | Literal["exact"] = "exact"
    fade_ms: float = 10.0
    silence_ms: float = 0.0


class NanoCodecFile:
    """The synthesizer "nanocodec-file".

    Args:
        context: finds the codec's weights.
        decoding: see `Decoding`.
    """

    def __init__(self, context: BackendContext, decoding: Decoding) -> None:
        self._weights = CodecWeights(context)
        self._decoding = decoding
        self._is_loaded = False

    @property
    def spec(self) -> BackendSpec:
        """What it is."""
        codec_id = NANOCODEC_21HZ.codec_id
        is_untrained = self._weights.is_untrained(codec_id)
        return BackendSpec(
            id="nanocodec-file",
            title="Files of codes (NanoCodec)",
            kinds=(BackendKind.SYNTHESIZER,),
            sample_rate=SAMPLE_RATE,
            block_size=NANOCODEC_21HZ.samples_per_frame,
            capabilities=("codes-file",),
            licence=LICENCE,
            models=() if is_untrained else (model_id(codec_id),),
            is_trained=not is_untrained,
        )

    def load(self, progress: ProgressCallback, cancel: CancelToken) -> None:
        """Read the weights of the 21.5 frames-a-second codec; others follow when needed.

        Raises:
            ModelMissingError, ModelFileError, ModelLoadError: with what to do.
            CancelledError: cancel was set.
        """
        cancel.check()
        progress(-1.0, "Loading the codec")
        self._weights.codec(NANOCODEC_21HZ.codec_id)
        self._is_loaded = True
        progress(1.0, "Ready")

    def open_stream(self) -> "NanoCodecFileStream":
        """Return a new stream.

        Raises:
            BackendError: not loaded.
        """
        if not self._is_loaded:
            raise BackendError("The codec is not loaded yet.", advice="Load it first.")
        return NanoCodecFileStream(self._weights, self._decoding)

    def close(self) -> None:
        """Give memory back; idempotent."""
        self._is_loaded = False
        self._weights.close()


class NanoCodecFileStream:
    """Speaks one file at a time."""

    def __init__(self, weights: CodecWeights, decoding: Decoding) -> None:
        self._weights = weights
        self._decoding = decoding
        # NB: replaced by the speaking thread, set by any.
        self._cancel = CancelToken()

    def speak(self, text: str) -> Iterator[SpeechChunk]:
        """Yield the speech of the file whose path `text` is, the first after two frames.

        Raises:
            BackendError: the text is no path, or the file is for an unknown codec.
            CodesError: there is no such file, or it is not what it should be.
            ModelMissingError, ModelFileError, ModelLoadError: its codec cannot be had.
        """
        self._cancel = CancelToken()
        return self._speak(text, self._cancel)

    def cancel(self) -> None:
        """End the running `speak` before its next chunk."""
        self._cancel.cancel()

    def close(self) -> None:
        """End the running `speak`; idempotent."""
        self._cancel.cancel()

    def _speak(self, text: str, cancel: CancelToken) -> Iterator[SpeechChunk]:
        from engine.models.nanocodec.stream import CodecStream, StreamDecoding

        if cancel.is_cancelled:
            return
        content = read_codes(_path_of(text))
        codec, gain = self._weights.codec(content.codec_id)
        source = CodesFileSource(content, codec.config)
        if source.num_frames == 0:
            raise BackendError("There is nothing to say: the file holds no codes.", advice=_ADVICE)
        stream = CodecStream(
            codec,
            layout=content.layout,
            decoding=StreamDecoding(self._decoding.name),
            lookback=self._decoding.lookback,
            fade_ms=self._decoding.fade_ms,
            silence_ms=self._decoding.silence_ms,
        )
        chunks = decode_frames(source, stream, MAX_CHUNK_FRAMES[self._decoding.name], cancel)
        for pcm, num_done in chunks:
            fraction = num_done / source.num_frames
            for start in range(0, len(pcm), _MAX_PIECE):
                if cancel.is_cancelled:
                    return
                piece = pcm[start : start + _MAX_PIECE] * np.float32(gain)
                yield SpeechChunk(piece, 0, len(text), fraction)


def _path_of(text: str) -> Path:
    path = text.strip()
    if not path:
        raise BackendError("There is nothing to say: no file is named.", advice=_ADVICE)
    if len(path) > _MAX_PATH or any(unicodedata.category(char) in ("Cc", "Cs") for char in path):
        raise BackendError(
            f"This text of {len(path)} characters is no path of a file.", advice=_ADVICE
        )
    return expanded(path)


def create(context: BackendContext, argument: str) -> NanoCodecFile:
    """Return the synthesizer.

    The argument, or the option "decoder", says how it decodes; the options "lookback", "fade_ms"
    and "silence_ms" are those of `Decoding`.

    Raises:
        BackendError: the argument is neither "stateful" nor "lookback".
    """
    options = dict(context.options)
    decoding = argument or options.get("decoder", "stateful")
    if decoding not in MAX_CHUNK_FRAMES:
        raise BackendError(
            f'There is no way of decoding called "{decoding[:80]}".',
            advice=f"Choose one of: {', '.join(MAX_CHUNK_FRAMES)}.",
        )
    lookback = options.get("lookback", "exact")
    chosen = Decoding(decoding, "exact" if lookback == "exact" else int(lookback))
    if "fade_ms" in options:
        chosen = replace(chosen, fade_ms=float(options["fade_ms"]))
    if "silence_ms" in options:
        chosen = replace(chosen, silence_ms=float(options["silence_ms"]))
    return NanoCodecFile(context, chosen)
