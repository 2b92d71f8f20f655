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


def test_window_when_it_cannot_be_made_then_says_how_to_go_on_and_the_log_has_why(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
    home: Path,
) -> None:
    def fail(_: object) -> int:
        raise ImportError("libGL.so.1 is not there")

    shown: list[str] = []
    monkeypatch.setenv("QT_QPA_PLATFORM", "offscreen")
    monkeypatch.setattr("app.window.run_window", fail)
    monkeypatch.setattr("app.unexpected.show_box", lambda error: shown.append(error.text))
    assert main_module.main([]) == 5
    err = capsys.readouterr().err
    assert "Traceback" not in err
    assert "vivavoce doctor" in err
    assert str(home / "state" / "vivavoce.log") in err
    assert "libGL.so.1" in caplog.text
    assert len(shown) == 1


def test_window_when_the_library_is_missing_then_no_traceback_is_shown(tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules['PySide6'] = None; from app.main import main; sys.exit(main([]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env={"VIVAVOCE_HOME": str(tmp_path), "PATH": "/usr/bin:/bin", "DISPLAY": ":99"},
    )
    assert done.returncode == 5
    assert "Traceback" not in done.stderr
    assert "The window could not be opened" in done.stderr
    assert "PySide6" in (tmp_path / "state" / "vivavoce.log").read_text()
