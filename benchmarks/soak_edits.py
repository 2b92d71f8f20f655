"""What a user may change in a transcript, at random."""

from random import Random

from engine.core.events import (
    EditEvent,
    SpeakerColored,
    SpeakerMerged,
    SpeakerRenamed,
    WordsAssigned,
    WordsEdited,
)
from engine.core.types import USER_EPOCH, SpeakerId
from engine.text.document import TranscriptDocument

_NAMES = ("Ada", "Grace", "")
_TEXTS = (" corrected", " twice over", "")


def random_edits(document: TranscriptDocument, rng: Random) -> tuple[EditEvent, ...]:
    """Return a few changes of what there is. Thread: the document's."""
    speakers, words = document.speakers, document.words
    if not speakers or not words:
        return ()
    first, second = rng.choice(speakers), rng.choice(speakers)
    at = rng.randrange(len(words))
    ids = tuple(word.id for word in words[at : at + rng.randrange(1, 6)])
    return (
        SpeakerRenamed(first.epoch, first.slot, rng.choice(_NAMES)),
        SpeakerMerged(first, second),
        SpeakerColored(second, rng.randrange(-1, 8)),
        WordsAssigned(ids[:2], (rng.choice((second, SpeakerId(USER_EPOCH, 0))),)),
        WordsEdited(ids, tuple(rng.choice(_TEXTS) for _ in ids)),
    )
