"""What errors say, and where."""

import pytest

from engine.core.errors import EngineError, reason_of


def test_error_when_a_command_helps_then_only_terminals_are_told() -> None:
    error = EngineError("It is missing.", advice="Fetch it.", command="vivavoce models pull it")
    assert error.text == "It is missing. Fetch it."
    assert str(error) == "It is missing. Fetch it. Run: vivavoce models pull it"


def test_error_when_there_is_nothing_to_do_then_it_says_what_happened_alone() -> None:
    assert str(EngineError("It broke.")) == EngineError("It broke.").text == "It broke."


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (OSError(28, "No space left on device", "/x"), "No space left on device"),
        (OSError("a reader's own words."), "a reader's own words"),
        (ValueError("line 1:\n\tbad value.\n"), "line 1: bad value"),
        (MemoryError(), "memory ran out"),
        (RuntimeError(), "no reason was given"),
        (KeyError("name"), "'name'"),
        (ValueError("x" * 1000), "x" * 300 + "…"),
    ],
)
def test_reason_when_it_stands_in_a_sentence_then_is_one_line_and_never_empty(
    error: Exception, reason: str
) -> None:
    assert reason_of(error) == reason
