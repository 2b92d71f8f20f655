"""A standard error of Python's own, which stays readable while C code is kept quiet."""

import io
import os
import sys

_STDERR = 2


def keep_own_stderr() -> None:
    """Let `sys.stderr` write to a copy of descriptor 2, whatever becomes of that one.

    Nothing is done where it does not write there, or where that was done before.
    """
    stream = sys.stderr
    try:
        is_plain = stream is not None and stream.fileno() == _STDERR
    except (OSError, ValueError):  # one that tests put in its place
        return
    if is_plain:
        stream.flush()
        own = os.fdopen(os.dup(_STDERR), "wb", buffering=0)
        sys.stderr = io.TextIOWrapper(
            own, encoding=stream.encoding, errors="replace", line_buffering=True
        )
