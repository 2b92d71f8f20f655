import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.text.correction import spread

pytestmark = pytest.mark.unit


def spread_over(texts: list[str], corrected: str) -> list[str]:
    return spread(texts, [text[:1].isspace() for text in texts], corrected)


@pytest.mark.parametrize(
    ("texts", "corrected", "expected"),
    [
        ([" the", " cat", " sat"], "the dog sat", [" the", " dog", " sat"]),
        ([" the", " cat", " sat"], "the cat sat down", [" the", " cat", " sat down"]),
        ([" the", " cat", " sat"], "so the cat sat", [" so the", " cat", " sat"]),
        ([" the", " cat", " sat"], "the sat", [" the", "", " sat"]),
        ([" the", " cat", " sat"], "cat sat", ["", " cat", " sat"]),
        ([" to", " day", " is"], "today is", [" today", "", " is"]),
        ([" ice", "-cream", " now"], "ice-creams now", [" ice", "-creams", " now"]),
        ([" ice", "-cream", " now"], "cream now", ["", " cream", " now"]),
        (["你", "好", "吗"], "你很好吗", ["你很", "好", "吗"]),
        (["你", "好", "吗"], "好吗", ["", "好", "吗"]),
        (["Hello", " you"], "you", ["", " you"]),
        (["Hello", " you"], "Hallo you", ["Hallo", " you"]),
        ([" a", " b"], "", ["", ""]),
        (["", ""], "new", ["new", ""]),
        ([" Quoi\u00a0?", " oui"], "Quoi\u00a0? non", [" Quoi\u00a0?", " non"]),
        ([" odd  blanks", " x"], "odd blanks x", [" odd  blanks", " x"]),
        ([" 👩\u200d🚀", " up"], "👩\u200d🚀 down", [" 👩\u200d🚀", " down"]),
    ],
)
def test_spread_when_corrected_then_what_stays_keeps_its_word(
    texts: list[str], corrected: str, expected: list[str]
) -> None:
    assert spread_over(texts, corrected) == expected


pieces = st.sampled_from([" a", " b", "-b", "好", "吗", " c.", "", " a b", "d "])


@given(st.lists(pieces, min_size=1, max_size=8), st.text("ab-好吗c. \n\t", max_size=20))
def test_spread_when_joined_then_is_the_corrected_text(texts: list[str], corrected: str) -> None:
    after = spread_over(texts, corrected)
    assert len(after) == len(texts)
    assert " ".join("".join(after).split()) == " ".join(corrected.split())
    assert spread_over(after, corrected) == after
