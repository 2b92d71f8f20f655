"""The layers of the decoder, over (B, C, T), with left context put in front by the caller."""

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

LEAKY_SLOPE = 0.01
_MIN_PACKED_CHANNELS = 64
_NO_PADDING = [0, 0]
_NO_STRIDE = [1, 1]


class Convolution:
    """A dense convolution without padding: T frames out of context + T.

    On CPU, wide ones keep their weights in the layout that oneDNN computes in and want channels
    last. That spares a rearrangement of all weights a chunk, and of input and output; narrow
    ones lose more on the activations, which then walk through short rows.

    Args:
        weight: (C_out, C_in, k).
        bias: (C_out,).
        dilation: frames between taps.
        typical_length: frames it is mostly asked for; decides the layout of the weights.
    """

    def __init__(
        self, weight: Tensor, bias: Tensor, *, dilation: int = 1, typical_length: int = 256
    ) -> None:
        out_channels, self.in_channels, kernel_size = weight.shape
        self.context = (kernel_size - 1) * dilation
        self._dilation = dilation
        self._bias = bias.contiguous()
        self._weight: Any = weight.contiguous()
        is_wide = min(out_channels, self.in_channels) >= _MIN_PACKED_CHANNELS
        self.is_channels_last = is_wide and _can_pack(weight)
        if self.is_channels_last:
            self._weight = torch.ops.mkldnn._reorder_convolution_weight(
                self._weight.unsqueeze(2),
                _NO_PADDING,
                _NO_STRIDE,
                [1, dilation],
                1,
                [1, self.in_channels, 1, typical_length + self.context],
            )

    def __call__(self, x: Tensor) -> Tensor:
        """Convolve.

        Args:
            x: (B, C_in, context + T), T at least 1; in memory channels last if
                `is_channels_last`.

        Returns:
            (B, C_out, T), likewise.
        """
        if not self.is_channels_last:
            return functional.conv1d(x, self._weight, self._bias, dilation=self._dilation)
        # As an image one pixel high: the packed kernels know no one-dimensional ones.
        y: Tensor = torch.ops.mkldnn._convolution_pointwise(
            x.unsqueeze(2),
            self._weight,
            self._bias,
            _NO_PADDING,
            _NO_STRIDE,
            [1, self._dilation],
            1,
            "none",
            [],
            "",
        )
        return y.squeeze(2)


class PairUpsampling:
    """A transposed convolution of one group an output channel, two input channels a group.

    Its kernel spans two strides, so the outputs of frame t depend on frames t and t - 1 alone:
    four numbers a group, turned into `rate` samples by a small matrix.

    Args:
        weight: (2 * C_out, 1, 2 * rate), as torch lays out a transposed convolution.
        bias: (C_out,).
        rate: the stride.
    """

    context = 1

    def __init__(self, weight: Tensor, bias: Tensor, rate: int) -> None:
        self._rate = rate
        self._num_groups = bias.shape[0]
        # (C_out, channel, frame, phase): the first stride of taps meets frame t, the second t - 1.
        taps = weight.view(self._num_groups, 2, 2, rate)
        self._matrix = taps.reshape(self._num_groups, 4, rate).contiguous()
        self._bias = bias.view(1, -1, 1, 1).contiguous()

    def __call__(self, x: Tensor) -> Tensor:
        """Upsample.

        Args:
            x: (B, 2 * C_out, 1 + T), contiguous.

        Returns:
            (B, C_out, T * rate).
        """
        B, _, T = x.shape
        pairs = x.view(B, self._num_groups, 2, T)
        seen = torch.stack((pairs[..., 1:], pairs[..., :-1]), dim=3)
        columns = seen.view(B, self._num_groups, 4, T - 1).transpose(2, 3)
        y = torch.matmul(columns, self._matrix).add_(self._bias)
        return y.view(B, self._num_groups, (T - 1) * self._rate)


class HalfSnake:
    """Snake, x + sin²(ax)/a, on the first half of the channels, leaky ReLU on the rest.

    What comes out is snake times a: the division is left to the weights of the layer behind,
    and where the layer in front can bring the factor a as well, `scale` is None.

    Args:
        num_channels: the snake half is rounded down.
        scale: (num_channels // 2,) factors of the snake half.
    """

    def __init__(self, num_channels: int, scale: Tensor | None) -> None:
        self._half = num_channels // 2
        self._scale = None if scale is None else scale.view(1, -1, 1).contiguous()

    def __call__(self, x: Tensor, out: Tensor) -> None:
        """Write into `out` (a view is fine) what `x` (B, C, T) becomes."""
        snake, leaky = x[:, : self._half], x[:, self._half :]
        target = out[:, : self._half]
        if self._scale is None:
            sine = torch.sin(snake)
            torch.addcmul(snake, sine, sine, out=target)
        else:
            torch.mul(snake, self._scale, out=target)
            sine = torch.sin(target)
            target.addcmul_(sine, sine)
        torch.ops.aten.leaky_relu.out(leaky, LEAKY_SLOPE, out=out[:, self._half :])


def channels_last(x: Tensor) -> Tensor:
    """Return (B, C, T) with the channels of a frame side by side in memory."""
    return x.transpose(1, 2).contiguous().transpose(1, 2)


def _can_pack(weight: Tensor) -> bool:
    return (
        weight.device.type == "cpu"
        and weight.dtype == torch.float32
        and bool(torch.backends.mkldnn.is_available())  # type: ignore[no-untyped-call]
        and hasattr(torch.ops.mkldnn, "_convolution_pointwise")
        and hasattr(torch.ops.mkldnn, "_reorder_convolution_weight")
    )
