"""Small models that are whole, and what a user does with one: the base of all broken ones."""

import io
import json
import tarfile
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import torch
import yaml
from safetensors.torch import save

from benchmarks.hostile_case import Run
from benchmarks.hostile_commands import RATE, call, command, tone
from engine.audio.wav import write_wav
from tests.unit.models.nanocodec.small import SMALLEST
from tests.unit.models.tower_models import (
    nemo_diarizer_config,
    nemo_diarizer_tensors,
    tiny_speaker_config,
    tiny_speaker_model,
)

CONFIG, WEIGHTS = "model_config.yaml", "model_weights.ckpt"
Add = Callable[[tarfile.TarFile], None]


@cache
def tensors() -> Mapping[str, torch.Tensor]:
    """Return those of a diarizer small enough for a test."""
    return nemo_diarizer_tensors(tiny_speaker_model())


@cache
def settings() -> Mapping[str, Any]:
    """Return its configuration."""
    return nemo_diarizer_config(tiny_speaker_config())


@cache
def safetensors_bytes() -> bytes:
    """Return its weights as a file."""
    return save({name: value.contiguous() for name, value in tensors().items()})


def checkpoint_bytes(content: object) -> bytes:
    """Return what torch.save writes."""
    stream = io.BytesIO()
    torch.save(content, stream)
    return stream.getvalue()


def diarize(folder: Path, checkpoint: Path) -> Run:
    """Return the transcription of a second of sound with a checkpoint's speakers."""
    path = folder / "sound.wav"
    write_wav(path, tone(1.0), RATE)
    diarizer = f"sortformer:{checkpoint}"
    return command("transcribe", path, "--recognizer", "fake", "--diarizer", diarizer)


def decode(checkpoint: Path) -> Run:
    """Return the loading of a codec."""
    from engine.models.nanocodec.codec import NanoCodec

    return call(lambda: NanoCodec(SMALLEST.codec_id, path=checkpoint).load("cpu"))


def write_folder(folder: Path, weights: bytes, config: object = None) -> Path:
    """Write a checkpoint's folder and return it."""
    place = folder / "checkpoint"
    place.mkdir()
    (place / "model.safetensors").write_bytes(weights)
    text = config if isinstance(config, bytes) else json.dumps(config or settings()).encode()
    (place / "config.json").write_bytes(text)
    return place


def add(tar: tarfile.TarFile, name: str, content: bytes, **facts: Any) -> None:
    """Put a member into an archive."""
    info = tarfile.TarInfo(name)
    info.size = len(content)
    for key, value in facts.items():
        setattr(info, key, value)
    tar.addfile(info, io.BytesIO(content))


def write_nemo(
    path: Path,
    *,
    config: bytes | None = None,
    weights: bytes | None = None,
    first: Add = lambda _: None,
    mode: str = "w",
) -> Path:
    """Write an archive; its two members can be others, and more can come before them."""
    if config is None:
        config = yaml.safe_dump(dict(settings())).encode()
    if weights is None:
        weights = checkpoint_bytes(dict(tensors()))
    with tarfile.open(path, mode) as tar:  # type: ignore[call-overload]
        first(tar)
        add(tar, f"./{CONFIG}", config)
        add(tar, f"./{WEIGHTS}", weights)
    return path
