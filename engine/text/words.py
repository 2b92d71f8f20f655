"""The final words of a transcript: as heard, as attributed, and as the user has them."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from engine.core.events import WordsAssigned, WordsEdited
from engine.core.types import Word
from engine.text.activity import ActivityTrack
from engine.text.attribution import attribute_phrase, ends_phrase
from engine.text.cleaning import clean_word
from engine.text.speaker_book import SpeakerBook, Speakers, is_speaker
from engine.text.speaker_roll import SpeakerRoll, place_key

_NOBODY: Speakers = ()


@dataclass(frozen=True, slots=True)
class DocumentWord:
    """A final word and who said it.

    Args:
        id: position in order of commitment; it never changes.
        word: text as shown, samples and probability.
        speakers: the likeliest first; two or more where voices overlap; empty if not known.
        is_locked: whether the user said who spoke; no diarizer changes it.
        heard: what the recognizer had written where the user corrected it; else None.
    """

    id: int
    word: Word
    speakers: Speakers = ()
    is_locked: bool = False
    heard: str | None = None

    @property
    def text(self) -> str:
        """The text as shown."""
        return self.word.text

    @property
    def is_edited(self) -> bool:
        """Whether the user corrected it."""
        return self.heard is not None

    @property
    def is_gone(self) -> bool:
        """Whether the user took it out."""
        return self.heard is not None and not self.word.text


@dataclass(slots=True)
class Changes:
    """Which words look different.

    Args:
        first: index in order of time of the first; the number of words where none does.
        regrouped: indices of those whose text or likeliest speaker changed, ascending.
        inserted_at: index of the first that was put in, if any was.
    """

    first: int
    regrouped: list[int] = field(default_factory=list)
    inserted_at: int | None = None


class WordTable:
    """Words in order of time with what recognizer, diarizer and user say about each.

    Who speaks is found from what was heard, never from what the user made of it: so a document
    is the same however edits and activity follow each other. Thread: the document's.

    Args:
        book: says which speakers are one.
    """

    def __init__(self, book: SpeakerBook) -> None:
        self._book = book
        self.shown: list[DocumentWord] = []
        self.roll = SpeakerRoll(self.shown)
        self._starts: list[int] = []
        self._longest = 0
        # By id:
        self._heard: list[Word] = []
        self._found: list[Speakers] = []
        self._assigned: dict[int, Speakers] = {}
        self._texts: dict[int, str] = {}
        self._interned: dict[Speakers, Speakers] = {_NOBODY: _NOBODY}

    def index(self, word_id: int) -> int:
        """Return where in order of time a word is.

        Raises:
            KeyError: there is no such word.
        """
        if not 0 <= word_id < len(self._heard):
            raise KeyError(word_id)
        return bisect_left(self.shown, (self._heard[word_id].start, word_id), key=place_key)

    def assigned(self, word_id: int) -> Speakers:
        """Return whom the user gave a word to, merges left aside; empty if to nobody."""
        return self._assigned.get(word_id, ())

    def found(self, word_id: int) -> Speakers:
        """Return who said a word as far as activity tells, merges left aside."""
        return self._found[word_id]

    def is_assigned(self, speaker: object) -> bool:
        """Return whether the user gave any word to a speaker."""
        return any(speaker in speakers for speakers in self._assigned.values())

    def append(self, words: Sequence[Word], activity: ActivityTrack, sample_rate: int) -> Changes:
        """Put words in where they were said."""
        first, end = len(self.shown), 0
        for word in words:
            self._longest = max(self._longest, word.end - word.start)
            at = bisect_right(self._starts, word.start)
            self.shown.insert(at, DocumentWord(len(self._heard), word))
            self._starts.insert(at, word.start)
            self._heard.append(word)
            self._found.append(_NOBODY)
            first, end = min(first, at), max(end + (at < end), at + 1)
        # A word put into a phrase can part it: what is behind the word is another phrase now.
        changes = self._attribute(first, end + 1, activity, sample_rate)
        changes.first = min(first, changes.first)
        changes.regrouped = sorted({first, *changes.regrouped})
        changes.inserted_at = first
        return changes

    def attribute(self, start: int, end: int, activity: ActivityTrack, sample_rate: int) -> Changes:
        """Look again at who said the words that samples [start, end) have a part of."""
        low = bisect_left(self._starts, start - self._longest)
        return self._attribute(low, bisect_left(self._starts, end), activity, sample_rate)

    def assign(self, event: WordsAssigned) -> Changes:
        """Take in who spoke; words and speakers that there cannot be are passed over."""
        speakers = tuple(dict.fromkeys(s for s in event.speakers if is_speaker(s)))
        if event.speakers and not speakers:
            return Changes(len(self.shown))
        word_ids = self._known(event.word_ids)
        for word_id in word_ids:
            if speakers:
                self._assigned[word_id] = self._intern(speakers)
            else:
                self._assigned.pop(word_id, None)
        return self._show_words(word_ids)

    def edit(self, event: WordsEdited) -> Changes:
        """Take corrections in; a word that says again what was heard is none."""
        texts = dict(zip(event.word_ids, event.texts, strict=True))
        word_ids = self._known(texts)
        for word_id in word_ids:
            heard, text = self._heard[word_id].text, texts[word_id]
            # What was heard may be no clean text itself.
            if text == heard or clean_word(text) == heard:
                self._texts.pop(word_id, None)
            else:
                self._texts[word_id] = clean_word(text)
        return self._show_words(word_ids)

    def resolve(self) -> Changes:
        """Show every word's speakers anew: others are one now."""
        found, assigned, changes = self._found, self._assigned, Changes(len(self.shown))
        # By identity: few tuples, each many times.
        resolved = {
            id(speakers): self._book.resolve_all(speakers) for speakers in self._interned.values()
        }
        for index, entry in enumerate(self.shown):
            speakers = resolved[id(assigned[entry.id] if entry.is_locked else found[entry.id])]
            if speakers is not entry.speakers and speakers != entry.speakers:
                self._put(
                    index,
                    DocumentWord(entry.id, entry.word, speakers, entry.is_locked, entry.heard),
                    changes,
                )
        self.roll.recount()
        return changes

    def take_from(self, other: "WordTable", start: int, end: int) -> Changes:
        """Take over the words of another table that have a part of samples [start, end)."""
        low = bisect_left(other._starts, start - other._longest)
        for entry in other.shown[low : bisect_left(other._starts, end)]:
            if max(entry.word.end, entry.word.start + 1) <= start:
                continue
            heard, new_id = other._heard[entry.id], len(self._heard)
            self._longest = max(self._longest, heard.end - heard.start)
            self._heard.append(heard)
            self._found.append(self._intern(other._found[entry.id]))
            self._starts.append(heard.start)
            if entry.id in other._assigned:
                self._assigned[new_id] = self._intern(other._assigned[entry.id])
            if entry.id in other._texts:
                self._texts[new_id] = other._texts[entry.id]
            self.shown.append(self._entry(new_id))
        self.roll.recount()
        return Changes(0, [0] if self.shown else [], 0)

    def _attribute(self, low: int, high: int, activity: ActivityTrack, sample_rate: int) -> Changes:
        """Attribute the phrases that words [low, high) are part of."""
        low = self._phrase_bound(max(low, 0), -1, sample_rate)
        high = self._phrase_bound(min(high, len(self.shown)), +1, sample_rate)
        changes = Changes(len(self.shown))
        while low < high:
            end = self._phrase_bound(low + 1, +1, sample_rate)
            ids = [entry.id for entry in self.shown[low:end]]
            found = attribute_phrase([self._heard[i] for i in ids], sample_rate, activity)
            for index, (word_id, speakers) in enumerate(zip(ids, found, strict=True), start=low):
                if speakers != self._found[word_id]:
                    self._found[word_id] = self._intern(speakers)
                    self._show(index, changes)
            low = end
        return changes

    def _phrase_bound(self, index: int, step: int, sample_rate: int) -> int:
        """Return the nearest index at or beyond `index` at which a phrase begins."""
        while 0 < index < len(self.shown):
            before, after = self.shown[index - 1].id, self.shown[index].id
            if ends_phrase(self._heard[before], self._heard[after], sample_rate):
                break
            index += step
        return index

    def _known(self, word_ids: Iterable[int]) -> list[int]:
        return [word_id for word_id in word_ids if 0 <= word_id < len(self._heard)]

    def _intern(self, speakers: Speakers) -> Speakers:
        return self._interned.setdefault(speakers, speakers)

    def _show_words(self, word_ids: Sequence[int]) -> Changes:
        changes = Changes(len(self.shown))
        for index in sorted(self.index(word_id) for word_id in word_ids):
            self._show(index, changes)
        return changes

    def _show(self, index: int, changes: Changes) -> None:
        """Bring a word up to date and note what changed."""
        before = self.shown[index]
        after = self._entry(before.id)
        if after == before:
            return
        if after.speakers != before.speakers:
            self.roll.remove(before)
            self.roll.add(after)
        self._put(index, after, changes)

    def _put(self, index: int, after: DocumentWord, changes: Changes) -> None:
        before, self.shown[index] = self.shown[index], after
        changes.first = min(changes.first, index)
        if after.speakers[:1] != before.speakers[:1] or after.text != before.text:
            changes.regrouped.append(index)

    def _entry(self, word_id: int) -> DocumentWord:
        word, heard = self._heard[word_id], None
        if word_id in self._texts:
            word, heard = replace(word, text=self._texts[word_id]), word.text
        assigned = self._assigned.get(word_id, ())
        speakers = self._book.resolve_all(assigned or self._found[word_id])
        return DocumentWord(word_id, word, speakers, bool(assigned), heard)
