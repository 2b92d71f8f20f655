"""What can be said about a session's folder, whatever state it was left in."""

import contextlib
import itertools
import os
import struct
from datetime import UTC, datetime
from pathlib import Path

from filelock import FileLock, Timeout

from engine.audio.wav import HEADER_BYTES, SAMPLE_BYTES
from engine.core.errors import StoreError
from engine.core.events import RecordingStarted
from engine.core.files import open_plain
from engine.store.event_json import EventFile
from engine.store.header import (
    AUDIO_NAME,
    EVENTS_NAME,
    HEADER_NAME,
    LOCK_NAME,
    MAX_RATE_HZ,
    SessionHeader,
    read_header,
)

_DEFAULT_RATE_HZ = 16_000
_RATE_OFFSET = 24
_NUM_FIRST_EVENTS = 100
_PROBE_S = 0.1


def is_session(folder: Path) -> bool:
    """Return whether a folder holds a session, whole or not; one that is being deleted does not.

    One that cannot be looked into does, or a recording would vanish from the list without a word.
    """
    if folder.is_symlink() or folder.name.startswith(".") or not os.path.isdir(folder):
        return False
    names = (HEADER_NAME, EVENTS_NAME, AUDIO_NAME)
    is_open = os.access(folder, os.R_OK | os.X_OK)
    return not is_open or any(os.path.lexists(folder / name) for name in names)


def size_on_disk(folder: Path) -> int:
    """Return the bytes of the files in a session's folder, as far as they can be seen."""
    size_bytes = 0
    with contextlib.suppress(OSError):
        for path in folder.iterdir():
            # Of a link its own: what it leads to is not part of the session.
            size_bytes += path.lstat().st_size
    return size_bytes


def header_of(folder: Path) -> SessionHeader:
    """Return a session's header, or what can be said without one.

    Raises:
        OSError: the folder is gone.
    """
    try:
        return read_header(folder)
    except (OSError, ValueError):
        pass
    started = datetime.fromtimestamp(folder.stat().st_mtime, UTC).astimezone()
    rate = _wav_rate(folder / AUDIO_NAME) or _DEFAULT_RATE_HZ
    header = SessionHeader(folder.name, started.isoformat(timespec="seconds"), rate)
    told = _started(folder / EVENTS_NAME)
    if told is None:
        return header
    return SessionHeader(folder.name, told.started_at, told.sample_rate, device=told.device)


def stored_num_samples(folder: Path, header: SessionHeader) -> int:
    """Return a session's length; of a broken off one, as far as its audio reached the disk."""
    if header.is_closed:
        return header.num_samples
    # A file that broke off can hold more than its own header says.
    path = folder / AUDIO_NAME
    size_bytes = os.path.getsize(path) if os.path.isfile(path) else 0
    return max(0, size_bytes - HEADER_BYTES) // SAMPLE_BYTES


def session_lock(folder: Path) -> FileLock:
    """Return the lock that a session's folder is under while it is recorded or mended."""
    return FileLock(folder / LOCK_NAME, mode=0o600, thread_local=False)


def is_active(folder: Path, header: SessionHeader) -> bool:
    """Return whether a program is recording a session now."""
    if header.is_closed or not os.path.exists(folder / LOCK_NAME):
        return False
    lock = session_lock(folder)
    try:
        # Others that look, or change it, hold it for a moment; who records, to the end.
        lock.acquire(timeout=_PROBE_S, poll_interval=0.005)
    except (Timeout, OSError):
        return True
    lock.release()
    return False


def _started(path: Path) -> RecordingStarted | None:
    """Return what a journal says of its beginning."""
    try:
        for event in itertools.islice(EventFile(path).read(), _NUM_FIRST_EVENTS):
            if isinstance(event, RecordingStarted) and 0 < event.sample_rate <= MAX_RATE_HZ:
                return event
    except StoreError:
        pass
    return None


def _wav_rate(path: Path) -> int:
    try:
        with open_plain(path) as file:
            head = file.read(HEADER_BYTES)
    except (OSError, ValueError):
        return 0
    if len(head) < HEADER_BYTES:
        return 0
    rate = int(struct.unpack_from("<I", head, _RATE_OFFSET)[0])
    return rate if rate <= MAX_RATE_HZ else 0
