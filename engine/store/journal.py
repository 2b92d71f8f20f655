"""A recording on disk while it happens: audio and events, at most a second behind.

Audio comes from the capture thread and events from the thread that publishes them, so each has a
journal of its own that shares nothing with the other.
"""

import contextlib
import os
import re
import shutil
from dataclasses import replace
from pathlib import Path

from filelock import FileLock, Timeout

from engine.audio.wav import WavWriter
from engine.core.config import KeepPolicy
from engine.core.errors import AudioFileError, StoreError
from engine.core.events import (
    BackendChanged,
    BackendState,
    Event,
    FinalWords,
    PartialWords,
    PlayChanged,
    UtteranceChanged,
)
from engine.core.types import Pcm
from engine.store.event_json import encode_event, schema_line
from engine.store.header import (
    AUDIO_NAME,
    EVENTS_NAME,
    LOCK_NAME,
    SessionHeader,
    write_header,
)
from engine.store.private import make_file, make_folder

SYNC_INTERVAL_S = 1.0
"""What a power failure can take of a recording; a killed process loses less."""

_PLAIN_NAME = re.compile(r"[\w][\w.-]*")


class _SyncTimer:
    """Tells when a second has passed since the last sync."""

    def __init__(self) -> None:
        self._last_s: float | None = None

    def is_due(self, now_s: float) -> bool:
        if self._last_s is not None and now_s - self._last_s < SYNC_INTERVAL_S:
            return False
        self._last_s = now_s
        return True


class AudioJournal:
    """The audio of a recording as a WAV file. Thread: capture only, until `close`."""

    def __init__(self, path: Path, sample_rate: int) -> None:
        self.path = path
        self._writer = WavWriter(path, sample_rate)
        self._timer = _SyncTimer()

    @property
    def num_samples(self) -> int:
        """Samples appended so far."""
        return self._writer.num_samples

    def append(self, pcm: Pcm) -> None:
        """Add samples.

        Raises:
            StoreError: the disk is full or gone.
        """
        try:
            self._writer.append(pcm)
        except AudioFileError as error:
            raise _not_written(self.path, error) from error

    def sync_if_due(self, now_s: float) -> bool:
        """Make the file whole on disk if the last time was a second ago; return whether it was.

        Raises:
            StoreError: the disk is full or gone.
        """
        if not self._timer.is_due(now_s):
            return False
        try:
            self._writer.sync()
        except AudioFileError as error:
            raise _not_written(self.path, error) from error
        return True

    def close(self) -> None:
        """Finish the file; idempotent.

        Raises:
            StoreError: the disk is full or gone.
        """
        try:
            self._writer.close()
        except AudioFileError as error:
            raise _not_written(self.path, error) from error


class EventJournal:
    """The events of a recording, one a line. Thread: the one that publishes them, until `close`."""

    def __init__(self, path: Path) -> None:
        make_file(path)
        self.path = path
        self.num_words = 0
        # Unbuffered: a line is with the operating system, which outlives us, once it is told.
        self._file = path.open("ab", buffering=0)
        self._timer = _SyncTimer()
        self._is_dirty = True
        self._file.write(schema_line())

    def append(self, event: Event) -> None:
        """Add an event; those that only matter while they are shown are left out.

        Raises:
            StoreError: the disk is full or gone.
        """
        if not is_lasting(event):
            return
        if isinstance(event, FinalWords):
            self.num_words += len(event.words)
        try:
            self._file.write(encode_event(event))
        except OSError as error:
            raise _not_written(self.path, error) from error
        self._is_dirty = True

    def sync_if_due(self, now_s: float) -> bool:
        """Bring new lines to disk if the last time was a second ago; return whether it did.

        Raises:
            StoreError: the disk is full or gone.
        """
        if not self._is_dirty or not self._timer.is_due(now_s):
            return False
        self._sync()
        return True

    def close(self) -> None:
        """Finish the file; idempotent.

        Raises:
            StoreError: the disk is full or gone.
        """
        if self._file.closed:
            return
        try:
            self._sync()
        finally:
            self._file.close()

    def _sync(self) -> None:
        try:
            os.fsync(self._file.fileno())
        except OSError as error:
            raise _not_written(self.path, error) from error
        self._is_dirty = False


def is_lasting(event: Event) -> bool:
    """Return whether an event says something about the recording that stays true."""
    if isinstance(event, BackendChanged):
        return event.state is not BackendState.LOADING
    return not isinstance(event, PartialWords | UtteranceChanged | PlayChanged)


class Journal:
    """A session's folder while it is being recorded.

    Thread: `create` and `close` from the one that owns the session; `audio` and `events` as they
    say.
    """

    def __init__(self, folder: Path, header: SessionHeader, lock: FileLock) -> None:
        self.folder = folder
        self.header = header
        self._lock = lock
        self._is_closed = False
        self.audio = AudioJournal(folder / AUDIO_NAME, header.sample_rate)
        self.events = EventJournal(folder / EVENTS_NAME)

    @classmethod
    def create(cls, root: Path, header: SessionHeader) -> "Journal":
        """Make the folder `root / header.id` and its files, readable by their owner alone.

        Raises:
            StoreError: it cannot be written, or is there already.
            ValueError: the id is no file name, or nothing is to be kept.
        """
        if header.keep is KeepPolicy.NOTHING:
            raise ValueError("a session of which nothing is kept has no journal")
        if not _PLAIN_NAME.fullmatch(header.id):
            raise ValueError(f"the id must be a plain file name, got {header.id!r}")
        folder = root / header.id
        try:
            make_folder(root)
            make_folder(folder, exist_ok=False)
            # Held as long as the process lives: tells a running recording from a broken off one.
            lock = session_lock(folder)
            lock.acquire(timeout=0)
            write_header(folder, header)
            return cls(folder, header, lock)
        except (OSError, Timeout, AudioFileError) as error:
            raise _not_written(folder, error) from error

    def close(self, keep: KeepPolicy | None = None, *, is_trained: bool = True) -> None:
        """Finish the session and delete what is not to be kept; idempotent.

        Args:
            keep: what stays, if the user chose anew since the start.
            is_trained: False if a model with random weights took part.

        Raises:
            StoreError: the disk is full or gone; what was written stays, marked as not closed.
        """
        if self._is_closed:
            return
        keep = self.header.keep if keep is None else keep
        try:
            try:
                self.events.close()
            finally:
                self.audio.close()
            self._settle(keep, is_trained)
        except OSError as error:
            raise _not_written(self.folder, error) from error
        finally:
            self._is_closed = True
            self._lock.release()
            with contextlib.suppress(OSError):
                (self.folder / LOCK_NAME).unlink()

    def _settle(self, keep: KeepPolicy, is_trained: bool) -> None:
        """Delete what is not kept, and write the facts that are known at the end."""
        if keep is KeepPolicy.NOTHING:
            shutil.rmtree(self.folder)
            return
        if keep is KeepPolicy.TEXT:
            self.audio.path.unlink(missing_ok=True)
        self.header = replace(
            self.header,
            keep=keep,
            is_trained=self.header.is_trained and is_trained,
            is_closed=True,
            num_samples=self.audio.num_samples,
            num_words=self.events.num_words,
        )
        write_header(self.folder, self.header)


def session_lock(folder: Path) -> FileLock:
    """Return the lock that a session's folder is under while it is recorded."""
    return FileLock(folder / LOCK_NAME, mode=0o600, thread_local=False)


def _not_written(path: Path, error: Exception) -> StoreError:
    cause = error.__cause__ if isinstance(error, AudioFileError) else error
    reason = getattr(cause, "strerror", None) or str(cause)
    return StoreError(
        f"The recording cannot be written to {path}: {reason}.",
        advice="Free disk space there, or choose another folder for recordings.",
    )
