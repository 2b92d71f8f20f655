"""What a stream of the decoder remembers, and how its layers read and renew it."""

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(slots=True)
class DecoderState:
    """What the decoder remembers of one stream: 0.70 MiB a batch row at full size.

    A step never writes into the tensors of the state it was given: that state stays valid, and
    may be decoded from again.

    Args:
        contexts: for each causal layer, in the order of computation, the last frames of its
            input, (B, C, context).
        num_frames: frames decoded so far.
    """

    contexts: tuple[Tensor, ...]
    num_frames: int = 0

    def copy(self) -> "DecoderState":
        """Return a state that shares no memory with this one."""
        return DecoderState(tuple(tensor.clone() for tensor in self.contexts), self.num_frames)

    def reset(self) -> None:
        """Forget the stream: the next frame is the first."""
        self.contexts = tuple(torch.zeros_like(tensor) for tensor in self.contexts)
        self.num_frames = 0

    @property
    def num_bytes(self) -> int:
        """Memory it takes."""
        return sum(tensor.nelement() * tensor.element_size() for tensor in self.contexts)


class LayerContexts:
    """Hands each layer its context and collects the next ones, in the order of computation."""

    def __init__(self, contexts: tuple[Tensor, ...]) -> None:
        self._contexts = contexts
        self.kept: list[Tensor] = []

    def open(self, num_frames: int, *, is_channels_last: bool = False) -> tuple[Tensor, Tensor]:
        """Return (whole, new): a layer's input with its context, and the part yet to be written."""
        context = self._contexts[len(self.kept)]
        B, C, length = context.shape
        if is_channels_last:
            whole = context.new_empty(B, length + num_frames, C).transpose(1, 2)
        else:
            whole = context.new_empty(B, C, length + num_frames)
        whole[..., :length] = context
        return whole, whole[..., length:]

    def close(self, whole: Tensor) -> None:
        """Keep the end of a filled input for the next step."""
        length = self._contexts[len(self.kept)].shape[2]
        self.kept.append(whole[..., whole.shape[2] - length :].clone())
