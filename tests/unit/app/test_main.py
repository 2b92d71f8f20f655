"""The command `vivavoce` without a window."""

import subprocess
import sys
from pathlib import Path

import pytest

from app import main as main_module

pytestmark = pytest.mark.unit


@pytest.mark.parametrize(
    ("environment", "platform", "expected"),
    [
        ({}, "linux", False),
        ({"DISPLAY": ""}, "linux", False),
        ({"DISPLAY": ":0"}, "linux", True),
        ({"WAYLAND_DISPLAY": "wayland-0"}, "linux", True),
        ({"QT_QPA_PLATFORM": "offscreen"}, "linux", True),
        ({}, "darwin", True),
        ({}, "win32", True),
    ],
)
def test_has_display_looks_where_each_system_says_so(
    environment: dict[str, str], platform: str, expected: bool
) -> None:
    assert main_module.has_display(environment, platform) is expected


def test_without_display_the_demo_runs_in_the_terminal_after_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    ran: list[list[str]] = []

    def run_command(arguments: list[str]) -> int:
        ran.append(list(arguments))
        return 0

    monkeypatch.setattr("engine.cli.main.main", run_command)
    assert main_module.main([]) == 0
    assert ran == [["listen", "--input", "demo"]]
    assert capsys.readouterr().out == f"{main_module.NO_DISPLAY}\n"


def test_version_does_not_import_qt_or_torch(tmp_path: Path) -> None:
    code = (
        "import sys; from app.main import main; code = main(['--version']); "
        "heavy = {'PySide6', 'torch', 'numba'} & set(sys.modules); "
        "sys.exit(f'imported {heavy}' if heavy else code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env={"VIVAVOCE_HOME": str(tmp_path), "PATH": "/usr/bin:/bin", "HOME": str(tmp_path)},
    )
    assert done.returncode == 0, done.stderr
    assert any(character.isdigit() for character in done.stdout)
