"""Quantised tensors of checkpoints: FP8 is brought back to float32, other formats are refused."""

from collections.abc import Callable, Container

import torch

from engine.core.errors import ModelLoadError

_FP8 = (torch.float8_e4m3fn, torch.float8_e5m2)
_SCALE_SUFFIXES = ("_scale", "_scale_inv", "_scale_2", "_global_scale")
_BLOCK = 128
_READABLE = (torch.float32, torch.float16, torch.bfloat16, torch.float64)


def is_scale(name: str) -> bool:
    """Whether a tensor only says how another one is quantised."""
    return name.endswith(_SCALE_SUFFIXES)


def read_weight(
    name: str, names: Container[str], read: Callable[[str], torch.Tensor]
) -> torch.Tensor:
    """Return a tensor of a checkpoint in a floating dtype.

    Args:
        name: of the tensor.
        names: of all tensors, scales included.
        read: returns the tensor of a name.

    Raises:
        ModelLoadError: it is stored in a format that cannot be read.
    """
    if f"{name}_scale_2" in names or f"{name}_global_scale" in names or _is_packed(name, names):
        raise _unreadable(name, "NVFP4")
    tensor = read(name)
    if tensor.dtype in _FP8:
        for suffix in ("_scale", "_scale_inv"):
            if name + suffix in names:
                return _dequantized(name, tensor, read(name + suffix))
        raise ModelLoadError(
            f"The tensor {name} is stored as FP8, but the scale it needs is not there.",
            advice="Fetch the checkpoint again.",
        )
    if tensor.dtype not in _READABLE:
        raise _unreadable(name, str(tensor.dtype).removeprefix("torch."))
    return tensor


def _is_packed(name: str, names: Container[str]) -> bool:
    return name.endswith("_packed") and name.removesuffix("_packed") + "_scale" in names


def _dequantized(name: str, tensor: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
    """Multiply by a scale of the whole tensor, of each row, or of each block of 128 by 128."""
    weights, scale = tensor.float(), scale.float()
    if scale.numel() == 1:
        return weights * scale.reshape(())
    num_rows = weights.shape[0]
    if scale.numel() == num_rows:
        return weights * scale.reshape(num_rows, *[1] * (weights.ndim - 1))
    if weights.ndim == 2 and scale.shape == tuple(-(-size // _BLOCK) for size in weights.shape):
        rows, columns = weights.shape
        spread = scale.repeat_interleave(_BLOCK, 0)[:rows]
        return weights * spread.repeat_interleave(_BLOCK, 1)[:, :columns]
    raise ModelLoadError(
        f"The tensor {name} of shape {tuple(tensor.shape)} is stored as FP8 with a scale of shape"
        f" {tuple(scale.shape)}, which does not fit it.",
        advice="Fetch the checkpoint again, or use one that is not quantised.",
    )


def _unreadable(name: str, format_name: str) -> ModelLoadError:
    return ModelLoadError(
        f"The tensor {name} is stored as {format_name}, which cannot be read here.",
        advice="Use the BF16 or FP8 checkpoint of the same model.",
    )
