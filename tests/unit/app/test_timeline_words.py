"""The words of a document as arrays."""

import pytest

from app.views.timeline.words import WordIndex
from engine.core.events import FinalWords, RecordingStarted, SpeakerRenamed, WordsAssigned
from engine.core.types import SpeakerId, Word
from engine.text.document import TranscriptDocument

pytestmark = pytest.mark.unit
RATE = 16_000


def _document(num_words: int) -> TranscriptDocument:
    document = TranscriptDocument()
    document.apply(RecordingStarted("r", RATE, "2026-01-02T03:04:05", "Microphone", True))
    document.apply(FinalWords(_words(0, num_words)))
    return document


def _words(first: int, end: int) -> tuple[Word, ...]:
    return tuple(Word(f" w{i}", i * RATE, i * RATE + RATE // 2) for i in range(first, end))


def test_words_of_a_stretch_are_found_also_where_they_begin_before_it() -> None:
    index = WordIndex(_document(2_000))
    assert index.update(0) == (0, False)
    assert index.touching(100 * RATE + 100, 102 * RATE) == [100, 101]
    assert index.touching(100 * RATE + RATE // 2, 101 * RATE) == []


def test_an_update_tells_from_where_on_words_are_others() -> None:
    document = _document(3_000)
    index = WordIndex(document)
    index.update(0)
    assert index.update(0) is None
    document.apply(FinalWords(_words(3_000, 3_010)))
    assert index.update(2_990) == (3_000 * RATE, False)
    assert len(index) == 3_010


def test_a_late_word_is_put_where_it_was_said() -> None:
    document = _document(2_000)
    index = WordIndex(document)
    index.update(0)
    document.apply(FinalWords((Word(" late", 700 * RATE + 9_000, 700 * RATE + 12_000),)))
    changed = index.update(0)
    assert changed is not None
    assert changed[0] == pytest.approx(700 * RATE, abs=RATE)
    assert index.touching(700 * RATE + 9_500, 700 * RATE + 9_600) == [701]
    assert index.touching(1_999 * RATE, 1_999 * RATE + 1) == [2_000]


def test_words_the_user_gave_away_are_known_until_they_are_given_back() -> None:
    document = _document(2_000)
    index = WordIndex(document)
    index.update(0)
    document.apply(WordsAssigned((1_500,), (SpeakerId(0, 3),)))
    assert index.update(0) == (1_500 * RATE, True)
    starts, ends, who = index.locked
    assert (starts.tolist(), ends.tolist()) == ([1_500 * RATE], [1_500 * RATE + RATE // 2])
    assert who == ((SpeakerId(0, 3),),)
    document.apply(WordsAssigned((1_500,), ()))
    assert index.update(0) == (1_500 * RATE, True)
    assert len(index.locked[0]) == 0


def test_a_new_name_changes_no_word() -> None:
    document = _document(2_000)
    index = WordIndex(document)
    index.update(0)
    document.apply(SpeakerRenamed(0, 0, "Maria"))
    assert index.update(0) is None


def test_words_without_length_and_without_any_word_do_no_harm() -> None:
    document = TranscriptDocument()
    index = WordIndex(document)
    assert index.update(0) is None
    assert index.touching(0, 100) == []
    document.apply(FinalWords((Word(" a", 10, 10), Word(" b", 5, 3), Word(" c", 10, 12))))
    assert index.update(0) is not None
    assert 2 in index.touching(11, 12)
