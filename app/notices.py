"""What the user should know and has not put away: what of it stands first, and what goes."""

from typing import NamedTuple

from engine.core.events import Notice, Severity
from engine.core.types import BackendKind

MAX_NOTICES = 200
_READING_S, _READING_S_PER_CHARACTER = 6.0, 0.05
"""How long plain information stays: nobody reads faster than that."""
_RANKS = {Severity.INFO: 0, Severity.WARNING: 1, Severity.ERROR: 2}
_LESSER = frozenset(str(kind) for kind in BackendKind if kind is not BackendKind.RECOGNIZER)
"""Without these there are words still."""


class DatedNotice(NamedTuple):
    """A notice and when it came.

    Args:
        time: local, HH:MM:SS.
        notice: what came.
        leaves_at_s: when it goes by itself, on the clock that brought it; None: it stays.
    """

    time: str
    notice: Notice
    leaves_at_s: float | None = None


def leaves_at_s(notice: Notice, now_s: float) -> float | None:
    """Return when a notice that comes now may go; None if somebody has to put it away."""
    if notice.severity is not Severity.INFO:
        return None
    num_characters = len(notice.message) + len(notice.advice)
    return now_s + _READING_S + _READING_S_PER_CHARACTER * num_characters


class OpenNotices:
    """Notices until they are put away, or what they tell is over. Thread: main."""

    def __init__(self) -> None:
        self._notices: list[DatedNotice] = []

    @property
    def in_order(self) -> list[DatedNotice]:
        """What is open; the last is to be read first.

        That is the gravest, of equals the newest. Information that has just come stands before
        all: it answers what the user did, and goes by itself.
        """
        ordered = sorted(self._notices, key=lambda dated: _rank(dated.notice))
        newest = self._notices[-1:]
        if newest and newest[0].leaves_at_s is not None:
            ordered.remove(newest[0])
            ordered += newest
        return ordered

    @property
    def next_leaves_at_s(self) -> float | None:
        """When the next one goes by itself."""
        times = [d.leaves_at_s for d in self._notices if d.leaves_at_s is not None]
        return min(times, default=None)

    def add(self, dated: DatedNotice) -> None:
        """Take a notice in; it takes the place of the same one, and of its topic."""
        notice = dated.notice
        others = [
            shown
            for shown in self._notices
            if shown.notice != notice and not (notice.topic and shown.notice.topic == notice.topic)
        ]
        self._notices = [*others[-MAX_NOTICES + 1 :], dated]

    def dismiss(self) -> bool:
        """Put the first one away; return whether there was one."""
        return self._keep(self.in_order[:-1])

    def clear(self) -> bool:
        """Put all away; return whether there was one."""
        return self._keep([])

    def expire(self, now_s: float) -> bool:
        """Let those go whose time is over; return whether there was one."""
        return self._keep(
            [d for d in self._notices if d.leaves_at_s is None or d.leaves_at_s > now_s]
        )

    def end_topic(self, topic: str) -> bool:
        """Let go what was told of something that is well now; return whether there was any."""
        return self._keep([d for d in self._notices if d.notice.topic != topic])

    def end_recording(self) -> bool:
        """Let go what speaks of a recording that goes on; return whether there was any."""
        return self._keep([d for d in self._notices if not d.notice.ends_with_recording])

    def _keep(self, kept: list[DatedNotice]) -> bool:
        is_changed = len(kept) != len(self._notices)
        self._notices = [dated for dated in self._notices if dated in kept]
        return is_changed


def _rank(notice: Notice) -> tuple[int, bool]:
    return _RANKS[notice.severity], notice.topic not in _LESSER
