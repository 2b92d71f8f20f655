"""Goes through the real program on a real display and sound system, as a user would.

Usage: python -m tests.helpers.live_tour PICTURES CONVERSATION TAIL SPOKEN EXPORTS
(folder for pictures, sound file to be heard, sound file that ends with a word, the file that what
the loudspeaker plays is being recorded into, folder for exports). The environment leads to a
display and to the sound system of `tests.helpers.pulse`. Prints one line of JSON: what was seen.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TypeVar

from PySide6.QtCore import QSize, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog, QMessageBox

from app.exports import format_titles
from app.views.keep_dialog import KeepDialog
from app.window import Program, assemble
from engine.core.events import SessionState, UtteranceState
from engine.core.types import BackendKind, SpanKind
from tests.helpers.window_tour import Tour

T = TypeVar("T")
_OWN_TEXT = (
    "Now I am reading a text aloud while the microphone is open. None of it may be written down. "
    "It goes on and on, so that somebody has the time to silence me."
)


class LiveTour(Tour):
    """Records, speaks, opens, exports, deletes, and closes the window while recording."""

    def __init__(self, program: Program, arguments: list[str]) -> None:
        paths = [Path(argument) for argument in arguments]
        self._pictures, self._conversation, self._tail, self._spoken, self._exports = paths
        super().__init__(program, self._pictures)

    def _walk(self) -> None:
        kinds = (BackendKind.RECOGNIZER, BackendKind.DIARIZER, BackendKind.SYNTHESIZER)
        self._wait(lambda: all(self._is_settled(kind) for kind in kinds), 200)
        self._wait(lambda: self._program.window.toolbar.input_chooser.count() > 1, 30)
        self._picture("live-welcome")
        self.seen["has_input"] = self._program.window.welcome.no_input.isHidden()
        self._program.window.show_delays(True)
        self._record()
        self._hear_conversation()
        self._speak()
        self._stop_after_a_word()
        self._use_recording()
        self._close_while_recording()

    def _record(self) -> None:
        state, window = self._program.state, self._program.window
        window.toolbar.record_button.click()
        dialog = window.findChild(KeepDialog)
        if dialog is not None:
            dialog.ok_button.click()
        self._wait(lambda: state.session_state is SessionState.RECORDING, 30)

    def _hear_conversation(self) -> None:
        state, window = self._program.state, self._program.window
        with _playing(self._conversation) as player:
            self._wait(lambda: len(state.document.lines) > 2 and bool(state.document.partial), 90)
            self._picture("live-recording")
            size = window.size()
            window.resize(QSize(900, 600))
            self._picture("live-narrow")
            window.appearance.force("dark")
            self._picture("live-narrow-dark")
            window.appearance.force("light")
            window.resize(size)
            self._wait(lambda: player.poll() is not None, 60)
        heard = self._num_words
        self._wait(lambda: heard() > 0 and not state.document.partial, 20)
        self._picture("live-delays")

    def _speak(self) -> None:
        state, panel = self._program.state, self._program.window.speak_panel
        self.seen["words_before_own_voice"] = self._num_words()
        panel.text.setPlainText(_OWN_TEXT)
        panel.speak_button.click()
        self._wait(lambda: state.utterance is not None and state.utterance.text_start > 0, 60)
        QTest.qWait(1000)
        self._picture("live-own-voice")
        written = self._spoken.stat().st_size
        asked_s = time.monotonic()
        panel.stop_button.click()
        ends = (UtteranceState.CANCELLED, UtteranceState.DONE)
        while state.utterance is not None and state.utterance.state not in ends:
            QTest.qWait(1)
        self.seen["silenced_ms"] = round(1000 * (time.monotonic() - asked_s))
        self.seen["spoken_bytes_at_stop"] = written
        utterance = state.utterance
        if utterance is not None:
            self.seen["spoken"] = utterance.state.value
            self.seen["heard_s"] = utterance.heard_samples / max(1, utterance.sample_rate)
        self._wait(lambda: self._own_voice_s() > 1, 10)
        QTest.qWait(1500)  # what the microphone hears from here on is text again
        self.seen["own_voice_s"] = self._own_voice_s()
        self.seen["words_after_own_voice"] = self._num_words()

    def _stop_after_a_word(self) -> None:
        state, bar = self._program.state, self._program.window.toolbar
        with _playing(self._tail) as player:
            self._wait(lambda: player.poll() is not None, 30)
        bar.stop_button.click()
        self._wait(lambda: state.session_state is SessionState.IDLE, 60)
        self._picture("live-finished")
        self.seen["text"] = state.document.text()
        self.seen["speakers"] = len(state.document.speakers)

    def _use_recording(self) -> None:
        state, window = self._program.state, self._program.window
        panel = window.sessions_panel
        self._wait(lambda: panel.list.count() == 1 and "words" in panel.list.item(0).text(), 20)
        panel.list.setCurrentRow(0)
        # As after a restart: else it is the recording of this run, not what was kept of it.
        state.forget_live()
        panel.list.itemActivated.emit(panel.list.item(0))
        self._wait(lambda: not state.is_live_shown, 20)
        self._picture("live-opened")
        self.seen["stored_text"] = state.document.text()
        for kind in format_titles():
            path = self._exports / f"conversation.{kind}"
            panel.export_button.click()
            dialog = _only(window.findChildren(QFileDialog))
            dialog.selectFile(str(path))
            dialog.accept()
            self._wait(path.is_file, 20)
            self._wait(lambda: not window.findChildren(QFileDialog), 10)
        while state.open_notices:
            state.dismiss_notice()
        panel.delete_button.click()
        box = _only(panel.findChildren(QMessageBox))
        self._picture("live-delete", box)
        _only([b for b in box.buttons() if b.text() == "Delete"]).click()
        self._wait(lambda: "listed here" in panel.list.item(0).text(), 20)
        self.seen["is_live_shown_again"] = state.is_live_shown

    def _close_while_recording(self) -> None:
        self._record()
        with _playing(self._tail) as player:
            self._wait(lambda: player.poll() is not None, 30)
        window = self._program.window
        window.close()
        self.seen["is_open_while_finishing"] = window.isVisible()
        self._picture("live-closing")

    def _num_words(self) -> int:
        return len(self._program.state.document.text().split())

    def _own_voice_s(self) -> float:
        document = self._program.state.document
        spans = [span for span in document.spans if span.kind is SpanKind.OWN_VOICE]
        return sum(document.seconds(span.end) - document.seconds(span.start) for span in spans)


def _playing(path: Path) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(["paplay", "--device=microphone_feed", str(path)])


def _only(items: "list[T]") -> "T":
    (item,) = items
    return item


def main(arguments: list[str]) -> int:
    """Run the tour and return the program's exit code."""
    program = assemble(os.environ)
    tour = LiveTour(program, arguments)
    program.window.painted.connect(lambda: QTimer.singleShot(0, tour.run))
    code = program.run()
    sys.stdout.write(json.dumps(tour.seen) + "\n")
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
