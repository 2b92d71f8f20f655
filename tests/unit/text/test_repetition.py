"""Loops of a decoder are told from repetition that people speak."""

import pytest

from engine.text.repetition import loop_start

pytestmark = pytest.mark.unit


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no no no no",
        "it was very very very late",
        "he had had enough of that that day",
        "on and on and on",
        "one step at a time one step at a time",
    ],
)
def test_loop_start_in_what_people_say_then_none(text: str) -> None:
    assert loop_start(text.split()) is None


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("a b c c c c c c c", 3),
        ("so some fresh basil some fresh basil some fresh basil", 4),
        ("x y x y x y x y", 2),
        ("the man the man the man the man went", 2),
    ],
)
def test_loop_start_in_a_loop_then_the_second_round(text: str, where: int) -> None:
    assert loop_start(text.split()) == where
