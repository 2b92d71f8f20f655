"""The sessions kept on this machine, whole ones and those that broke off."""

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from platformdirs import user_data_path

from engine.audio.level_track import LevelTrack, read_level_track
from engine.core.errors import StoreError, reason_of
from engine.core.events import EditEvent, Event, FinalWords, RecordingStarted
from engine.store.appending import append_events
from engine.store.event_json import EventFile
from engine.store.header import AUDIO_NAME, EVENTS_NAME
from engine.store.recovery import RecoveryReport, recover_session
from engine.store.session_folder import (
    header_of,
    is_active,
    is_session,
    size_on_disk,
    stored_num_samples,
)
from engine.text.document import TranscriptDocument

LAST = "last"
"""What stands for the newest session wherever an id is asked for."""
_DELETED = ".deleted"


@dataclass(frozen=True, slots=True)
class SessionInfo:
    """A stored session in a list.

    Args:
        id: name of its folder.
        title: for people; may be empty.
        started_at: local wall time, ISO 8601.
        duration_s: seconds of audio; of a broken off session, as far as it reached the disk.
        num_words: final words.
        is_closed: whether it ended in order, or was recovered since.
        is_active: whether a program is recording it now.
        has_audio: whether its audio is there.
        size_bytes: what it takes on disk.
        is_recovered: whether it broke off and was closed afterwards.
    """

    id: str
    title: str
    started_at: str
    duration_s: float
    num_words: int
    is_closed: bool
    is_active: bool
    has_audio: bool
    size_bytes: int
    is_recovered: bool = False

    @property
    def is_broken_off(self) -> bool:
        """Whether nobody finished it: `SessionLibrary.recover` does."""
        return not self.is_closed and not self.is_active


class StoredSession:
    """A session on disk. Thread: one at a time."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.header = header_of(folder)
        self._events = EventFile(folder / EVENTS_NAME)

    @property
    def audio_path(self) -> Path | None:
        """The WAV file; None if audio was not kept."""
        path = self.folder / AUDIO_NAME
        return path if os.path.isfile(path) else None

    def levels(self) -> LevelTrack | None:
        """Return how loud it was over time; None if audio was not kept.

        Raises:
            AudioFileError: the file cannot be read.
        """
        path = self.audio_path
        return read_level_track(path) if path is not None else None

    @property
    def num_skipped(self) -> int:
        """Damaged lines passed over when events were last read."""
        return self._events.num_skipped

    def events(self) -> Iterator[Event]:
        """Yield its events in order, without those that cannot be read.

        Raises:
            StoreError: the file cannot be read.
        """
        return self._events.read()

    def document(self) -> TranscriptDocument:
        """Return its transcript, rebuilt from its events.

        Raises:
            StoreError: the events cannot be read.
        """
        header, document = self.header, TranscriptDocument()
        document.apply(
            RecordingStarted(
                header.id, header.sample_rate, header.started_at, header.device, is_kept=True
            )
        )
        for event in self.events():
            try:
                document.apply(event)
            except (ValueError, ArithmeticError):
                # Damage can leave a line well-formed and its numbers senseless.
                self._events.num_skipped += 1
        document.num_samples = max(document.num_samples, stored_num_samples(self.folder, header))
        document.is_trained = document.is_trained and header.is_trained
        return document

    def info(self) -> SessionInfo:
        """Return its line in a list."""
        header = self.header
        num_words = header.num_words
        if not header.is_closed:
            # What is wrong with them is told to whoever opens the session.
            with suppress(StoreError):
                num_words = sum(len(e.words) for e in self.events() if isinstance(e, FinalWords))
        return SessionInfo(
            id=header.id,
            title=header.title,
            started_at=header.started_at,
            duration_s=stored_num_samples(self.folder, header) / header.sample_rate,
            num_words=num_words,
            is_closed=header.is_closed,
            is_active=is_active(self.folder, header),
            has_audio=self.audio_path is not None,
            size_bytes=size_on_disk(self.folder),
            is_recovered=header.is_recovered,
        )


class SessionLibrary:
    """The folder of all sessions. Thread: any."""

    def __init__(self, root: Path | None = None) -> None:
        self.root = root or user_data_path("vivavoce", appauthor=False) / "sessions"

    def list(self) -> tuple[SessionInfo, ...]:
        """Return all sessions, the newest first.

        Raises:
            StoreError: the folder cannot be read.
        """
        found = []
        for folder in self._folders():
            try:
                found.append(StoredSession(folder).info())
            except FileNotFoundError:  # deleted meanwhile
                continue
            except OSError as error:
                raise StoreError(
                    f"{folder} cannot be read: {reason_of(error)}.",
                    advice="Check who may read the folder.",
                ) from error
        return tuple(sorted(found, key=lambda info: (_time(info), info.id), reverse=True))

    def open(self, reference: str) -> StoredSession:
        """Return a session.

        Args:
            reference: its id, the beginning of it if no other id begins so, or "last".

        Raises:
            StoreError: there is no such session, or more than one.
        """
        return StoredSession(self._find(reference))

    def delete(self, reference: str) -> None:
        """Delete a session from disk.

        Raises:
            StoreError: there is no such session, it is being recorded, or it cannot be deleted.
        """
        folder = self._find_idle(reference)
        # Hidden first, in one step: a process that dies half-way leaves no half of a session.
        hidden = folder.with_name(f".{folder.name}{_DELETED}")
        try:
            folder.rename(hidden)
            # Whoever lists the sessions meanwhile helps.
            with suppress(FileNotFoundError):
                shutil.rmtree(hidden)
        except OSError as error:
            raise StoreError(
                f"{error.filename or folder} cannot be deleted: {reason_of(error)}.",
                advice="Check who may change the folder.",
            ) from error

    def recover(self, reference: str) -> RecoveryReport:
        """Finish a session that broke off; nothing is changed in one that did not.

        Raises:
            StoreError: there is no such session, it is being recorded, or it cannot be written.
        """
        return recover_session(self._find(reference))

    def delete_audio(self, reference: str) -> None:
        """Delete a session's audio and keep its text.

        Raises:
            StoreError: there is no such session, it is being recorded, or it cannot be deleted.
        """
        folder = self._find_idle(reference)
        try:
            (folder / AUDIO_NAME).unlink(missing_ok=True)
        except OSError as error:
            raise StoreError(
                f"{folder} cannot be changed: {reason_of(error)}.",
                advice="Check who may change the folder.",
            ) from error

    def append_edits(self, reference: str, events: Sequence[EditEvent]) -> None:
        """Add the user's changes to a session, behind what was told before; at once on disk.

        Raises:
            StoreError: there is no such session, it is being recorded, or it cannot be written.
        """
        append_events(self._find_idle(reference) / EVENTS_NAME, events)

    def _folders(self) -> tuple[Path, ...]:
        try:
            found = tuple(self.root.iterdir())
        except FileNotFoundError:
            return ()
        except OSError as error:
            raise StoreError(
                f"The recordings in {self.root} cannot be read: {reason_of(error)}.",
                advice="Check who may read the folder.",
            ) from error
        for path in found:
            if path.name.startswith(".") and path.name.endswith(_DELETED):
                shutil.rmtree(path, ignore_errors=True)
        return tuple(path for path in found if is_session(path))

    def _find(self, reference: str) -> Path:
        if reference == LAST:
            newest = self.list()[:1]
            if not newest:
                raise StoreError(
                    f"There is no session in {self.root} yet.", advice="Record something first."
                )
            return self.root / newest[0].id
        folders = {path.name: path for path in self._folders()}
        if reference in folders:
            return folders[reference]
        matches = sorted(name for name in folders if reference and name.startswith(reference))
        if len(matches) == 1:
            return folders[matches[0]]
        if matches:
            raise StoreError(
                f"{len(matches)} sessions begin with {reference!r}.",
                advice=f"Choose one of: {', '.join(matches[:5])}.",
            )
        raise StoreError(
            f"There is no session {reference!r} in {self.root}.",
            advice="It may have been deleted.",
            command="vivavoce sessions list",
        )

    def _find_idle(self, reference: str) -> Path:
        folder = self._find(reference)
        if is_active(folder, header_of(folder)):
            raise StoreError(
                f"The session {folder.name} is being recorded.", advice="Stop it first."
            )
        return folder


def _time(info: SessionInfo) -> float:
    try:
        return datetime.fromisoformat(info.started_at).timestamp()
    except (ValueError, OverflowError):
        return 0.0
