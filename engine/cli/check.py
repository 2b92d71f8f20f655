"""One finding of `vivavoce doctor`."""

from dataclasses import dataclass

from engine.cli.exit_codes import FAILED


@dataclass(frozen=True, slots=True)
class Check:
    """What was found.

    Args:
        name: of what was looked at.
        is_ok: whether it will work.
        text: what was found and why, for people.
        advice: what to do if it will not work.
        exit_code: of the program if it will not work.
    """

    name: str
    is_ok: bool
    text: str
    advice: str = ""
    exit_code: int = FAILED
