"""What computes behind `NanoCodec`: our own network, or NVIDIA's NeMo."""

import importlib
from typing import Any, Protocol

import torch
from torch import Tensor

from engine.core.errors import ModelLoadError, reason_of
from engine.models.nanocodec.archive import NemoArchive
from engine.models.nanocodec.config import CodecConfig, config_from_nemo
from engine.models.nanocodec.decoder import CodecDecoder
from engine.models.nanocodec.encoder import CodecEncoder
from engine.models.nanocodec.loading import CodecFile
from engine.models.nanocodec.quantizer import FiniteScalarQuantizer
from engine.models.nanocodec.weights import CodecWeights, random_weights


class CodecEngine(Protocol):
    """A loaded codec. Arguments are checked by the caller."""

    @property
    def config(self) -> CodecConfig:
        """Its geometry."""
        ...

    @property
    def quantizer(self) -> FiniteScalarQuantizer:
        """Its codes."""
        ...

    @property
    def decoder(self) -> CodecDecoder | None:
        """The stateful decoder, where there is one."""
        ...

    def decode(self, codes: Tensor) -> Tensor:
        """Return audio (B, T * samples_per_frame) of per-dimension codes (B, D, T) in range."""
        ...

    def encode(self, audio: Tensor, audio_len: Tensor) -> tuple[Tensor, Tensor]:
        """Return per-dimension codes (B, D, T) and (B,) frames of audio (B, samples)."""
        ...


class NativeEngine:
    """Our own decoder and encoder; the encoder's weights are read when first needed.

    Args:
        source: a file, or the geometry for random weights.
        device: where to compute.

    Raises:
        ModelMissingError, ModelFileError, ModelLoadError: the weights cannot be had.
    """

    def __init__(self, source: CodecFile | CodecConfig, device: torch.device) -> None:
        self._source = source
        self._device = device
        self._config = source if isinstance(source, CodecConfig) else source.read_config()
        self._decoder = CodecDecoder(self._config, self._weights(), device=device)
        self._encoder: CodecEncoder | None = None

    @property
    def config(self) -> CodecConfig:
        """Its geometry."""
        return self._config

    @property
    def quantizer(self) -> FiniteScalarQuantizer:
        """Its codes."""
        return self._decoder.quantizer

    @property
    def decoder(self) -> CodecDecoder:
        """The stateful decoder."""
        return self._decoder

    def decode(self, codes: Tensor) -> Tensor:
        """Return audio of codes."""
        return self._decoder.decode(codes)

    def encode(self, audio: Tensor, audio_len: Tensor) -> tuple[Tensor, Tensor]:
        """Return codes of audio."""
        if self._encoder is None:
            self._encoder = CodecEncoder(self._config, self._weights(), device=self._device)
        return self._encoder.encode(audio, audio_len)

    def _weights(self) -> CodecWeights:
        if isinstance(self._source, CodecConfig):
            return random_weights(self._source)
        return self._source.read_weights()


class NemoEngine:
    """NVIDIA's AudioCodecModel, without its discriminators. Importing NeMo takes some 20 s.

    Args:
        source: a `.nemo` file.
        device: where to compute.

    Raises:
        ModelMissingError, ModelFileError: there is no such file, or it is not fit to be opened.
        ModelLoadError: NeMo is not installed, or could not make the model.
    """

    def __init__(self, source: CodecFile, device: torch.device) -> None:
        path = source.resolved()
        archive = NemoArchive(path)
        archive.check()
        self._config = config_from_nemo(archive.read_config(), source.codec_id)
        # NeMo would load the checkpoint itself, by rules that an environment variable can loosen.
        archive.read_tensors()
        self._quantizer = FiniteScalarQuantizer(self._config)
        self._device = device
        model_class = _nemo_model_class()
        try:
            settings = model_class.restore_from(str(path), return_config=True)
            settings.discriminator = None
            for loss in ("use_scl_loss", "use_slm_loss"):
                settings[loss] = False
            self._model: Any = model_class.restore_from(
                str(path), override_config_path=settings, map_location=device, strict=False
            )
        except (OSError, RuntimeError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise ModelLoadError(
                f"NeMo cannot load {path.name}: {reason_of(error)}.",
                advice="Use the engine native.",
            ) from error
        self._model.to(device).eval()

    @property
    def config(self) -> CodecConfig:
        """Its geometry."""
        return self._config

    @property
    def quantizer(self) -> FiniteScalarQuantizer:
        """Its codes."""
        return self._quantizer

    @property
    def decoder(self) -> None:
        """NeMo has no stateful decoder."""
        return

    @torch.inference_mode()
    def decode(self, codes: Tensor) -> Tensor:
        """Return audio of codes."""
        B, _, T = codes.shape
        if T == 0:
            return torch.zeros(B, 0, device=self._device)
        latents = self._quantizer.dequantize(codes.to(self._device))
        lengths = torch.full((B,), T, device=self._device)
        audio: Tensor = self._model.decode_audio(inputs=latents, input_len=lengths)[0]
        return audio

    @torch.inference_mode()
    def encode(self, audio: Tensor, audio_len: Tensor) -> tuple[Tensor, Tensor]:
        """Return codes of audio."""
        packed, lengths = self._model.encode(
            audio=audio.to(self._device), audio_len=audio_len.to(self._device)
        )
        codes = self._quantizer.unpack(packed)
        positions = torch.arange(codes.shape[2], device=codes.device)
        return codes * (positions < lengths[:, None])[:, None], lengths


def _nemo_model_class() -> Any:
    try:
        return importlib.import_module("nemo.collections.tts.models").AudioCodecModel
    except ImportError as error:
        raise ModelLoadError(
            "The codec engine nemo needs NVIDIA NeMo, which is not installed "
            f"({reason_of(error)}).",
            advice="Use the engine native, which needs nothing, or install vivavoce[nemo].",
        ) from error
