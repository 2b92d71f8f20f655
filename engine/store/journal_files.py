"""The two files of a recording: what the disk refuses is held until it takes it."""

from pathlib import Path

from engine.audio.wav import HEADER_BYTES, SAMPLE_BYTES, as_int16, from_int16, wav_header
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
from engine.store.held_file import HeldFile
from engine.store.refusals import refused

SYNC_INTERVAL_S = 1.0
"""What a power failure can take of a recording; a killed process loses less."""


class JournalFile:
    """A file that grows, at most a second behind on the disk, and what the disk refuses of it.

    A subclass says what is new (`_is_dirty`), what follows a sync (`_synced`) and what the end
    takes (`_finish`). Thread: `write` and the syncs may run at the same time, each on one.

    Args:
        path: made here.
        head: what it begins with.

    Raises:
        OSError: it cannot be made.
    """

    def __init__(self, path: Path, head: bytes) -> None:
        self.path = path
        self._last_sync_s: float | None = None
        self._file = HeldFile(path)
        try:
            self._file.append(head)
        except OSError:
            self._file.close()
            raise

    @property
    def _is_dirty(self) -> bool:
        return True

    def write(self) -> None:
        """Hand what is held to the operating system.

        Raises:
            StoreError: it was refused, and is still held.
        """
        try:
            self._file.write()
        except OSError as error:
            raise refused(self.path, error) from error

    def sync(self) -> bool:
        """Bring what is new to the disk; return whether there was anything.

        Raises:
            StoreError: the disk is full or gone.
        """
        is_dirty = self._is_dirty
        if is_dirty:
            self._sync()
        return is_dirty

    def sync_if_due(self, now_s: float) -> bool:
        """Bring what is new to the disk if the last time was a second ago; return whether it did.

        Raises:
            StoreError: the disk is full or gone.
        """
        last_s = self._last_sync_s
        if not self._is_dirty or (last_s is not None and now_s - last_s < SYNC_INTERVAL_S):
            return False
        self._last_sync_s = now_s
        return self.sync()

    def close(self, *, is_kept: bool = True) -> None:
        """Finish the file; idempotent.

        Args:
            is_kept: False if it is to be deleted, so that nothing needs to be whole.

        Raises:
            StoreError: the disk is full or gone.
        """
        if self._file.is_closed:
            return
        try:
            if is_kept:
                self._finish()
        finally:
            self._file.close()

    def _sync(self) -> None:
        try:
            self._file.sync()
            self._synced()
        except OSError as error:
            raise refused(self.path, error) from error

    def _synced(self) -> None:
        """All that was appended is on the disk."""

    def _finish(self) -> None:
        self._sync()


class AudioJournal(JournalFile):
    """The audio of a recording as a WAV file.

    What the disk refuses is held in memory and written as soon as it is taken. Thread: `hold` and
    `append` on one, `read_held` and the counts on any; see `JournalFile`.
    """

    def __init__(self, path: Path, sample_rate: int) -> None:
        super().__init__(path, wav_header(sample_rate, 0))
        self.sample_rate = sample_rate

    @property
    def num_samples(self) -> int:
        """Samples appended and not given up so far."""
        return max(0, self._file.num_bytes - HEADER_BYTES) // SAMPLE_BYTES

    @property
    def held_s(self) -> float:
        """Seconds of audio that are not surely on the disk."""
        return self._file.num_held / SAMPLE_BYTES / self.sample_rate

    @property
    def written_s(self) -> float:
        """Seconds of audio that the operating system has taken."""
        num_bytes = self._file.num_bytes - self._file.num_unwritten - HEADER_BYTES
        return max(0, num_bytes) // SAMPLE_BYTES / self.sample_rate

    @property
    def held_until(self) -> int:
        """One past the last sample, if the file does not have all of them yet; else 0."""
        return self.num_samples if self._file.num_unwritten else 0

    def append(self, pcm: Pcm) -> None:
        """Add samples.

        Raises:
            StoreError: the disk refused them; they are held.
        """
        self.hold(pcm)
        self.write()

    def hold(self, pcm: Pcm) -> None:
        """Add samples that the next write or sync writes; never waits for the disk."""
        self._file.hold(as_int16(pcm))

    def read_held(self, start: int, end: int) -> Pcm | None:
        """Return the samples [start, end) from memory, fewer at the end of what there is.

        Returns:
            (n,) float32; None where the disk has them. Never waits for it.
        """
        at, num_bytes = HEADER_BYTES + SAMPLE_BYTES * start, SAMPLE_BYTES * max(0, end - start)
        data = self._file.read_held(at, num_bytes)
        return None if data is None else from_int16(data)

    def give_up(self) -> None:
        """Forget what the disk has not taken; the file ends with the last whole sample."""
        self._file.give_up(SAMPLE_BYTES)

    def _synced(self) -> None:
        # Only now: a header on the disk speaks of nothing that is not there, so that what a
        # power cut leaves behind it can be told from what was recorded.
        num_samples = max(0, self._file.num_synced - HEADER_BYTES) // SAMPLE_BYTES
        self._file.overwrite(wav_header(self.sample_rate, num_samples))

    def _finish(self) -> None:
        self._sync()
        self._sync()  # the header, too


class EventJournal(JournalFile):
    """The events of a recording, one a line.

    What the disk refuses is held in memory and written as soon as it is taken. Thread: `hold` and
    `append` on one; see `JournalFile`.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path, schema_line())
        self.num_words = 0

    @property
    def _is_dirty(self) -> bool:
        return self._file.num_held > 0

    def append(self, event: Event) -> None:
        """Add an event; those that only matter while they are shown are left out.

        Raises:
            StoreError: the disk refused it; it is held.
        """
        self.hold(event)
        self.write()

    def hold(self, event: Event) -> None:
        """As `append`, but leave writing to the next write or sync; never waits for the disk."""
        if not is_lasting(event):
            return
        if isinstance(event, FinalWords):
            self.num_words += len(event.words)
        self._file.hold(encode_event(event))


def is_lasting(event: Event) -> bool:
    """Return whether an event says something about the recording that stays true."""
    if isinstance(event, BackendChanged):
        return event.state is not BackendState.LOADING
    return not isinstance(event, PartialWords | UtteranceChanged | PlayChanged)
