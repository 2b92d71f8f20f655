"""The real program on the accessibility bus, read as a screen reader reads it."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.display import virtual_display

ROOT = Path(__file__).parents[2]
_TOUR = [sys.executable, "-X", "faulthandler", "-m", "tests.helpers.screen_reader_tour"]
_PROGRAMS = ("Xvfb", "dbus-run-session", "gdbus")
_BUS = Path("/usr/libexec/at-spi-bus-launcher")

pytestmark = [
    pytest.mark.gui,
    pytest.mark.integration,
    pytest.mark.skipif(
        not all(shutil.which(name) for name in _PROGRAMS) or not _BUS.exists(),
        reason="there is no display, or no accessibility bus",
    ),
]


@pytest.mark.slow
def test_a_screen_reader_reads_the_window_and_hears_what_happens(home: Path) -> None:
    assert home
    values = {name: value for name, value in os.environ.items() if name != "QT_QPA_PLATFORM"}
    with virtual_display() as display:
        done = subprocess.run(
            ["dbus-run-session", "--", *_TOUR],
            cwd=ROOT,
            env={**values, "DISPLAY": display, "QT_LINUX_ACCESSIBILITY_ALWAYS_ON": "1"},
            capture_output=True,
            text=True,
            check=False,
            timeout=200,
        )
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout.splitlines()[-1])
    things = [(thing["role"], thing["name"]) for thing in seen["things"]]
    rows = [name for role, name in things if role == "list item" and name.startswith("[")]
    assert len(rows) == 6
    assert "We should ship the small one first" in rows[0]
    assert ("list", "Transcript") in things
    assert ("list", "Speaker timeline") in things
    assert any(role == "list item" and name.startswith("Speaker A: ") for role, name in things)
    assert ("progress bar", "Input level") in things
    assert seen["level"] == -60.0
    assert "Recording" in seen["announced"]
    assert seen["announced"][-1].endswith("This came later.")
    assert seen["num_rows_after_clearing"] == 0
    # Interfaces of rows that went, and of the window as it closes, must not crash it.
    assert seen["exit_code"] == 0, done.stderr
