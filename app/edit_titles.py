"""What a change of the transcript is called where it can be taken back."""

from app.i18n import tr, tr_n
from app.names import letter_name, shown_name
from app.text import shortened
from engine.core.events import (
    SpeakerColored,
    SpeakerMerged,
    SpeakerRenamed,
    WordsAssigned,
    WordsEdited,
)
from engine.core.types import SpeakerId
from engine.text.document import TranscriptDocument
from engine.text.edits import Edit

_MAX_NAME_CHARACTERS = 40
"""Names may have any length, menus may not."""


def edit_title(document: TranscriptDocument, edit: Edit) -> str:
    """Return what a change does, for people.

    Args:
        document: as it is before the change.
        edit: the change.
    """
    match edit.do[0]:
        case SpeakerRenamed(epoch, slot, name):
            speaker = SpeakerId(epoch, slot)
            old = _name(document, speaker)
            new = _short(name or letter_name(document, speaker))
            return tr("Rename {old} to {new}", old=old, new=new)
        case SpeakerMerged(speaker, target) if speaker == target:
            return tr("Part {name} again", name=_name(document, speaker))
        case SpeakerMerged(speaker, target):
            names = _name(document, speaker), _name(document, target)
            return tr("Merge {name} into {other}", name=names[0], other=names[1])
        case SpeakerColored(speaker, _):
            return tr("Colour of {name}", name=_name(document, speaker))
        case WordsAssigned():
            return _title_of_assignment(document, edit)
        case WordsEdited(word_ids, texts) if any(texts):
            return tr_n("Correct {n} word", "Correct {n} words", len(word_ids))
        case WordsEdited(word_ids, _):
            return tr_n("Take out {n} word", "Take out {n} words", len(word_ids))


def _title_of_assignment(document: TranscriptDocument, edit: Edit) -> str:
    given = [event for event in edit.do if isinstance(event, WordsAssigned)]
    count, speakers = sum(len(event.word_ids) for event in given), given[0].speakers
    if not speakers:
        return tr_n(
            "Let the program decide who said {n} word",
            "Let the program decide who said {n} words",
            count,
        )
    if all(_says(document, word_id, e.speakers) for e in given for word_id in e.word_ids):
        return tr_n("Keep who said {n} word", "Keep who said {n} words", count)
    name = _name(document, speakers[0])
    return tr_n("{name} said {n} word", "{name} said {n} words", count, name=name)


def _says(document: TranscriptDocument, word_id: int, speakers: tuple[SpeakerId, ...]) -> bool:
    return document.words[document.word_index(word_id)].speakers == speakers


def _name(document: TranscriptDocument, speaker: SpeakerId) -> str:
    return _short(shown_name(document, speaker))


def _short(name: str) -> str:
    return shortened(name, _MAX_NAME_CHARACTERS)
