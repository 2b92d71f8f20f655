"""What is written to the log, and where."""

import faulthandler
import logging
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import qInstallMessageHandler, qWarning

from app.logs import install_hooks, start_logging

pytestmark = pytest.mark.unit


@pytest.fixture(autouse=True)
def _restore(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    hooks = sys.excepthook, threading.excepthook
    # The file of the crash handler stays open as long as a process lives.
    monkeypatch.setattr(faulthandler, "enable", lambda file: file.close())
    yield
    for handler in [handler for handler in root.handlers if handler not in handlers]:
        root.removeHandler(handler)
        handler.close()
    root.setLevel(level)
    sys.excepthook, threading.excepthook = hooks
    qInstallMessageHandler(None)


def test_messages_go_to_a_file_that_rotates(tmp_path: Path) -> None:
    path = start_logging(tmp_path / "state")
    assert path is not None
    for number in range(12_000):
        logging.getLogger("other").info("%s %s", number, "x" * 200)
    files = sorted(entry.name for entry in path.parent.glob("vivavoce.log*"))
    assert files[:3] == ["vivavoce.log", "vivavoce.log.1", "vivavoce.log.2"]
    assert all(entry.stat().st_size <= 1_000_000 for entry in path.parent.iterdir())
    assert "11999" in path.read_text("utf-8")


def test_without_a_writable_folder_the_log_goes_to_stderr(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert start_logging(tmp_path / "file" / "state") is None


def test_an_exception_nobody_caught_is_logged_and_told(
    caplog: pytest.LogCaptureFixture,
) -> None:
    told: list[str] = []
    install_hooks(told.append)
    error = ZeroDivisionError("oops")
    sys.excepthook(ZeroDivisionError, error, None)
    threading.excepthook(threading.ExceptHookArgs((ValueError, ValueError("x"), None, None)))
    assert told == [
        "Something went wrong inside the program: ZeroDivisionError.",
        "Something went wrong inside the program: ValueError.",
    ]
    assert caplog.text.count("unexpected error") == 2


def test_messages_of_qt_come_into_the_log(caplog: pytest.LogCaptureFixture) -> None:
    install_hooks(lambda _: None)
    qWarning("a warning of Qt")
    assert [(record.name, record.levelname) for record in caplog.records] == [("qt", "WARNING")]
