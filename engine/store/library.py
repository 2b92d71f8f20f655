"""The sessions kept on this machine, whole ones and those that broke off."""

import shutil
from collections.abc import Sequence
from contextlib import nullcontext, suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from platformdirs import user_data_path

from engine.core.errors import StoreError, reason_of
from engine.core.events import EditEvent
from engine.store.appending import append_events
from engine.store.header import AUDIO_NAME, EVENTS_NAME, clean_title, write_header
from engine.store.recovery import RecoveryReport, locked, recover_session
from engine.store.session_folder import header_of, is_active, is_session
from engine.store.stored_session import SessionInfo, StoredSession
from engine.text.search import fold

__all__ = ["LAST", "SessionInfo", "SessionLibrary", "StoredSession"]

LAST = "last"
"""What stands for the newest session wherever an id is asked for."""
_DELETED = ".deleted"


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
            reference: its id, the beginning of it or its whole title if that is no other's, or
                "last". Case and accents of a title do not matter.

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
            raise _unchangeable(folder, error) from error

    def rename(self, reference: str, title: str) -> str:
        """Give a session a title; return it as it is now.

        Args:
            reference: see `open`.
            title: made fit for one line; empty to take it away.

        Raises:
            StoreError: there is no such session, it is being recorded, or it cannot be written.
        """
        folder = self._find(reference)
        try:
            is_closed = header_of(folder).is_closed
            # Nothing but its title changes in one that is closed; another may be finished just now.
            with nullcontext() if is_closed else locked(folder):
                header = replace(header_of(folder), title=clean_title(title))
                write_header(folder, header)
        except OSError as error:
            raise _unchangeable(folder, error) from error
        return header.title

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
        begins = {name for name in folders if reference and name.startswith(reference)}
        called = {name for name, path in folders.items() if _is_called(path, reference)}
        matches = sorted(begins | called)
        if len(matches) == 1:
            return folders[matches[0]]
        if matches:
            verb = "begin with" if begins else "are called"
            raise StoreError(
                f"{len(matches)} sessions {verb} {reference!r}.",
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


def _is_called(folder: Path, title: str) -> bool:
    wanted = fold(clean_title(title))
    with suppress(OSError):
        return bool(wanted) and fold(header_of(folder).title) == wanted
    return False


def _unchangeable(folder: Path, error: OSError) -> StoreError:
    return StoreError(
        f"{folder} cannot be changed: {reason_of(error)}.",
        advice="Check who may change the folder.",
    )


def _time(info: SessionInfo) -> float:
    try:
        return datetime.fromisoformat(info.started_at).timestamp()
    except (ValueError, OverflowError):
        return 0.0
