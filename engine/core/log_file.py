"""The log file that the window and the command line write, for its owner alone."""

import logging
import logging.handlers
import os
import stat
import sys
from contextlib import suppress
from io import TextIOWrapper
from pathlib import Path

from engine.core.errors import reason_of

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
        self._has_told = False

    def handleError(self, record: logging.LogRecord) -> None:
        """Say once that the disk does not take it; what is logged goes on being lost."""
        error = sys.exc_info()[1]
        if isinstance(error, OSError) and not self._has_told and sys.stderr is not None:
            self._has_told = True
            sys.stderr.write(
                f"vivavoce: {self.baseFilename} cannot be written: {reason_of(error)}.\n"
            )
        elif not isinstance(error, OSError):
            super().handleError(record)

    def close(self) -> None:
        """Close the file; what the disk does not take is lost."""
        with suppress(OSError):
            super().close()

    def _open(self) -> TextIOWrapper:
        return open_private(Path(self.baseFilename))


def open_private(path: Path) -> TextIOWrapper:
    """Open a text file to be added to, which nobody else may read from now on.

    Raises:
        OSError: it cannot be written.
    """

    def opener(name: str, flags: int) -> int:
        descriptor = os.open(name, flags, _OWNER_ONLY)
        # One that was there before may be open to all. What is no file, as a link to a device is
        # not, stays as it is.
        if stat.S_ISREG(os.fstat(descriptor).st_mode):
            with suppress(OSError):
                path.chmod(_OWNER_ONLY)
        return descriptor

    return open(path, "a", encoding="utf-8", errors="backslashreplace", opener=opener)
