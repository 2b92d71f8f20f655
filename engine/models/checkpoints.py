"""Published checkpoints to models on this machine: the whole tower, or its speaker branch.

    tower = load_tower(Path("NVIDIA-Nemotron-3.5-Transcribe-30B-A4B"))
    speaker = load_speaker_model(Path("Nemotron-3-Diarization.nemo"))

A path is a folder with `config.json` and safetensors, in one file or many, under the names of
NeMo or of transformers; or a `.nemo` archive. Either function reads only the tensors it needs, so
the tower comes out of the checkpoint of the whole language model. `untrained_tower` and
`untrained_speaker_model` have random weights, the same for the same seed.

Raises, all of them: ModelMissingError, ModelFileError (damaged), ModelLoadError (another model, or
a tensor unexpected, misshapen, missing, not finite or in an unknown format). Nothing is half
loaded.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import torch
from torch import nn

from engine.core.errors import ModelLoadError, ModelMissingError
from engine.models.checkpoint_assign import assign_weights, is_unused
from engine.models.checkpoint_files import SafetensorsSource, TensorSource, read_json
from engine.models.checkpoint_names import Part, plan_names
from engine.models.checkpoint_quantization import read_weight
from engine.models.nemo_archive import NemoArchive
from engine.models.sortformer_stream import SpeakerModel
from engine.models.tower_config import TowerConfig
from engine.models.tower_config_formats import read_config
from engine.models.transcribe_tower import Nemotron3_5TranscribeAudioTower

ProgressCallback = Callable[[float], None]
"""Called with the fraction of tensors read, from 0 to 1."""

_PREPROCESSOR_FILES = ("preprocessor_config.json", "processor_config.json")
_WEIGHT_STD = 0.02
_Model = TypeVar("_Model", bound=nn.Module)


def load_tower(
    path: Path,
    *,
    asr_dtype: torch.dtype = torch.float32,
    speaker_dtype: torch.dtype = torch.float32,
    device: torch.device | str = "cpu",
    progress: ProgressCallback | None = None,
) -> Nemotron3_5TranscribeAudioTower:
    """Return the tower of a checkpoint.

    Args:
        path: folder or archive.
        asr_dtype: of recognition branch, fusion and projection.
        speaker_dtype: of the speaker branch; less than float32 lets speakers change places.
        device: where it will run.
        progress: told how far it is; may raise to give up.
    """
    config, source = _open(path)
    if config.asr_encoder is None:
        raise ModelLoadError(
            f"{path} holds the speaker branch alone, not the whole audio tower.",
            advice="Choose a Nemotron 3.5 Transcribe checkpoint.",
        )
    with torch.device("meta"):
        tower = Nemotron3_5TranscribeAudioTower(config)
        tower.cast(asr=asr_dtype, speaker=speaker_dtype)
    assign_weights(tower, _tensors(source, "tower", progress), "audio tower")
    return tower.requires_grad_(False).to(device)


def load_speaker_model(
    path: Path,
    *,
    dtype: torch.dtype = torch.float32,
    device: torch.device | str = "cpu",
    progress: ProgressCallback | None = None,
) -> SpeakerModel:
    """Return the speaker branch of a diarizer's checkpoint, or of the whole tower's.

    Args:
        path: folder or archive.
        dtype: of the weights; less than float32 lets speakers change places.
        device: where it will run.
        progress: told how far it is; may raise to give up.
    """
    config, source = _open(path)
    with torch.device("meta"):
        model = SpeakerModel(config)
        model.diarization_model.to(dtype)
    assign_weights(model, _tensors(source, "speaker", progress), "speaker branch")
    return model.requires_grad_(False).to(device)


def untrained_tower(config: TowerConfig, seed: int = 0) -> Nemotron3_5TranscribeAudioTower:
    """Return a tower with random float32 weights."""
    with torch.device("meta"):
        tower = Nemotron3_5TranscribeAudioTower(config)
    return _randomized(tower, seed)


def untrained_speaker_model(config: TowerConfig, seed: int = 0) -> SpeakerModel:
    """Return a speaker branch with random float32 weights."""
    with torch.device("meta"):
        model = SpeakerModel(config)
    return _randomized(model, seed)


def _open(path: Path) -> tuple[TowerConfig, TensorSource]:
    if not path.exists():
        raise ModelMissingError(f"There is no checkpoint at {path}.", advice="Fetch the model.")
    if path.suffix == ".nemo":
        archive = NemoArchive(path)
        return read_config(archive.config, str(path)), archive
    if path.is_dir() and not (path / "config.json").is_file():
        archives = sorted(path.glob("*.nemo"))
        if len(archives) == 1:
            return _open(archives[0])
    folder = path if path.is_dir() else path.parent
    config = read_json(folder / "config.json")
    return read_config(config, str(folder), _preprocessor_keys(folder)), SafetensorsSource(path)


def _preprocessor_keys(folder: Path) -> dict[str, Any]:
    """Return the settings of the front end that lie beside transformers checkpoints."""
    for name in _PREPROCESSOR_FILES:
        if (folder / name).is_file():
            content = read_json(folder / name)
            inner = content.get("feature_extractor")
            return dict(inner if isinstance(inner, dict) else content)
    return {}


def _tensors(
    source: TensorSource, part: Part, progress: ProgressCallback | None
) -> Iterator[tuple[str, torch.Tensor]]:
    """Yield our names and tensors, each read when it is asked for."""
    names = source.names
    plan = {ours: theirs for ours, theirs in plan_names(names, part).items() if not is_unused(ours)}
    for index, (ours, theirs) in enumerate(plan.items()):
        if progress is not None:
            progress(index / len(plan))
        parts = [read_weight(name, names, source.read) for name in theirs]
        yield ours, parts[0] if len(parts) == 1 else torch.cat(parts)
    if progress is not None:
        progress(1.0)


def _randomized(model: _Model, seed: int) -> _Model:
    """Fill a module that lies on the meta device."""
    generator = torch.Generator().manual_seed(seed)
    filled = {}
    for name, parameter in model.named_parameters():
        values = torch.empty(parameter.shape)
        if parameter.ndim >= 2:
            values.normal_(0.0, _WEIGHT_STD, generator=generator)
        elif "norm" in name and name.endswith("weight"):
            values.fill_(1.0)
        else:
            values.normal_(0.0, _WEIGHT_STD, generator=generator)
        filled[name] = values
    model.load_state_dict(filled, strict=False, assign=True)
    return model.requires_grad_(False)
