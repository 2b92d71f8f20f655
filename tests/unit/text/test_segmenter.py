import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.text.segmenter import Break, is_speakable, segment

pytestmark = pytest.mark.unit


def texts(text: str, **limits: int) -> list[str]:
    return [piece.text for piece in segment(text, **limits)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("hello. how are you? fine.", ["hello.", "how are you?", "fine."]),
        ("Dr. Smith paid 3.14 dollars.", ["Dr. Smith paid 3.14 dollars."]),
        ("Take it, e.g. Monday. Then go.", ["Take it, e.g. Monday.", "Then go."]),
        ("The U.S. Army came.", ["The U.S. Army came."]),
        ("He left the U.S. It rained.", ["He left the U.S.", "It rained."]),
        ("J. R. R. Tolkien wrote No. 5.", ["J. R. R. Tolkien wrote No. 5."]),
        ("So do I. Then go.", ["So do I.", "Then go."]),
        ("Milk, eggs, etc. are here.", ["Milk, eggs, etc. are here."]),
        ("Milk, eggs, etc. We go.", ["Milk, eggs, etc.", "We go."]),
        ("Well... maybe. Well... Maybe.", ["Well... maybe.", "Well...", "Maybe."]),
        ("“Stop!” he said. “Why?” She left.", ["“Stop!” he said.", "“Why?”", "She left."]),
        ("See https://a.b/c?d=e. Good.", ["See https://a.b/c?d=e.", "Good."]),
        ("What?! No!!", ["What?!", "No!!"]),
        ("今日は晴れ。明日は雨！本当？", ["今日は晴れ。", "明日は雨！", "本当？"]),
        ("So 😀 nice! 👍🏽 Ok.", ["So 😀 nice!", "👍🏽 Ok."]),
    ],
)
def test_segment_when_sentences_end_cuts_there_only(text: str, expected: list[str]) -> None:
    assert texts(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Title\nIt begins.", ["Title", "It begins."]),
        ("Buy:\n- milk\n- eggs", ["Buy:", "- milk", "- eggs"]),
        ("1. First.\n2. Second.", ["1. First.", "2. Second."]),
        ("a long line that was wrapped at\nsome width.", None),
        ("One\r\n\r\nTwo", ["One", "Two"]),
        ("One\n \nTwo", ["One", "Two"]),
        ("One\u2029Two", ["One", "Two"]),
    ],
)
def test_segment_when_lines_end_cuts_at_paragraphs_items_and_headings(
    text: str, expected: list[str] | None
) -> None:
    assert texts(text) == (expected or [text])


def test_segment_when_text_has_paragraphs_names_the_breaks() -> None:
    pieces = list(segment("Good morning, dear reader of all these long texts. One.\n\nTwo."))
    assert [(piece.text, piece.break_after) for piece in pieces] == [
        ("Good morning,", Break.CLAUSE),
        ("dear reader of all these long texts.", Break.SENTENCE),
        ("One.", Break.PARAGRAPH),
        ("Two.", Break.PARAGRAPH),
    ]
    assert {piece.sentence_end for piece in pieces[:2]} == {50}


def test_segment_when_first_sentence_is_long_begins_with_a_short_clause() -> None:
    clauses = "This is what it does, and nobody can say that it is little, so be glad."
    assert texts(clauses)[0] == "This is what it does,"
    no_comma = "This is the one thing it does and nobody can say it is little."
    assert texts(no_comma)[0] == "This is the one thing it does"
    assert len(texts("Yes, it is what was meant to be shown to everybody.")) == 1


def test_segment_when_a_later_sentence_is_short_enough_keeps_it_whole() -> None:
    sentence = "This sentence, which is long, has clauses; none of them needs to be cut off."
    assert texts(f"Hi. {sentence}") == ["Hi.", sentence]


def test_segment_when_a_sentence_is_too_long_cuts_at_clauses_then_blanks_then_anywhere() -> None:
    clauses = "Hi. " + "a clause of words here, " * 20
    assert all(text.endswith(",") for text in texts(clauses, max_chars=80)[1:])
    blanks = "Hi. " + "word " * 100
    assert all(set(text.split()) == {"word"} for text in texts(blanks, max_chars=80)[1:])
    assert [len(text) for text in texts("x" * 200, max_chars=80)] == [66, 67, 67]


@pytest.mark.parametrize("text", ["", " \n\t", "...", "— * —", "!!! ???", "───┼───", "-----"])
def test_segment_when_nothing_has_a_sound_yields_nothing(text: str) -> None:
    assert texts(text) == []
    assert not is_speakable(text)


def test_segment_when_a_limit_is_too_small_raises() -> None:
    with pytest.raises(ValueError, match="at least 8"):
        texts("x", max_chars=7)


def test_segment_when_text_is_huge_yields_the_first_piece_at_once() -> None:
    # One paragraph without an end: quadratic work would take minutes here.
    text = "Dr. Who, they say (etc.) and so on... " * 5000
    assert next(segment(text)).start == 0
    assert sum(1 for _ in segment(text)) > 500


PROSE = st.lists(
    st.sampled_from(
        ["word", "Word", "Dr.", "e.g.", "U.S.", "3.14", "1.", "-", "—", "...", "…", "!", "?", ".",
         ",", ", ", ";", "“", "”", " ", "  ", "\n", "\n\n", "\r\n", "。", "、", "漢字", "😀", "é",
         "e\u0301", "\u200d", "x" * 40, "\u2029", "\x00"]
    ),
    max_size=80,
).map("".join)  # fmt: skip


@pytest.mark.property
@settings(deadline=None)
@given(st.one_of(PROSE, st.text(max_size=400)), st.integers(8, 200), st.integers(8, 60))
def test_segment_when_given_any_text_covers_every_letter_once_in_order(
    text: str, max_chars: int, first_chars: int
) -> None:
    pieces = list(segment(text, max_chars=max_chars, first_chars=first_chars))
    covered, previous = set(), 0
    for piece in pieces:
        assert previous <= piece.start < piece.end <= len(text)
        assert piece.sentence_start <= piece.start < piece.end <= piece.sentence_end
        assert piece.text == text[piece.start : piece.end] == piece.text.strip()
        assert len(piece.text) <= max_chars
        assert is_speakable(piece.text)
        covered.update(range(piece.start, piece.end))
        previous = piece.end
    assert all(i in covered for i, char in enumerate(text) if char.isalnum())
