"""The decoder as published, layer by layer: no state, nothing folded, NeMo's tensor names."""

import torch
from torch import Tensor
from torch.nn import functional

from engine.models.nanocodec.config import CodecConfig


def reference_decode(tensors: dict[str, Tensor], config: CodecConfig, latents: Tensor) -> Tensor:
    """Return (B, T_audio) of latents (B, D, T), in the dtype of all arguments."""

    def conv(name: str, x: Tensor, dilation: int = 1) -> Tensor:
        kernel = tensors[f"audio_decoder.{name}.conv.weight"]
        x = functional.pad(x, ((kernel.shape[2] - 1) * dilation, 0))
        return functional.conv1d(
            x, kernel, tensors[f"audio_decoder.{name}.conv.bias"], dilation=dilation
        )

    def act(name: str, x: Tensor) -> Tensor:
        alpha = tensors[f"audio_decoder.{name}.activation.snake_act.alpha"].view(1, -1, 1)
        half = x.shape[1] // 2
        snake = x[:, :half]
        snake = snake + torch.sin(alpha * snake) ** 2 / (alpha + 1e-9)
        return torch.cat((snake, functional.leaky_relu(x[:, half:], 0.01)), dim=1)

    x = conv("pre_conv", latents)
    for stage, rate in enumerate(config.up_rates):
        x = act(f"activations.{stage}", x)
        name = f"audio_decoder.up_sample_conv_layers.{stage}.conv"
        groups = x.shape[1] // 2
        x = functional.conv_transpose1d(
            x, tensors[f"{name}.weight"], tensors[f"{name}.bias"], stride=rate, groups=groups
        )[..., :-rate]
        branches = []
        for branch in range(3):
            y = x
            for block, dilation in enumerate((1, 3, 5)):
                place = f"res_layers.{stage}.res_blocks.{branch}.res_blocks.{block}"
                z = conv(f"{place}.input_conv", act(f"{place}.input_activation", y), dilation)
                y = y + conv(f"{place}.skip_conv", act(f"{place}.skip_activation", z))
            branches.append(y)
        x = sum(branches) / 3
    return conv("post_conv", act("post_activation", x)).clamp(-1, 1)[:, 0]
