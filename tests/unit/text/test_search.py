import pytest

from engine.core.events import FinalWords, WordsEdited
from engine.core.types import Word
from engine.text.document import TranscriptDocument
from engine.text.search import MAX_HITS, Hit, TranscriptSearch, fold
from tests.unit.text.talk import said, started, talk

pytestmark = pytest.mark.unit


def found(document: TranscriptDocument, query: str) -> list[tuple[int, int]]:
    return [(hit.first_word, hit.end_word) for hit in TranscriptSearch(document).find(query)]


def heard(*texts: str) -> TranscriptDocument:
    document = TranscriptDocument()
    document.apply(started())
    document.apply(
        FinalWords(tuple(Word(text, 500 * i, 500 * i + 400) for i, text in enumerate(texts)))
    )
    return document


def test_find_when_it_reaches_over_words_then_hit_covers_them() -> None:
    assert TranscriptSearch(talk()).find("o  THREE. f") == (Hit(1, 4, 500, 1900),)


@pytest.mark.parametrize(
    ("texts", "query", "expected"),
    [
        ((" Crème", " brûlée"), "creme brulee", [(0, 2)]),
        ((" creme",), "CRÈME", [(0, 1)]),
        ((" Straße",), "STRASSE", [(0, 1)]),
        ((" ice", "-cream"), "ice-cream", [(0, 2)]),
        ((" ℡",), "tel", [(0, 1)]),
        (("你", "好", "吗"), "好吗", [(1, 3)]),
        ((" שלום",), "שלום", [(0, 1)]),
        ((" 👩\u200d🚀", " up"), "👩\u200d🚀", [(0, 1)]),
        ((" a", " a", " a"), "a a", [(0, 2)]),
        ((" aaa",), "a", [(0, 1)]),
        ((" one",), " ", []),
        ((" one",), "", []),
        ((" one",), "two", []),
        ((), "one", []),
        ((" a.b", " c*"), "c*", [(1, 2)]),
    ],
)
def test_find_when_asked_then_case_accents_and_splits_do_not_matter(
    texts: tuple[str, ...], query: str, expected: list[tuple[int, int]]
) -> None:
    assert found(heard(*texts), query) == expected


def test_find_when_words_are_gone_or_edited_then_the_shown_text_counts() -> None:
    document = talk()
    search = TranscriptSearch(document)
    assert len(search.find("two three")) == 1
    document.apply(WordsEdited((1, 3), ("", " for tea")))
    assert search.find("two") == ()
    assert [(h.first_word, h.end_word) for h in search.find("one three")] == [(0, 3)]
    assert [(h.first_word, h.end_word) for h in search.find("tea five")] == [(3, 5)]
    document.apply(WordsEdited((0, 1, 2), ("", "", "")))
    assert [(h.first_word, h.end_word) for h in search.find("for")] == [(3, 4)]


def test_find_when_the_document_grows_then_finds_what_is_new_and_what_came_late() -> None:
    document = talk()
    search = TranscriptSearch(document)
    assert search.find("again") == ()
    document.apply(said("again", 4.0))
    document.apply(FinalWords((Word(" again", 450, 480),)))
    assert [hit.start for hit in search.find("again")] == [450, 4000]


def test_find_when_there_are_very_many_then_stops() -> None:
    document = heard(*[" a"] * (MAX_HITS + 5))
    assert len(TranscriptSearch(document).find("a")) == MAX_HITS


def test_hit_when_times_are_out_of_order_then_ends_behind_its_start() -> None:
    document = TranscriptDocument()
    document.apply(FinalWords((Word(" odd", 500, 100),)))
    assert TranscriptSearch(document).find("odd") == (Hit(0, 1, 500, 500),)


@pytest.mark.parametrize("text", ["Ünïcode", "İstanbul", "ﬁne", "Ångström", "℡"])
def test_fold_when_folded_again_then_is_the_same(text: str) -> None:
    assert fold(fold(text)) == fold(text) == fold(text.upper())


def test_prepare_when_words_are_taken_in_by_slices_then_all_are_found_as_at_once() -> None:
    document = heard(*(f" word{i % 7}" for i in range(50)))
    search = TranscriptSearch(document)
    assert [search.prepare(20) for _ in range(3)] == [False, False, True]
    assert search.find("word3 word4") == TranscriptSearch(document).find("word3 word4")
    document.apply(WordsEdited((3,), (" other",)))
    document.apply(said("the end", 50.0))
    assert not search.prepare(5)
    assert search.find("other word4 word5") == (Hit(3, 6, 1500, 2900),)
    assert len(search.find("the end")) == 1


def test_prepare_when_there_is_no_word_then_nothing_is_left_to_do() -> None:
    search = TranscriptSearch(TranscriptDocument())
    assert search.prepare(10)
    assert search.find("a") == ()
