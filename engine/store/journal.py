"""A recording on disk while it happens: audio and events, at most a second behind.

Audio comes from the capture thread and events from the thread that orders them, so each has a
journal of its own that shares nothing with the other. Neither of them waits for the disk.
"""

import contextlib
import re
import shutil
from dataclasses import replace
from pathlib import Path

from filelock import FileLock, Timeout

from engine.core.config import KeepPolicy
from engine.core.errors import StoreError
from engine.store.header import (
    AUDIO_NAME,
    EVENTS_NAME,
    LOCK_NAME,
    SessionHeader,
    write_header,
)
from engine.store.journal_files import AudioJournal, EventJournal
from engine.store.private import make_folder, sync_folder
from engine.store.refusals import refused
from engine.store.session_folder import session_lock

_PLAIN_NAME = re.compile(r"[\w][\w.-]*")


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
        try:
            self.events = EventJournal(folder / EVENTS_NAME)
        except OSError:
            self.audio.close(is_kept=False)
            raise

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
        except OSError as error:
            raise refused(folder, error) from error
        # Held as long as the process lives: tells a running recording from a broken off one.
        lock = session_lock(folder)
        try:
            lock.acquire(timeout=0)
            write_header(folder, header)
            journal = cls(folder, header, lock)
            sync_folder(folder)
            sync_folder(root)
        except (OSError, Timeout, StoreError) as error:
            lock.release()
            shutil.rmtree(folder, ignore_errors=True)
            if isinstance(error, StoreError):
                raise
            raise refused(folder, error) from error
        return journal

    def close(
        self, keep: KeepPolicy | None = None, *, is_trained: bool = True, num_samples: int = 0
    ) -> None:
        """Finish the session and delete what is not to be kept; idempotent.

        Args:
            keep: what stays, if the user chose anew since the start.
            is_trained: False if a model with random weights took part.
            num_samples: length of the recording, where the disk did not take all of its audio.

        Raises:
            StoreError: the disk is full or gone; what was written stays, marked as not closed.
        """
        if self._is_closed:
            return
        keep = self.header.keep if keep is None else keep
        try:
            self._close_files(keep)
            self._settle(keep, is_trained, num_samples)
        except OSError as error:
            raise refused(self.folder, error) from error
        finally:
            self._release()

    def break_off(self) -> None:
        """Write what there is and leave the session as one that broke off; idempotent.

        Raises:
            StoreError: the disk is full or gone; what was written stays.
        """
        if not self._is_closed:
            try:
                self._close_files(KeepPolicy.AUDIO_AND_TEXT)
            finally:
                self._release()

    def _close_files(self, keep: KeepPolicy) -> None:
        try:
            self.events.close(is_kept=keep is not KeepPolicy.NOTHING)
        finally:
            self.audio.close(is_kept=keep is KeepPolicy.AUDIO_AND_TEXT)

    def _release(self) -> None:
        self._is_closed = True
        with contextlib.suppress(OSError):
            (self.folder / LOCK_NAME).unlink()
        self._lock.release()

    def _settle(self, keep: KeepPolicy, is_trained: bool, num_samples: int) -> None:
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
            num_samples=max(self.audio.num_samples, num_samples),
            num_words=self.events.num_words,
        )
        write_header(self.folder, self.header)
