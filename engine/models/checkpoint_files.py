"""Files of checkpoints, read a tensor at a time: safetensors in one or many files.

Nothing is read before it is asked for, so that a small part of a very large model costs little.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

import torch

from engine.core.errors import ModelFileError, ModelMissingError, reason_of

_INDEX = "model.safetensors.index.json"
_SINGLE = "model.safetensors"
_MAX_JSON_BYTES = 64 * 2**20
_MAX_NAME_BYTES = 255
_FETCH = "Fetch it again."


class TensorSource(Protocol):
    """Named tensors somewhere on disk."""

    @property
    def names(self) -> frozenset[str]:
        """Of all its tensors."""
        ...

    def read(self, name: str) -> torch.Tensor:
        """Return a tensor, on the CPU, in its stored dtype.

        Raises:
            ModelFileError: the file that holds it is damaged.
        """
        ...


class SafetensorsSource:
    """A folder of safetensors files with or without an index, or one such file."""

    def __init__(self, path: Path) -> None:
        """Read what tensors there are, and none of them.

        Raises:
            ModelMissingError: there is no such file or folder, or no safetensors file in it.
            ModelFileError: the index or a file is damaged.
        """
        self._files = _tensor_files(path)
        self._open: dict[Path, Any] = {}

    @property
    def names(self) -> frozenset[str]:
        """Of all its tensors."""
        return frozenset(self._files)

    def read(self, name: str) -> torch.Tensor:
        """Return a tensor, on the CPU, in its stored dtype."""
        path = self._files[name]
        if path not in self._open:
            self._open[path] = _open_safetensors(path)
        try:
            tensor: torch.Tensor = self._open[path].get_tensor(name)
        except _safetensors_errors() as error:
            raise ModelFileError(
                f"The tensor {name} cannot be read from {path}: {reason_of(error)}.", advice=_FETCH
            ) from error
        return tensor


def read_json(path: Path) -> Mapping[str, Any]:
    """Return the object in a JSON file.

    Raises:
        ModelMissingError: there is no such file.
        ModelFileError: it is not JSON, not an object, or unreasonably large.
    """
    if not path.is_file():
        raise ModelMissingError(f"There is no file {path}.", advice="Fetch the model.")
    try:
        if path.stat().st_size > _MAX_JSON_BYTES:
            raise ModelFileError(f"{path} is too large to be what it should be.", advice=_FETCH)
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise ModelFileError(
            f"{path} cannot be read as JSON: {reason_of(error)}.", advice=_FETCH
        ) from error
    if not isinstance(content, dict):
        raise ModelFileError(f"{path} does not hold a JSON object.", advice=_FETCH)
    return content


def _tensor_files(path: Path) -> dict[str, Path]:
    """Return which file holds which tensor."""
    if path.is_file():
        return dict.fromkeys(_open_safetensors(path).keys(), path)
    if not path.is_dir():
        raise ModelMissingError(f"There is no checkpoint at {path}.", advice="Fetch the model.")
    if (path / _INDEX).is_file():
        return _indexed_files(path)
    if (path / _SINGLE).is_file():
        return _tensor_files(path / _SINGLE)
    raise ModelMissingError(
        f"There is neither {_SINGLE} nor {_INDEX} in {path}.", advice="Fetch the model."
    )


def _indexed_files(folder: Path) -> dict[str, Path]:
    index = folder / _INDEX
    weight_map = read_json(index).get("weight_map")
    if not isinstance(weight_map, dict):
        raise ModelFileError(f"{index} has no weight_map.", advice=_FETCH)
    files = {}
    for name, file_name in weight_map.items():
        if not isinstance(file_name, str) or not _is_plain_name(file_name):
            raise ModelFileError(
                f"{index} names a file outside its folder: {file_name!r}.", advice=_FETCH
            )
        files[str(name)] = folder / file_name
    return files


def _is_plain_name(name: str) -> bool:
    is_short = 0 < len(name.encode("utf-8", "replace")) <= _MAX_NAME_BYTES
    return is_short and "\0" not in name and name != ".." and Path(name).name == name


def _safetensors_errors() -> tuple[type[Exception], ...]:
    from safetensors import SafetensorError

    return (SafetensorError, OSError, RuntimeError, ValueError)


def _open_safetensors(path: Path) -> Any:
    from safetensors import safe_open

    if not path.is_file():
        raise ModelMissingError(f"The checkpoint lacks its file {path}.", advice="Fetch it again.")
    try:
        return safe_open(path, framework="pt", device="cpu")
    except _safetensors_errors() as error:
        raise ModelFileError(
            f"{path} is no whole safetensors file: {reason_of(error)}.", advice=_FETCH
        ) from error
