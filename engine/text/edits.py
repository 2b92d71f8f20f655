"""What a user may change in a transcript, as events that do it and events that take it back."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from engine.core.errors import EngineError
from engine.core.events import (
    EditEvent,
    SpeakerColored,
    SpeakerMerged,
    SpeakerRenamed,
    WordsAssigned,
    WordsEdited,
)
from engine.core.types import MAX_SPEAKERS, USER_EPOCH, SpeakerId
from engine.text.cleaning import clean_line
from engine.text.correction import spread
from engine.text.document import DocumentWord, TranscriptDocument


@dataclass(frozen=True, slots=True)
class Edit:
    """A change and its opposite.

    Args:
        do: makes the change.
        undo: takes it back, once every edit after it is taken back.
    """

    do: tuple[EditEvent, ...]
    undo: tuple[EditEvent, ...]


def rename_speaker(document: TranscriptDocument, speaker: SpeakerId, name: str) -> Edit | None:
    """Return the naming of a speaker; None: it is so named.

    Args:
        document: left as it is, as by all functions here.
        speaker: a merged one stands for whom it is shown as, as in all functions here.
        name: empty to give the letter back.
    """
    speaker = document.resolve(speaker)
    name, before = clean_line(name), document.book.own_name(speaker)
    if name == f"Speaker {speaker.letter}":
        name = ""
    if name == before:
        return None
    return Edit(
        (SpeakerRenamed(speaker.epoch, speaker.slot, name),),
        (SpeakerRenamed(speaker.epoch, speaker.slot, before),),
    )


def merge_speakers(
    document: TranscriptDocument, speaker: SpeakerId, target: SpeakerId
) -> Edit | None:
    """Return the merging of two speakers; None: they are one.

    A target without a name takes over the speaker's.
    """
    speaker, target = document.resolve(speaker), document.resolve(target)
    if speaker == target:
        return None
    do: list[EditEvent] = [SpeakerMerged(speaker, target)]
    undo: list[EditEvent] = [SpeakerMerged(speaker, speaker)]
    name = document.book.own_name(speaker)
    if name and not document.book.own_name(target):
        do.append(SpeakerRenamed(target.epoch, target.slot, name))
        undo.append(SpeakerRenamed(target.epoch, target.slot, ""))
    return Edit(tuple(do), tuple(undo))


def part_speaker(document: TranscriptDocument, speaker: SpeakerId) -> Edit | None:
    """Return the parting of everybody merged into a speaker; None: nobody is."""
    speaker = document.resolve(speaker)
    parted = document.merged_into(speaker)
    if not parted:
        return None
    return Edit(
        tuple(SpeakerMerged(one, one) for one in parted),
        tuple(SpeakerMerged(one, document.book.target_of(one) or one) for one in parted),
    )


def color_speaker(document: TranscriptDocument, speaker: SpeakerId, color: int) -> Edit | None:
    """Return the colouring of a speaker, -1 for the usual colour; None: it has that colour."""
    speaker = document.resolve(speaker)
    color, before = -1 if color == speaker.slot else color, document.book.own_color(speaker)
    if color == before or not -1 <= color < MAX_SPEAKERS:
        return None
    return Edit(
        (SpeakerColored(speaker, color),),
        (SpeakerColored(speaker, before),),
    )


def assign_words(
    document: TranscriptDocument, word_ids: Sequence[int], speaker: SpeakerId
) -> Edit | None:
    """Return the giving of words to a speaker; None: the user has given them so before."""
    speakers = (document.resolve(speaker),)
    changed = [
        entry.id
        for entry in _entries(document, word_ids)
        if not entry.is_locked or entry.speakers != speakers
    ]
    if not changed:
        return None
    return Edit(
        (WordsAssigned(tuple(changed), speakers),),
        _as_assigned(document, changed),
    )


def lock_words(
    document: TranscriptDocument, word_ids: Sequence[int], *, is_locked: bool
) -> Edit | None:
    """Return the locking of words to who has them now, or their giving back; None: it is so."""
    entries = [
        entry
        for entry in _entries(document, word_ids)
        if entry.speakers and entry.is_locked is not is_locked
    ]
    if not entries:
        return None
    changed = [entry.id for entry in entries]
    if not is_locked:
        do: tuple[EditEvent, ...] = (WordsAssigned(tuple(changed), ()),)
        return Edit(do, _as_assigned(document, changed))
    return Edit(
        _assignments((entry.speakers, entry.id) for entry in entries),
        (WordsAssigned(tuple(changed), ()),),
    )


def edit_words(document: TranscriptDocument, word_ids: Sequence[int], text: str) -> Edit | None:
    """Return the correction of consecutive words to a text; None: they say that.

    Words that stay keep their times; what is put in goes to a neighbour.
    """
    entries = _entries(document, word_ids)
    if not entries:
        return None
    texts = [entry.text for entry in entries]
    leads = [(entry.text or entry.heard or "")[:1].isspace() for entry in entries]
    after = spread(texts, leads, text)
    changed = [i for i, (old, new) in enumerate(zip(texts, after, strict=True)) if old != new]
    if not changed:
        return None
    ids = tuple(entries[i].id for i in changed)
    return Edit(
        (WordsEdited(ids, tuple(after[i] for i in changed)),),
        (WordsEdited(ids, tuple(texts[i] for i in changed)),),
    )


def new_speaker(document: TranscriptDocument) -> SpeakerId:
    """Return the first of the user's own speakers who stands for nobody yet.

    Raises:
        EngineError: all are taken.
    """
    for slot in range(MAX_SPEAKERS):
        speaker = SpeakerId(USER_EPOCH, slot)
        if not document.book.has(speaker) and not document.table.is_assigned(speaker):
            return speaker
    raise EngineError(
        f"No more than {MAX_SPEAKERS} speakers can be added to a transcript.",
        advice="Give the words to one of those there are, or merge two of them.",
    )


def _entries(document: TranscriptDocument, word_ids: Sequence[int]) -> list[DocumentWord]:
    """Return the words there are, each once, in order of time."""
    num_words = len(document.words)
    known = {word_id for word_id in word_ids if 0 <= word_id < num_words}
    return [document.words[at] for at in sorted(document.word_index(i) for i in known)]


def _as_assigned(document: TranscriptDocument, word_ids: Iterable[int]) -> tuple[EditEvent, ...]:
    """Return the events that give words to whom the user has given them so far."""
    return _assignments((document.table.assigned(word_id), word_id) for word_id in word_ids)


def _assignments(
    pairs: Iterable[tuple[tuple[SpeakerId, ...], int]],
) -> tuple[WordsAssigned, ...]:
    groups: dict[tuple[SpeakerId, ...], list[int]] = {}
    for speakers, word_id in pairs:
        groups.setdefault(speakers, []).append(word_id)
    return tuple(WordsAssigned(tuple(ids), speakers) for speakers, ids in groups.items())
