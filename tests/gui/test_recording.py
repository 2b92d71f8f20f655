"""Recording from the window: start, pause, stop, the demo, and what is pulled meanwhile."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.views.keep_dialog import KeepDialog
from engine.audio.levels import LevelAlarm, Levels
from engine.core.config import KeepPolicy, Settings, load_settings
from engine.core.events import (
    SessionState,
)
from tests.helpers.window import (
    WindowParts,
    close_window,
    conversation,
    enter,
    make_window,
    record,
    wait_for_call,
)

pytestmark = pytest.mark.gui


def test_the_button_is_red_only_while_sound_is_really_recorded(
    parts: WindowParts, qtbot: QtBot
) -> None:
    button = parts.window.toolbar.record_button
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    wait_for_call(parts, qtbot, "start default keep=text")
    is_red = []
    for state in (
        SessionState.STARTING,
        SessionState.RECORDING,
        SessionState.PAUSED,
        SessionState.STOPPING,
        SessionState.IDLE,
    ):
        enter(parts, state, qtbot)
        is_red.append(button.property("recording"))
    assert is_red == [False, True, False, False, False]


def test_pause_resume_stop_and_skip_go_to_the_session(parts: WindowParts, qtbot: QtBot) -> None:
    bar = parts.window.toolbar
    record(parts, qtbot)
    qtbot.mouseClick(bar.pause_button, Qt.MouseButton.LeftButton)
    enter(parts, SessionState.PAUSED, qtbot)
    assert bar.pause_button.text() == "Resume"
    qtbot.mouseClick(bar.pause_button, Qt.MouseButton.LeftButton)
    qtbot.mouseClick(bar.stop_button, Qt.MouseButton.LeftButton)
    enter(parts, SessionState.STOPPING, qtbot, "finishing the text, 3.0 s left")
    assert bar.detail_label.text() == "finishing the text, 3.0 s left"
    qtbot.mouseClick(bar.stop_button, Qt.MouseButton.LeftButton)
    assert parts.session.calls[1:] == [
        "pause",
        "resume",
        "stop discard=False",
        "stop discard=True",
    ]


def test_what_is_kept_is_asked_once_before_the_first_recording(
    qtbot: QtBot, tmp_path: Path
) -> None:
    parts = make_window(tmp_path, Settings())
    parts.window.show()
    parts.controller.attach(parts.session.as_session())
    parts.controller.record()
    dialog = parts.window.findChild(KeepDialog)
    assert dialog is not None
    assert not [call for call in parts.session.calls if call.startswith("start")]
    dialog.choices[KeepPolicy.TEXT].setChecked(True)
    qtbot.mouseClick(dialog.ok_button, Qt.MouseButton.LeftButton)
    wait_for_call(parts, qtbot, "start default keep=text")
    environment = {"VIVAVOCE_HOME": str(tmp_path)}
    qtbot.waitUntil(lambda: load_settings(environment).keep == "text")
    qtbot.waitUntil(lambda: parts.window.findChild(KeepDialog) is None)
    parts.session.calls.clear()
    parts.controller.record()
    assert parts.window.findChild(KeepDialog) is None
    wait_for_call(parts, qtbot, "start default keep=text")
    close_window(parts, qtbot)


def test_a_refused_choice_starts_nothing_and_is_asked_again(qtbot: QtBot, tmp_path: Path) -> None:
    parts = make_window(tmp_path, Settings())
    parts.window.show()
    parts.controller.attach(parts.session.as_session())
    for _ in range(2):
        parts.controller.record()
        dialog = parts.window.findChild(KeepDialog)
        assert dialog is not None
        dialog.reject()
        qtbot.waitUntil(lambda: parts.window.findChild(KeepDialog) is None)
    assert parts.session.calls == ["load"]
    assert parts.controller.settings.keep == ""
    close_window(parts, qtbot)


def test_the_demo_plays_the_bundled_file_and_keeps_nothing(
    parts: WindowParts, qtbot: QtBot
) -> None:
    qtbot.mouseClick(parts.window.welcome.demo_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: parts.session.calls[-1].startswith("start file:"))
    call = parts.session.calls[-1]
    assert call.endswith("conversation.flac keep=nothing")
    record(parts, qtbot)
    enter(parts, SessionState.IDLE, qtbot)
    qtbot.waitUntil(lambda: parts.session.settings.keep == "text")


def test_the_welcome_gives_way_to_the_transcript_and_stays_away(
    parts: WindowParts, qtbot: QtBot
) -> None:
    window = parts.window
    assert window.stack.currentWidget() is window.welcome
    record(parts, qtbot)
    assert window.stack.currentWidget() is window.transcript
    parts.session.post(*conversation()[1:])
    enter(parts, SessionState.IDLE, qtbot)
    assert window.stack.currentWidget() is window.transcript


def test_nothing_is_pulled_while_nothing_is_recorded(parts: WindowParts, qtbot: QtBot) -> None:
    assert not parts.window.pulse.is_running
    parts.session.length_s = 12.0
    record(parts, qtbot)
    assert parts.window.pulse.is_running
    label = parts.window.toolbar.time_label
    qtbot.waitUntil(lambda: label.text() == "00:00:12")
    qtbot.waitUntil(lambda: "backlog 0.4 s" in parts.window.health_strip.losses.text())
    enter(parts, SessionState.IDLE, qtbot)
    assert not parts.window.pulse.is_running


@pytest.mark.parametrize("alarm", [alarm for alarm in LevelAlarm if alarm is not LevelAlarm.NONE])
def test_a_silent_input_is_told_in_a_line_until_sound_comes(
    parts: WindowParts, qtbot: QtBot, alarm: LevelAlarm
) -> None:
    parts.session.reading = Levels(alarm=alarm)
    record(parts, qtbot)
    line = parts.window.alarm_line
    qtbot.waitUntil(line.isVisible)
    assert line.text().startswith("No sound reaches me: ")
    parts.session.reading = Levels(-10.0, -20.0, True)
    qtbot.waitUntil(lambda: not line.isVisible())
    assert "clipping" in parts.window.toolbar.meter.accessibleDescription()
