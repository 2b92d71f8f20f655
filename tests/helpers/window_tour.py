"""Runs the real program on a real display, plays the demo, and takes pictures of the main states.

Usage: python -m tests.helpers.window_tour FOLDER
Prints one line of JSON: what was seen on the way.
"""

import json
import os
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from app.views.keep_dialog import KeepDialog
from app.window import Program, assemble
from engine.core.events import BackendState, SessionState, UtteranceState
from engine.core.types import BackendKind


class Tour:
    """Goes through the program step by step while its event loop runs."""

    def __init__(self, program: Program, folder: Path) -> None:
        self._program = program
        self._folder = folder
        self.seen: dict[str, object] = {}

    def run(self) -> None:
        """Take every step, then close the window, recording or not."""
        try:
            self._walk()
        except Exception:  # noqa: BLE001
            # Qt passes over what a slot raises; the test that runs this must not.
            self.seen["failed"] = traceback.format_exc()
        finally:
            # Closed twice, the window would do without the words that are still missing.
            if not self._program.lifecycle.is_closing:
                self._program.window.close()

    def _walk(self) -> None:
        state, window = self._program.state, self._program.window
        self._picture("start")
        self._wait(lambda: BackendKind.RECOGNIZER in state.backends, 60)
        self._picture("loading")
        kinds = (BackendKind.RECOGNIZER, BackendKind.DIARIZER, BackendKind.SYNTHESIZER)
        self._wait(lambda: all(self._is_settled(kind) for kind in kinds), 120)
        self._picture("empty")
        while state.open_notices:  # a machine without sound says so
            state.dismiss_notice()
        window.welcome.demo_button.click()
        self._wait(lambda: state.session_state is SessionState.RECORDING, 20)
        self._wait(lambda: self._recorded_s() > 16 and bool(state.document.partial), 60)
        self._picture("recording")
        window.appearance.force("dark")
        self._wait(lambda: self._recorded_s() > 20, 60)
        self._picture("recording-dark")
        window.appearance.force("light")
        self._wait(lambda: state.session_state is SessionState.IDLE, 90)
        self._picture("finished")
        self.seen["text"] = state.document.text()
        self.seen["speakers"] = len(state.document.speakers)
        self._speak()
        self._enlarge()
        self._ask()

    def _speak(self) -> None:
        state, panel = self._program.state, self._program.window.speak_panel
        panel.text.setPlainText(
            "Good morning. This sentence is being read aloud right now. Another one follows it."
        )
        panel.speak_button.click()
        self._wait(lambda: state.utterance is not None and state.utterance.text_start > 0, 60)
        self._picture("speaking")
        panel.stop_button.click()
        ends = (UtteranceState.CANCELLED, UtteranceState.DONE)
        self._wait(lambda: state.utterance is not None and state.utterance.state in ends, 20)
        self.seen["spoken"] = state.utterance.state.value if state.utterance else ""

    def _enlarge(self) -> None:
        for _ in range(13):
            self._program.controller.change_text_size(1)
        self._picture("text-200-percent")
        self._program.controller.change_text_size(0)

    def _ask(self) -> None:
        self._program.controller.record()
        dialog = self._program.window.findChild(KeepDialog)
        self.seen["asks"] = dialog is not None
        if dialog is not None:
            self._picture("keep-dialog", dialog)
            dialog.reject()

    def _is_settled(self, kind: BackendKind) -> bool:
        backend = self._program.state.backends.get(kind)
        return backend is not None and backend.state is not BackendState.LOADING

    def _recorded_s(self) -> float:
        session = self._program.controller.session
        return session.recorded_s() if session is not None else 0.0

    def _wait(self, condition: Callable[[], bool], timeout_s: float) -> None:
        end = time.monotonic() + timeout_s
        while not condition():
            if time.monotonic() > end:
                self._picture("stuck")
                raise TimeoutError(f"waited {timeout_s} s in vain")
            QTest.qWait(20)

    def _picture(self, name: str, widget: QWidget | None = None) -> None:
        QTest.qWait(80)
        (widget or self._program.window).grab().save(str(self._folder / f"{name}.png"))


def main(folder: Path) -> int:
    """Run the tour and return the program's exit code."""
    folder.mkdir(parents=True, exist_ok=True)
    program = assemble(os.environ)
    tour = Tour(program, folder)
    program.window.painted.connect(lambda: QTimer.singleShot(0, tour.run))
    code = program.run()
    sys.stdout.write(json.dumps(tour.seen) + "\n")
    return code


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
