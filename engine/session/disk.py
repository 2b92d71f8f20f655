"""Looks after the room on the disk while a recording runs."""

import logging
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from engine.core.errors import StoreError
from engine.core.events import Event, Notice, Severity
from engine.store.integrity import format_bytes

logger = logging.getLogger(__name__)

WARN_BYTES = 200_000_000
"""Free space below which the user is warned, once a recording."""
RESERVE_BYTES = 20_000_000
"""Free space at which a recording stops, so that what is kept can still be finished and edited."""
LOOKS_A_CHECK = 5
"""How many looks, about a second apart, go by from one check to the next."""

FreeBytes = Callable[[Path], int]


def free_bytes(folder: Path) -> int:
    """Return the free space on a folder's disk.

    Raises:
        OSError: the folder is gone.
    """
    return shutil.disk_usage(folder).free


def require_room(folder: Path, free: FreeBytes) -> None:
    """Refuse to begin a recording that would have to stop at once.

    Args:
        folder: where recordings are; need not be there yet.
        free: see `free_bytes`.

    Raises:
        StoreError: there is less than the reserve.
    """
    place = folder
    while not place.exists() and place != place.parent:
        place = place.parent
    try:
        left = free(place)
    except OSError:
        return  # making the recording's folder will tell
    if left < RESERVE_BYTES:
        raise StoreError(
            f"Only {format_bytes(left)} are free on the disk of {folder}, too little for a "
            "recording.",
            advice="Free disk space, choose another folder for recordings, or keep nothing.",
        )


@dataclass(frozen=True, slots=True)
class DiskHooks:
    """What a `DiskWatch` tells others. Thread: the one that looks.

    Args:
        post: publishes an event.
        stop: asks for the end of the recording; returns at once.
    """

    post: Callable[[Event], None]
    stop: Callable[[], None]


class DiskWatch:
    """Warns before the disk is full, and stops the recording while everything can be kept.

    Thread: one that may wait for the disk, which need not answer.

    Args:
        folder: of the recording.
        bytes_per_s: what the recording takes.
        hooks: see `DiskHooks`.
        free: see `free_bytes`.
    """

    def __init__(
        self, folder: Path, bytes_per_s: float, hooks: DiskHooks, free: FreeBytes = free_bytes
    ) -> None:
        self._folder = folder
        self._bytes_per_s = bytes_per_s
        self._hooks = hooks
        self._free = free
        self._has_warned = False
        self._has_stopped = False
        self._num_looks = 0
        self._is_broken = False

    def look(self) -> None:
        """Check every few looks; a fault nobody foresaw ends the watch and is told."""
        if self._is_broken:
            return
        number, self._num_looks = self._num_looks, self._num_looks + 1
        if number % LOOKS_A_CHECK:
            return
        try:
            self.check()
        except Exception:
            self._is_broken = True
            logger.exception("the watch over the disk ended")
            self._hooks.post(
                Notice(
                    Severity.WARNING,
                    "Nobody watches the free disk space any more: the program met a fault of its "
                    "own, which the log has.",
                    f"Recording goes on. See yourself that more than {format_bytes(WARN_BYTES)} "
                    "stay free.",
                    ends_with_recording=True,
                )
            )

    def check(self) -> None:
        """Look at the room that is left."""
        try:
            left = self._free(self._folder)
        except OSError:
            return  # whoever writes there tells
        if left < RESERVE_BYTES and not self._has_stopped:
            self._has_stopped = True
            self._hooks.post(
                Notice(
                    Severity.ERROR,
                    f"The recording was stopped: only {format_bytes(left)} are free on the disk "
                    f"of {self._folder}. Everything up to here is kept.",
                    "Free disk space, or choose another folder for recordings; then record again.",
                )
            )
            self._hooks.stop()
        elif left < WARN_BYTES and not self._has_warned:
            self._has_warned = True
            minutes = int((left - RESERVE_BYTES) / self._bytes_per_s / 60)
            self._hooks.post(
                Notice(
                    Severity.WARNING,
                    f"The disk of the recording is nearly full: {format_bytes(left)} are free, "
                    f"enough for about {minutes} minutes.",
                    f"Free disk space. At {format_bytes(RESERVE_BYTES)} the recording stops by "
                    "itself, and all of it is kept.",
                )
            )
