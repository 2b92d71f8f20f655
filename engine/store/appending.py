"""Adds events to a stored session, whatever state its file was left in."""

import contextlib
import os
from collections.abc import Iterable
from pathlib import Path

from engine.core.errors import StoreError, reason_of
from engine.core.events import Event
from engine.store.event_json import encode_event, schema_line
from engine.store.private import make_file


def append_events(path: Path, events: Iterable[Event]) -> None:
    """Write events behind those of a file and bring them to the disk: all of them or none.

    A last line that broke off stays alone: what is added begins on a line of its own.

    Args:
        path: of a session's events; made if only the file is missing.
        events: lasting ones.

    Raises:
        StoreError: it cannot be written; says why.
    """
    lines = b"".join(encode_event(event) for event in events)
    if not lines:
        return
    try:
        if not path.exists():
            make_file(path)
        with path.open("r+b", buffering=0) as file:
            length_bytes = file.seek(0, os.SEEK_END)
            try:
                _write_all(file.fileno(), _lead(path, length_bytes) + lines)
                os.fsync(file.fileno())
            except OSError:
                with contextlib.suppress(OSError):
                    file.truncate(length_bytes)
                raise
    except OSError as error:
        raise StoreError(
            f"The change cannot be written to {path}: {reason_of(error)}.",
            advice="Check the folder, its permissions and the free disk space.",
        ) from error


def _lead(path: Path, length_bytes: int) -> bytes:
    """Return what must come before the first new line."""
    if length_bytes == 0:
        return schema_line()
    with path.open("rb") as file:
        file.seek(length_bytes - 1)
        return b"" if file.read(1) == b"\n" else b"\n"


def _write_all(descriptor: int, data: bytes) -> None:
    # One call may write less than it is given.
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
