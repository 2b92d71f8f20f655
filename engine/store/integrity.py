"""Checks that a file is what the manifest says, and says plainly what it is instead."""

import hashlib
from collections.abc import Callable
from pathlib import Path

from engine.core.errors import ModelFileError, ModelMissingError
from engine.core.sync import CancelToken
from engine.store.manifest import Member

ProgressCallback = Callable[[float, str], None]
"""Called with a fraction from 0 to 1 (-1 where unknown) and a short text."""

BLOCK_BYTES = 1 << 20
_FETCH = "Fetch the model again."
_WEB_PAGE_STARTS = (b"<!doctype html", b"<html", b"<?xml", b"<head", b"<body")


def no_progress(fraction: float, text: str) -> None:
    """Take progress reports and show them nowhere."""


def hash_file(path: Path, cancel: CancelToken | None = None) -> str:
    """Return the sha256 of a file's content.

    Raises:
        CancelledError: cancel was set meanwhile.
        OSError: it cannot be read.
    """
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(BLOCK_BYTES):
            digest.update(block)
            if cancel is not None:
                cancel.check()
    return digest.hexdigest()


def check_size(path: Path, name: str, expected_bytes: int) -> None:
    """Compare a file's size alone.

    Raises:
        ModelMissingError: it is not there.
        ModelFileError: names the file, the size expected and what was found.
    """
    if not path.is_file():
        raise ModelMissingError(f"The model file {path} is missing.", advice=_FETCH)
    found_bytes = path.stat().st_size
    if found_bytes != expected_bytes:
        raise ModelFileError(
            f"{name} is damaged: expected {expected_bytes} bytes, "
            f"found {found_bytes} bytes{_what_it_looks_like(path, expected_bytes)} ({path}).",
            advice=_FETCH,
        )


def check_sha256(name: str, found: str, member: Member, where: object) -> None:
    """Compare a content hash.

    Raises:
        ModelFileError: names the file, the hash expected and the one found.
    """
    if found != member.sha256:
        raise ModelFileError(
            f"{name} is damaged or another file: expected sha256 {member.sha256}, "
            f"found {found} ({where}).",
            advice=_FETCH,
        )


def check_member(path: Path, member: Member, cancel: CancelToken | None = None) -> None:
    """Check a file's size, then its whole content.

    Raises:
        ModelMissingError, ModelFileError: what was expected and what was found.
        CancelledError: cancel was set meanwhile.
    """
    check_size(path, member.name, member.size_bytes)
    check_sha256(member.name, hash_file(path, cancel), member, path)


def looks_like_web_page(head: bytes) -> bool:
    """Return whether a file that starts like this is HTML: an error or a login page."""
    return head.lstrip(b"\xef\xbb\xbf \t\r\n").lower().startswith(_WEB_PAGE_STARTS)


def _what_it_looks_like(path: Path, expected_bytes: int) -> str:
    with path.open("rb") as file:
        head = file.read(512)
    if looks_like_web_page(head):
        return " that look like a web page"
    if head.startswith(b"version https://git-lfs"):
        return " that are a Git LFS pointer, not the file itself"
    return ", so it was cut short" if path.stat().st_size < expected_bytes else ""


def format_bytes(num_bytes: int) -> str:
    """Return a size as people read it, in the decimal unit that suits it."""
    if num_bytes < 1000:
        return f"{num_bytes} B"
    if num_bytes < 1_000_000:
        return f"{num_bytes / 1000:.0f} kB"
    if num_bytes < 1_000_000_000:
        return f"{num_bytes / 1_000_000:.1f} MB"
    return f"{num_bytes / 1_000_000_000:.1f} GB"
