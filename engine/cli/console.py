"""Results to standard output, messages to standard error, one volatile line on terminals."""

import os
import shutil
import sys
import threading
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

from engine.cli.background_streams import BackgroundStreams
from engine.core.sync import CancelToken

_POLL_S = 0.1
_CLEAR = "\r\x1b[2K"
_DIM, _PLAIN = "\x1b[2m", "\x1b[0m"
_SPEAKER_COLOURS = (36, 33, 35, 32, 34, 31, 96, 93)


class TextSink(Protocol):
    """What is needed of a stream."""

    def isatty(self) -> bool:
        """Return whether it is a terminal."""
        ...

    def write(self, text: str, /) -> int:
        """Write or queue a text; BrokenPipeError once nobody reads it."""
        ...

    def flush(self) -> None:
        """Bring it out."""
        ...


class Console:
    """Where a command writes. Thread: any.

    Once the reader of standard output has gone (`vivavoce listen | head`), lines are dropped and
    `is_closed` says so.

    Args:
        out: results.
        err: messages and progress.
        columns: the terminal's width.
        has_colour: whether terminals are given colours.
    """

    def __init__(
        self,
        out: TextSink,
        err: TextSink,
        columns: Callable[[], int] = lambda: shutil.get_terminal_size().columns,
        *,
        has_colour: bool = True,
    ) -> None:
        self._out = out
        self._err = err
        self._columns = columns
        self._has_colour = has_colour and out.isatty()
        self._lock = threading.RLock()
        self._volatile: TextSink | None = None
        self._is_closed = False

    @property
    def is_closed(self) -> bool:
        """Whether nobody reads standard output any more."""
        return self._is_closed or getattr(self._out, "is_broken", False)

    @property
    def has_live_output(self) -> bool:
        """Whether standard output is a terminal, so that a line can be rewritten."""
        return self._out.isatty()

    @property
    def has_live_messages(self) -> bool:
        """Whether standard error is a terminal."""
        return self._err.isatty()

    def line(self, text: str) -> None:
        """Write a line of results at once."""
        with self._lock:
            self._clear()
            self._write(self._out, f"{text}\n")

    def tail(self, head: str, text: str, partial: str) -> None:
        """Show the line that is still growing; its end stays in view. Only on terminals.

        Args:
            head: shown whole.
            text: what is certain.
            partial: what may change, shown dim.
        """
        if not self.has_live_output:
            return
        room = max(8, self._columns() - 1 - width(head))
        shown = clip_left(text + partial, room)
        num_partial = min(len(partial), len(shown))
        certain, dim = shown[: len(shown) - num_partial], shown[len(shown) - num_partial :]
        if dim and self._has_colour:
            dim = f"{_DIM}{dim}{_PLAIN}"
        with self._lock:
            self._clear()
            if head or shown:
                self._volatile = self._out
                self._write(self._out, head + certain + dim)

    def note(self, text: str) -> None:
        """Write a message for people, as one line."""
        with self._lock:
            self._clear()
            self._write(self._err, f"vivavoce: {' '.join(text.split())}\n")

    def message(self, text: str) -> None:
        """Write text for people as it is."""
        with self._lock:
            self._clear()
            self._write(self._err, f"{text}\n")

    def status(self, text: str) -> None:
        """Show how far something is, in place; empty to remove it. Only on terminals."""
        if not self.has_live_messages:
            return
        with self._lock:
            self._clear()
            if text:
                self._volatile = self._err
                self._write(self._err, text[: max(8, self._columns() - 1)])

    def speaker(self, label: str, slot: int) -> str:
        """Return a speaker's label, coloured where colours are seen."""
        if not self._has_colour:
            return label
        colour = _SPEAKER_COLOURS[slot % len(_SPEAKER_COLOURS)]
        return f"\x1b[1;{colour}m{label}{_PLAIN}"

    def _clear(self) -> None:
        if self._volatile is not None:
            self._write(self._volatile, _CLEAR)
            self._volatile = None

    def _write(self, stream: TextSink, text: str) -> None:
        if self.is_closed and stream is self._out:
            return
        try:
            stream.write(text)
            stream.flush()
        except BrokenPipeError:
            if stream is self._out:
                self._is_closed = True


def system_console() -> Console:
    """Return a console on this process's own streams."""
    return Console(sys.stdout, sys.stderr, has_colour="NO_COLOR" not in os.environ)


@contextmanager
def live_console(stop: CancelToken, urgent_s: float = 0.5) -> Iterator[Console]:
    """Yield a console that never makes anybody wait, and bring out all of it at the end.

    Args:
        stop: set where there is no time to wait for a reader who does not read.
        urgent_s: time that there is then, and if the block raises.
    """
    try:
        streams = BackgroundStreams()
    except (OSError, ValueError):  # streams that tests put in their place
        yield system_console()
        return
    console = Console(streams.out, streams.err, has_colour="NO_COLOR" not in os.environ)
    try:
        yield console
        while not stop.is_cancelled and not streams.drain(_POLL_S):
            pass
    finally:
        streams.close(urgent_s)


def width(text: str) -> int:
    """Return the columns that text takes on a terminal; colours take none."""
    columns, is_escape = 0, False
    for character in text:
        if is_escape:
            is_escape = character != "m"
        elif character == "\x1b":
            is_escape = True
        else:
            columns += _columns_of(character)
    return columns


def clip_left(text: str, room: int) -> str:
    """Return the end of a text that fits into `room` columns, marked if something is cut."""
    if width(text) <= room:
        return text
    left, at = room - 1, len(text)
    while at > 0 and (left := left - _columns_of(text[at - 1])) >= 0:
        at -= 1
    return f"…{text[at:]}"


def _columns_of(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
