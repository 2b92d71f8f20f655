"""Another input that was chosen while one is in use."""

import threading
from collections.abc import Callable

from engine.audio.device import InputStream
from engine.pipeline.input_notices import InputNotices
from engine.pipeline.reopening import Opened, Reopening


class InputChange:
    """Opens what was chosen last beside the input in use. Thread: capture; `ask` from any.

    Args:
        open_input: opens an input by name, not started.
        now_s: world time.
        notices: told what cannot be opened.
    """

    def __init__(
        self,
        open_input: Callable[[str], InputStream],
        now_s: Callable[[], float],
        notices: InputNotices,
    ) -> None:
        self._open_input = open_input
        self._now_s = now_s
        self._notices = notices
        self._lock = threading.Lock()
        # NB: held with the lock: written by any thread, taken by the capture thread.
        self._wanted: str | None = None
        self._opening: Reopening | None = None

    def ask(self, name: str) -> None:
        """Choose an input."""
        with self._lock:
            self._wanted = name

    def take_wanted(self, current: str) -> str | None:
        """Return what was chosen since the last call, if it is not the current one."""
        with self._lock:
            wanted, self._wanted = self._wanted, None
        if wanted is None:
            return None
        self.give_up()
        return None if wanted == current else wanted

    def begin(self, name: str) -> None:
        """Open it."""
        self._opening = Reopening(self._open_input, self._now_s)
        self._opening.begin(name)

    def take(self) -> tuple[str, Opened] | None:
        """Return (name, stream) once it is open; an input that cannot be opened is given up."""
        opening = self._opening
        if opening is None:
            return None
        opened = opening.take()
        if opened is None and opening.error is None:
            return None
        self._opening = None
        if opened is None:
            assert opening.error is not None
            self._notices.refused(opening.error)
            return None
        return opening.name, opened

    def hold(self) -> None:
        """Open nothing for now: what is being opened is chosen anew, unless another was."""
        opening = self._opening
        self.give_up()
        if opening is not None:
            with self._lock:
                self._wanted = self._wanted or opening.name

    def give_up(self) -> None:
        """Forget about it."""
        if self._opening is not None:
            self._opening.give_up()
            self._opening = None
