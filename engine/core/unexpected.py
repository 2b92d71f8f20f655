"""What people are told of a fault that nobody foresaw: never in silence, never as a traceback."""

from engine.core.errors import EngineError

MESSAGE = "Something unexpected happened in the program itself."
ADVICE = "It is not your fault; the log has the details."


class UnexpectedError(EngineError):
    """A fault of the program's own, whose traceback is in the log."""


def told(error: Exception) -> EngineError:
    """Return what to tell of an error: its own words if it has some for people.

    The words of other errors are for the log alone: they may quote what somebody said.
    """
    return error if isinstance(error, EngineError) else UnexpectedError(MESSAGE, advice=ADVICE)
