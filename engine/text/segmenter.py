"""Cuts a text to be spoken into pieces that a synthesizer renders one at a time.

A piece is a sentence, or a clause of one where the sentence is long, or where a first sound is
wanted early. Wrong pauses are worse to hear than missing ones, so where a full stop may belong to
an abbreviation the text stays whole.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

MAX_CHARS = 160
FIRST_CHARS = 40

_CLOSERS = r"[\"'”’»)\]}』」）】*_]*"
_SENTENCE_END = re.compile(rf"[.!?…]+(?P<closers>{_CLOSERS})(?=\s|$)|[。！？｡]+{_CLOSERS}")
_CLAUSE_END = re.compile(rf"[,;:…—–]{_CLOSERS}(?=\s)|(?<=\s)-(?=\s)|[、，；：]")
_CONJUNCTION = re.compile(
    r"\s(?=(?:and|but|or|because|while|which|that|when|if|who|where|so|until|before|after)\s)"
)
_BLANK = re.compile(r"\s+")
_WORD = re.compile(r"\S+")
_LIST_NUMBER = re.compile(r"\s*(?:\d{1,3}|[a-z])")
_LINE = re.compile(r"[^\r\n\f\v\u2028\u2029]*\S[^\r\n\f\v\u2028\u2029]*")
_LINE_BREAK = re.compile(r"\r\n|[\r\n\f\v\u2028\u2029]")
_LIST_MARKER = re.compile(r"\s*(?:[-*•‣–]|\(?\d{1,3}[.)]|\(?[a-z][.)])\s")
_LAST_TOKEN = re.compile(r"[^\s(\[{\"'“‘«]*$")
_DOTTED = re.compile(r"(?:[A-Za-z]\.)+[A-Za-z]|[A-HJ-Z]")

_SHORT_LINE = 50
"""A line under this length did not end because the page was full."""

_NEVER_LAST = re.compile(
    r"dr|mrs?|ms|mx|prof|st|mt|rev|gen|col|capt|lt|sgt|sen|rep|gov|hon|pres|messrs|mme|mlle"
    r"|e\.?g|i\.?e|vs|cf|viz|bzw|z\.b|d\.h|dipl"
)
_LAST_BEFORE_CAPITAL = re.compile(
    r"etc|inc|ltd|co|corp|jr|sr|dept|est|al|ave|blvd|rd|usw|jan|feb|apr|aug|sept?|oct|nov"
    r"|approx|ca|max|min|tel"
)
_BEFORE_NUMBER = re.compile(r"nos?|nr|figs?|vol|pp?|ch|art|sec|eq|approx|ca|mar|dec|jun")
_SENTENCE_STARTER = re.compile(
    r"(?:The|It|He|She|We|They|This|That|But|In|There|I|You|If)(?![A-Za-z])"
)


class Break(StrEnum):
    """What follows a piece, so that the pause after it can be as long as a reader's."""

    WORD = "word"
    CLAUSE = "clause"
    SENTENCE = "sentence"
    PARAGRAPH = "paragraph"


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of the text to be rendered at once.

    Args:
        text: the characters [start, end) of the original.
        start: first character.
        end: one past the last character.
        sentence_start: first character of the sentence it is part of.
        sentence_end: one past that sentence's last character.
        break_after: what separates it from the next piece.
    """

    text: str
    start: int
    end: int
    sentence_start: int
    sentence_end: int
    break_after: Break


def segment(
    text: str, *, max_chars: int = MAX_CHARS, first_chars: int = FIRST_CHARS
) -> Iterator[Piece]:
    """Yield the pieces of `text` in order; signs that nobody reads aloud may be in none.

    Args:
        text: anything; line breaks separate paragraphs, list items and headings.
        max_chars: a piece is at most this long.
        first_chars: a first sentence longer than this is cut after its first clause.

    Raises:
        ValueError: a limit is below 8.
    """
    if min(max_chars, first_chars) < 8:
        raise ValueError(f"limits must be at least 8, got {max_chars} and {first_chars}")
    is_first = True
    for block_start, block_end, block_break in _blocks(text):
        for start, end in _sentences(text, block_start, block_end):
            is_last = end == block_end
            ending = block_break if is_last else Break.SENTENCE
            limit = min(first_chars, max_chars) if is_first else max_chars
            for piece in _pieces(text, (start, end), ending, max_chars, limit):
                is_first = False
                yield piece


def is_speakable(text: str) -> bool:
    """Return whether there is anything to say: a letter, a digit, a symbol with a name."""
    return any(_has_sound(char) for char in text)


def _has_sound(char: str) -> bool:
    category = unicodedata.category(char)
    if category == "So":
        return not "\u2500" <= char <= "\u259f"  # lines of tables drawn with characters
    return category[0] in "LN" or category == "Sc" or char in "%&@"


def _blocks(text: str) -> Iterator[tuple[int, int, Break]]:
    """Yield stretches that no sentence crosses: paragraphs, list items, headings."""
    start, previous = -1, (0, 0)
    for match in _LINE.finditer(text):
        line = match.span()
        if start >= 0:
            ending = _break_between(text, previous, line)
            if ending is not None:
                yield *_trim(text, start, previous[1]), ending
                start = -1
        start = line[0] if start < 0 else start
        previous = line
    if start >= 0:
        yield *_trim(text, start, previous[1]), Break.PARAGRAPH


def _break_between(text: str, line: tuple[int, int], following: tuple[int, int]) -> Break | None:
    """Return what separates two lines, None where the text was only wrapped to a width."""
    gap = _LINE_BREAK.findall(text, line[1], following[0])
    if len(gap) > 1 or gap[0] in "\f\u2029":
        return Break.PARAGRAPH
    above, below = text[slice(*line)].strip(), text[slice(*following)]
    if _LIST_MARKER.match(below) or above.endswith(":"):
        return Break.SENTENCE
    is_wrapped = len(above) >= _SHORT_LINE or below.lstrip()[0].islower() or above[-1] in ",;-–—"
    return None if is_wrapped else Break.SENTENCE


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    stretch = text[start:end]
    return start + len(stretch) - len(stretch.lstrip()), start + len(stretch.rstrip())


def _sentences(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    first = start
    for match in _SENTENCE_END.finditer(text, start, end):
        if match.end() < end and not _ends_sentence(text, match, first, end):
            continue
        yield _trim(text, first, match.end())
        first = match.end()
    if text[first:end].strip():
        yield _trim(text, first, end)


def _ends_sentence(text: str, match: re.Match[str], start: int, end: int) -> bool:
    closers = match.group("closers")
    if closers is None:  # signs of Chinese and Japanese, never part of a word
        return True
    following = _WORD.search(text, match.end(), end)
    assert following is not None, "blocks end where their last word ends"
    first = following.group()[0]
    if first.islower() and (closers or "…" in match.group() or ".." in match.group()):
        return False
    if match.group() != ".":
        return True
    token = _LAST_TOKEN.search(text, max(start, match.start() - 16), match.start())
    word = token.group() if token is not None else ""
    if match.start() - start <= 4 and _LIST_NUMBER.fullmatch(text, start, match.start()):
        return False
    key = word.lower()
    if _NEVER_LAST.fullmatch(key) or (_BEFORE_NUMBER.fullmatch(key) and first.isdigit()):
        return False
    if _LAST_BEFORE_CAPITAL.fullmatch(key):
        return first.isupper()
    if _DOTTED.fullmatch(word):
        return _SENTENCE_STARTER.match(following.group()) is not None
    return True


def _pieces(
    text: str, sentence: tuple[int, int], ending: Break, max_chars: int, first_chars: int
) -> Iterator[Piece]:
    start, end = sentence
    spans: list[tuple[int, int, Break]] = []
    if end - start > first_chars and first_chars < max_chars:
        cut = _first_clause(text, start, end, first_chars, max_chars)
        if cut is not None:
            spans.append((start, *cut))
            start = cut[0]
    while end - start > max_chars:
        cut = _best_cut(text, start, end, max_chars)
        spans.append((start, *cut))
        start = cut[0]
    spans.append((start, end, ending))
    trimmed = [(*_trim(text, first, last), kind) for first, last, kind in spans]
    spoken = [span for span in trimmed if is_speakable(text[span[0] : span[1]])]
    for i, (first, last, kind) in enumerate(spoken):
        is_last = i == len(spoken) - 1
        yield Piece(text[first:last], first, last, *sentence, ending if is_last else kind)


def _first_clause(
    text: str, start: int, end: int, first_chars: int, max_chars: int
) -> tuple[int, Break] | None:
    """Return where the first clause ends: early, but not after a single short word."""
    low, high = start + first_chars // 4, min(start + 2 * first_chars, start + max_chars, end - 8)
    for match in _CLAUSE_END.finditer(text, start, high + 1):
        if low <= match.end() <= high:
            return match.end(), Break.CLAUSE
    for match in _CONJUNCTION.finditer(text, start, end):
        if start + first_chars // 2 <= match.start() <= high:
            return match.start(), Break.WORD
    return None


def _best_cut(text: str, start: int, end: int, max_chars: int) -> tuple[int, Break]:
    """Return the cut that leaves parts of nearly equal length, best at a clause, else a blank."""
    num_parts = -(-(end - start) // max_chars)
    target = start + (end - start) // num_parts
    high = start + max_chars
    choices = (
        (_CLAUSE_END, start + max_chars // 3, Break.CLAUSE),
        (_CONJUNCTION, start + max_chars // 3, Break.WORD),
        (_BLANK, start + 1, Break.WORD),
    )
    for pattern, low, kind in choices:
        cuts = [
            match.start() if kind is Break.WORD else match.end()
            for match in pattern.finditer(text, start, min(end, high + 1))
        ]
        cuts = [cut for cut in cuts if low <= cut <= high]
        if cuts:
            return min(cuts, key=lambda cut: abs(cut - target)), kind
    cut = target
    while cut > start + 1 and (unicodedata.combining(text[cut]) or text[cut] in "\u200d\ufe0f"):
        cut -= 1  # marks stay with their letter
    return cut, Break.WORD
