"""Reads `.nemo` files: tar archives of a configuration and a checkpoint.

Nothing is unpacked to disk and nothing in the archive is run: two members are read by name, the
configuration as plain YAML, the checkpoint as tensors only. An archive with a member that
unpacking would put outside its folder is refused whole, because it was made to do harm.
"""

import lzma
import pickle
import shutil
import tarfile
import tempfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, Any

import torch
import yaml

from engine.core.errors import ModelFileError, ModelMissingError, reason_of

_CONFIG = "model_config.yaml"
_WEIGHTS = "model_weights.ckpt"
_MAX_CONFIG_BYTES = 4 * 2**20
_MAX_WEIGHTS_BYTES = 8 * 2**30
_FETCH = "Fetch it again from where it is published."


class NemoArchive:
    """A `.nemo` file.

    Args:
        path: of the file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def check(self) -> None:
        """Refuse what no honest `.nemo` file has.

        Raises:
            ModelMissingError: there is no such file.
            ModelFileError: it is no tar archive, is cut short, has a member that leads out of its
                folder or is a link or device, or lacks one of the two members.
        """
        with self._opened() as archive:
            members = self._checked_members(archive)
            for name in (_CONFIG, _WEIGHTS):
                if name not in members or not members[name].isfile():
                    raise self._refused(f"it has no {name}")

    def read_config(self) -> Mapping[str, Any]:
        """Return the parsed configuration.

        Raises:
            ModelMissingError, ModelFileError: see `check`; or it is no plain YAML mapping.
        """
        with self._member(_CONFIG, _MAX_CONFIG_BYTES) as stream:
            try:
                document = yaml.safe_load(stream.read())
            except (yaml.YAMLError, ValueError, RecursionError) as error:
                raise self._refused(
                    f"its {_CONFIG} is no plain YAML ({reason_of(error)})"
                ) from error
        if not isinstance(document, dict):
            raise self._refused(f"its {_CONFIG} holds no settings")
        return document

    def read_tensors(self) -> Mapping[str, torch.Tensor]:
        """Return all tensors by name, on the CPU.

        Raises:
            ModelMissingError, ModelFileError: see `check`; or the checkpoint is damaged, or holds
                anything but tensors.
        """
        with self._member(_WEIGHTS, _MAX_WEIGHTS_BYTES) as stream:
            try:
                tensors = torch.load(stream, map_location="cpu", weights_only=True)
            except pickle.UnpicklingError as error:
                raise self._refused(f"its {_WEIGHTS} holds more than tensors") from error
            except (OSError, EOFError, RuntimeError, ValueError, KeyError, TypeError) as error:
                raise self._refused(
                    f"its {_WEIGHTS} cannot be read ({reason_of(error)})"
                ) from error
        if not isinstance(tensors, dict):
            raise self._refused(f"its {_WEIGHTS} holds no named tensors")
        return tensors

    @contextmanager
    def _member(self, name: str, max_bytes: int) -> Iterator[IO[bytes]]:
        with self._opened() as archive:
            member = self._checked_members(archive).get(name)
            if member is None or not member.isfile():
                raise self._refused(f"it has no {name}")
            if member.size > max_bytes:
                raise self._refused(f"its {name} is unreasonably large")
            stream = archive.extractfile(member)
            assert stream is not None, "only regular files pass the check"
            with stream, tempfile.TemporaryFile() as copy:
                # The copy, because in a compressed archive every jump back reads from the start.
                shutil.copyfileobj(stream, copy)
                copy.seek(0)
                yield copy

    @contextmanager
    def _opened(self) -> Iterator[tarfile.TarFile]:
        if not self._path.is_file():
            raise ModelMissingError(
                f"There is no file {self._path}.", advice="Fetch the codec, or name its .nemo file."
            )
        try:
            with tarfile.open(self._path) as archive:
                yield archive
        except (tarfile.TarError, EOFError, OSError, zlib.error, lzma.LZMAError) as error:
            raise self._refused(f"it is no whole tar archive ({reason_of(error)})") from error

    def _checked_members(self, archive: tarfile.TarFile) -> dict[str, tarfile.TarInfo]:
        members = {}
        for member in archive:
            path = PurePosixPath(member.name)
            if path.is_absolute() or ".." in path.parts or "\\" in member.name:
                raise self._refused(f'its member "{member.name}" leads out of its folder')
            if not (member.isfile() or member.isdir()):
                raise self._refused(f'its member "{member.name}" is a link or a device')
            if str(path) in members:
                raise self._refused(f'it has two members "{path}"')
            members[str(path)] = member
        return members

    def _refused(self, why: str) -> ModelFileError:
        return ModelFileError(f"{self._path.name} was refused: {why}.", advice=_FETCH)
