"""What errors say, and where."""

from engine.core.errors import EngineError


def test_error_when_a_command_helps_then_only_terminals_are_told() -> None:
    error = EngineError("It is missing.", advice="Fetch it.", command="vivavoce models pull it")
    assert error.text == "It is missing. Fetch it."
    assert str(error) == "It is missing. Fetch it. Run: vivavoce models pull it"


def test_error_when_there_is_nothing_to_do_then_it_says_what_happened_alone() -> None:
    assert str(EngineError("It broke.")) == EngineError("It broke.").text == "It broke."
