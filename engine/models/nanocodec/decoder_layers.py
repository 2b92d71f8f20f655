"""The decoder's layers over several convolutions: residual blocks and upsampling stages."""

from dataclasses import dataclass

from torch import Tensor

from engine.models.nanocodec.convolution import (
    Convolution,
    HalfSnake,
    PairUpsampling,
    channels_last,
)
from engine.models.nanocodec.state import LayerContexts


class ResidualBlock:
    """x + conv(act(dilated conv(act(x))))."""

    def __init__(
        self,
        first: HalfSnake,
        dilated: Convolution,
        second: HalfSnake,
        plain: Convolution,
    ) -> None:
        self._layers = ((first, dilated), (second, plain))

    @property
    def is_channels_last(self) -> bool:
        """How its input is best laid out in memory."""
        return self._layers[0][1].is_channels_last

    @property
    def contexts(self) -> tuple[int, ...]:
        """Frames that its two convolutions need of the past."""
        return tuple(convolution.context for _, convolution in self._layers)

    def __call__(self, x: Tensor, past: LayerContexts) -> Tensor:
        """Return (B, C, T) of `x` (B, C, T), which stays as it is."""
        y = x
        for activation, convolution in self._layers:
            whole, new = past.open(x.shape[2], is_channels_last=convolution.is_channels_last)
            activation(y, new)
            past.close(whole)
            y = convolution(whole)
        return y.add_(x)


@dataclass(frozen=True, slots=True)
class Stage:
    """One upsampling and the three parallel branches of residual blocks behind it."""

    num_inputs: int
    activation: HalfSnake
    upsampling: PairUpsampling
    branches: tuple[tuple[ResidualBlock, ...], ...]

    def __call__(self, x: Tensor, past: LayerContexts) -> Tensor:
        """Return the sum, not the mean, of the branches: the layer behind divides by three."""
        whole, new = past.open(x.shape[2])
        self.activation(x, new)
        past.close(whole)
        x = self.upsampling(whole)
        if self.branches[0][0].is_channels_last:
            x = channels_last(x)
        total: Tensor | None = None
        for blocks in self.branches:
            y = x
            for block in blocks:
                y = block(y, past)
            total = y if total is None else total.add_(y)
        assert total is not None
        return total
