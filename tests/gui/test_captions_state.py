"""What captions say of the session, to people and to screen readers."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible

from app.views.captions.accessible import AccessibleCaptions
from app.views.captions.state import quiet_line
from engine.core.events import (
    BackendChanged,
    BackendState,
    FinalWords,
    Notice,
    SessionState,
    Severity,
    SpanMarked,
    StateChanged,
    UtteranceState,
)
from engine.core.types import BackendKind, SpanKind
from engine.session.health import Health
from tests.helpers.captions import (
    CaptionParts,
    close_captions,
    make_captions,
    press,
    talk,
    wait_active,
)
from tests.helpers.window import RATE, started, words

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

Key = Qt.Key
CONTROL = Qt.KeyboardModifier.ControlModifier


@pytest.fixture
def captions(qtbot: "QtBot", tmp_path: Path) -> Iterator[CaptionParts]:
    parts = make_captions(tmp_path)
    parts.window.show_full()
    wait_active(parts, qtbot)
    parts.window.view.setFocus()
    yield parts
    close_captions(parts, qtbot)


def test_quiet_line_when_nothing_was_recorded_then_it_says_how_to_begin(
    captions: CaptionParts, qtbot: "QtBot"
) -> None:
    assert "press Ctrl+R" in captions.window.view.placeholder
    with qtbot.waitSignal(captions.window.record_asked):
        press(Key.Key_R, CONTROL)
    with qtbot.waitSignal(captions.window.pause_asked):
        press(Key.Key_P, CONTROL)


@pytest.mark.parametrize(
    ("state", "text"),
    [
        (SessionState.STARTING, "Opening the microphone"),
        (SessionState.PAUSED, "Paused"),
        (SessionState.STOPPING, "last words"),
        (SessionState.IDLE, "has ended"),
        (SessionState.RECORDING, ""),
    ],
)
def test_quiet_line_when_the_state_changes_then_it_says_so(
    captions: CaptionParts, state: SessionState, text: str
) -> None:
    captions.state.take([*talk(), StateChanged(state)])
    line = captions.window.quiet.text()
    assert text in line
    assert bool(line) == bool(text)


def test_quiet_line_when_the_model_came_after_the_beginning_then_no_words_are_promised(
    captions: CaptionParts,
) -> None:
    missing = Notice(Severity.ERROR, "There is no recognizer.", topic="recognizer")
    captions.state.take([started(), StateChanged(SessionState.RECORDING), missing])
    ready = BackendChanged(BackendKind.RECOGNIZER, "whisper", BackendState.READY)
    captions.state.take([ready])
    assert "No words can be written" in captions.window.view.placeholder


def test_quiet_line_when_words_are_behind_then_it_says_how_far(captions: CaptionParts) -> None:
    captions.state.take(talk())
    captions.window.set_health(Health(recorded_s=60, recognizer_backlog_s=7.4))
    assert "7 s behind" in captions.window.quiet.text()
    captions.window.set_health(Health(recorded_s=60, recognizer_backlog_s=1.0))
    assert captions.window.quiet.text() == ""


def test_quiet_line_when_the_microphone_is_silent_then_it_says_so(captions: CaptionParts) -> None:
    captions.state.take(talk())
    captions.window.set_alarm("No sound reaches me.")
    assert captions.window.quiet.text() == "No sound reaches me."


def test_quiet_line_when_the_program_speaks_then_it_says_so(captions: CaptionParts) -> None:
    captions.state.take(talk())
    captions.utter(UtteranceState.SPEAKING, 0, 4)
    assert "own voice" in captions.window.quiet.text()
    captions.utter(UtteranceState.DONE)
    assert captions.window.quiet.text() == ""


@pytest.mark.parametrize(
    ("state", "text"),
    [(BackendState.LOADING, "as soon as the model"), (BackendState.FAILED, "could not be loaded")],
)
def test_quiet_line_when_there_is_no_recognizer_then_it_says_so(
    captions: CaptionParts, state: BackendState, text: str
) -> None:
    loading = BackendChanged(BackendKind.RECOGNIZER, "whisper", state)
    captions.state.take([StateChanged(SessionState.RECORDING), started(), loading])
    assert text in captions.window.view.placeholder


def test_quiet_line_when_weights_are_untrained_then_it_says_so(captions: CaptionParts) -> None:
    kind = BackendKind.RECOGNIZER
    captions.state.take([*talk(), BackendChanged(kind, "x", BackendState.READY, is_trained=False)])
    assert "Untrained" in captions.window.quiet.text()


def test_quiet_line_when_sound_was_skipped_then_it_says_so(captions: CaptionParts) -> None:
    skipped = SpanMarked(1, SpanKind.UNTRANSCRIBED, 5 * RATE, 8 * RATE)
    captions.state.take([*talk(), skipped])
    line = quiet_line(captions.state, shown_from=0, backlog_s=0.0, alarm="")
    assert "3.0 s were not written down" in line
    assert quiet_line(captions.state, shown_from=9 * RATE, backlog_s=0.0, alarm="") == ""


def test_quiet_line_when_words_come_then_it_goes(captions: CaptionParts) -> None:
    captions.state.take([StateChanged(SessionState.RECORDING), started()])
    assert captions.window.view.placeholder == "Listening. Words appear here."
    captions.state.take([FinalWords(words("Here", 0.1, 0.5))])
    assert captions.window.view.placeholder == captions.window.quiet.text() == ""


def test_captions_when_a_screen_reader_asks_then_it_hears_the_words(
    captions: CaptionParts,
) -> None:
    interface = AccessibleCaptions(captions.window.view)
    assert "Ctrl+R" in interface.text(QAccessible.Text.Value)
    captions.state.take(talk())
    assert interface.role() is QAccessible.Role.StaticText
    assert interface.text(QAccessible.Text.Name) == "Captions"
    assert interface.text(QAccessible.Text.Value).endswith("Nobody seems to miss")


def test_theme_when_it_changes_then_captions_that_follow_it_do(captions: CaptionParts) -> None:
    window = captions.window
    window.choices.choose({"scheme": "theme"})
    light = window.scheme.ground
    window.appearance.force("dark")
    assert window.scheme.ground != light
    image = window.view.grab().toImage()
    assert image.pixelColor(4, 4).name().upper() == window.scheme.ground.upper()
    window.appearance.force("light")
