"""Prints a transcript while it grows: whole lines once, the growing tail on terminals."""

import threading
from bisect import bisect_right

from engine.cli.console import Console
from engine.core.events import (
    ActivityRevised,
    BackendChanged,
    BackendState,
    Event,
    PartialWords,
    RecordingStopped,
)
from engine.core.timebase import format_time, frame_start, samples
from engine.core.types import BackendKind, SpeakerId, join_words
from engine.text.document import LINE_PAUSE_S, DocumentWord, Line, TranscriptDocument

SPEAKER_PATIENCE_S = 3.0
"""Audio after a line that its printing waits for the speakers to be certain."""
_QUIET_S = 2 * LINE_PAUSE_S


class LinePrinter:
    """Prints every committed word once, in lines of one speaker.

    A line is printed when nothing will be added to it and its speaker is certain; `tick` bounds
    the wait. Words that come late are printed when they come, with the time they were said.
    Thread: `take` on the event thread, `tick` on any.

    Args:
        console: where to.
        has_speakers: whether a diarizer is at work.
    """

    def __init__(self, console: Console, *, has_speakers: bool) -> None:
        self._console = console
        self._has_speakers = has_speakers
        self._document = TranscriptDocument()
        self._lock = threading.Lock()
        self._printed: set[int] = set()
        # Every word before this position is printed.
        self._first_open = 0
        self._heard_until = 0
        self._recorded_until = 0

    def take(self, event: Event) -> None:
        """Take an event in and print what is ready."""
        with self._lock:
            changed = self._document.apply(event)
            if changed is not None and changed < len(self._document.lines):
                self._first_open = min(self._first_open, self._document.lines[changed].first)
            match event:
                case PartialWords():
                    self._heard_until = max(self._heard_until, event.heard_until)
                case BackendChanged(kind=BackendKind.DIARIZER):
                    gone = event.state in (BackendState.FAILED, BackendState.OFF)
                    self._has_speakers = self._has_speakers and not gone
                case ActivityRevised() | RecordingStopped():
                    pass
                case _ if changed is None:
                    return
                case _:
                    pass
            self._show()

    def tick(self, recorded_s: float) -> None:
        """Say how much was recorded, so that nothing waits for ever in a long silence."""
        with self._lock:
            self._recorded_until = samples(recorded_s, self._document.sample_rate)
            self._show()

    def _show(self) -> None:
        self._print_ready()
        open_words = self._open_words(self._first_open, len(self._document.words))
        if self._document.is_complete:
            return
        if not open_words and not self._document.partial:
            self._console.tail("", "", "")
            return
        start = open_words[0].word.start if open_words else self._document.partial[0].start
        speaker = self._document.lines[-1].speaker if open_words else None
        self._console.tail(
            self._head(start, speaker),
            join_words(entry.word for entry in open_words),
            "".join(word.text for word in self._document.partial),
        )

    def _print_ready(self) -> None:
        lines, words = self._document.lines, self._document.words
        at = bisect_right(lines, self._first_open, key=lambda line: line.first) - 1
        for index in range(max(0, at), len(lines)):
            line = lines[index]
            entries = self._open_words(line.first, line.end)
            if entries and not self._is_ready(line, is_last=index == len(lines) - 1):
                break
            if entries:
                head = self._head(entries[0].word.start, line.speaker)
                self._console.line(head + join_words(entry.word for entry in entries))
                self._printed.update(entry.id for entry in entries)
        while self._first_open < len(words) and words[self._first_open].id in self._printed:
            self._first_open += 1

    def _open_words(self, first: int, end: int) -> list[DocumentWord]:
        words = self._document.words[first:end]
        return [entry for entry in words if entry.id not in self._printed]

    def _is_ready(self, line: Line, *, is_last: bool) -> bool:
        if self._document.is_complete:
            return True
        rate = self._document.sample_rate
        end = self._document.words[line.end - 1].word.end
        if is_last:
            heard_s = (self._heard_until - end) / rate
            recorded_s = (self._recorded_until - end) / rate
            is_quiet = not self._document.partial and (
                heard_s > LINE_PAUSE_S or recorded_s > _QUIET_S
            )
            if not is_quiet:
                return False
        return not self._has_speakers or self._is_attributed(end)

    def _is_attributed(self, end: int) -> bool:
        activity, rate = self._document.activity, self._document.sample_rate
        if activity.frame_ms and frame_start(activity.final_until, activity.frame_ms, rate) >= end:
            return True
        return self._recorded_until - end > samples(SPEAKER_PATIENCE_S, rate)

    def _head(self, start: int, speaker: SpeakerId | None) -> str:
        time = format_time(int(self._document.seconds(start)))
        if not self._has_speakers and speaker is None:
            return f"[{time}]  "
        label = speaker.letter if speaker else "?"
        return f"[{time}] {self._console.speaker(label, speaker.slot if speaker else 0)}  "
