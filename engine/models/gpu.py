"""What the process holds on the GPU."""

import torch


def held_bytes() -> int:
    """Return the GPU memory torch has taken for this process, in use or ready for reuse."""
    return int(torch.cuda.memory_reserved())
