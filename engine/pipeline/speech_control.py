"""What people ask of what is being heard, and the wake-up of the thread that plays it."""

import threading


class SpeechControl:
    """Commands on their way to the thread that plays. Thread: any asks, that thread takes."""

    def __init__(self) -> None:
        self.wake = threading.Event()
        """Set whenever there may be something to do."""
        self._lock = threading.Lock()
        self._is_paused = False
        self._seek_s: float | None = None
        self._wants_new_output = False

    @property
    def is_paused(self) -> bool:
        """Whether to be silent for now."""
        return self._is_paused

    def pause(self) -> None:
        """Be silent until `resume`."""
        self._is_paused = True
        self.wake.set()

    def resume(self) -> None:
        """Go on."""
        self._is_paused = False
        self.wake.set()

    def seek(self, position_s: float) -> None:
        """Go on from another place; the newest wins."""
        with self._lock:
            self._seek_s = position_s
        self.wake.set()

    def change_output(self) -> None:
        """Open the loudspeaker anew and go on there."""
        with self._lock:
            self._wants_new_output = True
        self.wake.set()

    def take_seek(self) -> float | None:
        """Return the place asked for since the last call, in seconds."""
        with self._lock:
            seek_s, self._seek_s = self._seek_s, None
            return seek_s

    def take_output_change(self) -> bool:
        """Return whether another output was asked for since the last call."""
        with self._lock:
            wants, self._wants_new_output = self._wants_new_output, False
            return wants
