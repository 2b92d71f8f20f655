"""Gets the speaker model onto a device that works, and finds out how fast it is there."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import torch

from engine.backends.sortformer_pace import fastest_affordable
from engine.core.sync import CancelToken
from engine.models.checkpoints import (
    ProgressCallback,
    load_speaker_model,
    untrained_speaker_model,
)
from engine.models.gpu import gpu_reason
from engine.models.packed_linear import pack_linears
from engine.models.sortformer_stream import SpeakerModel, SpeakerStreamState
from engine.models.stream_profiles import PROFILES
from engine.models.tower_config import TowerConfig

logger = logging.getLogger(__name__)

CPU = "CPU"
_LOUDNESS = 0.05
_NUM_TIMED = 2


def load_model(
    path: Path | None, seed: int, progress: ProgressCallback, *, may_use_gpu: bool = True
) -> tuple[SpeakerModel, str, str]:
    """Return the model, the name of the device it is on, and why that is not the GPU, if it is odd.

    Args:
        path: the checkpoint; None for random weights of the released size.
        seed: of the random weights.
        progress: told the fraction done; may raise to give up.
        may_use_gpu: False where the GPU has failed.
    """
    # float32 everywhere: in less, speakers change places.
    if path is None:
        model = untrained_speaker_model(TowerConfig.speaker_only(), seed)
    else:
        model = load_speaker_model(path, dtype=torch.float32, device="cpu", progress=progress)
    if not may_use_gpu or not torch.cuda.is_available():
        pack_linears(model)
        return model, CPU, ""
    try:
        # A GPU that is listed can still be broken or full: one real step decides.
        _fill(model.to("cuda"))
    except RuntimeError as error:
        logger.warning(
            "the GPU cannot be used (%s); speakers are told apart on the CPU", gpu_reason(error)
        )
        model.to("cpu")
        pack_linears(model)
        return model, CPU, f"Speakers are told apart without the GPU: {gpu_reason(error)}."
    return model, torch.cuda.get_device_name(), ""


def measure(
    model: SpeakerModel, num_threads: int, now_s: Callable[[], float], cancel: CancelToken
) -> str:
    """Return the profile of least delay that this machine keeps up with."""
    profile = PROFILES["cpu"]
    with torch_threads(num_threads):
        state, used = _fill(model)
        step_s = []
        for _ in range(_NUM_TIMED):
            cancel.check()
            began_s = now_s()
            num_samples = profile.chunk_frames * model.samples_per_frame
            state, steps = model.push(_noise(num_samples), state, profile)
            used += sum(float(step.fine.sum()) for step in steps)  # waits for the GPU
            step_s.append((now_s() - began_s) / max(1, len(steps)))
    return fastest_affordable(profile, min(step_s), model.config.speaker_encoder.d_model)


@contextmanager
def torch_threads(num_threads: int) -> Iterator[None]:
    """Give torch so many threads meanwhile; work on a GPU takes no notice."""
    before = torch.get_num_threads()
    if before != num_threads:
        torch.set_num_threads(num_threads)
    try:
        yield
    finally:
        if before != num_threads:
            torch.set_num_threads(before)


def _fill(model: SpeakerModel) -> tuple[SpeakerStreamState, float]:
    """Return a state whose cache is full, and a number that the first kernels have made."""
    profile = PROFILES["high"]
    # One sample frame more than a step needs, as the last mel window looks ahead.
    num_samples = (profile.latency_frames + 1) * model.samples_per_frame
    state, steps = model.push(_noise(num_samples), model.init_state(), profile)
    return state, float(steps[0].fine.sum())


def _noise(num_samples: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(num_samples)
    return _LOUDNESS * torch.randn(1, num_samples, generator=generator)
