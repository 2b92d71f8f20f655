"""Who spoke when, as the user has it: turns of activity, corrected by merges and given words."""

from collections.abc import Iterable, Iterator, Sequence

from engine.core.types import SpeakerId
from engine.text.activity import Turn, TurnPolicy
from engine.text.attribution import PHRASE_PAUSE_S
from engine.text.document import DocumentWord, TranscriptDocument

_SLIVER_MS = 250
"""What is left of a turn at the edge of words given to somebody else is their inexact times."""

_Stretch = tuple[int, int, bool]


def document_turns(
    document: TranscriptDocument, policy: TurnPolicy | None = None
) -> tuple[Turn, ...]:
    """Return the stretches in which people speak, in order of start.

    Merged speakers have their turns in common. Where the user gave words to somebody else than
    the diarizer did, the turn goes with them.
    """
    stretches: dict[SpeakerId, list[_Stretch]] = {}
    for turn in document.activity.turns(policy):
        speaker = document.resolve(turn.speaker)
        stretches.setdefault(speaker, []).append((turn.start_ms, turn.end_ms, turn.is_final))
    for words, losers in _given(document):
        ms = 1000 / document.sample_rate
        start_ms = round(words[0].word.start * ms)
        end_ms = max(start_ms + 1, round(max(entry.word.end for entry in words) * ms))
        for speaker in losers:
            stretches[speaker] = list(_without(stretches.get(speaker, ()), start_ms, end_ms))
        for speaker in words[0].speakers:
            stretches.setdefault(speaker, []).append((start_ms, end_ms, True))
    turns = [
        Turn(speaker, start_ms, end_ms, is_final)
        for speaker, parts in stretches.items()
        for start_ms, end_ms, is_final in _joined(parts)
    ]
    return tuple(sorted(turns, key=lambda turn: (turn.start_ms, turn.speaker)))


def _given(
    document: TranscriptDocument,
) -> Iterator[tuple[list[DocumentWord], frozenset[SpeakerId]]]:
    """Yield words in a row that the user gave to others than the diarizer, and who lost them."""
    pause = PHRASE_PAUSE_S * document.sample_rate
    run: list[DocumentWord] = []
    run_losers: frozenset[SpeakerId] = frozenset()
    for entry in document.words:
        is_given, losers = False, frozenset[SpeakerId]()
        if entry.is_locked:
            found = {document.resolve(speaker) for speaker in document.table.found(entry.id)}
            is_given, losers = found != set(entry.speakers), frozenset(found - {*entry.speakers})
        goes_on = (
            run
            and is_given
            and (losers, entry.speakers) == (run_losers, run[0].speakers)
            and entry.word.start - run[-1].word.end <= pause
        )
        if run and not goes_on:
            yield run, run_losers
            run = []
        if is_given:
            run.append(entry)
            run_losers = losers
    if run:
        yield run, run_losers


def _without(parts: Iterable[_Stretch], start_ms: int, end_ms: int) -> Iterator[_Stretch]:
    """Yield what is left of stretches outside [start_ms, end_ms)."""
    for first, last, is_final in parts:
        if last <= start_ms or first >= end_ms:
            yield first, last, is_final
            continue
        for low, high in ((first, start_ms), (end_ms, last)):
            if high - low > _SLIVER_MS:
                yield low, high, is_final


def _joined(parts: Sequence[_Stretch]) -> list[_Stretch]:
    """Return stretches in order, those that touch as one."""
    joined: list[_Stretch] = []
    for start_ms, end_ms, is_final in sorted(parts):
        if joined and start_ms <= joined[-1][1]:
            first, last, was_final = joined[-1]
            joined[-1] = first, max(last, end_ms), was_final and is_final
        else:
            joined.append((start_ms, end_ms, is_final))
    return joined
