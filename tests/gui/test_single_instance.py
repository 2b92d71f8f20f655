"""A second start brings up the first."""

import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from pytestqt.qtbot import QtBot

from app.single_instance import Claim, SingleInstance

pytestmark = pytest.mark.gui
ROOT = Path(__file__).parents[2]


@pytest.fixture
def first(tmp_path: Path, qapp: object) -> Iterator[SingleInstance]:
    assert qapp
    instance = SingleInstance(tmp_path)
    assert instance.claim() is Claim.FIRST
    yield instance
    instance.close()


def _start(home: Path, *arguments: str, code: str = "") -> "subprocess.Popen[str]":
    fakes = {f"VIVAVOCE_{kind}": "fake" for kind in ("RECOGNIZER", "DIARIZER", "SYNTHESIZER")}
    environment = {
        **os.environ,
        **fakes,
        "VIVAVOCE_HOME": str(home),
        "VIVAVOCE_INPUT": "null",
        "VIVAVOCE_OUTPUT": "null",
        "QT_QPA_PLATFORM": "offscreen",
    }
    command = ["-c", code] if code else ["-m", "app.main", *arguments]
    return subprocess.Popen(
        [sys.executable, *command],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


_CLAIM = (
    "import sys; from pathlib import Path; from app.single_instance import SingleInstance;"
    "print(SingleInstance(Path(sys.argv[1])).claim(float(sys.argv[2])))"
)


def _claim_elsewhere(folder: Path, qtbot: QtBot, patience_s: float = 5.0) -> str:
    process = subprocess.Popen(
        [sys.executable, "-c", _CLAIM, str(folder), str(patience_s)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    qtbot.waitUntil(lambda: process.poll() is not None, timeout=30_000)
    return process.communicate()[0].strip()


def _wait_for_window(home: Path, process: "subprocess.Popen[str]", count: int = 1) -> None:
    path, end_s = home / "state" / "vivavoce.log", time.monotonic() + 60
    while time.monotonic() < end_s:
        text = path.read_text("utf-8") if path.exists() else ""
        if text.count("the window is visible") >= count:
            return
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    raise TimeoutError("no window came")


def test_a_second_one_brings_up_the_first(
    first: SingleInstance, tmp_path: Path, qtbot: QtBot
) -> None:
    shown: list[bool] = []
    first.listen(lambda: shown.append(True))
    assert _claim_elsewhere(tmp_path, qtbot) == "shown"
    assert shown == [True]
    assert _claim_elsewhere(tmp_path / "other", qtbot) == "first"


def test_a_first_one_that_does_not_answer_is_said_to_be_there(
    first: SingleInstance, tmp_path: Path, qtbot: QtBot
) -> None:
    assert first
    assert _claim_elsewhere(tmp_path, qtbot, patience_s=0.3) == "no answer"


def test_while_the_first_one_closes_the_second_waits_and_takes_its_place(
    first: SingleInstance, tmp_path: Path, qtbot: QtBot
) -> None:
    first.listen(lambda: None)
    first.stop_listening()
    process = subprocess.Popen(
        [sys.executable, "-c", _CLAIM, str(tmp_path), "20"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    qtbot.wait(300)
    first.close()
    qtbot.waitUntil(lambda: process.poll() is not None, timeout=30_000)
    assert process.communicate()[0].strip() == "first"


@pytest.mark.skipif(sys.platform == "win32", reason="files of sockets are of Unix")
def test_the_socket_is_the_users_alone(first: SingleInstance, tmp_path: Path) -> None:
    first.listen(lambda: None)
    (path,) = (each for each in tmp_path.iterdir() if stat.S_ISSOCK(each.stat().st_mode))
    assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0


def test_a_deep_folder_gets_a_short_name(tmp_path: Path, qtbot: QtBot) -> None:
    folder = tmp_path / ("x" * 60) / ("y" * 60)
    instance = SingleInstance(folder)
    assert instance.claim() is Claim.FIRST
    shown: list[bool] = []
    instance.listen(lambda: shown.append(True))
    assert _claim_elsewhere(folder, qtbot) == "shown"
    instance.close()


def test_the_program_is_open_once_and_again_after_a_crash(tmp_path: Path) -> None:
    first = _start(tmp_path)
    others: list[subprocess.Popen[str]] = []
    try:
        _wait_for_window(tmp_path, first)
        listening = [c for c in psutil.Process(first.pid).net_connections("inet") if not c.raddr]
        assert listening == []

        others.append(_start(tmp_path))
        out, err = others[-1].communicate(timeout=60)
        assert (others[-1].returncode, out, err) == (0, "", "")
        # The command line is never kept waiting.
        others.append(_start(tmp_path, "sessions", "list"))
        others[-1].communicate(timeout=60)
        assert others[-1].returncode == 0

        first.kill()
        first.wait(10)
        others.append(_start(tmp_path))
        _wait_for_window(tmp_path, others[-1], count=2)
        others[-1].send_signal(signal.SIGTERM)
        out, err = others[-1].communicate(timeout=30)
        assert others[-1].returncode == 0, err
    finally:
        for process in (first, *others):
            process.kill()
            process.communicate()
