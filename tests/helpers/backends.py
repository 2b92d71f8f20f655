"""Backends as tests need them: a context over the user's models, a way to load, the demo speech."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import soundfile
import soxr
from platformdirs import user_data_path

from engine.backends import registry
from engine.backends.protocols import Backend, BackendContext
from engine.core.errors import ModelMissingError
from engine.core.resources import resource_path
from engine.core.sync import CancelToken
from engine.core.types import BackendKind, Pcm

_MODEL_FREE = ("fake", "sortformer")
"""Backends tested without a model of the manifest: sortformer with a tiny checkpoint."""


def model_path(model_id: str) -> Path:
    """Return the folder of an embedded model, its files not verified."""
    folder = user_data_path("vivavoce", appauthor=False) / "models" / model_id
    if not folder.is_dir():
        raise ModelMissingError(
            f"The model {model_id} is not on this machine.",
            advice=f"Run: vivavoce models pull {model_id}",
        )
    return folder


def no_models(model_id: str) -> Path:
    """Stand in for a machine without any model."""
    raise ModelMissingError(f"There is no model {model_id} here.")


def make_context(*, num_threads: int = 2, **options: str) -> BackendContext:
    """Return a context over the user's models, with a clock that stands still."""
    return BackendContext(
        model_path=model_path,
        num_threads=num_threads,
        now_s=lambda: 0.0,
        options=tuple(options.items()),
    )


def load(backend: Backend) -> None:
    """Load a backend and wait."""
    backend.load(lambda fraction, text: None, CancelToken())


def registered(kind: BackendKind) -> list[object]:
    """Return the ids of a kind as test parameters; most but the fakes need models.

    Synthesizers that speak files instead of texts have tests of their own.
    """
    return [
        pytest.param(listing.id, marks=() if listing.id in _MODEL_FREE else pytest.mark.models)
        for listing in registry.available(kind)
        if listing.spec is None or "codes-file" not in listing.spec.capabilities
    ]


def demo_speech(start_s: float, end_s: float, sample_rate: int) -> Pcm:
    """Return a stretch of the demo conversation at a rate."""
    audio, rate = soundfile.read(resource_path("demo/conversation.flac"), dtype="float32")
    cut = audio[round(start_s * rate) : round(end_s * rate)]
    return np.ascontiguousarray(soxr.resample(cut, rate, sample_rate), dtype=np.float32)


def blocks(pcm: Pcm, *sizes: int) -> Iterator[Pcm]:
    """Yield audio in blocks of the given sizes, over and over; zero gives an empty block."""
    start = i = 0
    while start < len(pcm):
        size = sizes[i % len(sizes)]
        yield pcm[start : start + size]
        start += size
        i += 1
