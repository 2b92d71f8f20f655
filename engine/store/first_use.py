"""Models whose files are not known in advance: trusted as they first come, checked ever after.

The manifest says which files of a hub repository to take. What comes the first time is written down
(names, sizes, sha256 and the repository's commit) beside the models, and from then on the model is
like any other: another content under the same name is refused.
"""

import fnmatch
import hashlib
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import quote

import msgspec

from engine.core.errors import ModelFileError, reason_of
from engine.core.files import read_small
from engine.core.sync import CancelToken
from engine.store.fetch import fetch_small, member_url
from engine.store.integrity import ProgressCallback, hash_file
from engine.store.manifest import HubSource, Member, ModelEntry

INDEX_NAME = "model.safetensors.index.json"
MAX_SMALL_BYTES = 64 * 2**20
_OTHER = "Choose another copy of the model."


class FirstUseRecord(msgspec.Struct, frozen=True):
    """What came the first time: the hub's commit ("" for a local folder), and the files."""

    revision: str
    members: tuple[Member, ...]


@dataclass(frozen=True, slots=True)
class FirstUse:
    """The records of one models folder.

    Args:
        folder: of all models.
        hub_endpoint: address of the model hub.
    """

    folder: Path
    hub_endpoint: str

    def known(self, entry: ModelEntry) -> ModelEntry:
        """Return an entry with the members recorded for it, if it has none of its own."""
        if entry.is_pinned:
            return entry
        try:
            record = msgspec.json.decode(read_small(self.path(entry)), type=FirstUseRecord)
        except (OSError, ValueError, RecursionError):
            return entry
        return _with(entry, record)

    def keep(self, entry: ModelEntry) -> None:
        """Write down the members of an entry that was put in place.

        Raises:
            OSError: the folder cannot be written.
        """
        revision = entry.hub.revision if entry.hub else ""
        scratch = self.path(entry).with_suffix(f".{os.getpid()}")
        scratch.write_bytes(msgspec.json.encode(FirstUseRecord(revision, entry.members)))
        scratch.replace(self.path(entry))

    def path(self, entry: ModelEntry) -> Path:
        """Return where an entry's record lies; deleting it makes the next fetch the first again."""
        return self.folder / f".{entry.id}.first-use.json"

    def learn(
        self,
        entry: ModelEntry,
        source: Path | None,
        progress: ProgressCallback,
        cancel: CancelToken,
    ) -> ModelEntry:
        """Return an entry with the members that its source has now.

        Args:
            entry: one without members.
            source: a folder on this machine; None for the hub.
            progress: told what is being done.
            cancel: ends it.

        Raises:
            ModelMissingError: the hub cannot be reached.
            ModelFileError: the source has no such files.
            CancelledError: cancel was set.
        """
        assert entry.hub is not None, entry.id
        progress(-1.0, f"{entry.title}: looking what there is")
        if source is not None:
            found = _folder_members(source, entry.hub, cancel)
            return _with(entry, FirstUseRecord("", _found(found, entry, source)))
        listing = _Listing.ask(entry.hub, self.hub_endpoint)
        hub = replace(entry.hub, revision=listing.sha)
        members = []
        for name in _chosen(tuple(listing.files), hub, lambda name: listing.read(name, hub)):
            cancel.check()
            members.append(listing.member(name, hub))
        return _with(entry, FirstUseRecord(listing.sha, _found(members, entry, hub)))


@dataclass(frozen=True, slots=True)
class _Listing:
    """What the hub says a repository holds: size and sha256 by name, unknown for small files."""

    endpoint: str
    sha: str
    files: dict[str, tuple[int, str]]

    @classmethod
    def ask(cls, hub: HubSource, endpoint: str) -> "_Listing":
        url = f"{endpoint}/api/models/{hub.repo}/revision/{quote(hub.revision, safe='')}?blobs=true"
        try:
            answer = msgspec.json.decode(fetch_small(url, MAX_SMALL_BYTES), type=_Answer)
        except (msgspec.MsgspecError, RecursionError) as error:
            raise ModelFileError(
                f"The hub's answer about {hub.repo} cannot be read: {reason_of(error)}.",
                advice=_OTHER,
            ) from error
        files = {
            file.rfilename: (file.lfs.size, file.lfs.sha256) if file.lfs else (0, "")
            for file in answer.siblings
        }
        return cls(endpoint, answer.sha, files)

    def read(self, name: str, hub: HubSource) -> bytes:
        return fetch_small(member_url(hub, name, self.endpoint), MAX_SMALL_BYTES)

    def member(self, name: str, hub: HubSource) -> Member:
        if name not in self.files:
            raise ModelFileError(f"{hub} has no file {name}.", advice=_OTHER)
        size_bytes, sha256 = self.files[name]
        if not sha256:
            content = self.read(name, hub)
            size_bytes, sha256 = len(content), hashlib.sha256(content).hexdigest()
        return _member(name, size_bytes, sha256)


class _Lfs(msgspec.Struct, frozen=True):
    sha256: str
    size: int


class _Sibling(msgspec.Struct, frozen=True):
    rfilename: str
    lfs: _Lfs | None = None


class _Answer(msgspec.Struct, frozen=True):
    sha: str
    siblings: tuple[_Sibling, ...]


def _chosen(names: Sequence[str], hub: HubSource, read: Callable[[str], bytes]) -> tuple[str, ...]:
    """Return which of a source's files to take: the first group whose first pattern is there."""
    for group in hub.files:
        if not fnmatch.filter(names, group[0]):
            continue
        taken = dict.fromkeys(
            name
            for pattern in group
            for name in sorted(fnmatch.filter(names, pattern))
            if name.count("/") == pattern.count("/")
        )
        if hub.tensors and INDEX_NAME in taken:
            taken = dict.fromkeys([*_without_shards(taken), *_shards(read(INDEX_NAME), hub)])
        return tuple(taken)
    return ()


def _without_shards(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(name for name in names if not name.endswith(".safetensors"))


def _shards(index: bytes, hub: HubSource) -> tuple[str, ...]:
    """Return the files that hold the tensors asked for, by a checkpoint's index."""
    try:
        weight_map = msgspec.json.decode(index, type=_Index).weight_map
    except (msgspec.MsgspecError, RecursionError) as error:
        raise ModelFileError(
            f"The index {INDEX_NAME} cannot be read: {reason_of(error)}.", advice=_OTHER
        ) from error
    return tuple(
        sorted({file for name, file in weight_map.items() if name.startswith(hub.tensors)})
    )


class _Index(msgspec.Struct, frozen=True):
    weight_map: dict[str, str]


def _folder_members(folder: Path, hub: HubSource, cancel: CancelToken) -> list[Member]:
    names = (
        [path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()]
        if folder.is_dir()
        else []
    )
    members = []
    for name in _chosen(names, hub, lambda name: (folder / name).read_bytes()):
        path = folder / name
        if not path.is_file():
            raise ModelFileError(f"{folder} has no file {name}.", advice=_OTHER)
        members.append(_member(name, path.stat().st_size, hash_file(path, cancel)))
    return members


def _member(name: str, size_bytes: int, sha256: str) -> Member:
    try:
        return Member(name, size_bytes, sha256)
    except ValueError as error:
        raise ModelFileError(
            f"The file {name!r} is refused: {reason_of(error)}.", advice=_OTHER
        ) from error


def _found(members: Sequence[Member], entry: ModelEntry, source: object) -> tuple[Member, ...]:
    if not members:
        raise ModelFileError(f"{source} holds no files of the model {entry.id}.", advice=_OTHER)
    return tuple(members)


def _with(entry: ModelEntry, record: FirstUseRecord) -> ModelEntry:
    hub = entry.hub
    if hub is not None and record.revision:
        hub = replace(hub, revision=record.revision)
    return replace(entry, members=record.members, hub=hub)
