"""What of a recording reaches the disk, and when."""

import logging
import threading
from collections.abc import Callable
from pathlib import Path
from typing import get_args

import numpy as np

from engine.audio.wav import SAMPLE_BYTES
from engine.core.config import KeepPolicy, Settings
from engine.core.errors import StoreError
from engine.core.events import (
    ActivityRevised,
    EditEvent,
    Event,
    Notice,
    RecordingStarted,
    RecordingStopped,
    Severity,
)
from engine.core.timebase import Clock
from engine.session.disk import DiskHooks, DiskWatch, FreeBytes, free_bytes, require_room
from engine.session.kept_audio import KeptAudio
from engine.store.appending import append_events
from engine.store.header import EVENTS_NAME, SessionHeader
from engine.store.journal import Journal
from engine.text.document import TranscriptDocument

logger = logging.getLogger(__name__)

_TEXT_BYTES_PER_S = 1000
"""About what words and speaker rows take."""


class Keeper:
    """Makes the journal of a recording, feeds it events, and closes it.

    Speaker rows are written once they are final: a live diarizer says the newest seconds many
    times over. Edits reach a kept recording also after its end. Events that the disk refuses are
    held in memory and written as soon as it takes them. Thread: `begin`, `end`, `abandon` on the
    control thread; `take` on the event thread; the control thread drains the events before `end`.

    Args:
        sessions_dir: where recordings are.
        clock: host time.
        post: publishes an event.
        stop: asks for the end of the recording; returns at once.
        free: see `engine.session.disk.free_bytes`.
    """

    def __init__(
        self,
        sessions_dir: Path,
        clock: Clock,
        post: Callable[[Event], None] = lambda _: None,
        stop: Callable[[], None] = lambda: None,
        free: FreeBytes = free_bytes,
    ) -> None:
        self._sessions_dir = sessions_dir
        self._clock = clock
        self._post = post
        self._stop = stop
        self._free = free
        self._journal: Journal | None = None
        self._audio: KeptAudio | None = None
        self._disk: DiskWatch | None = None
        self._num_frames_written = 0
        self._num_samples = 0
        self._is_refused = False
        # Edits may come while the control thread closes the journal.
        self._lock = threading.Lock()
        # Where edits go until the next recording begins for whoever makes them.
        self._ended_folder: Path | None = None
        self._has_begun = False

    def begin(self, started: RecordingStarted, settings: Settings) -> KeptAudio | None:
        """Make the journal's folder and files; None if nothing is to be kept.

        Raises:
            StoreError: they cannot be written, or the disk is nearly full.
        """
        self._has_begun = False
        if not started.is_kept:
            return None
        require_room(self._sessions_dir, self._free)
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
        stays = settings.keep_policy is KeepPolicy.AUDIO_AND_TEXT
        self._audio = KeptAudio(journal.audio, self._post, stays=stays)
        self._num_frames_written = self._num_samples = 0
        self._is_refused = False
        self._journal = journal
        hooks = DiskHooks(self._post, self._stop, self._sync_events)
        bytes_per_s = SAMPLE_BYTES * started.sample_rate + _TEXT_BYTES_PER_S
        self._disk = DiskWatch(journal.folder, bytes_per_s, hooks, self._free)
        self._disk.start()
        return self._audio

    def take(self, event: Event, document: TranscriptDocument) -> Event | None:
        """Journal an event that `document` has taken in.

        Returns:
            A notice if the disk begins to refuse; what it refuses is held.
        """
        with self._lock:
            if isinstance(event, RecordingStarted):
                self._has_begun, self._ended_folder = True, None
            try:
                self._write(event, document)
            except StoreError as error:
                return self._refusal(error)
            return self._sync()

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
                try:
                    journal.close(is_trained=is_trained, num_samples=self._num_samples)
                except StoreError as error:
                    raise _not_finished(journal, error) from error

    def abandon(self) -> None:
        """Remove the journal of a recording that never began."""
        self._release_audio()
        with self._lock:
            journal, self._journal = self._journal, None
        if journal is not None:
            try:
                journal.close(KeepPolicy.NOTHING)
            except StoreError as error:
                logger.warning("an empty recording stays on disk: %s", error)

    def _release_audio(self) -> None:
        disk, self._disk = self._disk, None
        if disk is not None:
            disk.close()
        audio, self._audio = self._audio, None
        if audio is not None:
            audio.close()

    def _write(self, event: Event, document: TranscriptDocument) -> None:
        journal, is_edit = self._journal, isinstance(event, get_args(EditEvent))
        if is_edit and self._ended_folder is not None:
            append_events(self._ended_folder / EVENTS_NAME, (event,))
            return
        if journal is None or (is_edit and not self._has_begun):
            return
        if isinstance(event, RecordingStopped):
            self._num_samples = event.num_samples
        if isinstance(event, ActivityRevised) and not event.is_settled:
            self._write_final_rows(journal, document)
        else:
            self._append(journal, event)

    def _append(self, journal: Journal, event: Event) -> None:
        # A disk that refuses is asked once a second, not for every event.
        (journal.events.hold if self._is_refused else journal.events.append)(event)

    def _sync_events(self) -> None:
        """Bring the last lines to the disk when nothing more is said. Thread: the disk watch's."""
        with self._lock:
            notice = self._sync()
        if notice is not None:
            self._post(notice)

    def _sync(self) -> Notice | None:
        """Bring new lines to the disk once a second; return what to tell of it."""
        if self._journal is None:
            return None
        try:
            is_done = self._journal.events.sync_if_due(self._clock.now_s())
        except StoreError as error:
            return self._refusal(error)
        if not (is_done and self._is_refused):
            return None
        self._is_refused = False
        return Notice(Severity.INFO, "The disk takes the text again; none of it was lost.")

    def _refusal(self, error: StoreError) -> Notice | None:
        """Return what to tell of a refusal, once until the disk takes text again."""
        if self._is_refused:
            return None
        # Changes of an ended recording are not held: each refusal is told.
        self._is_refused = self._journal is not None
        logger.error("events are not written: %s", error)
        return Notice(
            Severity.ERROR,
            error.message,
            f"{error.advice} Export the transcript before you close it.",
        )

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
            # Before it is written: what the disk refuses is held, not told again.
            self._num_frames_written = stop
            self._append(journal, ActivityRevised(first, activity.frame_ms, rows, stop, epoch))
            first = stop


def _not_finished(journal: Journal, error: StoreError) -> StoreError:
    held_s = journal.audio.held_s
    missing = f" The last {held_s:.1f} s of its sound may not be on the disk." if held_s else ""
    return StoreError(
        f"{error.message}{missing} What the disk took is kept, marked as broken off.",
        advice=f"{error.advice} Export the transcript before you close it.",
    )
