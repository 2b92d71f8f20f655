"""Streams written by a thread of their own, so that nobody waits for whoever reads them.

A terminal that is held with Ctrl-S, or a pipe whose reader is slow, takes no more text at some
point. Whoever writes to it then stands still until it does; here that is only this thread.
"""

import os
import queue
import sys
import threading
import time
from typing import TextIO

_POLL_S = 0.05


class _Writer:
    """Writes what was queued, in order. Thread: any; one of its own writes."""

    def __init__(self) -> None:
        self._queue: queue.SimpleQueue[tuple[BackgroundStream, bytes] | None]
        self._queue = queue.SimpleQueue()
        # NB: the first is written by whoever holds the lock, the second by the thread.
        self._lock = threading.Lock()
        self._num_put = 0
        self._num_done = 0
        self._thread = threading.Thread(target=self._run, name="vivavoce-console", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def put(self, stream: "BackgroundStream", data: bytes) -> None:
        with self._lock:
            self._num_put += 1
            self._queue.put((stream, data))

    @property
    def is_idle(self) -> bool:
        return self._num_done == self._num_put

    def end(self, timeout_s: float) -> None:
        self._queue.put(None)
        self._thread.join(timeout_s)

    def _run(self) -> None:
        while (item := self._queue.get()) is not None:
            stream, data = item
            stream.write_through(data)
            self._num_done += 1


class BackgroundStream:
    """What a console needs of a text stream. Thread: any.

    Args:
        stream: gives its descriptor, which nobody else writes to meanwhile.
        writer: writes it; shared by streams whose order among each other is seen.

    Attributes:
        is_broken: whether its reader has gone.
    """

    def __init__(self, stream: TextIO, writer: _Writer) -> None:
        stream.flush()
        self._descriptor = stream.fileno()
        self._encoding = stream.encoding
        self._is_terminal = stream.isatty()
        self._writer = writer
        # NB: written by the writing thread alone.
        self.is_broken = False

    def isatty(self) -> bool:
        """Return whether it is a terminal."""
        return self._is_terminal

    def write(self, text: str) -> int:
        """Queue a text.

        Raises:
            BrokenPipeError: its reader has gone.
        """
        if self.is_broken:
            raise BrokenPipeError
        self._writer.put(self, text.encode(self._encoding, "replace"))
        return len(text)

    def flush(self) -> None:
        """Do nothing: what was queued is written as soon as it can be."""

    def write_through(self, data: bytes) -> None:
        """Write and wait. Thread: the writing one."""
        rest = memoryview(data)
        while len(rest) and not self.is_broken:
            try:
                # NB: past the stream's own buffer, whose lock the interpreter wants at its end.
                rest = rest[os.write(self._descriptor, rest) :]
            except BlockingIOError:  # somebody made the pipe so that it does not block
                time.sleep(_POLL_S)
            except OSError:
                self.is_broken = True


class BackgroundStreams:
    """Standard output and standard error, written in the background.

    Raises:
        OSError, ValueError: they are no files of the system's.
    """

    def __init__(self) -> None:
        first = _Writer()
        self._writers = [first]
        if not (sys.stdout.isatty() and sys.stderr.isatty()):
            self._writers.append(_Writer())
        self.out = BackgroundStream(sys.stdout, first)
        self.err = BackgroundStream(sys.stderr, self._writers[-1])
        for writer in self._writers:
            writer.start()

    def drain(self, timeout_s: float | None = None) -> bool:
        """Wait until all of it is written; return whether it is."""
        end_s = None if timeout_s is None else time.monotonic() + timeout_s
        while not all(writer.is_idle for writer in self._writers):
            if end_s is not None and time.monotonic() >= end_s:
                return False
            time.sleep(_POLL_S)
        return True

    def close(self, timeout_s: float) -> None:
        """End the threads; one whose reader does not read is left alone."""
        for writer in self._writers:
            writer.end(timeout_s)
