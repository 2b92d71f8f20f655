"""The import contracts at run time: the command line works where a package cannot be imported."""

import subprocess
import sys

import pytest

from tests.helpers.cli import ROOT, cli_environment

_BLOCKED = """
import sys

class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {blocked!r}:
            raise ImportError(f"{{name}} is blocked")

sys.meta_path.insert(0, Blocker())
from engine.cli.main import main
sys.exit(main({arguments!r}))
"""
_LISTEN = ("listen", "--input", "demo", "--fast", "--recognizer", "fake", "--diarizer", "fake")


def _run_blocked(blocked: set[str], *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", _BLOCKED.format(blocked=blocked, arguments=list(arguments))],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=ROOT,
        env=cli_environment(),
        check=False,
    )


@pytest.mark.parametrize(
    "blocked",
    [
        {"PySide6", "shiboken6", "pyqtgraph"},
        {"torch", "torchaudio"},
        {"sounddevice", "rtmixer", "pa_ringbuffer"},
        {"onnxruntime", "ctranslate2", "faster_whisper", "piper", "sklearn", "spectralcluster"},
    ],
    ids=["without-qt", "without-torch", "without-portaudio", "without-models"],
)
def test_listen_on_fakes_when_a_package_is_blocked_then_it_runs(blocked):
    done = _run_blocked(blocked, *_LISTEN)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) >= 5


def test_session_module_when_imported_then_nothing_heavy_is_loaded():
    code = (
        "import sys, engine.session.build\n"
        "heavy = {'torch', 'onnxruntime', 'ctranslate2', 'faster_whisper', 'PySide6', 'scipy',\n"
        "         'sklearn', 'sounddevice', 'piper', 'silero_vad'}\n"
        "print(*sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=cli_environment(),
        check=True,
    )
    assert done.stdout.strip() == ""


def test_main_command_when_imported_then_numpy_is_not_needed_yet():
    code = "import sys, engine.cli.main; print('numpy' in sys.modules, 'rich' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=cli_environment(),
        check=True,
    )
    assert done.stdout.split() == ["False", "False"]
