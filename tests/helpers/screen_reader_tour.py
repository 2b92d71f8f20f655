"""A screen reader's way through the window, in a session of its own with a display.

The window runs in a process beside; what is read and heard of it is printed as JSON.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QObject, QSocketNotifier, Slot
from PySide6.QtWidgets import QApplication
from shiboken6 import Shiboken

from app.access.install import install_accessibility
from engine.core.events import FinalWords, SessionState
from tests.helpers.screen_reader import VALUE, ScreenReader
from tests.helpers.scripted_session import BACKENDS
from tests.helpers.window import conversation, make_window, words

SAID_LATER = "This came later."


class Window(QObject):
    """A window over a scripted session that says something when a line comes in."""

    def __init__(self, home: Path) -> None:
        super().__init__()
        self.parts = make_window(home)
        self.parts.window.show()
        self.parts.controller.attach(self.parts.session.as_session())
        self.parts.session.post(*BACKENDS, *conversation())
        self.parts.window.access.set_announces_lines(True)
        self._notifier = QSocketNotifier(sys.stdin.fileno(), QSocketNotifier.Type.Read, self)
        self._notifier.activated.connect(self.obey)

    @Slot()
    def obey(self) -> None:
        """Do what a line of the standard input says."""
        match os.read(sys.stdin.fileno(), 100).decode().strip():
            case "say":
                self.parts.session.enter(SessionState.RECORDING)
                self.parts.session.post(FinalWords(words(SAID_LATER, 30.0, 31.0)))
            case "clear":
                self.parts.session.post(conversation()[0])
            case _:
                self.parts.session.enter(SessionState.IDLE)
                self._notifier.setEnabled(False)
                self.parts.lifecycle.close()


def show_window() -> int:
    install_accessibility()
    application = QApplication(["vivavoce"])
    application.setStyle("Fusion")
    with tempfile.TemporaryDirectory() as home:
        window = Window(Path(home))
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        window.parts.lifecycle.finished.connect(application.quit)
        application.exec()
        Shiboken.delete(window.parts.window)
    return 0


def read_window() -> int:
    application = QCoreApplication(sys.argv)
    process = subprocess.Popen(
        [sys.executable, "-X", "faulthandler", "-m", __spec__.name, "window"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    reader = ScreenReader()

    def tell(command: str) -> None:
        process.stdin.write(f"{command}\n")
        process.stdin.flush()

    bus_name, path = reader.find_program()
    heard = reader.walk(bus_name, path)
    meter = next(thing for thing in heard if thing.name == "Input level")
    level = reader.value(meter.bus_name, meter.path, VALUE, "CurrentValue")
    tell("say")
    reader.wait_for("Recording")
    reader.wait_for(SAID_LATER)
    tell("clear")
    rows = [thing for thing in reader.walk(bus_name, path) if thing.name.startswith("[")]
    tell("quit")
    try:
        code = process.wait(30)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGABRT)
        code = process.wait()
    report = {
        "things": [asdict(thing) for thing in heard],
        "announced": reader.announced,
        "num_rows_after_clearing": len(rows),
        "level": level,
        "exit_code": code,
    }
    sys.stdout.write(json.dumps(report) + "\n")
    del application
    return 0


if __name__ == "__main__":
    sys.exit(show_window() if "window" in sys.argv else read_window())
