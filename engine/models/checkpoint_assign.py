"""Puts named tensors into a module: all of them, checked first, or none."""

from collections.abc import Iterable

import torch
from torch import nn

from engine.core.errors import ModelLoadError

# Parts of published checkpoints that only training, or another front end, has a use for.
UNUSED_PREFIXES = (
    "encoder.diarization_model.preprocessor.",
    "encoder.diarization_model.activity_head.",
    "encoder.diarization_model.sortformer_modules.activity_head.",
    "encoder.diarization_model.sortformer_modules.hidden_to_spks.",
    "diarization_model.preprocessor.",
    "diarization_model.activity_head.",
    "diarization_model.sortformer_modules.activity_head.",
    "diarization_model.sortformer_modules.hidden_to_spks.",
)
UNUSED_SUFFIX = "._extra_state"
# Made from the configuration where a checkpoint lacks them.
OPTIONAL_NAMES = ("preprocessor.featurizer.fb", "preprocessor.featurizer.window")
_SHOWN_NAMES = 8
_ADVICE = "Check that it is the checkpoint you mean, and fetch it again if it is."


def assign_weights(
    module: nn.Module, weights: Iterable[tuple[str, torch.Tensor]], what: str
) -> set[str]:
    """Replace the module's parameters and tables.

    A module on the meta device takes the tensors as they are; any other copies them into its own.
    Either way they get the dtype that the module has.

    Args:
        module: its names are those expected.
        weights: names and tensors.
        what: the module in words, for messages.

    Returns:
        The names taken.

    Raises:
        ModelLoadError: a tensor is unexpected, misshapen, not finite, there twice, or missing.
    """
    targets = module.state_dict()
    prepared: dict[str, torch.Tensor] = {}
    for name, tensor in weights:
        if is_unused(name):
            continue
        if name in prepared:
            raise _refusal(what, f"the tensor {name} is there twice")
        prepared[name] = _checked(name, tensor, targets.get(name), what)
    missing = sorted(targets.keys() - prepared.keys() - set(OPTIONAL_NAMES))
    if missing:
        shown = ", ".join(missing[:_SHOWN_NAMES])
        more = ", and more" if len(missing) > _SHOWN_NAMES else ""
        raise _refusal(what, f"{len(missing)} tensors are missing: {shown}{more}")
    is_meta = any(target.is_meta for target in targets.values())
    module.load_state_dict(prepared, strict=False, assign=is_meta)
    return set(prepared)


def is_unused(name: str) -> bool:
    """Whether a tensor of this name is passed over."""
    return name.endswith(UNUSED_SUFFIX) or name.startswith(UNUSED_PREFIXES)


def _checked(
    name: str, tensor: torch.Tensor, target: torch.Tensor | None, what: str
) -> torch.Tensor:
    if target is None:
        raise _refusal(what, f"there is no place for the tensor {name}")
    if tensor.shape != target.shape:
        raise _refusal(
            what, f"the tensor {name} has shape {tuple(tensor.shape)}, not {tuple(target.shape)}"
        )
    device = torch.device("cpu") if target.is_meta else target.device
    converted = tensor.to(device=device, dtype=target.dtype)
    # Two reductions make no copy as large as the tensor. NaN is greater than nothing.
    low, high = torch.aminmax(converted) if converted.numel() else (converted, converted)
    if not bool(torch.isfinite(low).all() and torch.isfinite(high).all()):
        raise _refusal(what, f"the tensor {name} holds NaN or infinity")
    return converted


def _refusal(what: str, why: str) -> ModelLoadError:
    return ModelLoadError(f"The checkpoint does not fit the {what}: {why}.", advice=_ADVICE)
