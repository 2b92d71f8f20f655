"""A captions window over a scripted session, and talk to show in it."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.captions import CaptionsFile
from app.controller import Controller
from app.editing import Editing
from app.jobs import Jobs
from app.marks import Marks
from app.playback import Playback
from app.speech import Speech
from app.state import AppState
from app.theme import Appearance
from app.views.captions.window import CaptionsWindow
from app.views.context import ViewContext
from engine.core.config import Settings
from engine.core.events import (
    Event,
    FinalWords,
    PartialWords,
    SessionState,
    StateChanged,
    UtteranceChanged,
    UtteranceState,
)
from tests.helpers.scripted_session import BACKENDS, ScriptedSession
from tests.helpers.window import activity, started, words

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot


@dataclass
class CaptionParts:
    """What a captions window is made of."""

    window: CaptionsWindow
    state: AppState
    speech: Speech
    controller: Controller
    jobs: Jobs
    session: ScriptedSession
    folder: Path

    def utter(
        self, state: UtteranceState, start: int = 0, end: int = 0, *, number: int = 1
    ) -> None:
        """Tell how far the speaking of a text is."""
        self.state.take([UtteranceChanged(number, state, start, end)])


def make_captions(folder: Path, theme: str = "light", *, has_session: bool = True) -> CaptionParts:
    """Return a captions window, not shown; its files lie in a folder."""
    state = AppState()
    jobs = Jobs(lambda error: None)
    controller = Controller(state, jobs, Settings(keep="text"), {"VIVAVOCE_HOME": str(folder)})
    session = ScriptedSession()
    if has_session:
        controller.session = session.as_session()
    speech = Speech(state, jobs, controller)
    marks = Marks()
    context = ViewContext(
        state=state,
        appearance=Appearance(theme),
        marks=marks,
        editing=Editing(state, state.take),
        playback=Playback(state, controller, marks),
    )
    window = CaptionsWindow(context, speech, CaptionsFile(folder))
    state.take([*BACKENDS])
    return CaptionParts(window, state, speech, controller, jobs, session, folder)


def wait_active(parts: CaptionParts, qtbot: "QtBot") -> None:
    """Wait until keys go to a captions window."""
    window = parts.window
    qtbot.waitUntil(lambda: window.isActiveWindow() and window.focusWidget() is not None)
    qtbot.waitUntil(lambda: QApplication.focusWidget() is window.focusWidget())


def press(key: Qt.Key, modifiers: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
    """Press a key where the focus is."""
    focused = QApplication.focusWidget()
    assert focused is not None
    QTest.keyClick(focused, key, modifiers)


def close_captions(parts: CaptionParts, qtbot: "QtBot") -> None:
    """Take a captions window down."""
    parts.window.leave()
    parts.jobs.close()
    parts.window.deleteLater()
    qtbot.wait(1)


def talk() -> tuple[Event, ...]:
    """Return the beginning of a talk of two people, the second of them in the middle of a word."""
    turns = ((0, 0.4, 5.2), (1, 5.8, 12.0))
    return (
        StateChanged(SessionState.RECORDING),
        started(),
        activity(turns, 12.0, 11.0),
        FinalWords(words("We should ship the small one first and see who asks for it.", 0.5, 5.0)),
        FinalWords(words("And the other one? It has been waiting since the spring.", 6.0, 10.0)),
        PartialWords(words("Nobody seems to miss", 10.2, 11.8)),
    )
