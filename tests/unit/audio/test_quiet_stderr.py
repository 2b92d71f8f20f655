"""What C code writes is kept from the terminal; what the program says is not."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.unit,
    pytest.mark.skipif(os.name == "nt", reason="descriptors are written to as on Unix"),
]

_OVERLAPPING = """
import os, sys
from contextlib import ExitStack
from engine.audio.quiet_stderr import quiet_stderr
from engine.core.own_stderr import keep_own_stderr
def c_code(text):
    os.write(2, text.encode())
if "own" in sys.argv:
    keep_own_stderr()
    keep_own_stderr()
first, second = ExitStack(), ExitStack()
c_code("before.")
first.enter_context(quiet_stderr())
second.enter_context(quiet_stderr())
c_code("in both.")
first.close()
c_code("in one.")
print("said", file=sys.stderr, flush=True)
second.close()
c_code("after.")
"""


def _run(*arguments: str) -> str:
    return subprocess.run(
        [sys.executable, "-c", _OVERLAPPING, *arguments],
        stderr=subprocess.PIPE,
        text=True,
        check=True,
        cwd=Path(__file__).resolve().parents[3],
    ).stderr


def test_stderr_when_calls_overlap_then_is_quiet_until_the_last_and_back_after_it() -> None:
    assert _run() == "before.after."


def test_stderr_of_the_program_when_a_call_hangs_inside_then_is_still_read() -> None:
    assert _run("own") == "before.said\nafter."


def test_sounddevice_when_loaded_while_a_call_is_inside_then_stderr_comes_back() -> None:
    script = (
        "import os, sys, threading\n"
        "from engine.audio.quiet_stderr import quiet_stderr\n"
        "from contextlib import ExitStack\n"
        "call = ExitStack()\n"
        "call.enter_context(quiet_stderr())\n"
        "from engine.audio import portaudio\n"
        "call.close()\n"
        "os.write(2, b'back')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        stderr=subprocess.PIPE,
        text=True,
        check=True,
        cwd=Path(__file__).resolve().parents[3],
    )
    assert done.stderr == "back"
