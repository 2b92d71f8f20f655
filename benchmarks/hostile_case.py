"""One malformed input, what is right to happen to it, and what did happen."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from engine.core import errors

LIMIT_S = 120.0
"""Longer is a hang. Most take a tenth of a second; machines that are shared take their time."""
LIMIT_BYTES = 400 * 2**20
"""Memory that a case may take above what the program needs without it."""

Run = Callable[[], int]
Prepare = Callable[[Path], Run]
"""Writes the input into a folder and returns what a user would do with it: an exit status."""

_OURS = f"{errors.__name__}."
_CAUSE = re.compile(r"direct cause of the following|During handling of the above")
_USUAL = re.compile(r"untrained weights|Nothing leaves this machine|Kept in |of speech are in")
_BROKEN = ("Traceback (most recent call last)", "This should not have happened", "Fatal Python")


class Expects(StrEnum):
    """What is right."""

    REFUSED = "refused"  # a status that is not 0, and the reason
    TOLD = "told"  # what is there is used, and what is missing is told
    WHOLE = "whole"  # nothing is missing: status 0
    EITHER = "either"  # nobody can know: used, or refused with a reason


class Verdict(StrEnum):
    """What happened, from bad to good."""

    CRASH = "crash"
    HANG = "hang"
    SILENT = "silent loss"
    MEMORY = "memory"
    REFUSED = "refused"
    TOLD = "told"
    WHOLE = "whole"


FAULTS = (Verdict.CRASH, Verdict.HANG, Verdict.SILENT, Verdict.MEMORY)


@dataclass(frozen=True, slots=True)
class Case:
    """An input.

    Args:
        family: kind of file.
        name: of the case in its family.
        prepare: see `Prepare`.
        expects: see `Expects`.
        shows: what must be said or printed.
        is_unprivileged: run by a user whom permissions bind.
        is_slow: left out of the quick run.
    """

    family: str
    name: str
    prepare: Prepare
    expects: Expects = Expects.EITHER
    shows: Sequence[str] = ()
    is_unprivileged: bool = False
    is_slow: bool = False


@dataclass(frozen=True, slots=True)
class Result:
    """What a process left behind.

    Args:
        status: exit status; negative for the signal that ended it.
        is_late: whether it was killed at the time limit.
        seconds: it ran.
        grown_bytes: memory above that of the program without a case.
        out: standard output.
        err: standard error.
        log: the program's log file.
    """

    status: int
    is_late: bool
    seconds: float
    grown_bytes: int
    out: str
    err: str
    log: str


def judge(case: Case, result: Result) -> tuple[Verdict, str]:
    """Return what happened, and why it is a fault if it is one."""
    if result.is_late:
        return Verdict.HANG, f"killed after {result.seconds:.0f} s"
    if result.status < 0:
        return Verdict.CRASH, f"signal {-result.status}"
    broken = next((sign for sign in _BROKEN if sign in result.err), "")
    if broken or (broken := _unnamed_error(result.log)):
        return Verdict.CRASH, broken
    if result.grown_bytes > LIMIT_BYTES:
        return Verdict.MEMORY, f"{result.grown_bytes / 2**20:.0f} MB"
    said = [
        line
        for line in result.err.splitlines()
        if line.startswith("vivavoce: ") and not _USUAL.search(line)
    ]
    if result.status != 0 and not said and "Usage:" not in result.err:
        return Verdict.SILENT, f"status {result.status} without a reason"
    if result.status == 0 and case.expects is Expects.REFUSED:
        return Verdict.SILENT, "accepted"
    if result.status == 0 and case.expects is Expects.TOLD and not said:
        return Verdict.SILENT, "nothing was said"
    if result.status != 0 and case.expects is Expects.WHOLE:
        return Verdict.SILENT, f"refused: {' '.join(said)}"
    if result.status != 0 and case.expects is Expects.TOLD and not result.out:
        return Verdict.REFUSED, ""
    for text in case.shows:
        if text not in result.out + result.err:
            return Verdict.SILENT, f"{text!r} is not shown"
    if result.status == 0:
        return (Verdict.TOLD if said else Verdict.WHOLE), ""
    return (Verdict.TOLD if case.expects is Expects.TOLD else Verdict.REFUSED), ""


def _unnamed_error(log: str) -> str:
    """Return the last line of a traceback in the log whose error is none of ours."""
    for trace in log.split("Traceback (most recent call last):")[1:]:
        # What led to an error of ours was understood.
        found = re.search(r"^([A-Za-z_][\w.]*(?:Error|Exception|Interrupt)\b.*)$", trace, re.M)
        if found and not _CAUSE.search(trace) and not found[1].startswith(_OURS):
            return f"in the log: {found[1][:200]}"
    return ""
