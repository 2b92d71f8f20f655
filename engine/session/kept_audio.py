"""The audio of a recording on its way to the disk, also while the disk refuses it or hangs."""

import logging
from collections.abc import Callable
from pathlib import Path

import numpy as np

from engine.audio.spans import AudioSpanReader
from engine.core.errors import StoreError
from engine.core.events import Event, Notice, Severity
from engine.core.timebase import format_time
from engine.core.types import Pcm
from engine.session.kept_file import KeptFile
from engine.store.journal_files import AudioJournal

logger = logging.getLogger(__name__)

MAX_HELD_S = 300.0
"""How long a recording waits for a disk that takes nothing (28 MB of memory at 48 kHz)."""
SYNC_HELD_S = 20.0
"""Audio that is synced before a second is over: a file can be read as fast as that."""
PATIENT_HELD_S = 200.0
"""Audio with which a source that can wait, waits for the disk."""
_PATIENCE_S = 1.0


class KeptAudio(KeptFile):
    """The journal's audio as capture, lanes and listeners see it.

    A disk that refuses or hangs does not end the recording. Its audio is held in memory, the disk
    is asked again every second, and the user is told when it begins and when it is over. After
    `MAX_HELD_S` no more is held; the rest of the session goes on. Of a disk that refused all the
    while, audio is given up from where it stopped; one that hangs gets all of it should it answer.

    Thread: `append` on the capture thread, which never waits for the disk unless its source can;
    `read_audio` on any; `write` and `sync` as `KeptFile` says.

    Args:
        audio: the journal's.
        post: publishes an event.
        stays: whether the audio is kept after the recording; else it helps slow lanes alone, and
            nobody is told of its loss.
        is_patient: whether its source can wait, as a file can.
    """

    def __init__(
        self,
        audio: AudioJournal,
        post: Callable[[Event], None],
        *,
        stays: bool,
        is_patient: bool = False,
    ) -> None:
        super().__init__(audio, post)
        self._audio = audio
        self._stays = stays
        self._is_patient = is_patient
        self._reader = AudioSpanReader(audio.path)
        self.ask_to_write: Callable[[], None] = lambda: None
        """Has `write` called soon on its thread; returns at once."""
        self.wait_for_sync: Callable[[float], object] = lambda _: None
        """Has `sync` called soon on its thread, and waits for it at most so many seconds."""
        # NB: set by any thread, never taken back.
        self._is_given_up = False
        self._is_cut = False

    @property
    def path(self) -> Path:
        """The WAV file."""
        return self._audio.path

    @property
    def held_until(self) -> int:
        """One past the last sample, if the file does not have all of them yet; else 0."""
        return self._audio.held_until

    def append(self, pcm: Pcm) -> None:
        """Take samples; they are on their way to the disk when it returns."""
        if self._is_given_up:
            return
        self._audio.hold(pcm)
        self.ask_to_write()
        held_s = self._audio.held_s
        if self._is_patient and held_s > PATIENT_HELD_S:
            self.wait_for_sync(_PATIENCE_S)
        elif held_s > SYNC_HELD_S and not self._is_refused:
            self.wait_for_sync(0.0)
        if self._audio.held_s > MAX_HELD_S:
            self._give_up()

    def write(self) -> None:
        """See `KeptFile`."""
        if not self._is_cut:
            super().write()

    def sync(self) -> bool:
        """See `KeptFile`."""
        if self._is_given_up and self._is_refused and not self._is_cut:
            self._is_cut = True
            self._audio.give_up()
        return False if self._is_cut else super().sync()

    def read_held(self, start: int, end: int) -> Pcm | None:
        """Return the samples [start, end) from memory; None where the disk has them."""
        return self._audio.read_held(start, end)

    def read_audio(self, start: int, end: int) -> Pcm:
        """Return the samples [start, end), written or not; none if they cannot be read."""
        held = self._audio.read_held(start, end)
        if held is not None:
            return held
        try:
            return self._reader.read(start, end)
        except StoreError as error:
            # A lane passes over what it cannot read, and says so; it does not end.
            logger.warning("recorded audio cannot be read back: %s", error)
            return np.zeros(0, dtype=np.float32)

    def end(self) -> None:
        """Take no more; returns at once; idempotent."""
        # A capture that could not be ended in time may still bring samples.
        self._is_given_up = True

    def close(self) -> None:
        """Release the file; idempotent. May wait for the disk."""
        self.end()
        self._reader.close()

    def _give_up(self) -> None:
        self._is_given_up = True
        self.ask_to_write()
        if not self._stays:
            return
        length = format_time(self._audio.num_samples / self._audio.sample_rate)
        if self._is_refused:
            length = format_time(self._audio.written_s)
        self._post(
            Notice(
                Severity.ERROR,
                f"The sound of this recording is kept up to {length}, and no further: the disk "
                f"took none for {MAX_HELD_S / 60:.0f} minutes. The transcript goes on.",
                "Export the transcript to another disk, and begin a new recording there.",
                topic="kept audio",
            )
        )

    def _take_refusal(self, error: StoreError) -> None:
        if self._stays:
            super()._take_refusal(error)
        else:
            self._is_given_up = self._is_refused = True

    def _refused(self, error: StoreError) -> Notice:
        logger.error("audio is not written: %s", error)
        return Notice(
            Severity.ERROR,
            f"{error.message} Recording goes on, and its sound is held in memory for "
            f"{MAX_HELD_S / 60:.0f} minutes.",
            error.advice,
            topic="kept audio",
        )

    def _taken_again(self) -> Notice:
        return Notice(
            Severity.INFO,
            "The disk takes the recording again; no sound was lost.",
            topic="kept audio",
        )
