"""Spreads a corrected text over the words it corrects, so that what stays keeps its time."""

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from engine.text.cleaning import clean_line, clean_word

_TOKEN = re.compile("[^ ]+")


class _Token(NamedTuple):
    """What stands between blanks, and which word each of its characters belongs to."""

    text: str
    owners: tuple[int, ...]


def spread(texts: Sequence[str], leads: Sequence[bool], corrected: str) -> list[str]:
    """Return what each word says after a correction.

    Joined they are the corrected text. Words that occur in it stay as they are; what is put in
    goes to a neighbour, in writings without blanks character by character.

    Args:
        texts: of consecutive words, with their leading blanks; at least one.
        leads: whether each word has, or had, a leading blank.
        corrected: what they should say; "" takes them all out.
    """
    tokens = _tokens(texts)
    wanted = _TOKEN.findall(clean_line(corrected))
    placed: list[_Token] = []
    matcher = SequenceMatcher(None, [token.text for token in tokens], wanted, autojunk=False)
    for _, low, high, start, stop in matcher.get_opcodes():
        owner = placed[-1].owners[-1] if placed else tokens[low].owners[0] if tokens else 0
        placed += _replace(tokens[low:high], wanted[start:stop], owner)
    result = [""] * len(texts)
    for number, token in enumerate(placed):
        first = token.owners[0]
        if number or leads[0] or leads[first]:
            result[first] += " "
        for character, owner in zip(token.text, token.owners, strict=True):
            result[owner] += character
    # Blanks that were more than one, or none that are typed, are no correction.
    return [old if clean_word(old) == new else new for old, new in zip(texts, result, strict=True)]


def _tokens(texts: Sequence[str]) -> list[_Token]:
    clean = [clean_word(text) for text in texts]
    joined = "".join(clean)
    owners = [word for word, text in enumerate(clean) for _ in text]
    return [
        _Token(found.group(), tuple(owners[found.start() : found.end()]))
        for found in _TOKEN.finditer(joined)
    ]


def _replace(old: Sequence[_Token], new: Sequence[str], owner: int) -> list[_Token]:
    """Return new tokens in the place of old ones; of `owner` where there are none."""
    placed: list[_Token] = []
    for number, text in enumerate(new):
        if number < len(old):
            placed.append(_Token(text, _align(old[number], text)))
            owner = placed[-1].owners[-1]
        else:
            placed.append(_Token(text, (owner,) * len(text)))
    return placed


def _align(old: _Token, new: str) -> tuple[int, ...]:
    """Return whose each character of a new token is."""
    if len(set(old.owners)) == 1:
        return (old.owners[0],) * len(new)
    owners: list[int] = []
    matcher = SequenceMatcher(None, old.text, new, autojunk=False)
    for _, low, high, start, stop in matcher.get_opcodes():
        if low == high:
            owner = owners[-1] if owners else old.owners[low]
            owners += [owner] * (stop - start)
        else:
            owners += [old.owners[min(low + i, high - 1)] for i in range(stop - start)]
    return tuple(owners)
