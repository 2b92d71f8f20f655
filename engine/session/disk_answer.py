"""Tells when the disk of the recordings does not answer, and when it does again."""

import threading
from collections.abc import Callable
from pathlib import Path

from engine.core.events import Event, Notice, Severity
from engine.session.kept_audio import MAX_HELD_S

STALL_S = 3.0
"""A disk that does not answer for so long is told."""
CALM_S = 2.0
"""One that answers is believed after so long: a slow one is not told again and again."""
_LOOK_S = 0.25
_PROMPT_S = 1.0


class DiskAnswer:
    """Watches those who wait for the disk, without touching it. Thread: its own, from `start` on.

    Args:
        folder: where recordings are.
        busy_s: how long the disk has been waited for just now, by whoever waits longest.
        post: publishes an event.
    """

    def __init__(
        self, folder: Path, busy_s: Callable[[], float], post: Callable[[Event], None]
    ) -> None:
        self._folder = folder
        self._busy_s = busy_s
        self._post = post
        # NB: written by the watch, read by any.
        self.is_missing = False
        self._calm_s = 0.0
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run, name="vivavoce-disk", daemon=True)

    def start(self) -> None:
        """Begin; idempotent. Thread: one at a time."""
        if self._thread.ident is None:
            self._thread.start()

    def close(self) -> None:
        """End; idempotent."""
        self._end.set()
        if self._thread.ident is not None:
            self._thread.join()

    def look(self, since_s: float) -> None:
        """Look, so many seconds after the last time. Thread: the watch's own, or a test's."""
        busy_s = self._busy_s()
        if not self.is_missing:
            if busy_s > STALL_S:
                self.is_missing, self._calm_s = True, 0.0
                self._post(
                    Notice(
                        Severity.WARNING,
                        f"The disk of {self._folder} does not answer. What is recorded waits in "
                        f"memory for it: text all along, sound for {MAX_HELD_S / 60:.0f} minutes.",
                        "Check the disk, its cable, or the network that leads there. The program "
                        "must not be ended meanwhile.",
                        topic="disk answer",
                    )
                )
            return
        self._calm_s = self._calm_s + since_s if busy_s < _PROMPT_S else 0.0
        if self._calm_s >= CALM_S:
            self.is_missing = False
            self._post(Notice(Severity.INFO, "The disk answers again.", topic="disk answer"))

    def _run(self) -> None:
        while not self._end.wait(_LOOK_S):
            self.look(_LOOK_S)
