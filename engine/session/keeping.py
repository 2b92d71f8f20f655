"""What of a recording reaches the disk, and when."""

import logging
import threading
from pathlib import Path
from typing import get_args

import numpy as np

from engine.audio.spans import AudioSpanReader
from engine.core.config import KeepPolicy, Settings
from engine.core.errors import StoreError
from engine.core.events import (
    ActivityRevised,
    EditEvent,
    Event,
    Notice,
    RecordingStarted,
    Severity,
)
from engine.core.timebase import Clock
from engine.core.types import Pcm
from engine.store.appending import append_events
from engine.store.header import EVENTS_NAME, SessionHeader
from engine.store.journal import Journal
from engine.text.document import TranscriptDocument

logger = logging.getLogger(__name__)


class KeptAudio:
    """The journal's audio as capture and lanes see it.

    Thread: `append` and `sync_if_due` on the capture thread, `read_audio` on any.
    """

    def __init__(self, journal: Journal) -> None:
        self._audio = journal.audio
        self._reader = AudioSpanReader(journal.audio.path)

    @property
    def path(self) -> Path:
        """The WAV file."""
        return self._audio.path

    def append(self, pcm: Pcm) -> None:
        """Write samples through to the operating system."""
        self._audio.append(pcm)

    def sync_if_due(self, now_s: float) -> bool:
        """Bring them to the disk, at most a second apart."""
        return self._audio.sync_if_due(now_s)

    def read_audio(self, start: int, end: int) -> Pcm:
        """Return the samples [start, end) that are on disk."""
        return self._reader.read(start, end)

    def close(self) -> None:
        """Release the file; idempotent."""
        self._reader.close()


class Keeper:
    """Makes the journal of a recording, feeds it events, and closes it.

    Speaker rows are written once they are final: a live diarizer says the newest seconds many
    times over. Edits reach a kept recording also after its end. Thread: `begin`, `end`, `abandon`
    on the control thread; `take` on the event thread; the control thread drains the events before
    `end`.
    """

    def __init__(self, sessions_dir: Path, clock: Clock) -> None:
        self._sessions_dir = sessions_dir
        self._clock = clock
        self._journal: Journal | None = None
        self._audio: KeptAudio | None = None
        self._num_frames_written = 0
        self._can_write = True
        # Edits may come while the control thread closes the journal.
        self._lock = threading.Lock()
        # Where edits go until the next recording begins for whoever makes them.
        self._ended_folder: Path | None = None
        self._has_begun = False

    def begin(self, started: RecordingStarted, settings: Settings) -> KeptAudio | None:
        """Make the journal's folder and files; None if nothing is to be kept.

        Raises:
            StoreError: they cannot be written.
        """
        self._has_begun = False
        if not started.is_kept:
            return None
        journal = Journal.create(
            self._sessions_dir,
            SessionHeader(
                id=started.recording_id,
                started_at=started.started_at,
                sample_rate=started.sample_rate,
                device=started.device,
                keep=settings.keep_policy,
                recognizer=settings.recognizer,
                diarizer=settings.diarizer,
            ),
        )
        self._audio = KeptAudio(journal)
        self._num_frames_written = 0
        self._can_write = True
        self._journal = journal
        return self._audio

    def take(self, event: Event, document: TranscriptDocument) -> Event | None:
        """Journal an event that `document` has taken in.

        Returns:
            A notice if the disk refuses; the recording goes on without the journal of events.
        """
        with self._lock:
            if isinstance(event, RecordingStarted):
                self._has_begun, self._ended_folder = True, None
            try:
                self._write(event, document)
            except StoreError as error:
                logger.exception("the journal of events failed")
                self._can_write = False
                return Notice(
                    Severity.ERROR,
                    error.message,
                    f"{error.advice} Export the transcript before you close it.",
                )
        return None

    def end(self, *, is_trained: bool) -> None:
        """Close the journal and delete what is not to be kept.

        Raises:
            StoreError: the disk is full or gone; what was written stays.
        """
        self._release_audio()
        with self._lock:
            journal, self._journal = self._journal, None
            if journal is not None:
                self._ended_folder = journal.folder
                journal.close(is_trained=is_trained)

    def abandon(self) -> None:
        """Remove the journal of a recording that never began."""
        journal, self._journal = self._journal, None
        self._release_audio()
        if journal is not None:
            journal.close(KeepPolicy.NOTHING)

    def _release_audio(self) -> None:
        audio, self._audio = self._audio, None
        if audio is not None:
            audio.close()

    def _write(self, event: Event, document: TranscriptDocument) -> None:
        journal, is_edit = self._journal, isinstance(event, get_args(EditEvent))
        if is_edit and self._ended_folder is not None:
            append_events(self._ended_folder / EVENTS_NAME, (event,))
        elif journal is None or not self._can_write or (is_edit and not self._has_begun):
            return
        elif isinstance(event, ActivityRevised) and not event.is_settled:
            self._write_final_rows(journal, document)
            journal.events.sync_if_due(self._clock.now_s())
        else:
            journal.events.append(event)
            journal.events.sync_if_due(self._clock.now_s())

    def _write_final_rows(self, journal: Journal, document: TranscriptDocument) -> None:
        activity = document.activity
        first, end = self._num_frames_written, activity.final_until
        if end <= first:
            return
        # Epochs do not mix in one event: rows of the old one end where the new one begins.
        while first < end:
            epoch = activity.epoch_at(first)
            stop = first + 1
            while stop < end and activity.epoch_at(stop) == epoch:
                stop += 1
            rows = activity.rows(first, stop).astype(np.float32)
            journal.events.append(ActivityRevised(first, activity.frame_ms, rows, stop, epoch))
            first = stop
        self._num_frames_written = end
