"""Groups words into lines: consecutive words of one speaker, without a break in the recording."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from engine.core.types import SpeakerId
from engine.text.attribution import SENTENCE_ENDS
from engine.text.words import DocumentWord

LINE_PAUSE_S = 2.0
"""A silence of this length starts a new line."""
LINE_MAX_WORDS = 60
"""A line longer than this is broken at the next sentence end."""
LINE_LIMIT_WORDS = 240
"""A line of this length is broken anywhere: not every recognizer writes sentence ends."""


@dataclass(frozen=True, slots=True)
class Line:
    """Consecutive words of one speaker.

    Args:
        first: index of the first word in `TranscriptDocument.words`.
        end: one past the last.
        speaker: whose line it is; None if not known (yet).
    """

    first: int
    end: int
    speaker: SpeakerId | None


def regroup(
    lines: list[Line],
    words: Sequence[DocumentWord],
    changed: Sequence[int],
    sample_rate: int,
    inserted_at: int | None = None,
    breaks: Sequence[int] = (),
) -> int:
    """Bring lines in order after words changed; return the first line that is another now.

    Words that were taken out by the user belong to the line before them, whatever they are: they
    begin no line and hold none together.

    Args:
        lines: of the words before; changed in place.
        words: in order of time.
        changed: indices of the words whose text or speaker changed, ascending.
        sample_rate: Hz.
        inserted_at: index of the first word that was put in, if any was: all words behind it
            have moved.
        breaks: samples at which the recording was interrupted, ascending; words that begin before
            one and after it are in no line together.

    Returns:
        Its index; the number of lines where none is another.
    """
    pause = round(LINE_PAUSE_S * sample_rate)
    before = lines[:]
    if inserted_at is not None:
        del before[bisect_left(before, inserted_at, key=_first) :]
    first, num_copied, i = len(before), 0, 0
    del lines[:]
    while i < len(changed):
        # A change at the start of a line can join it to the one before.
        at = max(num_copied, bisect_right(before, changed[i], key=_first) - 2)
        lines += before[num_copied:at]
        first = min(first, at)
        index = before[at].first if before else 0
        num_copied = len(before)
        while index < len(words):
            line = _take_line(words, index, pause, breaks)
            if line is None:
                index = len(words)
                break
            lines.append(line)
            index = line.end
            old = bisect_left(before, index, key=_first)
            if old < len(before) and before[old].first == index:
                # Where an old line begins, lines are as they were up to the next change.
                num_copied = old
                break
        i = bisect_left(changed, index, lo=i)
    lines += before[num_copied:]
    while first < min(len(lines), len(before)) and lines[first] == before[first]:
        first += 1
    return first


def _first(line: Line) -> int:
    return line.first


def is_parted(breaks: Sequence[int], before: int, after: int) -> bool:
    """Return whether the recording was interrupted between the beginnings of two words.

    Args:
        breaks: samples, ascending.
        before: sample at which a word begins.
        after: sample at which a later one begins.
    """
    # One that was cut short by the break belongs before it.
    return bisect_right(breaks, before) < bisect_right(breaks, after)


def _take_line(
    words: Sequence[DocumentWord], first: int, pause: int, breaks: Sequence[int]
) -> Line | None:
    """Return the line that begins with a word; None if no word is left to show."""
    speaker: SpeakerId | None = None
    before: DocumentWord | None = None
    for index in range(first, len(words)):
        entry = words[index]
        if entry.is_gone:
            continue
        primary = entry.speakers[0] if entry.speakers else None
        if before is not None and (
            entry.word.start - before.word.end > pause
            or (primary is not speaker and None not in (primary, speaker) and primary != speaker)
            or _is_full(index - first, before)
            or is_parted(breaks, before.word.start, entry.word.start)
        ):
            return Line(first, index, speaker)
        speaker = speaker or primary
        before = entry
    return Line(first, len(words), speaker) if before is not None else None


def _is_full(num_words: int, last: DocumentWord) -> bool:
    if num_words < LINE_MAX_WORDS:
        return False
    return num_words >= LINE_LIMIT_WORDS or last.word.text.endswith(SENTENCE_ENDS)
