"""The transcript as data: words, who said them, lines, and stretches that are no speech.

A document is built by applying events in order; replicas that apply the same events are equal, so
window, exporters and tests each hold their own without locks.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace

from engine.core.events import (
    ActivityRevised,
    BackendChanged,
    Event,
    FinalWords,
    PartialWords,
    RecordingStarted,
    RecordingStopped,
    SpanMarked,
    SpeakerRenamed,
)
from engine.core.types import SpeakerId, Word, join_words
from engine.text.activity import ActivityTrack
from engine.text.attribution import SENTENCE_ENDS, attribute_phrase, ends_phrase

LINE_PAUSE_S = 2.0
"""A silence of this length starts a new line."""
LINE_MAX_WORDS = 60
"""A line longer than this is broken at the next sentence end."""


@dataclass(frozen=True, slots=True)
class DocumentWord:
    """A final word and who said it.

    Args:
        id: position in order of commitment; it never changes.
        word: text, samples and probability.
        speakers: the likeliest first; two or more where voices overlap; empty if not known.
    """

    id: int
    word: Word
    speakers: tuple[SpeakerId, ...] = ()


@dataclass(frozen=True, slots=True)
class Line:
    """Consecutive words of one speaker.

    Args:
        first: index of the first word in `TranscriptDocument.words`.
        end: one past the last.
        speaker: whose line it is; None if not known (yet).
    """

    first: int
    end: int
    speaker: SpeakerId | None


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
        self._words: list[DocumentWord] = []
        self._starts: list[int] = []
        self._lines: list[Line] = []
        self._spans: dict[int, SpanMarked] = {}
        self._names: dict[SpeakerId, str] = {}
        self._longest_word = 0

    @property
    def words(self) -> Sequence[DocumentWord]:
        """Final words in order of time."""
        return self._words

    @property
    def lines(self) -> Sequence[Line]:
        """Final words by speaker and pause."""
        return self._lines

    @property
    def spans(self) -> tuple[SpanMarked, ...]:
        """Marked stretches in order of start."""
        return tuple(sorted(self._spans.values(), key=lambda span: (span.start, span.mark_id)))

    @property
    def speakers(self) -> tuple[SpeakerId, ...]:
        """Everybody who said a word, in order of appearance."""
        return tuple(dict.fromkeys(speaker for word in self._words for speaker in word.speakers))

    def speaker_name(self, speaker: SpeakerId) -> str:
        """Return the user's name for a speaker, or "Speaker A"."""
        return self._names.get(speaker) or f"Speaker {speaker.letter}"

    def line_words(self, line: Line) -> Sequence[DocumentWord]:
        """Return the words of a line."""
        return self._words[line.first : line.end]

    def line_text(self, line: Line) -> str:
        """Return a line's text."""
        return join_words(word.word for word in self.line_words(line))

    def text(self) -> str:
        """Return all final words as one text."""
        return join_words(word.word for word in self._words)

    def speakers_of_partial(self) -> tuple[tuple[SpeakerId, ...], ...]:
        """Return who seems to say each partial word."""
        if not self.partial:
            return ()
        return tuple(attribute_phrase(self.partial, self.sample_rate, self.activity))

    def seconds(self, sample: int) -> float:
        """Return a sample index of the session clock in seconds."""
        return sample / self.sample_rate

    def apply(self, event: Event) -> int | None:
        """Take an event in.

        Returns:
            Index of the first line that changed, appeared or vanished (the lines after it may
            have, too), or None if no line did.
        """
        match event:
            case FinalWords():
                return self._append(event.words)
            case ActivityRevised():
                return self._attribute(*self.activity.apply(event))
            case PartialWords():
                self.partial = event.words
            case SpanMarked():
                self._spans[event.mark_id] = event
            case SpeakerRenamed():
                self._names[SpeakerId(event.epoch, event.slot)] = event.name.strip()
                return 0 if self._lines else None
            case RecordingStarted():
                self.recording, self.sample_rate = event, event.sample_rate
            case RecordingStopped():
                self.num_samples, self.is_complete = event.num_samples, True
                self.partial = ()
            case BackendChanged():
                self.is_trained = self.is_trained and event.is_trained
            case _:
                pass
        return None

    def _append(self, words: Sequence[Word]) -> int | None:
        if not words:
            return None
        first, last = len(self._words), 0
        for word in words:
            self._longest_word = max(self._longest_word, word.end - word.start)
            # Late words (a span decoded afterwards) go where they were said.
            at = bisect_right(self._starts, word.start)
            self._words.insert(at, DocumentWord(len(self._words), word))
            self._starts.insert(at, word.start)
            first, last = min(first, at), max(last, at)
        changed = self._attribute_words(first, last + 1)
        return self._regroup(first if changed is None else min(first, changed))

    def _attribute(self, first_frame: int, end_frame: int) -> int | None:
        """Look again at who said the words that a range of frames covers."""
        frame_ms = self.activity.frame_ms
        start = first_frame * frame_ms * self.sample_rate // 1000
        end = -(-end_frame * frame_ms * self.sample_rate // 1000)
        low = bisect_left(self._starts, start - self._longest_word)
        changed = self._attribute_words(low, bisect_left(self._starts, end))
        return None if changed is None else self._regroup(changed)

    def _attribute_words(self, low: int, high: int) -> int | None:
        """Attribute the phrases that words [low, high) are part of; return the first changed."""
        low = self._phrase_bound(low, -1)
        high = self._phrase_bound(high, +1)
        changed = None
        while low < high:
            end = self._phrase_bound(low + 1, +1)
            phrase = [entry.word for entry in self._words[low:end]]
            found = attribute_phrase(phrase, self.sample_rate, self.activity)
            for index, speakers in enumerate(found, start=low):
                if speakers != self._words[index].speakers:
                    self._words[index] = replace(self._words[index], speakers=speakers)
                    changed = index if changed is None else changed
            low = end
        return changed

    def _phrase_bound(self, index: int, step: int) -> int:
        """Return the nearest index at or beyond `index` at which a phrase begins."""
        while 0 < index < len(self._words):
            before, after = self._words[index - 1].word, self._words[index].word
            if ends_phrase(before, after, self.sample_rate):
                break
            index += step
        return index

    def _regroup(self, first_word: int) -> int:
        """Make the lines anew from the one that holds `first_word`, or would be joined by it."""
        at = bisect_right(self._lines, first_word, key=lambda line: line.first) - 1
        # A change at the start of a line can join it to the one before.
        at = max(0, at - 1)
        index = self._lines[at].first if self._lines else 0
        del self._lines[at:]
        while index < len(self._words):
            line = self._take_line(index)
            self._lines.append(line)
            index = line.end
        return at

    def _take_line(self, first: int) -> Line:
        speaker = _primary(self._words[first])
        pause = round(LINE_PAUSE_S * self.sample_rate)
        index = first + 1
        while index < len(self._words):
            before, entry = self._words[index - 1], self._words[index]
            primary = _primary(entry)
            if entry.word.start - before.word.end > pause:
                break
            if index - first >= LINE_MAX_WORDS and before.word.text.endswith(SENTENCE_ENDS):
                break
            if primary is not None and speaker is not None and primary != speaker:
                break
            speaker = speaker or primary
            index += 1
        return Line(first, index, speaker)


def _primary(entry: DocumentWord) -> SpeakerId | None:
    return entry.speakers[0] if entry.speakers else None
