"""What is said of a kept recording, for people."""

from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from app.i18n import short_date, tr, tr_n
from engine.text.search import MAX_HITS

if TYPE_CHECKING:
    from engine.store.session_search import Found


class StoredInfo(Protocol):
    """What the list needs of a stored session; see `engine.store.library.SessionInfo`."""

    @property
    def id(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def started_at(self) -> str: ...
    @property
    def duration_s(self) -> float: ...
    @property
    def num_words(self) -> int: ...
    @property
    def is_closed(self) -> bool: ...
    @property
    def is_active(self) -> bool: ...
    @property
    def is_recovered(self) -> bool: ...


def describe(info: StoredInfo) -> tuple[str, str]:
    """Return a session's title and what it holds, for people; its date is in one of them."""
    minutes, seconds = divmod(round(info.duration_s), 60)
    length = (
        tr("{minutes} min {seconds} s", minutes=minutes, seconds=f"{seconds:02d}")
        if minutes
        else tr("{seconds} s", seconds=seconds)
    )
    # A narrow list breaks its lines between parts, not within a length.
    parts = [
        length.replace(" ", "\N{NO-BREAK SPACE}"),
        tr_n("{n} word", "{n} words", info.num_words),
    ]
    if info.title:
        parts.insert(0, when(info))
    if not info.is_closed:
        parts.append(tr("broke off"))
    elif info.is_recovered:
        parts.append(tr("recovered"))
    return info.title or when(info), " · ".join(parts)


def when(info: StoredInfo) -> str:
    """Return the date of a session; its id if the date is damaged."""
    try:
        return short_date(datetime.fromisoformat(info.started_at))
    except ValueError:
        return info.id


def entry_text(info: StoredInfo) -> str:
    """Return what a list says of a session, in two lines."""
    return "\n".join(describe(info))


def tell_found(found: "Found") -> str:
    """Return why an entry is there that does not say itself what is looked for."""
    parts = list(found.speakers)
    for text, num_places in found.places:
        count = f"{num_places}+" if num_places >= MAX_HITS else f"{num_places}"
        parts.append(tr("{count} × {text}", count=count, text=text))
    return " · ".join(parts)
