"""`.nemo` archives: a tar file with a configuration and a pickle of tensors.

Nothing is unpacked to disk by a name from the archive, and the pickle may hold tensors and plain
containers only: opening an archive runs no code of its author's.
"""

import pickle
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import IO, Any

import torch

from engine.core.errors import ModelFileError, ModelLoadError, ModelMissingError, reason_of

_CONFIG_NAME = "model_config.yaml"
_WEIGHTS_NAME = "model_weights.ckpt"
_MAX_CONFIG_BYTES = 4 * 2**20
_MAX_WEIGHTS_BYTES = 16 * 2**30
_BLOCK_BYTES = 2**20
_FETCH = "Fetch it again, from where its author publishes it."


class NemoArchive:
    """The configuration and the tensors of one archive."""

    def __init__(self, path: Path) -> None:
        """Read the archive.

        Raises:
            ModelMissingError: there is no such file.
            ModelFileError: it is damaged, or has members that a model has no need of.
        """
        self.path = path
        if not path.is_file():
            raise ModelMissingError(f"There is no archive {path}.", advice="Fetch the model.")
        try:
            with tarfile.open(path, "r:*") as tar:
                members = _plain_members(tar, path)
                self.config: Mapping[str, Any] = self._read_config(tar, members)
                self._tensors = self._read_tensors(tar, members)
        except (tarfile.TarError, OSError, EOFError, zlib.error) as error:
            raise ModelFileError(
                f"{path} is no whole archive: {reason_of(error)}.", advice=_FETCH
            ) from error

    @property
    def names(self) -> frozenset[str]:
        """Of all its tensors."""
        return frozenset(self._tensors)

    def read(self, name: str) -> torch.Tensor:
        """Return a tensor, on the CPU, in its stored dtype."""
        return self._tensors[name]

    def _member(
        self, tar: tarfile.TarFile, members: Mapping[str, tarfile.TarInfo], name: str, limit: int
    ) -> IO[bytes]:
        info = members.get(name)
        if info is None:
            raise ModelFileError(f"{self.path} has no member {name}.", advice=_FETCH)
        if info.size > limit:
            raise ModelFileError(
                f"The member {name} of {self.path} is unreasonably large: {info.size} bytes.",
                advice=_FETCH,
            )
        opened = tar.extractfile(info)
        assert opened is not None, name  # plain files only
        return opened

    def _read_config(
        self, tar: tarfile.TarFile, members: Mapping[str, tarfile.TarInfo]
    ) -> Mapping[str, Any]:
        import yaml

        with self._member(tar, members, _CONFIG_NAME, _MAX_CONFIG_BYTES) as opened:
            text = opened.read()
        try:
            content = yaml.safe_load(text)
        except (yaml.YAMLError, ValueError, RecursionError) as error:
            raise ModelFileError(
                f"The member {_CONFIG_NAME} of {self.path} cannot be read as YAML: "
                f"{reason_of(error)}.",
                advice=_FETCH,
            ) from error
        if not isinstance(content, dict):
            raise ModelFileError(
                f"The member {_CONFIG_NAME} of {self.path} is no configuration.", advice=_FETCH
            )
        return content

    def _read_tensors(
        self, tar: tarfile.TarFile, members: Mapping[str, tarfile.TarInfo]
    ) -> dict[str, torch.Tensor]:
        # A copy, since reading jumps about: in a compressed archive each jump back starts anew.
        with (
            self._member(tar, members, _WEIGHTS_NAME, _MAX_WEIGHTS_BYTES) as opened,
            tempfile.TemporaryFile() as copy,
        ):
            num_bytes = 0
            while block := opened.read(_BLOCK_BYTES):
                num_bytes += copy.write(block)
            if num_bytes != members[_WEIGHTS_NAME].size:
                raise ModelFileError(f"{self.path} is cut short.", advice=_FETCH)
            try:
                if not zipfile.is_zipfile(copy):
                    raise ValueError("it is a bare pickle")
                copy.seek(0)
                content = torch.load(copy, map_location="cpu", weights_only=True)
            except (pickle.UnpicklingError, RuntimeError, ValueError, KeyError, EOFError) as error:
                raise ModelFileError(
                    f"The member {_WEIGHTS_NAME} of {self.path} does not hold plain tensors:"
                    f" {reason_of(error)}.",
                    advice=_FETCH,
                ) from error
        return self._as_tensors(content)

    def _as_tensors(self, content: object) -> dict[str, torch.Tensor]:
        if isinstance(content, dict) and isinstance(content.get("state_dict"), dict):
            content = content["state_dict"]
        if not isinstance(content, dict):
            raise ModelLoadError(f"{self.path} holds no named tensors.", advice=_FETCH)
        return {
            str(name): value for name, value in content.items() if isinstance(value, torch.Tensor)
        }


def _plain_members(tar: tarfile.TarFile, path: Path) -> dict[str, tarfile.TarInfo]:
    """Return the files of an archive by name, without a leading `./`.

    Raises:
        ModelFileError: one is a link or a device, would lie outside a folder, or is there twice.
    """
    members: dict[str, tarfile.TarInfo] = {}
    for info in tar:
        name = PurePosixPath(info.name)
        if name.is_absolute() or ".." in name.parts or "\\" in info.name:
            raise ModelFileError(
                f"{path} is not safe to open: its member {info.name!r} lies outside it.",
                advice=_FETCH,
            )
        if info.isdir():
            continue
        if not info.isreg():
            raise ModelFileError(
                f"{path} is not safe to open: its member {info.name!r} is no plain file.",
                advice=_FETCH,
            )
        if str(name) in members:
            raise ModelFileError(f"{path} has the member {name} twice.", advice=_FETCH)
        members[str(name)] = info
    return members
