"""One recording on its way to the disk, on threads of its own."""

from collections.abc import Callable
from dataclasses import dataclass

from engine.audio.wav import SAMPLE_BYTES
from engine.core.config import KeepPolicy
from engine.core.errors import StoreError
from engine.core.events import Event, RecordingStopped
from engine.session.disk import DiskHooks, DiskWatch, FreeBytes
from engine.session.disk_thread import DiskThread
from engine.session.kept_audio import KeptAudio
from engine.session.kept_text import TEXT_ADVICE, KeptText
from engine.store.journal import Journal
from engine.store.journal_files import SYNC_INTERVAL_S
from engine.text.document import TranscriptDocument

_TEXT_BYTES_PER_S = 1000
"""About what words and speaker rows take."""
_WRITE_INTERVAL_S = 1.0


@dataclass(frozen=True, slots=True)
class KeepingHooks:
    """What keeping a recording needs from others. Thread: any; none of them waits.

    Args:
        post: publishes an event.
        stop: asks for the end of the recording.
        free: see `engine.session.disk.free_bytes`. Thread: one that may wait for the disk.
    """

    post: Callable[[Event], None]
    stop: Callable[[], None]
    free: FreeBytes


class KeptRecording:
    """A recording's journal, and the threads that bring it to the disk.

    One thread writes as soon as something comes, so that a killed process loses next to nothing;
    another syncs once a second and looks at the room that is left, so that writing does not wait
    for that. Thread: `take` on the one that takes events; `finish` and `discard` on one that may
    wait for the disk.

    Args:
        journal: new.
        hooks: see `KeepingHooks`.
        is_patient: whether the source of the audio can wait.
    """

    def __init__(self, journal: Journal, hooks: KeepingHooks, *, is_patient: bool) -> None:
        self._journal = journal
        self.recording_id = journal.header.id
        self.folder = journal.folder
        stays = journal.header.keep is KeepPolicy.AUDIO_AND_TEXT
        self.audio = KeptAudio(journal.audio, hooks.post, stays=stays, is_patient=is_patient)
        self._text = KeptText(journal.events, hooks.post)
        bytes_per_s = SAMPLE_BYTES * journal.header.sample_rate + _TEXT_BYTES_PER_S
        watch_hooks = DiskHooks(hooks.post, hooks.stop)
        self._watch = DiskWatch(journal.folder, bytes_per_s, watch_hooks, hooks.free)
        self._writing = DiskThread(
            "vivavoce-journal",
            self._write,
            _WRITE_INTERVAL_S,
            hooks.post,
            # The disk may take what is written though it does not sync: it is there then.
            has_last_turn=True,
        )
        self._syncing = DiskThread("vivavoce-sync", self._sync, SYNC_INTERVAL_S, hooks.post)
        self.audio.ask_to_write = self._writing.ask
        self.audio.wait_for_sync = self._syncing.wait
        self._num_samples = 0

    @property
    def busy_s(self) -> float:
        """How long the disk has been waited for just now."""
        return max(self._writing.busy_s, self._syncing.busy_s)

    def start(self) -> None:
        """Begin to write."""
        self._writing.start()
        self._syncing.start()
        self._syncing.ask()

    def take(self, event: Event, document: TranscriptDocument) -> None:
        """Take an event that `document` has taken in; returns at once."""
        if isinstance(event, RecordingStopped):
            self._num_samples = event.num_samples
        self._text.append(event, document)
        self._writing.ask()

    def wait_until_written(self, timeout_s: float) -> bool:
        """Block until the operating system has what was taken, or refused it; False on timeout."""
        return self._writing.wait(timeout_s)

    def end(self) -> None:
        """Take no more audio, and let the threads end; returns at once."""
        self.audio.end()
        self._writing.end()
        self._syncing.end()

    def finish(self, *, is_trained: bool, is_whole: bool) -> None:
        """Close the journal and delete what is not to be kept, after `end`.

        Args:
            is_trained: False if a model with random weights took part.
            is_whole: False if something of it never came: it is left as one that broke off.

        Raises:
            StoreError: the disk is full or gone, or it is not whole; what was written stays.
        """
        self._join()
        try:
            if not is_whole:
                self._journal.break_off()
                raise StoreError(
                    "The last of the text came too late to be kept.",
                    advice="Open the recording later: it is put in order then.",
                )
            self._journal.close(is_trained=is_trained, num_samples=self._num_samples)
        except StoreError as error:
            held_s = self._journal.audio.held_s
            missing = (
                f" The last {held_s:.1f} s of its sound may not be on the disk." if held_s else ""
            )
            raise StoreError(
                f"{error.message}{missing} What the disk took is kept, marked as broken off.",
                advice=f"{error.advice} {TEXT_ADVICE}",
            ) from error

    def discard(self) -> None:
        """Remove what is on the disk, after `end`.

        Raises:
            StoreError: the disk is full or gone.
        """
        self._join()
        self._journal.close(KeepPolicy.NOTHING)

    def _join(self) -> None:
        self._writing.join()
        self._syncing.join()
        self.audio.close()

    def _write(self) -> None:
        # First the text: there is less of it, and nobody can say it again.
        self._text.write()
        self.audio.write()

    def _sync(self) -> None:
        self._text.sync()
        self.audio.sync()
        self._watch.look()
