"""The log file of the command line."""

import logging
from contextlib import suppress
from pathlib import Path

from engine.core.log_file import LOG_NAME, LogFileHandler

_OURS = ("engine", "app")


class LogFile:
    """Takes what modules log while it is open; nothing of it reaches the terminal.

    Warnings are always written, everything of our own on request. Where the folder cannot be
    written there is no log.

    Args:
        folder: made when it is opened.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / LOG_NAME
        self._handler: logging.Handler | None = None

    def open(self, *, is_verbose: bool) -> None:
        """Begin to write."""
        self.close()
        handler: logging.Handler = logging.NullHandler()
        with suppress(OSError):
            handler = LogFileHandler(self.path.parent, delay=True)
        logging.getLogger().addHandler(handler)
        for name in _OURS:
            logging.getLogger(name).setLevel(logging.DEBUG if is_verbose else logging.WARNING)
        self._handler = handler

    def open_once(self) -> None:
        """Begin to write, unless that was done."""
        if self._handler is None:
            self.open(is_verbose=False)

    def close(self) -> None:
        """End writing; idempotent."""
        handler, self._handler = self._handler, None
        if handler is None:
            return
        logging.getLogger().removeHandler(handler)
        handler.close()
        for name in _OURS:
            logging.getLogger(name).setLevel(logging.NOTSET)
