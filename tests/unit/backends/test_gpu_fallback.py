"""A GPU that is not there, is full, or fails: what falls to the CPU, and what is told of it."""

from pathlib import Path

import numpy as np
import pytest
import torch

from engine.backends import sortformer_load, tower_load
from engine.backends.protocols import ON_CPU, BackendContext
from engine.backends.sortformer_diarizer import create as create_diarizer
from engine.backends.tower_encoder import create as create_encoder
from engine.core.errors import BackendError, ComputeDeviceError
from engine.models.gpu import gpu_errors, gpu_reason
from engine.models.sortformer_stream import SpeakerModel
from engine.models.transcribe_tower import Nemotron3_5TranscribeAudioTower
from tests.helpers.backends import load, no_models
from tests.unit.models.tower_models import (
    noise,
    tiny_tower,
    transformers_tensors,
    transformers_whole_config,
    write_checkpoint,
    write_diarizer_checkpoint,
)

pytestmark = pytest.mark.unit
FULL = "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 8 GiB"


@pytest.fixture
def full_gpu(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A GPU that is listed and takes nothing; returns what was tried on it."""
    tried: list[str] = []

    def to(self: object, device: object, *_: object) -> object:
        if device == "cuda":
            tried.append(type(self).__name__)
            raise torch.OutOfMemoryError(FULL)
        return self

    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    for kind in (SpeakerModel, Nemotron3_5TranscribeAudioTower):
        monkeypatch.setattr(kind, "to", to)
    return tried


def context(*options: tuple[str, str]) -> BackendContext:
    return BackendContext(model_path=no_models, options=options)


@pytest.mark.expects_log
def test_diarizer_when_the_gpu_is_full_then_loads_on_the_cpu_and_says_so(
    full_gpu: list[str], tmp_path: Path
) -> None:
    backend = create_diarizer(context(), str(write_diarizer_checkpoint(tmp_path)))
    load(backend)

    assert full_gpu == ["SpeakerModel"]
    assert backend.spec.device == "CPU"
    assert "without the GPU: CUDA out of memory." in backend.spec.note
    assert backend.open_stream().push(noise(48_000).numpy())


def test_diarizer_when_it_is_to_stay_off_the_gpu_then_does_not_try(
    full_gpu: list[str], tmp_path: Path
) -> None:
    backend = create_diarizer(context(ON_CPU), str(write_diarizer_checkpoint(tmp_path)))
    load(backend)

    assert full_gpu == []
    assert (backend.spec.device, backend.spec.note) == ("CPU", "")


@pytest.mark.expects_log
@pytest.mark.parametrize(("options", "is_told"), [((), True), ((ON_CPU,), False)])
def test_encoder_when_the_gpu_is_full_or_forbidden_then_loads_on_the_cpu(
    full_gpu: list[str], tmp_path: Path, options: tuple[tuple[str, str], ...], is_told: bool
) -> None:
    tower = tiny_tower()
    write_checkpoint(tmp_path, transformers_whole_config(tower.config), transformers_tensors(tower))
    backend = create_encoder(context(*options), str(tmp_path))
    load(backend)

    assert len(full_gpu) <= is_told
    assert backend.spec.device == "CPU"
    assert ("without the GPU" in backend.spec.note) == is_told


class OnGpu(torch.nn.Module):
    """Says that it is on a GPU."""

    def parameters(self, recurse: bool = True):  # type: ignore[no-untyped-def]
        class Weight:
            is_cuda = True

        return iter([Weight()])


def test_error_when_it_is_of_the_gpu_then_is_one_of_its_device() -> None:
    with (
        pytest.raises(ComputeDeviceError, match=r"The GPU failed: CUDA out of memory\.") as caught,
        gpu_errors(OnGpu()),
    ):
        raise torch.OutOfMemoryError(FULL)
    assert caught.value.recoverable


def test_error_when_the_model_is_on_the_cpu_then_stays_what_it_is() -> None:
    with pytest.raises(RuntimeError, match="sizes"), gpu_errors(torch.nn.Linear(2, 2)):
        raise RuntimeError("sizes do not fit")


def test_stream_when_its_gpu_fails_then_tells_its_lane_that_it_was_the_device(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend = create_diarizer(context(), str(write_diarizer_checkpoint(tmp_path)))
    load(backend)
    stream = backend.open_stream()

    def fail(*_: object) -> None:
        raise RuntimeError("CUDA error: an illegal memory access was encountered\nmore words")

    monkeypatch.setattr(SpeakerModel, "push", fail)
    with pytest.raises(BackendError) as on_cpu:
        stream.push(np.zeros(16_000, np.float32))
    assert not isinstance(on_cpu.value, ComputeDeviceError)
    monkeypatch.setattr(SpeakerModel, "parameters", OnGpu().parameters)
    with pytest.raises(ComputeDeviceError, match="illegal memory access"):
        stream.push(np.zeros(16_000, np.float32))


def test_reason_when_torch_says_nothing_then_is_not_empty() -> None:
    assert gpu_reason(RuntimeError("")) == "no reason was given"
    assert sortformer_load.CPU == tower_load.CPU == "CPU"
