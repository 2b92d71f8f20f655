"""Cuts a transcript into subtitle cues: short enough to read, long enough to be seen."""

import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from engine.core.types import SpeakerId, Word, join_words
from engine.store.exporters.options import ExportOptions, one_line
from engine.text.document import TranscriptDocument

_PAUSE_S = 1.0
"""A silence of this length ends a cue."""
_SENTENCE_ENDS = (".", "?", "!", "…", "。", "？", "！")


@dataclass(frozen=True, slots=True)
class Cue:
    """What is on screen at once.

    Args:
        start_ms: from the start of the recording.
        end_ms: after start_ms.
        speaker: whose words; None if not known.
        lines: of text.
    """

    start_ms: int
    end_ms: int
    speaker: SpeakerId | None
    lines: tuple[str, ...]


def make_cues(
    document: TranscriptDocument,
    options: ExportOptions,
    prefix: Callable[[SpeakerId], str] = lambda _: "",
) -> tuple[Cue, ...]:
    """Return the cues of a transcript in order of time.

    Args:
        document: the transcript.
        options: limits of a cue.
        prefix: what is put before a speaker's first cue in a row, counted as text.
    """
    cues: list[Cue] = []
    speaker: SpeakerId | None = None
    for line in document.lines:
        words = [entry.word for entry in document.line_words(line) if not entry.is_gone]
        is_new = line.speaker is not None and line.speaker != speaker
        lead = prefix(line.speaker) if is_new and line.speaker is not None else ""
        for group, text in _groups(words, lead, document.sample_rate, options):
            speaker = line.speaker
            start_ms = _ms(group[0].start, document.sample_rate)
            end_ms = _ms(max(word.end for word in group), document.sample_rate)
            cues.append(
                Cue(start_ms, max(end_ms, start_ms + 1), line.speaker, _wrap(text, options))
            )
    return _timed(sorted(cues, key=lambda cue: cue.start_ms), options)


def _groups(
    words: Sequence[Word], lead: str, rate: int, options: ExportOptions
) -> Iterator[tuple[list[Word], str]]:
    """Yield the words of each cue and their text."""
    group: list[Word] = []
    for word in _fragments(words, options):
        if group and _ends_before(word, group, lead, rate, options):
            yield group, lead + one_line(join_words(group))
            group, lead = [], ""
        # A cue begins with something to read.
        if group or word.text.strip():
            group.append(word)
    if group:
        yield group, lead + one_line(join_words(group))


def _ends_before(
    word: Word, group: Sequence[Word], lead: str, rate: int, options: ExportOptions
) -> bool:
    text = lead + one_line(join_words(group))
    if word.start - group[-1].end > _PAUSE_S * rate:
        return True
    if word.end - group[0].start > options.max_cue_s * rate:
        return True
    is_sentence_end = group[-1].text.rstrip().endswith(_SENTENCE_ENDS)
    if is_sentence_end and len(text) > options.max_line_chars:
        return True
    longer = lead + one_line(join_words([*group, word]))
    return len(_wrap(longer, options)) > options.max_lines


def _fragments(words: Sequence[Word], options: ExportOptions) -> Iterator[Word]:
    """Yield words; one too long for a line (a script without blanks, say) in pieces."""
    # With one line a cue, half of it may be taken by the speaker's name.
    size = options.max_line_chars if options.max_lines > 1 else options.max_line_chars // 2 - 2
    for word in words:
        count = -(-len(word.text) // size)
        length = word.end - word.start
        for i in range(count):
            yield replace(
                word,
                text=word.text[i * size : (i + 1) * size],
                start=word.start + length * i // count,
                end=word.start + length * (i + 1) // count,
            )


def _wrap(text: str, options: ExportOptions) -> tuple[str, ...]:
    return tuple(textwrap.wrap(text, options.max_line_chars, break_on_hyphens=False))


def _timed(cues: Sequence[Cue], options: ExportOptions) -> tuple[Cue, ...]:
    """Let each cue stay long enough, but not into the next."""
    timed = []
    min_ms, max_ms = round(options.min_cue_s * 1000), round(options.max_cue_s * 1000)
    for cue, following in zip_longest(cues, cues[1:]):
        end_ms = min(max(cue.end_ms, cue.start_ms + min_ms), cue.start_ms + max_ms)
        if following is not None and following.start_ms > cue.start_ms:
            end_ms = min(end_ms, following.start_ms)
        timed.append(replace(cue, end_ms=end_ms))
    return tuple(timed)


def _ms(sample: int, rate: int) -> int:
    return round(sample * 1000 / rate)
