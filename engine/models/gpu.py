"""What the process holds on the GPU, and whether it was the GPU that failed."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import nn

from engine.core.errors import ComputeDeviceError, reason_of


@contextmanager
def gpu_errors(module: nn.Module) -> Iterator[None]:
    """Let errors of the GPU be told from all others; on the CPU, everything passes as it is.

    Raises:
        ComputeDeviceError: the module is on a GPU, which is out of memory, has failed or is gone.
    """
    try:
        yield
    except RuntimeError as error:
        if not any(weight.is_cuda for weight in module.parameters()):
            raise
        raise ComputeDeviceError(
            f"The GPU failed: {gpu_reason(error)}.",
            advice="Close what else uses it, or do without.",
        ) from error


def gpu_reason(error: BaseException) -> str:
    """Return the first sentence of what torch says; the rest is about its own settings."""
    first = str(error).strip().split("\n", 1)[0].split(". ", 1)[0]
    return first.rstrip(".") or reason_of(error)


def held_bytes() -> int:
    """Return the GPU memory torch has taken for this process, in use or ready for reuse."""
    return int(torch.cuda.memory_reserved())
