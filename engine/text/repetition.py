"""Recognizes text that a decoder repeats instead of reading on."""

import zlib
from collections.abc import Sequence

_MAX_PERIOD = 16
_MIN_REPEATS = {1: 6, 2: 4}  # for longer periods, the default
_DEFAULT_REPEATS = 3
_MIN_COMPRESSED_CHARACTERS = 60  # shorter texts compress badly whatever they say
_MAX_COMPRESSION_RATIO = 2.4


def loop_start(keys: Sequence[str]) -> int | None:
    """Return where the second round of a loop begins, or None where nothing loops.

    People say a word three or four times over, and a phrase twice; a decoder that has lost its
    place does not stop there.

    Args:
        keys: the words in order, spelled alike where they are alike.
    """
    for period in range(1, _MAX_PERIOD + 1):
        needed = period * _MIN_REPEATS.get(period, _DEFAULT_REPEATS)
        run = 0
        for i in range(period, len(keys)):
            run = run + 1 if keys[i] == keys[i - period] else 0
            if run >= needed - period:
                return i + 1 - run
    return None


def is_repetitive(text: str) -> bool:
    """Return whether `text` compresses as only loops do."""
    if len(text) < _MIN_COMPRESSED_CHARACTERS:
        return False
    data = text.encode()
    return len(data) / len(zlib.compress(data)) > _MAX_COMPRESSION_RATIO
