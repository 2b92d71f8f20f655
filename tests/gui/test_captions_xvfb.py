"""Captions on a real (virtual) display: what they ask of it is what it does."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.gui,
    pytest.mark.skipif(shutil.which("Xvfb") is None, reason="Xvfb is not installed"),
]
ROOT = Path(__file__).parents[2]
_HAS_TOOLS = shutil.which("xdotool") is not None and shutil.which("xprop") is not None


@pytest.fixture
def display() -> Iterator[str]:
    """The name of a display of the test's own."""
    read_fd, write_fd = os.pipe()
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(write_fd), "-screen", "0", "1920x1080x24", "-nolisten", "tcp"],
        pass_fds=(write_fd,),
        stderr=subprocess.DEVNULL,
    )
    os.close(write_fd)
    with os.fdopen(read_fd) as pipe:
        number = pipe.readline().strip()
    yield f":{number}"
    server.terminate()
    server.wait(10)


def test_captions_when_they_are_on_a_display_then_places_and_flags_hold(
    display: str, tmp_path: Path
) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "QT_QPA_PLATFORM"}
    done = subprocess.run(
        [sys.executable, "-m", "tests.helpers.captions_tour", str(tmp_path)],
        cwd=ROOT,
        env={**environment, "DISPLAY": display},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout.splitlines()[-1])
    assert seen["full"] == seen["screen"] == [0, 0, 1920, 1080]
    assert seen["full_grounds"] == ["#000000"] * 4
    assert seen["small"] == [200, 300, 600, 170]
    assert seen["full_has_focus"]
    assert seen["small_has_focus"]
    assert not seen["is_visible"]
    if not _HAS_TOOLS:
        pytest.skip("xdotool and xprop are not installed: dragging and flags were not looked at")
    assert "_NET_WM_STATE_ABOVE" in seen["small_properties"]
    assert "_MOTIF_WM_HINTS(_MOTIF_WM_HINTS) = 0x2, 0x1, 0x0," in seen["small_properties"]
    assert seen["dragged"] == [260, 260, 600, 170]
    assert seen["widened"] == [260, 260, 640, 170]
    assert seen["kept"] == seen["widened"]
