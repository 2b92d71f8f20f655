"""What audio files say of their own length, where their decoders keep it to themselves."""

import os
import re
import struct
from pathlib import Path

_UNKNOWN_SIZE = 0xFFFFFF00
"""From here on a size is what programs write that do not know it: those that write to a pipe."""
_TAIL_BYTES = 1 << 16
_OGG_PAGE = b"OggS"
_OGG_IS_LAST = 4
_HEAD_BYTES = 1 << 12
_AVR_HEADER_BYTES = 128

_EXACT = frozenset(
    ("mov", "matroska", "flv", "caf", "tta", "wv", "avi", "ogg", "flac", "wav", "aiff")
)
# libsndfile cuts a length that is too large for the file, and tells its log alone.
_SIZE = re.compile(r"^\s*(?:data|SSND|BODY|Data Size|riff)\s*: (\d+) \(should be (\d+)\)", re.M)
_FRAMES = re.compile(r"Calculated frame count (\d+) does not match value from .* of (\d+)")
_DATA_LENGTH = re.compile(r"Data length (\d+) should be (\d+)")
_TRUNCATED = re.compile(r"seems to be (?:a )?truncated", re.I)


def log_tells_a_cut(log: str) -> bool:
    """Return whether libsndfile found less audio than the header says, by its log of a file."""
    promised = [(int(match[1]), int(match[2])) for match in _SIZE.finditer(log)]
    promised += [(int(match[1]), int(match[2])) for match in _DATA_LENGTH.finditer(log)]
    promised += [(int(match[2]), int(match[1])) for match in _FRAMES.finditer(log)]
    is_less = any(found < said < _UNKNOWN_SIZE for said, found in promised)
    return is_less or _TRUNCATED.search(log) is not None


def promises_too_much(path: Path) -> bool:
    """Return whether a file's own structure speaks of more audio than there is.

    Knows the sizes of WAV, AVI and CAF, the counts of NIST and AVR, and the last page of Ogg.

    Raises:
        OSError: it cannot be read.
    """
    num_bytes = path.stat().st_size
    with path.open("rb") as file:
        head = file.read(_HEAD_BYTES)
        if head[:4] == b"RIFF" and head[8:12] == b"WAVE":
            return _wav_is_cut(file.fileno(), num_bytes)
        if head[:4] == b"caff":
            return _caf_is_cut(file.fileno(), num_bytes)
        if head[:4] == _OGG_PAGE:
            file.seek(max(0, num_bytes - _TAIL_BYTES))
            return _ogg_is_cut(file.read())
    if head[:4] == b"RIFF" and head[8:12] == b"AVI ":
        return num_bytes < 8 + int.from_bytes(head[4:8], "little") < _UNKNOWN_SIZE
    if head[:8] == b"NIST_1A\n":
        return _nist_is_cut(head, num_bytes)
    if head[:4] == b"2BIT" and len(head) >= 30:
        return _avr_is_cut(head, num_bytes)
    return False


def says_exact_length(path: Path, container: str) -> bool:
    """Return whether the length that PyAV gives is written in the file, not estimated by it.

    Args:
        path: of the file.
        container: PyAV's names of its format, with commas between.
    """
    if container == "mp3":
        with path.open("rb") as file:
            head = file.read(_HEAD_BYTES)
        # The first frame of most MP3 files holds no sound but the number of all others.
        return b"Xing" in head or b"Info" in head
    return not _EXACT.isdisjoint(container.split(","))


def _wav_is_cut(descriptor: int, num_bytes: int) -> bool:
    at = 12
    while len(chunk := os.pread(descriptor, 8, at)) == 8:
        name, size = struct.unpack("<4sI", chunk)
        at += 8
        if name == b"data":
            return bool(size < _UNKNOWN_SIZE and at + size > num_bytes)
        at += size + (size & 1)
    return False


def _caf_is_cut(descriptor: int, num_bytes: int) -> bool:
    at = 8
    while len(chunk := os.pread(descriptor, 12, at)) == 12:
        size = struct.unpack(">4sq", chunk)[1]
        at += 12
        # -1: all that follows.
        if size < 0 or at + size > num_bytes:
            return bool(size >= 0)
        at += size
    return False


def _ogg_is_cut(tail: bytes) -> bool:
    """Return whether the last page, or the whole end, is not one that ends a stream."""
    at = tail.rfind(_OGG_PAGE)
    if at < 0 or len(tail) < at + 27:
        return True
    num_segments = tail[at + 26]
    body = tail[at + 27 : at + 27 + num_segments]
    is_whole = len(body) == num_segments and len(tail) >= at + 27 + num_segments + sum(body)
    return not is_whole or not tail[at + 5] & _OGG_IS_LAST


def _avr_is_cut(head: bytes, num_bytes: int) -> bool:
    is_stereo, bits = struct.unpack_from(">hH", head, 12)
    frame_bytes = (2 if is_stereo else 1) * bits // 8
    num_frames = int.from_bytes(head[26:30], "big")
    return bool(num_frames * frame_bytes > num_bytes - _AVR_HEADER_BYTES)


def _nist_is_cut(head: bytes, num_bytes: int) -> bool:
    values = dict(re.findall(rb"^(\w+) -i (\d{1,18})", head, re.M))
    size = re.match(rb"NIST_1A\n\s*(\d{1,9})\n", head)
    if size is None or b"sample_count" not in values:
        return False
    frame_bytes = int(values.get(b"channel_count", b"1")) * int(values.get(b"sample_n_bytes", b"2"))
    return int(values[b"sample_count"]) * frame_bytes > num_bytes - int(size[1])
