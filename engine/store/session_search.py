"""What a kept recording holds of a text: in its words, and in the names of its speakers."""

from dataclasses import dataclass
from typing import get_args

from engine.core.events import Event, FinalWords, SpeakerMerged, SpeakerRenamed, WordsEdited
from engine.core.sync import CancelToken
from engine.core.types import SpeakerId
from engine.store.stored_session import StoredSession
from engine.text.document import TranscriptDocument
from engine.text.search import TranscriptSearch, fold

_READ = (FinalWords, WordsEdited, SpeakerRenamed, SpeakerMerged)
_PASSED_OVER = tuple(kind for kind in get_args(Event) if kind not in _READ)


@dataclass(frozen=True, slots=True)
class Found:
    """Where a recording has what is looked for.

    Args:
        places: texts that are said in it, and how often, `engine.text.search.MAX_HITS` at most:
            all that is looked for where it is said in one, else those of its parts that are.
        speakers: names of speakers that hold some of it.
    """

    places: tuple[tuple[str, int], ...] = ()
    speakers: tuple[str, ...] = ()


def search_session(
    session: StoredSession, query: str, cancel: CancelToken, known: str = ""
) -> Found | None:
    """Look through a recording; nothing of it stays in memory.

    Args:
        session: may have ended or not.
        query: parts, separated by blanks, each of which has to be somewhere; case and accents do
            not matter.
        cancel: checked at every event.
        known: what else is known of the recording, as its title; what is there need not be said.

    Returns:
        None if a part of the query is nowhere.

    Raises:
        CancelledError: it was cancelled.
        StoreError: the events cannot be read.
    """
    parts, known = query.split(), fold(known)
    document, names = _read(session, cancel)
    search = TranscriptSearch(document)
    whole = len(search.find(query))
    if whole:
        return Found(((" ".join(parts), whole),))
    places, speakers = [], dict[str, None]()
    for part in dict.fromkeys(parts):
        cancel.check()
        if fold(part) in known:
            continue
        holders = [name for name in names if fold(part) in fold(name)]
        num_places = len(search.find(part))
        if not holders and not num_places:
            return None
        if num_places:
            places.append((part, num_places))
        speakers.update(dict.fromkeys(holders))
    return Found(tuple(places), tuple(speakers))


def _read(session: StoredSession, cancel: CancelToken) -> tuple[TranscriptDocument, list[str]]:
    """Return a recording's words, and the names people gave to speakers."""
    document, named = TranscriptDocument(), dict[SpeakerId, None]()
    for event in session.events(_PASSED_OVER):
        cancel.check()
        try:
            document.apply(event)
        except (ValueError, ArithmeticError):  # damage; told to whoever opens the recording
            continue
        if isinstance(event, SpeakerRenamed):
            named[SpeakerId(event.epoch, event.slot)] = None
    names = (document.book.own_name(document.resolve(speaker)) for speaker in named)
    return document, [name for name in dict.fromkeys(names) if name]
