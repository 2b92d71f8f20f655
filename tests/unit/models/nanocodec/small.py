"""Small codecs of the published geometries, and codes for them."""

from dataclasses import replace

import torch
from torch import Tensor

from engine.models.nanocodec.config import RELEASED, CodecConfig

SMALL = tuple(replace(config, base_channels=32, encoder_channels=2) for config in RELEASED.values())
IDS = ("21Hz", "12Hz", "12Hz-small")
SMALLEST = replace(SMALL[0], codec_id="smallest", up_rates=(4, 2), base_channels=8)


def random_codes(config: CodecConfig, num_frames: int, *, rows: int = 1, seed: int = 0) -> Tensor:
    """Return (rows, D, num_frames) per-dimension codes."""
    generator = torch.Generator().manual_seed(seed)
    columns = [
        torch.randint(0, levels, (rows, num_frames), generator=generator)
        for levels in config.levels * config.num_groups
    ]
    return torch.stack(columns, dim=1)
