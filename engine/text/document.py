"""The transcript as data: words, who said them, lines, and stretches that are no speech.

A document is built by applying events in order; replicas that apply the same events are equal, so
window, exporters and tests each hold their own without locks.
"""

from bisect import bisect_left, bisect_right, insort
from collections.abc import Sequence

from engine.core.events import (
    ActivityRevised,
    BackendChanged,
    Event,
    FinalWords,
    PartialWords,
    RecordingStarted,
    RecordingStopped,
    SpanMarked,
    SpeakerColored,
    SpeakerMerged,
    SpeakerRenamed,
    WordsAssigned,
    WordsEdited,
)
from engine.core.types import SpanKind, SpeakerId, Word, join_words
from engine.text.activity import ActivityTrack
from engine.text.attribution import attribute_phrase
from engine.text.lines import LINE_MAX_WORDS, LINE_PAUSE_S, Line, is_parted, regroup
from engine.text.speaker_book import SpeakerBook
from engine.text.words import Changes, DocumentWord, WordTable

__all__ = ["LINE_MAX_WORDS", "LINE_PAUSE_S", "DocumentWord", "Line", "TranscriptDocument"]

_INTERRUPTIONS = (SpanKind.PAUSE, SpanKind.GAP)


class TranscriptDocument:
    """Everything known about one recording. Thread: the one that applies events."""

    def __init__(self) -> None:
        self.sample_rate = 16_000
        self.recording: RecordingStarted | None = None
        self.num_samples = 0
        self.is_complete = False
        self.is_trained = True
        self.partial: tuple[Word, ...] = ()
        self.activity = ActivityTrack()
        self._book = SpeakerBook()
        self._table = WordTable(self._book)
        self._lines: list[Line] = []
        self._marks: dict[int, SpanMarked] = {}
        self._spans: list[SpanMarked] = []
        self._span_tuple: tuple[SpanMarked, ...] = ()
        self._breaks: list[int] = []  # where it was interrupted

    @property
    def words(self) -> Sequence[DocumentWord]:
        """Final words in order of time, also those the user took out (`is_gone`)."""
        return self._table.shown

    @property
    def lines(self) -> Sequence[Line]:
        """Final words by speaker, silence and interruption; none of them is empty."""
        return self._lines

    @property
    def spans(self) -> tuple[SpanMarked, ...]:
        """Marked stretches in order of start."""
        return self._span_tuple

    @property
    def speakers(self) -> tuple[SpeakerId, ...]:
        """Everybody who said a word, in order of appearance; merged ones are one."""
        return self._table.roll.speakers

    @property
    def book(self) -> SpeakerBook:
        """What the user said about each very speaker, merges left aside. Not to be changed."""
        return self._book

    @property
    def table(self) -> WordTable:
        """What is known of each word, merges left aside. Not to be changed."""
        return self._table

    def resolve(self, speaker: SpeakerId) -> SpeakerId:
        """Return who a speaker is shown as, through all merges."""
        return self._book.resolve(speaker)

    def merged_into(self, speaker: SpeakerId) -> tuple[SpeakerId, ...]:
        """Return everybody else who is shown as this speaker."""
        return self._book.merged_into(speaker)

    def speaker_name(self, speaker: SpeakerId) -> str:
        """Return the user's name for whom a speaker is shown as, or "Speaker A"."""
        speaker = self._book.resolve(speaker)
        return self._book.own_name(speaker) or f"Speaker {speaker.letter}"

    def speaker_color(self, speaker: SpeakerId) -> int:
        """Return which of the eight colours whom a speaker is shown as has: 0 to 7."""
        speaker = self._book.resolve(speaker)
        color = self._book.own_color(speaker)
        return speaker.slot if color < 0 else color

    def word_index(self, word_id: int) -> int:
        """Return where in `words` a word is.

        Raises:
            KeyError: there is no such word.
        """
        return self._table.index(word_id)

    def line_words(self, line: Line) -> Sequence[DocumentWord]:
        """Return the words of a line."""
        return self._table.shown[line.first : line.end]

    def line_start(self, line: Line) -> int:
        """Return the sample at which a line's first word begins."""
        return next(entry.word.start for entry in self.line_words(line) if not entry.is_gone)

    def line_end(self, line: Line) -> int:
        """Return the sample at which the last of a line's words ends."""
        return max(entry.word.end for entry in self.line_words(line) if not entry.is_gone)

    def line_text(self, line: Line) -> str:
        """Return a line's text."""
        return join_words(word.word for word in self.line_words(line))

    def text(self) -> str:
        """Return all final words as one text."""
        return join_words(word.word for word in self.words)

    def is_parted(self, before: int, after: int) -> bool:
        """Return whether a pause or a loss lies between the beginnings of two words.

        Args:
            before: sample at which a word begins.
            after: sample at which a later one begins.
        """
        return is_parted(self._breaks, before, after)

    def speakers_of_partial(self) -> tuple[tuple[SpeakerId, ...], ...]:
        """Return who seems to say each partial word."""
        if not self.partial:
            return ()
        found = attribute_phrase(self.partial, self.sample_rate, self.activity)
        return tuple(self._book.resolve_all(speakers) for speakers in found)

    def seconds(self, sample: int) -> float:
        """Return a sample index of the session clock in seconds."""
        return sample / self.sample_rate

    def apply(self, event: Event) -> int | None:
        """Take an event in.

        What cannot be (words that are not there, colours that are none) is passed over.

        Returns:
            Index of the first line that changed, appeared or vanished (the lines after it may
            have, too), or None if no line did.
        """
        match event:
            case FinalWords():
                return self._append(event.words)
            case ActivityRevised():
                return self._regroup(self._attribute(event))
            case SpanMarked():
                return self._mark(event)
            case WordsAssigned():
                return self._regroup(self._table.assign(event))
            case WordsEdited():
                return self._regroup(self._table.edit(event))
            case SpeakerMerged():
                return self._regroup(self._table.resolve()) if self._book.merge(event) else None
            case SpeakerRenamed():
                return 0 if self._book.rename(event) and self._lines else None
            case SpeakerColored():
                return 0 if self._book.color(event) and self._lines else None
            case _:
                self._note(event)
        return None

    def copy_speech(self, other: "TranscriptDocument", start: int, end: int) -> None:
        """Become what another document says about speakers and words in samples [start, end).

        Raises:
            ValueError: this document has words already.
        """
        if self._table.shown:
            raise ValueError("words can be copied into an empty document alone")
        self._book = other.book.copy()
        self._table = WordTable(self._book)
        self._regroup(self._table.take_from(other.table, start, end))

    def _note(self, event: Event) -> None:
        """Take in what changes no line."""
        match event:
            case PartialWords():
                self.partial = event.words
            case RecordingStarted():
                self.recording, self.sample_rate = event, event.sample_rate
            case RecordingStopped():
                self.num_samples, self.is_complete = event.num_samples, True
                self.partial = ()
            case BackendChanged():
                self.is_trained = self.is_trained and event.is_trained
            case _:
                pass

    def _mark(self, event: SpanMarked) -> int | None:
        """Take a marked stretch in; return the first line that is another now."""
        old = self._marks.pop(event.mark_id, None)
        if old is not None:
            self._spans.remove(old)
        if event.kind is not SpanKind.UNTRANSCRIBED or event.end > event.start:
            self._marks[event.mark_id] = event
            insort(self._spans, event, key=lambda span: (span.start, span.mark_id))
        self._span_tuple = tuple(self._spans)
        breaks = [span.start for span in self._spans if span.kind in _INTERRUPTIONS]
        moved = sorted({*breaks} ^ {*self._breaks})
        self._breaks = breaks
        words = self._table.shown
        indices = [bisect_left(words, at, key=lambda entry: entry.word.start) for at in moved]
        parted = sorted({index for index in indices if index < len(words)})
        return self._regroup(Changes(parted[0], parted)) if parted else None

    def _append(self, words: Sequence[Word]) -> int | None:
        if not words:
            return None
        return self._regroup(self._table.append(words, self.activity, self.sample_rate))

    def _attribute(self, event: ActivityRevised) -> Changes:
        num_known = self.activity.num_frames
        first, end = self.activity.apply(event)
        # Frames that were jumped over are known now, as silence.
        first = min(first, num_known)
        per_frame = self.activity.frame_ms * self.sample_rate
        start, stop = first * per_frame // 1000, -(-end * per_frame // 1000)
        return self._table.attribute(start, stop, self.activity, self.sample_rate)

    def _regroup(self, changes: Changes) -> int | None:
        """Bring lines in order; return the first that looks different."""
        words, lines = self._table.shown, self._lines
        if changes.first >= len(words):
            return None
        moved = len(lines)
        if changes.regrouped:
            moved = regroup(
                lines,
                words,
                changes.regrouped,
                self.sample_rate,
                changes.inserted_at,
                self._breaks,
            )
        holder = bisect_right(lines, changes.first, key=lambda line: line.first) - 1
        return max(0, min(moved, holder))
