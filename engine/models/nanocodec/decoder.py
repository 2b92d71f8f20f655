"""The decoder: codes to samples, a chunk at a time, exact whatever the chunks are.

The network is causal, so what a layer needs of the past is the last few frames of its input.
`DecoderState` keeps those for all layers, and a step computes nothing twice.

Follows CausalHiFiGANDecoder of NVIDIA NeMo 3.0.0 (collections/tts/modules/audio_codec_modules);
differs in keeping state, and in what `decoder_builder` multiplies into the weights.
"""

from collections.abc import Iterator

import torch
from torch import Tensor

from engine.models.nanocodec.config import CodecConfig
from engine.models.nanocodec.decoder_builder import DecoderBuilder
from engine.models.nanocodec.quantizer import FiniteScalarQuantizer
from engine.models.nanocodec.state import DecoderState, LayerContexts
from engine.models.nanocodec.weights import CodecWeights


class CodecDecoder:
    """Codes to audio in chunks of any size.

    Weights only; any number of streams may share it.

    Args:
        config: the geometry.
        weights: checked against it.
        device: where to compute.
        dtype: float32, or float64 where a test needs it.

    Raises:
        ModelLoadError: a tensor is missing or has another shape.
    """

    def __init__(
        self,
        config: CodecConfig,
        weights: CodecWeights,
        *,
        device: torch.device | str = "cpu",
        dtype: torch.dtype = torch.float32,
    ) -> None:
        self.config = config
        self.quantizer = FiniteScalarQuantizer(config)
        self._device = torch.device(device)
        self._dtype = dtype
        build = DecoderBuilder(config, weights, self._device, dtype)
        self._first = build.first_convolution()
        self._stages = tuple(build.stages())
        self._activation, self._last = build.last_layers()

    @property
    def frame_size(self) -> int:
        """Samples a frame becomes."""
        return self.config.samples_per_frame

    @property
    def latency(self) -> int:
        """Frames it must see ahead: none."""
        return 0

    @property
    def left_context(self) -> int:
        """Frames back that a sample may depend on."""
        return self.config.lookback_frames

    @property
    def right_context(self) -> int:
        """Frames ahead that a sample may depend on: none."""
        return 0

    def initial_state(self, batch_size: int = 1) -> DecoderState:
        """Return the state before the first frame."""
        return DecoderState(
            tuple(
                torch.zeros(batch_size, channels, length, device=self._device, dtype=self._dtype)
                for channels, length in self._context_shapes()
            )
        )

    def step(self, codes: Tensor, state: DecoderState) -> tuple[Tensor, DecoderState]:
        """Decode the next frames of a stream.

        Args:
            codes: (B, D, T) integers, a code a dimension, in range; T may be 0.
            state: after the frames before, or `initial_state(B)`.

        Returns:
            (B, T * samples_per_frame) audio from -1 to 1, and the state to give next.

        Raises:
            CodesError: codes have another type or shape, or one is out of range; names where.
            ValueError: the state is of another number of streams.
        """
        self.quantizer.check(codes)
        return self.step_latents(self.quantizer.dequantize(codes), state)

    @torch.inference_mode()
    def step_latents(self, latents: Tensor, state: DecoderState) -> tuple[Tensor, DecoderState]:
        """Like `step`, from dequantized values (B, D, T)."""
        B, _, T = latents.shape
        if state.contexts[0].shape[0] != B:
            raise ValueError(f"the state is of {state.contexts[0].shape[0]} streams, codes of {B}")
        if T == 0:
            return latents.new_zeros(B, 0, device=self._device, dtype=self._dtype), state
        past = LayerContexts(state.contexts)
        whole, new = past.open(T)
        new.copy_(latents)
        past.close(whole)
        x = self._first(whole)
        for stage in self._stages:
            x = stage(x, past)
        whole, new = past.open(x.shape[2])
        self._activation(x, new)
        past.close(whole)
        audio = self._last(whole).clamp_(-1.0, 1.0)
        return audio[:, 0], DecoderState(tuple(past.kept), state.num_frames + T)

    def decode(self, codes: Tensor, *, chunk_frames: int = 32) -> Tensor:
        """Decode whole clips: (B, D, T) codes to (B, T * samples_per_frame).

        Works through `chunk_frames` at a time: the same result, in memory that does not grow.
        """
        self.quantizer.check(codes)
        state = self.initial_state(codes.shape[0])
        parts = []
        for start in range(0, max(codes.shape[2], 1), chunk_frames):
            latents = self.quantizer.dequantize(codes[..., start : start + chunk_frames])
            pcm, state = self.step_latents(latents, state)
            parts.append(pcm)
        return torch.cat(parts, dim=1)

    def _context_shapes(self) -> Iterator[tuple[int, int]]:
        yield self.config.num_dims, self._first.context
        for stage in self._stages:
            yield stage.num_inputs, stage.upsampling.context
            for blocks in stage.branches:
                for block in blocks:
                    for length in block.contexts:
                        yield stage.num_inputs // 2, length
        yield self._last.in_channels, self._last.context
