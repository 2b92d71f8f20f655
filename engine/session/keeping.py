"""What of a recording reaches the disk, and when."""

import logging
import threading
from collections.abc import Callable
from concurrent.futures import CancelledError, Future, wait
from pathlib import Path
from typing import TypeVar, get_args

from engine.core.config import Settings
from engine.core.errors import StoreError
from engine.core.events import (
    EditEvent,
    Event,
    Notice,
    RecordingStarted,
    RecordingStopped,
    Severity,
)
from engine.core.timebase import MonotonicClock
from engine.core.workers import Workers
from engine.session.disk import FreeBytes, free_bytes, require_room
from engine.session.disk_answer import DiskAnswer
from engine.session.kept_audio import KeptAudio
from engine.session.kept_recording import KeepingHooks, KeptRecording
from engine.session.kept_text import text_refused
from engine.store.appending import append_events
from engine.store.header import EVENTS_NAME, SessionHeader, clean_title
from engine.store.journal import Journal
from engine.text.document import TranscriptDocument

logger = logging.getLogger(__name__)
T = TypeVar("T")

BEGIN_S = 5.0
"""What a disk may take to make a recording's files."""
END_S = 20.0
"""What it may take to finish a recording, before that is left to `recover`."""
HURRIED_S = 0.7
"""What it may take when the session is being closed."""
_TELL_S = 1.0
_POLL_S = 0.05


class Keeper:
    """Makes the journals of recordings, gives each its events, and closes them.

    Whatever waits for the disk does so on threads that nobody else waits for, or not for long.
    Events belong to the recording whose `RecordingStarted` came last, whenever its journal is
    closed; edits reach a kept recording also after its end.

    Thread: `begin`, `end`, `abandon` on the control thread, after the events so far were taken;
    `take` on the one that takes events; the rest on any.

    Args:
        sessions_dir: where recordings are.
        post: publishes an event.
        stop: asks for the end of the recording; returns at once.
        free: see `engine.session.disk.free_bytes`.
    """

    def __init__(
        self,
        sessions_dir: Path,
        post: Callable[[Event], None] = lambda _: None,
        stop: Callable[[], None] = lambda: None,
        free: FreeBytes = free_bytes,
    ) -> None:
        self._sessions_dir = sessions_dir
        self._post = post
        self._hooks = KeepingHooks(post, stop, free)
        self._lock = threading.Lock()
        # The journal that is open, whether its first event has come or not.
        self._open: KeptRecording | None = None
        # As the events tell it: the recording that runs, and the one that edits are of.
        self._running_id: str | None = None
        self._newest: KeptRecording | None = None
        # One after the other: an edit of a recording comes after its end.
        self._orders = Workers(1, "vivavoce-keeping")
        self._clock = MonotonicClock()
        # NB: written by the orders' thread, read by the watch.
        self._order_began_s: float | None = None
        self._is_hurried = threading.Event()
        self._answer = DiskAnswer(sessions_dir, self._busy_s, post)

    def begin(
        self,
        started: RecordingStarted,
        settings: Settings,
        title: str = "",
        *,
        is_patient: bool = False,
    ) -> KeptAudio | None:
        """Make the journal's folder and files; None if nothing is to be kept.

        Args:
            started: describes the recording.
            settings: say what is kept, and what is recorded with.
            title: what the recording is called until the user says otherwise; may be empty.
            is_patient: whether the source of its audio can wait for the disk.

        Raises:
            StoreError: they cannot be written, the disk is nearly full, or does not answer.
        """
        if not started.is_kept:
            return None
        header = SessionHeader(
            id=started.recording_id,
            started_at=started.started_at,
            sample_rate=started.sample_rate,
            title=clean_title(title),
            device=started.device,
            keep=settings.keep_policy,
            recognizer=settings.recognizer,
            diarizer=settings.diarizer,
        )
        self._answer.start()
        self._is_hurried.clear()
        making = self._order(lambda: self._make(header, is_patient=is_patient))
        if not self._wait(making, BEGIN_S):
            if not making.cancel():
                making.add_done_callback(_discard)
            raise StoreError(
                f"The disk of {self._sessions_dir} does not answer, so no recording can be kept "
                "there.",
                advice="Check the disk, its cable, or the network that leads there; choose another "
                "folder for recordings, or keep nothing.",
            )
        kept = _result(making)
        kept.start()
        with self._lock:
            self._open = kept
        return kept.audio

    def take(self, event: Event, document: TranscriptDocument) -> None:
        """Keep an event that `document` has taken in; returns at once."""
        with self._lock:
            if isinstance(event, RecordingStarted):
                self._running_id = event.recording_id
                is_ours = self._open is not None and self._open.recording_id == self._running_id
                self._newest = self._open if is_ours else None
            self._give(event, document)
            if isinstance(event, RecordingStopped):
                self._running_id = None

    def drain(self, timeout_s: float) -> bool:
        """Block until what was taken is with the operating system; False if the disk is slow."""
        if self._answer.is_missing:
            return False
        with self._lock:
            kept = self._open
        ordered = self._order(lambda: None)
        is_written = kept is None or kept.wait_until_written(timeout_s)
        return bool(wait((ordered,), timeout_s if is_written else 0.0).done) and is_written

    def end(
        self,
        *,
        is_trained: bool,
        is_whole: bool = True,
        on_wait: Callable[[], None] = lambda: None,
    ) -> None:
        """Close the journal and delete what is not to be kept.

        A disk that does not answer is waited for `END_S`, or until `hurry`. What is not on it then
        is written should it answer later; until then the session counts as broken off.

        Args:
            is_trained: False if a model with random weights took part.
            is_whole: False if not everything was taken that was told; it stays broken off then.
            on_wait: called once if it takes longer than a moment.

        Raises:
            StoreError: the disk is full or gone, or does not answer; what was written stays.
        """
        with self._lock:
            kept, self._open = self._open, None
            if kept is None:
                return None
            kept.end()
            # Edits from now on are ordered behind it.
            finishing = self._order(lambda: kept.finish(is_trained=is_trained, is_whole=is_whole))
        is_done = self._wait(finishing, _TELL_S)
        if not (is_done or self._is_hurried.is_set()):
            on_wait()
            is_done = self._wait(finishing, END_S - _TELL_S)
        if is_done:
            return _result(finishing)
        finishing.add_done_callback(lambda ended: self._tell_late(kept, ended))
        raise StoreError(
            f"The disk does not answer, and the recording is not whole in {kept.folder}.",
            advice="Leave the program running until the disk answers: then it is finished. What is "
            "missing when the program ends is lost; the rest is offered for recovery.",
        )

    def abandon(self) -> None:
        """Remove the journal of a recording that never began."""
        with self._lock:
            kept, self._open = self._open, None
        if kept is None:
            return
        kept.end()
        removing = self._order(kept.discard)
        try:
            if self._wait(removing, BEGIN_S):
                _result(removing)
        except StoreError as error:
            logger.warning("an empty recording stays on disk: %s", error)

    @property
    def is_hurried(self) -> bool:
        """Whether nobody is to wait for the disk."""
        return self._is_hurried.is_set()

    def hurry(self) -> None:
        """Let nobody wait for the disk any longer than a moment, until a recording begins."""
        self._is_hurried.set()

    def close(self, timeout_s: float) -> bool:
        """End the threads; False if the disk does not let one go."""
        self.hurry()
        self._answer.close()
        return self._orders.close(timeout_s)

    def _make(self, header: SessionHeader, *, is_patient: bool) -> KeptRecording:
        require_room(self._sessions_dir, self._hooks.free)
        journal = Journal.create(self._sessions_dir, header)
        return KeptRecording(journal, self._hooks, is_patient=is_patient)

    def _give(self, event: Event, document: TranscriptDocument) -> None:
        is_edit = isinstance(event, get_args(EditEvent))
        is_between = self._running_id is None and not is_edit
        # What is told before a recording's first block is the next one's.
        kept = self._open if is_between else self._newest
        if kept is None:
            return
        if kept is self._open:
            kept.take(event, document)
        elif is_edit:
            self._order(lambda: self._append(kept.folder, event))

    def _append(self, folder: Path, edit: Event) -> None:
        try:
            append_events(folder / EVENTS_NAME, (edit,))
        except StoreError as error:
            # Changes of an ended recording are not held: each refusal is told.
            self._post(text_refused(error))

    def _tell_late(self, kept: KeptRecording, ended: "Future[None]") -> None:
        error = None if ended.cancelled() else ended.exception()
        if isinstance(error, StoreError):
            self._post(Notice(Severity.ERROR, error.message, error.advice))
        elif error is None and not ended.cancelled():
            self._post(Notice(Severity.INFO, f"The recording is whole in {kept.folder} now."))

    def _order(self, work: Callable[[], T]) -> "Future[T]":
        """Have something done that may wait for the disk."""

        def timed() -> T:
            self._order_began_s = self._clock.now_s()
            try:
                return work()
            finally:
                self._order_began_s = None

        return self._orders.submit(timed)

    def _busy_s(self) -> float:
        kept, began_s = self._open, self._order_began_s
        ordered_s = 0.0 if began_s is None else self._clock.now_s() - began_s
        return max(ordered_s, 0.0 if kept is None else kept.busy_s)

    def _wait(self, future: "Future[T]", timeout_s: float) -> bool:
        """Return whether it is done in time, which is short once somebody is in a hurry."""
        end_s = self._clock.now_s() + timeout_s
        while not wait((future,), _POLL_S).done:
            if self._is_hurried.is_set():
                return bool(wait((future,), min(timeout_s, HURRIED_S)).done)
            if self._clock.now_s() >= end_s:
                return False
        return True


def _result(done: "Future[T]") -> T:
    try:
        return done.result()
    except CancelledError as error:
        raise StoreError("The session is closed.", advice="Open a new one.") from error


def _discard(made: "Future[KeptRecording]") -> None:
    """Remove what was made too late."""
    if not made.cancelled() and made.exception() is None:
        kept = made.result()
        kept.end()
        kept.discard()
