"""Finishes a session that broke off, with what its journal holds."""

import contextlib
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from filelock import Timeout

from engine.core.config import KeepPolicy
from engine.core.errors import StoreError
from engine.core.events import (
    BackendChanged,
    BackendState,
    FinalWords,
    RecordingStarted,
    RecordingStopped,
    SpanMarked,
)
from engine.core.timebase import format_time
from engine.store.event_json import EventFile
from engine.store.header import (
    AUDIO_NAME,
    EVENTS_NAME,
    HEADER_NAME,
    LOCK_NAME,
    SessionHeader,
    write_header,
)
from engine.store.mending import mend_audio, mend_events
from engine.store.refusals import refused
from engine.store.session_folder import header_of, session_lock

_MAX_DAYS = 30
"""Damage can leave times in an event that no recording reaches."""


@dataclass(frozen=True, slots=True)
class RecoveryReport:
    """What became of a session that broke off; sentences for people.

    Args:
        id: name of its folder.
        is_there: False if there was nothing in it, so that it was removed.
        duration_s: seconds kept.
        num_words: final words kept.
        kept: what is there.
        cut: what was removed from its files; may be empty.
        lost: what is or may be missing; may be empty.
    """

    id: str
    is_there: bool
    duration_s: float
    num_words: int
    kept: str
    cut: str = ""
    lost: str = ""

    @property
    def text(self) -> str:
        """All of it."""
        return " ".join(part for part in (self.kept, self.cut, self.lost) if part)


@dataclass(slots=True)
class _Told:
    """What the events of a session say.

    Args:
        num_words: final words.
        until: the sample up to which they tell something.
        is_complete: whether every word of it was told.
        is_trained: False if a model with random weights took part.
        num_damaged: lines that cannot be read.
        has_begun: whether a first block came.
    """

    num_words: int = 0
    until: int = 0
    is_complete: bool = False
    is_trained: bool = True
    num_damaged: int = 0
    has_begun: bool = False


LOCK_WAIT_S = 1.0


def recover_session(folder: Path) -> RecoveryReport:
    """Cut a broken off session's files cleanly, close it, and delete what was not to be kept.

    One that ended in order is left as it is, so that this may be done twice.

    Raises:
        StoreError: it is being recorded, or cannot be written.
    """
    try:
        with locked(folder):
            return _recover(folder)
    except OSError as error:
        raise refused(folder, error, "What is left of the recording") from error


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold a session that is not closed, so that nobody else finishes or changes it.

    Raises:
        StoreError: it is being recorded, or another holds it.
    """
    lock = session_lock(folder)
    try:
        # A list that looks whether it is being recorded holds it for a moment.
        lock.acquire(timeout=LOCK_WAIT_S, poll_interval=0.02)
    except Timeout as error:
        raise StoreError(
            f"The session {folder.name} is being recorded.", advice="Stop it first."
        ) from error
    try:
        yield
    finally:
        # While it is held: the next one who asks makes a lock of his own.
        with contextlib.suppress(OSError):
            (folder / LOCK_NAME).unlink()
        lock.release()


def _recover(folder: Path) -> RecoveryReport:
    # Read under the lock: whoever recorded it may have closed it just now.
    header = header_of(folder)
    if header.is_closed:
        length = format_time(header.duration_s)
        kept = f"The recording {folder.name} is whole: {length}, {_words(header.num_words)}."
        return RecoveryReport(folder.name, True, header.duration_s, header.num_words, kept)
    events, audio = folder / EVENTS_NAME, folder / AUDIO_NAME
    torn_bytes = mend_events(events) if events.exists() else 0
    told = _read(events, _MAX_DAYS * 86_400 * header.sample_rate)
    num_samples = num_cut = 0
    if audio.exists():
        num_samples, num_cut = mend_audio(audio, header.sample_rate, told.until)
    # Lines that this program does not understand may be somebody's words to another one.
    is_empty = num_samples == 0 and not told.has_begun and told.num_words + told.num_damaged == 0
    if is_empty:
        shutil.rmtree(folder)
        kept = f"The recording {folder.name} broke off before anything was recorded."
        return RecoveryReport(folder.name, False, 0.0, 0, kept)
    is_text_only = header.keep is KeepPolicy.TEXT
    if is_text_only:
        audio.unlink(missing_ok=True)
    header = replace(
        header,
        is_closed=True,
        is_recovered=True,
        is_trained=header.is_trained and told.is_trained,
        num_samples=max(num_samples, told.until),
        num_words=told.num_words,
    )
    write_header(folder, header)
    for scratch in folder.glob(f".{HEADER_NAME}.*"):
        scratch.unlink(missing_ok=True)
    audio_s = num_samples / header.sample_rate
    return RecoveryReport(
        folder.name,
        True,
        header.duration_s,
        told.num_words,
        _kept(header, audio_s, is_text_only=is_text_only),
        _cut(torn_bytes, num_cut / header.sample_rate),
        _lost(told, audio_s, is_text_only=is_text_only),
    )


def _read(path: Path, max_samples: int) -> _Told:
    told, file = _Told(), EventFile(path)
    for event in file.read():
        until = 0
        match event:
            case FinalWords():
                told.num_words += len(event.words)
                until = max((word.end for word in event.words), default=0)
            case SpanMarked():
                until = event.end
            case RecordingStarted():
                told.has_begun = True
            case RecordingStopped():
                told.is_complete, until = True, event.num_samples
            case BackendChanged(state=BackendState.READY):
                told.is_trained = told.is_trained and event.is_trained
            case _:
                pass
        if until <= max_samples:
            told.until = max(told.until, until)
    told.num_damaged = file.num_skipped
    return told


def _kept(header: SessionHeader, audio_s: float, *, is_text_only: bool) -> str:
    words = _words(header.num_words)
    if is_text_only or audio_s == 0:
        return f"The recording {header.id} broke off. {words} are kept.".replace(
            "1 word are", "1 word is"
        )
    return f"The recording {header.id} broke off. {format_time(audio_s)} and {words} are kept."


def _cut(torn_bytes: int, zeros_s: float) -> str:
    parts = []
    if torn_bytes:
        parts.append("a torn line at the end of its text")
    if zeros_s > 0:
        parts.append(f"{zeros_s:.1f} s of zeros where sound had not reached the disk")
    return f"Cut off: {' and '.join(parts)}." if parts else ""


def _lost(told: _Told, audio_s: float, *, is_text_only: bool) -> str:
    sentences = []
    if is_text_only and audio_s > 0:
        length = format_time(audio_s)
        sentences.append(f"Only its text was to be kept, so its sound ({length}) was deleted.")
    if told.num_damaged:
        noun = "line" if told.num_damaged == 1 else "lines"
        sentences.append(f"{told.num_damaged} damaged {noun} of its text cannot be read.")
    if not told.is_complete:
        sentences.append(
            "Up to a second of sound may be missing, and speech just before the end has no text."
        )
    return " ".join(sentences)


def _words(count: int) -> str:
    return "1 word" if count == 1 else f"{count} words"
