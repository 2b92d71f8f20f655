"""How late words and speaker rows are on the screen, measured in the real program.

A conversation is played into a virtual microphone. A word counts as shown once the transcript was
painted with text that reaches its end; delays are counted from the moment its last sample was on
the session clock (what the sound system held it back before, some 20 ms, is not in them).
"""

import os
import subprocess
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path

import numpy as np
import soundfile
from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtTest import QTest

from app.window import Program, assemble
from engine.core.config import Settings, folders
from engine.core.events import BackendState, SessionState
from engine.core.resources import resource_path
from engine.core.types import BackendKind

_CLOSE_S = 0.15
"""Words are told with slightly other times while they may still change."""
_LOADED = (BackendKind.RECOGNIZER, BackendKind.DIARIZER)


class _Paints(QObject):
    """Notes what was on the screen when: (recorded seconds, what is shown until which second)."""

    def __init__(self, program: Program) -> None:
        super().__init__()
        self._program = program
        self.partial: list[tuple[float, float]] = []
        self.final: list[tuple[float, float]] = []
        self.rows: list[tuple[float, float]] = []
        self._viewport = program.window.transcript.viewport()
        self._viewport.installEventFilter(self)
        program.window.timeline.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Paint:
            document = self._program.state.document
            if watched is self._viewport:
                final = document.words[-1].word.end if document.words else 0
                partial = document.partial[-1].end if document.partial else 0
                self._note(self.final, document.seconds(final))
                self._note(self.partial, document.seconds(max(final, partial)))
            else:
                activity = document.activity
                self._note(self.rows, activity.num_frames * activity.frame_ms / 1000)
        return False

    def _note(self, seen: list[tuple[float, float]], until_s: float) -> None:
        session = self._program.controller.session
        if session is not None and (not seen or until_s > seen[-1][1]):
            # The filter runs before the picture is made; the timer once it is on the screen.
            QTimer.singleShot(0, lambda: seen.append((session.recorded_s(), until_s)))


def measure() -> None:
    """Run the program, play the demo conversation to it, and print the delays."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        wav = home / "conversation.wav"
        pcm, rate = soundfile.read(resource_path("demo/conversation.flac"), dtype="float32")
        soundfile.write(wav, pcm, rate)
        environment = {
            **os.environ,
            "VIVAVOCE_HOME": str(home / "home"),
            "VIVAVOCE_MODELS_DIR": str(folders(Settings(), os.environ).models),
            "VIVAVOCE_KEEP": "nothing",
            "VIVAVOCE_SYNTHESIZER": "none",
        }
        program = assemble(environment)
        paints = _Paints(program)

        def walk() -> None:
            try:
                _listen(program, wav)
                _report(program, paints)
            except Exception:  # noqa: BLE001
                # Qt passes over what a slot raises.
                traceback.print_exc()
            finally:
                program.window.close()

        program.window.painted.connect(lambda: QTimer.singleShot(0, walk))
        program.run()


def _listen(program: Program, wav: Path) -> None:
    state, controller = program.state, program.controller
    _wait(lambda: all(_is_ready(program, kind) for kind in _LOADED), 200)
    controller.record()
    _wait(lambda: state.session_state is SessionState.RECORDING, 30)
    player = subprocess.Popen(["paplay", "--device=microphone_feed", str(wav)])
    _wait(lambda: player.poll() is not None, 300)
    QTest.qWait(3000)
    controller.stop()
    _wait(lambda: state.session_state is SessionState.IDLE, 60)


def _report(program: Program, paints: _Paints) -> None:
    document = program.state.document
    ends_s = [document.seconds(entry.word.end) for entry in document.words]
    frame_s = document.activity.frame_ms / 1000
    rows_s = [(i + 1) * frame_s for i in range(int(ends_s[-1] / frame_s))] if ends_s else []
    print(f"{len(ends_s)} words in {ends_s[-1]:.0f} s, {len(document.speakers)} speakers")
    for title, seen, wanted_s in (
        ("word shown", paints.partial, ends_s),
        ("word committed", paints.final, ends_s),
        ("speaker row shown", paints.rows, rows_s),
    ):
        delays_s = _delays(seen, wanted_s)
        p50, p95 = np.percentile(delays_s, [50, 95])
        print(f"capture to pixels, {title:18} p50 {p50:5.2f} s  p95 {p95:5.2f} s")


def _delays(seen: list[tuple[float, float]], ends_s: list[float]) -> list[float]:
    """Return how long after each end a picture reached it."""
    untils_s = np.maximum.accumulate([until_s for _, until_s in seen])
    found = np.searchsorted(untils_s, np.asarray(ends_s) - _CLOSE_S)
    return [
        max(0.0, seen[int(i)][0] - end_s)
        for i, end_s in zip(found, ends_s, strict=True)
        if i < len(seen)
    ]


def _is_ready(program: Program, kind: BackendKind) -> bool:
    backend = program.state.backends.get(kind)
    if backend is not None and backend.state is BackendState.FAILED:
        raise RuntimeError(backend.message)
    return backend is not None and backend.state is BackendState.READY


def _wait(condition: Callable[[], bool], timeout_s: float) -> None:
    end_s = time.monotonic() + timeout_s
    while not condition():
        if time.monotonic() > end_s:
            raise TimeoutError(f"waited {timeout_s} s in vain")
        QTest.qWait(20)
