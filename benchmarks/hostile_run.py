"""Runs a case in a process of its own, under limits of time and memory.

The process is forked, as starting Python and importing the program would take a second each time.
"""

import ctypes
import os
import resource
import shutil
import signal
import sys
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

from benchmarks.hostile_case import LIMIT_S, Case, Result, Run

_MOST_BYTES = 4 * 2**30
"""Address space beyond the program's own: protects the machine, and is no limit of the test."""
_MOST_FILE_BYTES = 2**30
_SHOWN_BYTES = 200_000
_CAPABILITY_VERSION = 0x20080522
_POLL_S = 0.005


def run_case(case: Case, folder: Path, usual_bytes: int) -> Result:
    """Run a case in an empty folder, which is gone afterwards.

    Args:
        case: the input, and what to do with it.
        folder: made and deleted.
        usual_bytes: memory of the program with a good input.
    """
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "in").mkdir(parents=True)
    try:
        return _run(case, case.prepare(folder / "in"), folder, usual_bytes)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _run(case: Case, run: Run, folder: Path, usual_bytes: int) -> Result:
    began_s = time.monotonic()
    pid = os.fork()
    if pid == 0:
        _be_the_program(case, run, folder)
    is_late = False
    while True:
        done, status, usage = os.wait4(pid, os.WNOHANG)
        if done:
            break
        if time.monotonic() - began_s > LIMIT_S and not is_late:
            is_late = True
            os.kill(pid, signal.SIGKILL)
        time.sleep(_POLL_S)
    return Result(
        os.waitstatus_to_exitcode(status),
        is_late,
        time.monotonic() - began_s,
        max(0, usage.ru_maxrss * 1024 - usual_bytes),
        _text(folder / "out"),
        _text(folder / "err"),
        "".join(_text(path) for path in folder.rglob("vivavoce.log")),
    )


def _be_the_program(case: Case, run: Run, folder: Path) -> None:
    """Never returns."""
    status = 1
    try:
        os.setsid()
        with _streams(folder):
            try:
                _limit()
                os.environ["VIVAVOCE_HOME"] = str(folder / "home")
                os.chdir(folder)
                if case.is_unprivileged:
                    _drop_capabilities()
                status = run()
            except BaseException:  # noqa: BLE001 - told by the traceback
                traceback.print_exc()
            sys.stdout.flush()
            sys.stderr.flush()
    finally:
        os._exit(status)


@contextmanager
def _streams(folder: Path) -> Iterator[None]:
    """Point standard streams into files; libraries in C write there, too."""
    for number, name, flags in (
        (0, os.devnull, os.O_RDONLY),
        (1, folder / "out", os.O_CREAT | os.O_WRONLY | os.O_APPEND),
        (2, folder / "err", os.O_CREAT | os.O_WRONLY | os.O_APPEND),
    ):
        if number == 0 and (folder / "in" / "stdin").exists():
            name = folder / "in" / "stdin"
        os.dup2(os.open(name, flags, 0o600), number)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    yield


def _drop_capabilities() -> None:
    """Let permissions bind the administrator, too."""
    libc = ctypes.CDLL(None, use_errno=True)
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0)
    if libc.capset(header, (ctypes.c_uint32 * 6)()) != 0:
        raise OSError(ctypes.get_errno(), "capset")


def _limit() -> None:
    most = psutil.Process().memory_info().vms + _MOST_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    resource.setrlimit(resource.RLIMIT_FSIZE, (_MOST_FILE_BYTES, _MOST_FILE_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(_SHOWN_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""
