"""The whole program: display, sound system, models and disk, as a user meets them."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import soundfile

from benchmarks.display import virtual_display
from engine.core.resources import resource_path
from engine.store.exporters.options import ExportFormat
from engine.store.library import SessionLibrary
from tests.helpers.pulse import VirtualSound, is_available

pytestmark = [
    pytest.mark.gui,
    pytest.mark.slow,
    pytest.mark.models,
    pytest.mark.skipif(shutil.which("Xvfb") is None, reason="Xvfb is not installed"),
    pytest.mark.skipif(not is_available(), reason="pulseaudio is not installed"),
]
ROOT = Path(__file__).parents[2]
SCREENSHOTS = ROOT / "build" / "screenshots"
EXPECTED = (
    "good morning what does this program do it writes down what people say as they say it every "
    "voice gets its own color so you can see who said what and does my voice leave this computer "
    "never everything happens on your own machine"
)


@pytest.fixture
def environment(home: Path) -> Iterator[tuple[VirtualSound, dict[str, str]]]:
    """A sound system, and the variables that lead to it and to a display."""
    assert home
    values = {name: value for name, value in os.environ.items() if name != "QT_QPA_PLATFORM"}
    with virtual_display() as display, VirtualSound() as sound:
        yield sound, {**values, "DISPLAY": display, **sound.env()}


def _words(text: str) -> list[str]:
    return [word.strip(".,?!").casefold() for word in text.split()]


def _make_tail(path: Path) -> None:
    """Write the end of the demo, cut right behind its last word."""
    pcm, rate = soundfile.read(resource_path("demo/conversation.flac"), dtype="float32")
    last = int(np.flatnonzero(np.abs(pcm) > 0.02)[-1])
    soundfile.write(path, pcm[last - round(3.0 * rate) : last + 1], rate)


@pytest.mark.timeout(420)
def test_a_user_records_speaks_exports_deletes_and_closes(
    environment: tuple[VirtualSound, dict[str, str]], home: Path, tmp_path: Path
) -> None:
    sound, variables = environment
    tail, spoken, exports = tmp_path / "tail.wav", tmp_path / "spoken.wav", tmp_path / "exports"
    exports.mkdir()
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    _make_tail(tail)
    arguments = [SCREENSHOTS, resource_path("demo/conversation.flac"), tail, spoken, exports]
    with sound.recorded_speaker(spoken):
        done = subprocess.run(
            [sys.executable, "-m", "tests.helpers.live_tour", *map(str, arguments)],
            cwd=ROOT,
            env=variables,
            capture_output=True,
            text=True,
            check=False,
            timeout=400,
        )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    seen = json.loads(done.stdout.splitlines()[-1])
    assert "failed" not in seen, seen["failed"]
    _check_text(seen)
    _check_speech(seen, spoken)
    _check_files(seen, exports)
    (kept,) = SessionLibrary(home / "data" / "sessions").list()
    assert kept.is_closed
    assert "something" in _words(
        SessionLibrary(home / "data" / "sessions").open("last").document().text()
    )
    log = (home / "state" / "vivavoce.log").read_text("utf-8")
    assert "ERROR" not in log
    assert "conversation" not in log.casefold()


def _check_text(seen: dict[str, object]) -> None:
    heard = _words(str(seen["text"]))
    expected = set(EXPECTED.split())
    assert len(expected & set(heard)) >= 0.8 * len(expected), heard
    assert heard[-1] == "something"  # it ended when Stop was pressed
    assert seen["speakers"] in (2, 3)
    assert seen["has_input"]


def _check_speech(seen: dict[str, object], spoken: Path) -> None:
    pcm, rate = soundfile.read(spoken, dtype="float32")
    loud = np.flatnonzero(np.abs(pcm) > 0.02)
    assert seen["spoken"] == "cancelled"
    heard_s = float(str(seen["heard_s"]))
    assert heard_s > 2.0
    assert (loud[-1] - loud[0]) / rate == pytest.approx(heard_s, abs=0.5)
    # The sound system's own delay comes on top of the program's.
    at_stop_s = (float(str(seen["spoken_bytes_at_stop"])) - 44) / 2 / rate
    assert loud[-1] / rate - at_stop_s < 0.4
    assert float(str(seen["silenced_ms"])) <= 50
    assert float(str(seen["own_voice_s"])) > 2.0
    assert seen["words_after_own_voice"] == seen["words_before_own_voice"]


def _check_files(seen: dict[str, object], exports: Path) -> None:
    assert seen["stored_text"] == seen["text"]
    assert {path.suffix for path in exports.iterdir()} == {f".{kind}" for kind in ExportFormat}
    for path in exports.iterdir():
        content = path.read_text("utf-8")
        assert "program" in content.casefold() or path.suffix == ".rttm"
        assert content.strip()
    assert seen["is_live_shown_again"]
    assert seen["is_open_while_finishing"]
