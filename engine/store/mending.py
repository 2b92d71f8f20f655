"""Makes the two files of a broken off session whole again, each as far as it goes."""

import os
import stat
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from engine.audio.wav import HEADER_BYTES, SAMPLE_BYTES, wav_header
from engine.store.event_json import decode_event, schema_line

_BLOCK_BYTES = 64 * 1024
_MAX_TAIL_BYTES = 4 * 2**20
"""More than any event takes."""
_DATA_OFFSET = 36


def mend_events(path: Path) -> int:
    """Cut what is no whole event off the end of a file, and return how many bytes that were.

    What lies before is left as it is: readers pass over damaged lines.

    Raises:
        OSError: it cannot be read or written, or is no plain file.
    """
    with _opened(path) as file:
        size_bytes = file.seek(0, os.SEEK_END)
        # A file system that lost power leaves zero bytes at the end.
        filled = _filled_until(file, size_bytes)
        last_line = _line_start(file, filled)
        end, lead = last_line, b""
        if 0 < filled - last_line <= _MAX_TAIL_BYTES:
            file.seek(last_line)
            if _is_event(file.read(filled - last_line)):
                end, lead = filled, b"\n"
        if end == 0:
            lead = schema_line()
        if end != size_bytes or lead:
            file.truncate(end)
            file.seek(end)
            file.write(lead)
            os.fsync(file.fileno())
        return size_bytes - end


def mend_audio(path: Path, sample_rate: int, last_event: int) -> tuple[int, int]:
    """Make a WAV file's header fit what is in it, and cut what never reached the disk.

    A power cut can leave a file longer than what was written, with zeros at its end: a hole, or the
    rest of a block. The header tells what surely was on the disk. Zeros at the end behind that, and
    behind what events speak of, are cut; at worst they were a second of digital silence.

    Args:
        path: of a journal's audio; a WAV file of another make is left as it is.
        sample_rate: Hz.
        last_event: the sample up to which events tell something.

    Returns:
        (samples in the file, samples cut).

    Raises:
        OSError: it cannot be read or written, or is no plain file.
    """
    with _opened(path) as file:
        size_bytes = file.seek(0, os.SEEK_END)
        num_samples = max(0, size_bytes - HEADER_BYTES) // SAMPLE_BYTES
        file.seek(0)
        head = file.read(HEADER_BYTES)
        if not _is_ours(head):
            return num_samples, 0
        certain = max(_stated_samples(head), last_event)
        filled_bytes = _filled_until(file, size_bytes) - HEADER_BYTES
        num_filled = max(0, -(-filled_bytes // SAMPLE_BYTES))
        num_kept = min(num_samples, max(num_filled, certain))
        file.truncate(HEADER_BYTES + SAMPLE_BYTES * num_kept)
        file.seek(0)
        file.write(wav_header(sample_rate, num_kept))
        os.fsync(file.fileno())
        return num_kept, num_samples - num_kept


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    # A link could lead to a file that is not ours, and a pipe never ends.
    flags = os.O_RDWR | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    descriptor = os.open(path, flags | getattr(os, "O_BINARY", 0))
    with os.fdopen(descriptor, "r+b") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(0, "it is no plain file")
        yield file


def _filled_until(file: IO[bytes], end: int) -> int:
    """Return where the zero bytes at the end begin."""
    for start in range(_block_start(end), -1, -_BLOCK_BYTES):
        file.seek(start)
        block = file.read(min(_BLOCK_BYTES, end - start)).rstrip(b"\0")
        if block:
            return start + len(block)
    return 0


def _line_start(file: IO[bytes], end: int) -> int:
    """Return where the line begins that ends at `end`; `end` itself if it is behind a line end."""
    for start in range(_block_start(end), -1, -_BLOCK_BYTES):
        file.seek(start)
        at = file.read(min(_BLOCK_BYTES, end - start)).rfind(b"\n")
        if at >= 0:
            return start + at + 1
    return 0


def _block_start(end: int) -> int:
    return max(0, end - 1) // _BLOCK_BYTES * _BLOCK_BYTES


def _is_event(line: bytes) -> bool:
    try:
        decode_event(line)
    except ValueError:
        return False
    return True


def _is_ours(head: bytes) -> bool:
    """Whether samples begin where we write them: also if the header itself is torn or zero."""
    is_wav = head[:4] == b"RIFF" and head[8:12] == b"WAVE"
    return not is_wav or head[_DATA_OFFSET:][:4] in (b"data", b"")


def _stated_samples(head: bytes) -> int:
    """Return how many samples a header speaks of; 0 if it is torn."""
    if len(head) < HEADER_BYTES or head[:4] != b"RIFF":
        return 0
    return int(struct.unpack_from("<I", head, HEADER_BYTES - 4)[0]) // SAMPLE_BYTES
