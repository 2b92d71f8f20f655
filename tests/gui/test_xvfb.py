"""The real program on a real (virtual) display."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers.display import virtual_display

pytestmark = [
    pytest.mark.gui,
    pytest.mark.skipif(shutil.which("Xvfb") is None, reason="Xvfb is not installed"),
]
ROOT = Path(__file__).parents[2]
SCREENSHOTS = ROOT / "build" / "screenshots"


@pytest.fixture(scope="module")
def display() -> Iterator[str]:
    """The name of a display of the test's own."""
    with virtual_display() as name:
        yield name


@pytest.fixture
def environment(display: str, home: Path) -> dict[str, str]:
    """Of a process on that display, with settings and recordings of its own."""
    assert home
    values = {name: value for name, value in os.environ.items() if name != "QT_QPA_PLATFORM"}
    return {**values, "DISPLAY": display, "VIVAVOCE_OUTPUT": "null"}


def _wait_for_log(home: Path, pattern: str, timeout_s: float) -> re.Match[str]:
    path, end_s = home / "state" / "vivavoce.log", time.monotonic() + timeout_s
    while time.monotonic() < end_s:
        text = path.read_text("utf-8") if path.exists() else ""
        if found := re.search(pattern, text):
            return found
        time.sleep(0.05)
    raise TimeoutError(f"{pattern} did not come within {timeout_s} s")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_closes_the_window_in_order(
    environment: dict[str, str], home: Path, number: signal.Signals
) -> None:
    fakes = {f"VIVAVOCE_{kind}": "fake" for kind in ("RECOGNIZER", "DIARIZER", "SYNTHESIZER")}
    process = subprocess.Popen(
        [sys.executable, "-m", "app.main"],
        cwd=ROOT,
        env={**environment, **fakes},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        _wait_for_log(home, r"the window is visible ([\d.]+) s", 60)
        process.send_signal(number)
        out, err = process.communicate(timeout=30)
    finally:
        process.kill()
    assert process.returncode == 0, err
    assert "Traceback" not in out + err
    assert "ERROR" not in (home / "state" / "vivavoce.log").read_text("utf-8")


@pytest.mark.slow
@pytest.mark.models
def test_the_demo_runs_through_the_whole_window(environment: dict[str, str], home: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.helpers.window_tour", str(SCREENSHOTS)],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=280,
    )
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout.splitlines()[-1])
    assert "failed" not in seen, seen["failed"]
    text = seen["text"].casefold()
    assert "program" in text
    assert "own machine" in text
    assert text.rstrip(".").endswith("say something")
    assert seen["speakers"] == 2
    assert seen["spoken"] in ("cancelled", "done")
    assert seen["asks"]
    log = (home / "state" / "vivavoce.log").read_text("utf-8")
    assert "ERROR" not in log
    assert "say something" not in log.casefold()
    names = {path.stem for path in SCREENSHOTS.glob("*.png")}
    assert {"start", "loading", "empty", "recording", "recording-dark", "speaking"} <= names
    sessions = home / "data" / "sessions"
    assert not sessions.exists() or not list(sessions.iterdir())
