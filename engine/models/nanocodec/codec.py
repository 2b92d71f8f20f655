"""`NanoCodec`: frames of codes to audio, whole, in windows, or stream by stream."""

from pathlib import Path
from typing import Literal, TypeAlias

import torch
from torch import Tensor

from engine.core.errors import BackendError, ConfigError
from engine.models.nanocodec.config import NANOCODEC_21HZ, RELEASED, CodecConfig
from engine.models.nanocodec.decoder import CodecDecoder
from engine.models.nanocodec.encoder import check_audio
from engine.models.nanocodec.engines import CodecEngine, NativeEngine, NemoEngine
from engine.models.nanocodec.layout import CodesError
from engine.models.nanocodec.loading import CodecFile, cached_codec_file
from engine.models.nanocodec.tail import (
    END_OF_SPEECH_FADE_MS,
    END_OF_SPEECH_SILENCE_MS,
    LOOKBACK_FRAMES,
    apply_end_of_speech_tail,
)

EngineChoice: TypeAlias = Literal["native", "nemo"]
Lookback: TypeAlias = int | Literal["exact"]


class NanoCodec:
    """A neural speech codec. Making one is cheap: weights are read by `load`.

    Args:
        codec_id: a published codec, or any name for a file of its own.
        sample_rate: Hz; what the codec's file must agree with.
        path: `.nemo` or safetensors file, or the folder of one; None for one downloaded before
            with NVIDIA's or Hugging Face's tools.
        engine: "native", or "nemo" for NVIDIA's own code, which must be installed.
        untrained: random weights of this geometry instead of a file: noise, for tests.
        fade_ms: of a clip's end, see `decode_stream`.
        silence_ms: behind it.
    """

    def __init__(
        self,
        codec_id: str = NANOCODEC_21HZ.codec_id,
        sample_rate: int = 22_050,
        *,
        path: Path | None = None,
        engine: EngineChoice = "native",
        untrained: CodecConfig | None = None,
        fade_ms: float = END_OF_SPEECH_FADE_MS,
        silence_ms: float = END_OF_SPEECH_SILENCE_MS,
    ) -> None:
        if engine not in ("native", "nemo"):
            raise ConfigError(f'There is no codec engine "{engine}".', advice="Use native or nemo.")
        if untrained is not None and engine == "nemo":
            raise ConfigError(
                "Untrained weights are made for the engine native alone.", advice="Use native."
            )
        self.codec_id = codec_id
        self.sample_rate = sample_rate
        self._path = path
        self._engine_name = engine
        self._untrained = untrained
        self._fade_ms = fade_ms
        self._silence_ms = silence_ms
        self._engine: CodecEngine | None = None

    @property
    def is_loaded(self) -> bool:
        """Whether `load` has succeeded."""
        return self._engine is not None

    @property
    def is_trained(self) -> bool:
        """False for random weights."""
        return self._untrained is None

    @property
    def config(self) -> CodecConfig:
        """The geometry; before `load` known of published and untrained codecs only.

        Raises:
            BackendError: not loaded, and the name does not say it.
        """
        if self._engine is not None:
            return self._engine.config
        config = self._untrained or RELEASED.get(self.codec_id)
        if config is None:
            raise self.not_loaded()
        return config

    @property
    def decoder(self) -> CodecDecoder:
        """The stateful decoder, to stream without decoding anything twice.

        Raises:
            BackendError: not loaded, or the engine has none.
        """
        decoder = self._loaded().decoder
        if decoder is None:
            raise BackendError(
                f"The codec engine {self._engine_name} cannot keep state between chunks.",
                advice="Use the engine native, or decode by lookback windows.",
            )
        return decoder

    def load(self, device: torch.device | str) -> None:
        """Read the weights and make the network on `device`; a second call changes the device.

        Raises:
            ModelMissingError, ModelFileError, ModelLoadError: with what to do.
        """
        place = torch.device(device)
        engine: CodecEngine
        if self._untrained is not None:
            engine = NativeEngine(self._untrained, place)
        else:
            source = (
                cached_codec_file(self.codec_id)
                if self._path is None
                else CodecFile(self._path, self.codec_id)
            )
            make = NativeEngine if self._engine_name == "native" else NemoEngine
            engine = make(source, place)
        if engine.config.sample_rate != self.sample_rate:
            raise ConfigError(
                f"The codec {self.codec_id} works at {engine.config.sample_rate} Hz, "
                f"not at the {self.sample_rate} Hz asked for.",
                advice="Choose the codec that works at that rate, or ask for its own.",
            )
        self._engine = engine

    def decode_from_codes(self, codes: Tensor, codes_len: Tensor) -> Tensor:
        """Decode whole clips.

        Args:
            codes: (B, D, T) integers, a code a dimension; D is 32 at 21.5 frames a second. What
                lies behind a clip's length may be anything.
            codes_len: (B,) frames of each clip, 0 to T.

        Returns:
            (B, T * samples_per_frame) float32, -1 to 1; silent behind each clip's end.

        Raises:
            BackendError: not loaded.
            CodesError: codes have another type or shape, or one is out of range; names where.
            ValueError: the lengths do not fit.
        """
        engine = self._loaded()
        quantizer = engine.quantizer
        quantizer.check_shape(codes)
        num_frames = codes.shape[-1]
        if codes_len.shape != codes.shape[:1]:
            raise ValueError(f"codes_len must be ({codes.shape[0]},), got {tuple(codes_len.shape)}")
        if bool(((codes_len < 0) | (codes_len > num_frames)).any()):
            raise ValueError(f"codes_len must be 0 to {num_frames}, got {codes_len.tolist()}")
        lengths = codes_len.to(codes.device)
        if bool((lengths == num_frames).all()):
            quantizer.check(codes)
            return engine.decode(codes)
        is_inside = torch.arange(num_frames, device=codes.device) < lengths[:, None]
        codes = codes.masked_fill(~is_inside[:, None], 0)
        quantizer.check(codes)
        audio = engine.decode(codes)
        is_heard = is_inside.repeat_interleave(engine.config.samples_per_frame, dim=1)
        return audio * is_heard.to(audio.device)

    def decode_stream(
        self,
        frames: Tensor,
        *,
        start_idx: int,
        lookback: Lookback = LOOKBACK_FRAMES,
        is_final: bool = False,
    ) -> Tensor | None:
        """Decode the frames of one stream that came since the last call.

        Decodes a window that begins `lookback` frames before the new ones, and drops the samples
        of those. With `lookback="exact"` (25 frames, 28 at 12.5 a second) what successive calls
        return is the whole decode, cut in pieces, to float rounding. Fewer frames are an
        approximation: in the untrained full-size codec the error in chunks of 10 frames is 28 dB
        below the signal at 8 frames, 58 dB at 16 (21 and 49 dB in the first frame of a chunk).

        Args:
            frames: (T, D) integers: the stream from its first frame on.
            start_idx: frames that were decoded before.
            lookback: frames of context.
            is_final: the clip ends with these frames: fade, and append silence, as configured.

        Returns:
            The new samples, 1-D; None if there is no new frame.

        Raises:
            BackendError, CodesError: see `decode_from_codes`.
            ValueError: start_idx or lookback is out of range.
        """
        config = self._loaded().config
        num_context = context_frames(lookback, config)
        if start_idx < 0:
            raise ValueError(f"start_idx must not be negative, got {start_idx}")
        if frames.ndim != 2:
            raise CodesError(
                f"Frames of codes cannot have the shape {tuple(frames.shape)}.",
                advice="Give (T, D): a row of codes for each frame.",
            )
        num_frames = frames.shape[0]
        if num_frames <= start_idx:
            return None
        first = max(0, start_idx - num_context)
        window = frames[first:].T[None]
        audio = self.decode_from_codes(window, window.new_full((1,), num_frames - first))[0]
        audio = audio[(start_idx - first) * config.samples_per_frame :]
        if is_final:
            audio = apply_end_of_speech_tail(
                audio, config.sample_rate, self._fade_ms, self._silence_ms
            )
        return audio

    def encode(self, audio: Tensor, audio_len: Tensor) -> tuple[Tensor, Tensor]:
        """Return the codes of audio.

        Args:
            audio: (B, T) float32 at `sample_rate`; filled up with silence to whole frames.
            audio_len: (B,) samples of each clip.

        Returns:
            (B, D, frames) int64 per-dimension codes, 0 behind each clip's end, and (B,) frames.

        Raises:
            BackendError: not loaded.
            TypeError, ValueError: audio is not float32, not finite, or has another shape.
        """
        engine = self._loaded()
        check_audio(audio, audio_len)
        return engine.encode(audio, audio_len)

    def _loaded(self) -> "CodecEngine":
        if self._engine is None:
            raise self.not_loaded()
        return self._engine

    def not_loaded(self) -> BackendError:
        """Return the error for using it too early."""
        return BackendError(f"The codec {self.codec_id} is not loaded.", advice="Load it first.")


def context_frames(lookback: Lookback, config: CodecConfig) -> int:
    """Return a lookback in frames.

    Raises:
        ValueError: it is negative, or a word other than "exact".
    """
    if lookback == "exact":
        return config.lookback_frames
    if not isinstance(lookback, int) or lookback < 0:
        raise ValueError(f'lookback must be "exact" or at least 0 frames, got {lookback!r}')
    return lookback
