"""Recognizes text that a decoder repeats instead of reading on."""

from collections.abc import Sequence

_MAX_PERIOD = 16  # tokens
_MIN_ROUNDS = (6, 4, 3)  # of one token, of two, of more


def loop_start(keys: Sequence[str]) -> int | None:
    """Return where the second round of a loop begins, or None where nothing loops.

    People say a word three or four times over, and a phrase twice; a decoder that has lost its
    place does not stop there.

    Args:
        keys: the words in order, spelled alike where they are alike.
    """
    for period in range(1, _MAX_PERIOD + 1):
        needed = period * _MIN_ROUNDS[min(period, len(_MIN_ROUNDS)) - 1]
        run = 0
        for i in range(period, len(keys)):
            run = run + 1 if keys[i] == keys[i - period] else 0
            if run >= needed - period:
                return i + 1 - run
    return None
