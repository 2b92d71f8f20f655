"""The log file that the window and the command line write, for its owner alone."""

import logging
import logging.handlers
import os
from contextlib import suppress
from io import TextIOWrapper
from pathlib import Path

LOG_NAME = "vivavoce.log"
_MAX_BYTES = 1_000_000
_NUM_OLD = 3
LOG_FORMAT = "%(asctime)s %(levelname)s %(threadName)s %(name)s: %(message)s"
_OWNER_ONLY = 0o600


class LogFileHandler(logging.handlers.RotatingFileHandler):
    """Writes a log that begins anew at 1 MB and keeps three old ones.

    Args:
        folder: made if it is missing.
        delay: whether the file is made at the first line, not now.

    Raises:
        OSError: it cannot be written.
    """

    def __init__(self, folder: Path, *, delay: bool = False) -> None:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        super().__init__(
            folder / LOG_NAME,
            maxBytes=_MAX_BYTES,
            backupCount=_NUM_OLD,
            encoding="utf-8",
            delay=delay,
            # The name of a file need not be text.
            errors="backslashreplace",
        )
        self.setFormatter(logging.Formatter(LOG_FORMAT))

    def _open(self) -> TextIOWrapper:
        return open_private(Path(self.baseFilename))


def open_private(path: Path) -> TextIOWrapper:
    """Open a text file to be added to, which nobody else may read from now on.

    Raises:
        OSError: it cannot be written.
    """

    def opener(name: str, flags: int) -> int:
        descriptor = os.open(name, flags, _OWNER_ONLY)
        # One that was there before may be open to all; where it belongs to another, it stays so.
        with suppress(OSError):
            path.chmod(_OWNER_ONLY)
        return descriptor

    return open(path, "a", encoding="utf-8", errors="backslashreplace", opener=opener)
