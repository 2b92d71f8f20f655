"""The command `vivavoce`: without arguments the window, else the command line."""

import logging
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress

from engine.core.own_stderr import keep_own_stderr

logger = logging.getLogger(__name__)

NO_DISPLAY = "No display was found; the demo conversation is transcribed here instead."
NO_WINDOW = (
    "The window could not be opened; it is not your fault. Run: vivavoce doctor. "
    "The commands work without it, as vivavoce listen does."
)
SWITCH_INTERVAL_S = 0.001
"""Python's own 5 ms would let a busy thread delay the audio threads too long."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the program and return its exit code.

    Args:
        argv: arguments without the program's name; those of the process if None.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    keep_own_stderr()
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    if not arguments:
        if has_display(os.environ, sys.platform):
            try:
                # Imported late: the command line runs without Qt.
                from app.window import run_window

                return run_window(os.environ)
            except Exception as error:  # noqa: BLE001 - logged there
                return tell_no_window(error, os.environ)
        sys.stdout.write(f"{NO_DISPLAY}\n")
        sys.stdout.flush()
        arguments = ["listen", "--input", "demo"]
    from engine.cli.main import main as run_command

    return run_command(arguments)


def tell_no_window(error: Exception, environment: Mapping[str, str]) -> int:
    """Log why there is no window, say that there is none and how to go on; return the status."""
    from engine.cli.exit_codes import FAILED
    from engine.cli.log import LogFile
    from engine.core.config import Settings, folders

    log = LogFile(folders(Settings(), environment).state)
    # Unless the window had begun to write there.
    if not logger.hasHandlers():
        log.open(is_verbose=False)
    logger.error("the window could not be opened", exc_info=error)
    log.close()
    sys.stderr.write(f"vivavoce: {NO_WINDOW} Details are in the log {log.path}.\n")
    with suppress(ImportError):
        from app.unexpected import not_started, show_box

        show_box(not_started(log.path))
    return FAILED


def has_display(environment: Mapping[str, str], platform: str) -> bool:
    """Return whether a window can be opened."""
    if platform in ("win32", "darwin"):
        return True
    return any(environment.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"))


if __name__ == "__main__":
    sys.exit(main())
