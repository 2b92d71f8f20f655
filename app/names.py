"""What people are called in the window: by the user's name, else by their letter."""

from app.i18n import tr
from app.text import one_line
from engine.core.types import SpeakerId
from engine.text.document import TranscriptDocument


def shown_name(document: TranscriptDocument, speaker: SpeakerId) -> str:
    """Return the name of whom a speaker is shown as; "Speaker A", translated, without one."""
    return given_name(document, speaker) or letter_name(document, speaker)


def given_name(document: TranscriptDocument, speaker: SpeakerId) -> str:
    """Return the user's name for whom a speaker is shown as; "" without one."""
    return one_line(document.book.own_name(document.resolve(speaker)))


def letter_name(document: TranscriptDocument, speaker: SpeakerId) -> str:
    """Return what somebody without a name is called."""
    return tr("Speaker {letter}", letter=document.resolve(speaker).letter)
