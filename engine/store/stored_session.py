"""A session on disk: what it holds, and its line in a list."""

import os
from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.audio.level_track import LevelTrack, read_level_track
from engine.core.errors import StoreError
from engine.core.events import Event, FinalWords, RecordingStarted
from engine.store.event_json import EventFile
from engine.store.header import AUDIO_NAME, EVENTS_NAME
from engine.store.session_folder import (
    header_of,
    is_active,
    size_on_disk,
    stored_num_samples,
)
from engine.text.document import TranscriptDocument


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
        self._events = EventFile(self.events_path)

    @property
    def events_path(self) -> Path:
        """The file of its events; it may be missing."""
        return self.folder / EVENTS_NAME

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

    def events(self, passed_over: Collection[type[Any]] = ()) -> Iterator[Event]:
        """Yield its events in order, without those that cannot be read.

        Args:
            passed_over: kinds that are not even decoded; see `EventFile.read`.

        Raises:
            StoreError: the file cannot be read.
        """
        return self._events.read(passed_over)

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
