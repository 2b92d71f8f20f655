"""What is written to the log, and where."""

import faulthandler
import logging
import os
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
    hooks = sys.excepthook, threading.excepthook, sys.unraisablehook
    # The file of the crash handler stays open as long as a process lives.
    monkeypatch.setattr(faulthandler, "enable", lambda file: file.close())
    yield
    for handler in [handler for handler in root.handlers if handler not in handlers]:
        root.removeHandler(handler)
        handler.close()
    root.setLevel(level)
    sys.excepthook, threading.excepthook, sys.unraisablehook = hooks
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


@pytest.mark.skipif(os.name == "nt", reason="Windows keeps them by the folder's list of rights")
def test_logs_are_their_owners_alone_even_if_they_were_not_before(tmp_path: Path) -> None:
    tmp_path.joinpath("vivavoce.log").touch(mode=0o644)
    tmp_path.joinpath("crash.log").touch(mode=0o644)
    start_logging(tmp_path)
    for number in range(6_000):
        logging.getLogger("other").info("%s %s", number, "x" * 200)
    modes = {entry.name: entry.stat().st_mode & 0o777 for entry in tmp_path.iterdir()}
    assert modes == dict.fromkeys(("crash.log", "vivavoce.log", "vivavoce.log.1"), 0o600)


def test_without_a_writable_folder_the_log_goes_to_stderr(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert start_logging(tmp_path / "file" / "state") is None


def test_an_exception_nobody_caught_is_logged_and_told(
    caplog: pytest.LogCaptureFixture,
) -> None:
    told: list[int] = []
    install_hooks(lambda: told.append(1))
    error = ZeroDivisionError("oops")
    sys.excepthook(ZeroDivisionError, error, None)
    threading.excepthook(threading.ExceptHookArgs((ValueError, ValueError("x"), None, None)))
    assert len(told) == 2
    assert caplog.text.count("unexpected error") == 2


def test_an_exception_that_comes_again_and_again_is_told_once_and_logged_ever_more_rarely(
    caplog: pytest.LogCaptureFixture,
) -> None:
    told: list[int] = []
    install_hooks(lambda: told.append(1))
    for _ in range(1000):
        try:
            raise ZeroDivisionError("oops")
        except ZeroDivisionError as error:
            sys.excepthook(type(error), error, error.__traceback__)
    assert len(told) == 1
    assert len(caplog.records) == 10


def test_an_exception_that_is_caused_again_later_is_told_and_logged_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    told: list[float] = []
    now_s = 5.0
    install_hooks(lambda: told.append(now_s), now_s=lambda: now_s)
    for second in range(5, 70):
        now_s = float(second)
        try:
            raise ZeroDivisionError("oops")
        except ZeroDivisionError as error:
            sys.excepthook(type(error), error, error.__traceback__)
    assert told == [5.0, 35.0, 65.0]
    assert "(number 31)" in caplog.text


def test_an_exception_when_nobody_can_be_told_any_more_is_logged_all_the_same(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def tell() -> None:
        raise RuntimeError("the window is gone")

    install_hooks(tell)
    sys.excepthook(ValueError, ValueError("x"), None)
    assert len(caplog.records) == 1


def test_an_exception_in_a_callback_goes_to_the_log_not_to_the_terminal(
    caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    class Dying:
        def __del__(self) -> None:
            raise ValueError("at the end")

    install_hooks(lambda: None)
    dying = Dying()
    del dying
    assert "at the end" in caplog.text
    assert capsys.readouterr().err == ""


def test_messages_of_qt_come_into_the_log(caplog: pytest.LogCaptureFixture) -> None:
    install_hooks(lambda: None)
    qWarning("a warning of Qt")
    assert [(record.name, record.levelname) for record in caplog.records] == [("qt", "WARNING")]
