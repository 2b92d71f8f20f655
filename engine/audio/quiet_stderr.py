"""Keeps the C code of sound systems from writing to the terminal."""

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_STDERR = 2


class _Quiet:
    """Counts who wants quiet, as calls overlap and may hang. Thread: any."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._num_inside = 0
        self._saved = -1

    @contextmanager
    def entered(self) -> Iterator[None]:
        with self._lock:
            if self._num_inside == 0:
                self._saved = _redirect()
            self._num_inside += 1
        try:
            yield
        finally:
            with self._lock:
                self._num_inside -= 1
                if self._num_inside == 0:
                    _restore(self._saved)


# NB: process-wide, as the descriptor itself.
_quiet = _Quiet()


@contextmanager
def quiet_stderr() -> Iterator[None]:
    """Send what is written to descriptor 2 nowhere, until the last of those inside has left.

    A call that hangs keeps it so: whoever must be read writes to a descriptor of its own, see
    `engine.core.own_stderr`.
    """
    with _quiet.entered():
        yield


def _redirect() -> int:
    """Send descriptor 2 nowhere and return one that is what it was; -1 where there is none."""
    try:
        saved = os.dup(_STDERR)
    except OSError:  # a windowed program on Windows has no stderr
        return -1
    if sys.stderr is not None:
        sys.stderr.flush()
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, _STDERR)
    os.close(null)
    return saved


def _restore(saved: int) -> None:
    if saved >= 0:
        os.dup2(saved, _STDERR)
        os.close(saved)
