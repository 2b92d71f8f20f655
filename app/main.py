"""The command `vivavoce`: without arguments the window, else the command line."""

import os
import sys
from collections.abc import Mapping, Sequence

NO_DISPLAY = "No display was found; the demo conversation is transcribed here instead."
SWITCH_INTERVAL_S = 0.001
"""Python's own 5 ms would let a busy thread delay the audio threads too long."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the program and return its exit code.

    Args:
        argv: arguments without the program's name; those of the process if None.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    if not arguments:
        if has_display(os.environ, sys.platform):
            # Imported late: the command line runs without Qt.
            from app.window import run_window

            return run_window(os.environ)
        sys.stdout.write(f"{NO_DISPLAY}\n")
        sys.stdout.flush()
        arguments = ["listen", "--input", "demo"]
    from engine.cli.main import main as run_command

    return run_command(arguments)


def has_display(environment: Mapping[str, str], platform: str) -> bool:
    """Return whether a window can be opened."""
    if platform in ("win32", "darwin"):
        return True
    return any(environment.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"))


if __name__ == "__main__":
    sys.exit(main())
