"""The audio of a recording on its way to the disk, also while the disk refuses it."""

import logging
from collections.abc import Callable
from pathlib import Path

import numpy as np

from engine.audio.spans import AudioSpanReader
from engine.core.errors import StoreError
from engine.core.events import Event, Notice, Severity
from engine.core.timebase import format_time
from engine.core.types import Pcm
from engine.store.journal_files import AudioJournal

logger = logging.getLogger(__name__)

MAX_HELD_S = 300.0
"""How long a recording waits for a disk that takes nothing (28 MB of memory at 48 kHz)."""


class KeptAudio:
    """The journal's audio as capture and lanes see it.

    A disk that refuses does not end the recording. Its audio is held in memory, the disk is asked
    again every second, and the user is told when it begins and when it is over. After
    `MAX_HELD_S`, audio is given up from where the disk stopped; the rest of the session goes on.

    Thread: `append` and `sync_if_due` on the capture thread, `read_audio` on any.

    Args:
        audio: the journal's.
        post: publishes an event.
        stays: whether the audio is kept after the recording; else it helps slow lanes alone, and
            nobody is told of its loss.
    """

    def __init__(self, audio: AudioJournal, post: Callable[[Event], None], *, stays: bool) -> None:
        self._audio = audio
        self._post = post
        self._stays = stays
        self._reader = AudioSpanReader(audio.path)
        self._is_refused = False
        # NB: set by either thread, never taken back.
        self._is_given_up = False

    @property
    def path(self) -> Path:
        """The WAV file."""
        return self._audio.path

    def append(self, pcm: Pcm) -> None:
        """Write samples through to the operating system."""
        if self._is_given_up:
            return
        if self._is_refused:
            self._audio.hold(pcm)
            return
        try:
            self._audio.append(pcm)
        except StoreError as error:
            self._take_refusal(error)

    def sync_if_due(self, now_s: float) -> bool:
        """Bring them to the disk, at most a second apart; return whether that was done."""
        if self._is_given_up:
            return False
        try:
            is_done = self._audio.sync_if_due(now_s)
        except StoreError as error:
            self._take_refusal(error)
            return False
        if is_done and self._is_refused:
            self._is_refused = False
            self._post(
                Notice(Severity.INFO, "The disk takes the recording again; no sound was lost.")
            )
        return is_done

    def read_audio(self, start: int, end: int) -> Pcm:
        """Return the samples [start, end) that are on disk; none if it cannot be read."""
        try:
            return self._reader.read(start, end)
        except StoreError as error:
            # A lane passes over what it cannot read, and says so; it does not end.
            logger.warning("recorded audio cannot be read back: %s", error)
            return np.zeros(0, dtype=np.float32)

    def close(self) -> None:
        """Take no more, and release the file; idempotent."""
        # A capture that could not be ended in time may still bring samples.
        self._is_given_up = True
        self._reader.close()

    def _take_refusal(self, error: StoreError) -> None:
        if not self._stays:
            self._give_up()
            return
        if not self._is_refused:
            self._is_refused = True
            logger.error("audio is not written: %s", error)
            self._post(
                Notice(
                    Severity.ERROR,
                    f"{error.message} Recording goes on, and its sound is held in memory for "
                    f"{MAX_HELD_S / 60:.0f} minutes.",
                    error.advice,
                )
            )
        if self._audio.held_s > MAX_HELD_S:
            self._give_up()
            length = format_time(self._audio.num_samples / self._audio.sample_rate)
            self._post(
                Notice(
                    Severity.ERROR,
                    f"The sound of this recording is kept up to {length}, and no further: the disk "
                    f"took none for {MAX_HELD_S / 60:.0f} minutes. The transcript goes on.",
                    "Export the transcript to another disk, and begin a new recording there.",
                )
            )

    def _give_up(self) -> None:
        self._is_given_up = True
        self._audio.give_up()
