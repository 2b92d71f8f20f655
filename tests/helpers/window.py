"""A whole window over a scripted session, and conversations to show in it."""

import gc
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from app.captions import CaptionsFile
from app.controller import Controller
from app.jobs import Jobs
from app.layout import LayoutFile
from app.lifecycle import Lifecycle
from app.shelf import Shelf
from app.speech import Speech
from app.state import AppState
from app.theme import Appearance
from app.views.context import ViewContext
from app.views.main_window import MainWindow
from app.window import make_context
from engine.core.config import Settings
from engine.core.events import (
    ActivityRevised,
    Event,
    FinalWords,
    Notice,
    PartialWords,
    RecordingStarted,
    SessionState,
    Severity,
    SpanMarked,
)
from engine.core.types import MAX_SPEAKERS, SpanKind, Word
from tests.helpers.scripted_session import ScriptedSession

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

RATE = 16_000
FRAME_MS = 80


@dataclass
class WindowParts:
    """What a window is made of."""

    window: MainWindow
    context: ViewContext
    state: AppState
    controller: Controller
    shelf: Shelf
    lifecycle: Lifecycle
    jobs: Jobs
    session: ScriptedSession


def make_window(home: Path, settings: Settings | None = None, theme: str = "light") -> WindowParts:
    """Return a window whose session is scripted; nothing outside `home` is touched."""
    environment = {"VIVAVOCE_HOME": str(home)}
    settings = settings or Settings(keep="text")
    state = AppState()
    jobs = Jobs(lambda error: state.add_notice(Notice(Severity.ERROR, error.message, error.advice)))
    controller = Controller(state, jobs, settings, environment)
    shelf = Shelf(state, jobs, settings, environment)
    speech = Speech(state, jobs, controller)
    lifecycle = Lifecycle(controller, shelf, speech, state, jobs)
    layout_file = LayoutFile(home / "config")
    context = make_context(state, controller, shelf, Appearance(theme))
    captions_file = CaptionsFile(home / "config")
    window = MainWindow(
        context, controller, shelf, speech, lifecycle, jobs, layout_file, captions_file
    )
    session = ScriptedSession(settings)
    return WindowParts(window, context, state, controller, shelf, lifecycle, jobs, session)


def started(rate: int = RATE) -> RecordingStarted:
    """Return the event that begins a recording."""
    return RecordingStarted(
        "2026-01-02_03-04-05", rate, "2026-01-02T03:04:05+00:00", "Built-in microphone", True
    )


def words(text: str, start_s: float, end_s: float, probability: float = 0.9) -> tuple[Word, ...]:
    """Return a text as words spread evenly over a stretch; `word?` (ending in ??) is doubtful."""
    parts = re.findall(r"\S+", text)
    step = (end_s - start_s) / max(1, len(parts))
    return tuple(
        Word(
            f" {part.removesuffix('??')}",
            round((start_s + i * step) * RATE),
            round((start_s + (i + 0.9) * step) * RATE),
            0.3 if part.endswith("??") else probability,
        )
        for i, part in enumerate(parts)
    )


def activity(
    turns: tuple[tuple[int, float, float], ...], end_s: float, final_s: float
) -> ActivityRevised:
    """Return rows in which speakers (slot, start, end) are active, with soft edges."""
    num_frames = int(end_s * 1000 / FRAME_MS)
    rows = np.zeros((num_frames, MAX_SPEAKERS), np.float32)
    rng = np.random.default_rng(7)
    for slot, start_s, stop_s in turns:
        low, high = int(start_s * 1000 / FRAME_MS), int(stop_s * 1000 / FRAME_MS)
        rows[low:high, slot] = 0.86 + 0.12 * rng.random(rows[low:high, slot].shape)
    kernel = np.array([0.1, 0.2, 0.4, 0.2, 0.1], np.float32)
    for slot in range(MAX_SPEAKERS):
        rows[:, slot] = np.convolve(rows[:, slot], kernel, "same")
    return ActivityRevised(0, FRAME_MS, rows, int(final_s * 1000 / FRAME_MS))


def conversation() -> tuple[Event, ...]:
    """Return a short talk of three people with everything a transcript can show."""
    turns = (
        (0, 0.5, 5.2),
        (1, 5.6, 9.4),
        (0, 8.8, 14.6),
        (2, 16.2, 21.0),
        (1, 21.6, 25.9),
    )
    return (
        started(),
        activity(turns, 26.4, 23.2),
        FinalWords(
            words("We should ship the small one first and see who complains about it.", 0.5, 5.0)
        ),
        FinalWords(words("And the other one? Right, right.", 5.7, 9.3)),
        FinalWords(
            words(
                "The other one follows in spring, once Ljubljana?? has signed and the numbers are "
                "in. Nobody is asking for it yet.",
                9.5,
                14.4,
            )
        ),
        SpanMarked(1, SpanKind.GAP, 15 * RATE, round(15.9 * RATE), "the microphone was late"),
        FinalWords(
            words("Two customers did ask, in fact. I can send you both of the letters.", 16.4, 20.8)
        ),
        PartialWords(words("Please do, I would like to", 21.8, 24.4)),
    )


def close_window(parts: WindowParts, qtbot: "QtBot") -> None:
    """Close a window and wait for the end of its session."""
    parts.lifecycle.close()
    qtbot.waitUntil(lambda: parts.lifecycle.is_finished, timeout=10_000)
    parts.window.close()
    parts.window.deleteLater()
    qtbot.wait(1)
    # Here, on Qt's thread: a worker of the next window must not come to collect this one.
    gc.collect()


def enter(parts: WindowParts, state: SessionState, qtbot: "QtBot", detail: str = "") -> None:
    """Bring the session into a state and wait until the window knows."""
    parts.session.enter(state, detail)
    qtbot.waitUntil(lambda: parts.state.session_state is state)


def wait_for_call(parts: WindowParts, qtbot: "QtBot", call: str) -> None:
    """Wait until a command is the newest the session was given."""
    qtbot.waitUntil(lambda: parts.session.calls[-1:] == [call])


def record(parts: WindowParts, qtbot: "QtBot") -> None:
    """Begin a recording."""
    enter(parts, SessionState.STARTING, qtbot)
    parts.session.post(started())
    enter(parts, SessionState.RECORDING, qtbot)
