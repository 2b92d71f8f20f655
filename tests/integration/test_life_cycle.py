"""Signals end the real program in order, whatever it is doing."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from engine.cli.exit_codes import DONE, INTERRUPTED
from engine.store.library import SessionLibrary
from tests.helpers.cli import cli_command, cli_environment

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(sys.platform == "win32", reason="signals are of Unix"),
]
FAKES = ("--recognizer", "fake", "--diarizer", "fake")
LIMIT_S = 5.0
SLACK_S = 5.0
"""What a machine under load, and the end of an interpreter, may add."""


@contextmanager
def listening(home: Path) -> Iterator["subprocess.Popen[str]"]:
    """A recording that has told its first words."""
    environment = cli_environment(VIVAVOCE_HOME=str(home), VIVAVOCE_KEEP="audio-and-text")
    process = subprocess.Popen(
        cli_command("listen", "--input", "demo", "--json", *FAKES),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )
    try:
        assert process.stdout is not None
        for line in process.stdout:
            if json.loads(line)["event"] == "final_words":
                break
        yield process
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT", "SIGHUP"])
def test_listen_when_a_signal_comes_then_every_word_is_told_and_the_journal_is_closed(
    tmp_path: Path, name: str
) -> None:
    with listening(tmp_path) as process:
        began_s = time.monotonic()
        process.send_signal(getattr(signal, name))
        out, err = process.communicate(timeout=30)
        took_s = time.monotonic() - began_s
    assert process.returncode == DONE, err
    assert took_s < LIMIT_S + SLACK_S
    assert [json.loads(line)["event"] for line in out.splitlines()].count("recording_stopped") == 1
    (stored,) = SessionLibrary(tmp_path / "data" / "sessions").list()
    assert stored.is_closed
    assert stored.num_words > 0


_STUCK = """
import sys, threading
from engine.backends.fake_recognizer import FakeRecognizerStream
push = FakeRecognizerStream.push
def stuck(self, block):
    if self._state.position > 16000:
        print('{"event": "stuck"}', flush=True)
        threading.Event().wait(120)
    return push(self, block)
FakeRecognizerStream.push = stuck
from engine.cli.main import main
sys.exit(main(sys.argv[1:]))
"""


def test_listen_when_a_model_never_returns_then_sigterm_ends_it_in_time_and_says_so(
    tmp_path: Path,
) -> None:
    environment = cli_environment(VIVAVOCE_HOME=str(tmp_path), VIVAVOCE_KEEP="audio-and-text")
    process = subprocess.Popen(
        [sys.executable, "-c", _STUCK, "listen", "--input", "demo", "--json", *FAKES],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        cwd=Path(__file__).parents[2],
    )
    try:
        assert process.stdout is not None
        for line in process.stdout:
            if json.loads(line)["event"] == "stuck":
                break
        began_s = time.monotonic()
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=40)
        took_s = time.monotonic() - began_s
    finally:
        process.kill()
        process.communicate()
    assert process.returncode == INTERRUPTED, err
    assert took_s < LIMIT_S + SLACK_S
    events = [json.loads(line) for line in out.splitlines()]
    assert any(event.get("kind") == "untranscribed" for event in events)
    (stored,) = SessionLibrary(tmp_path / "data" / "sessions").list()
    assert stored.is_closed
    assert stored.duration_s > 1


_WINDOW = """
import sys, threading
from engine.backends.fake_recognizer import FakeRecognizer
from engine.audio.provider import SystemDevices
what = sys.argv.pop(1)
def hang(*_, **__):
    threading.Event().wait(120)
if what == "load":
    FakeRecognizer.load = hang
elif what == "devices":
    SystemDevices.list_devices = hang
else:
    import app.window
    app.window._build = hang
from app.main import main
sys.exit(main([]))
"""


@pytest.mark.parametrize("what", ["load", "devices", "build"])
def test_window_when_something_never_returns_then_sigterm_ends_it_in_time(
    tmp_path: Path, what: str
) -> None:
    fakes = {f"VIVAVOCE_{kind}": "fake" for kind in ("RECOGNIZER", "DIARIZER", "SYNTHESIZER")}
    process = subprocess.Popen(
        [sys.executable, "-c", _WINDOW, what],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={
            **os.environ,
            **fakes,
            "VIVAVOCE_HOME": str(tmp_path),
            "VIVAVOCE_INPUT": "null",
            "VIVAVOCE_OUTPUT": "null",
            "QT_QPA_PLATFORM": "offscreen",
        },
        cwd=Path(__file__).parents[2],
    )
    log = tmp_path / "state" / "vivavoce.log"
    try:
        end_s = time.monotonic() + 60
        while "the window is visible" not in (log.read_text("utf-8") if log.exists() else ""):
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < end_s
            threading.Event().wait(0.1)
        threading.Event().wait(1.0)
        began_s = time.monotonic()
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=40)
        took_s = time.monotonic() - began_s
    finally:
        process.kill()
        process.communicate()
    assert process.returncode == 0, err
    assert took_s < LIMIT_S + SLACK_S
    assert "Traceback" not in err
