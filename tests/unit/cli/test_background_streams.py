import io
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from typing import BinaryIO

import pytest

from engine.cli.background_streams import BackgroundStreams
from engine.cli.console import live_console
from engine.core.sync import CancelToken

pytestmark = [pytest.mark.unit, pytest.mark.timeout(30)]

LINES = [f"{number:06d} {'x' * 90}" for number in range(3_000)]


@contextmanager
def piped() -> Iterator[BinaryIO]:
    """Yield the other end of standard output; standard error goes nowhere."""
    descriptor, out = os.pipe()
    with (
        os.fdopen(descriptor, "rb") as read,
        os.fdopen(out, "w", encoding="utf-8") as write,
        open(os.devnull, "w", encoding="utf-8") as nowhere,
        redirect_stdout(write),
        redirect_stderr(nowhere),
    ):
        yield read


@pytest.fixture(autouse=True)
def _no_thread_stays() -> Iterator[None]:
    yield
    for thread in threading.enumerate():
        if thread.name == "vivavoce-console":
            thread.join(10)
            assert not thread.is_alive()


def test_lines_when_nobody_reads_then_nobody_waits_and_all_come_later() -> None:
    with piped() as reader:
        streams = BackgroundStreams()
        for line in LINES:
            streams.out.write(f"{line}\n")  # more than any pipe holds
        assert not streams.drain(0.1)
        read = [reader.readline().decode().rstrip("\n") for _ in LINES]
        is_read = read == LINES
        assert is_read
        assert streams.drain(10)
        streams.close(10)


def test_messages_when_standard_output_is_stuck_then_are_written_all_the_same() -> None:
    descriptor, err = os.pipe()
    with (
        piped() as reader,
        os.fdopen(descriptor, "rb") as messages,
        os.fdopen(err, "w") as stream,
        redirect_stderr(stream),
    ):
        stop = CancelToken()
        with live_console(stop, urgent_s=0.1) as console:
            for line in LINES:
                console.line(line)
            console.note("The disk is full.")
            assert messages.readline() == b"vivavoce: The disk is full.\n"
            stop.cancel()
        for _ in LINES:  # so that the thread ends its work
            reader.readline()


def test_console_when_its_reader_has_gone_then_says_so() -> None:
    with piped() as reader:
        reader.close()
        with live_console(CancelToken()) as console:
            console.line("one")
            while not console.is_closed:
                console.line("more")


def test_console_when_left_then_everything_was_written() -> None:
    with piped() as reader:
        with live_console(CancelToken()) as console:
            console.line("ünë")
        assert os.read(reader.fileno(), 100) == "ünë\n".encode()


def test_console_when_the_streams_are_no_files_then_writes_to_them_at_once() -> None:
    out = io.StringIO()
    with redirect_stdout(out), live_console(CancelToken()) as console:
        console.line("one")
        assert out.getvalue() == "one\n"
