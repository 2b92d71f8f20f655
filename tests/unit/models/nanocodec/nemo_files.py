"""Writes `.nemo` archives, honest and hostile."""

import io
import tarfile
from pathlib import Path
from typing import Any

import torch
import yaml

from engine.models.nanocodec.config import CodecConfig
from engine.models.nanocodec.weights import random_tensors
from tests.parity.nemo_codec import nemo_settings

CONFIG, WEIGHTS = "model_config.yaml", "model_weights.ckpt"


def checkpoint_bytes(content: Any) -> bytes:
    """Return what torch.save writes."""
    stream = io.BytesIO()
    torch.save(content, stream)
    return stream.getvalue()


def write_nemo(
    path: Path,
    config: CodecConfig,
    *,
    replaced: dict[str, bytes | None] | None = None,
    added: tuple[tuple[tarfile.TarInfo, bytes], ...] = (),
    mode: str = "w",
) -> Path:
    """Write an untrained codec; members can be replaced, left out (None) and added."""
    members: dict[str, bytes | None] = {
        CONFIG: yaml.safe_dump(nemo_settings(config)).encode(),
        WEIGHTS: checkpoint_bytes(random_tensors(config)),
    } | (replaced or {})
    with tarfile.open(path, mode) as archive:
        for name, content in members.items():
            if content is not None:
                info = tarfile.TarInfo(f"./{name}")
                info.size = len(content)
                archive.addfile(info, io.BytesIO(content))
        for info, content in added:
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return path
