"""Recording from the window: start, pause, stop, the demo, and what is pulled meanwhile."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.access.views import timeline_interface
from app.views.keep_dialog import KeepDialog
from engine.audio.device import DeviceInfo
from engine.audio.level_track import LevelTrack
from engine.audio.levels import LevelAlarm, Levels
from engine.core.config import KeepPolicy, Settings, load_settings
from engine.core.events import (
    BackendChanged,
    BackendState,
    Notice,
    RecordingStopped,
    SessionState,
    Severity,
)
from engine.core.types import BackendKind
from engine.text.document import TranscriptDocument
from tests.helpers.scripted_session import BACKENDS
from tests.helpers.window import (
    RATE,
    WindowParts,
    activity,
    close_window,
    conversation,
    enter,
    make_window,
    record,
    started,
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
    assert window.reading.stack.currentWidget() is window.welcome
    record(parts, qtbot)
    assert window.reading.stack.currentWidget() is window.transcript
    parts.session.post(*conversation()[1:])
    enter(parts, SessionState.IDLE, qtbot)
    assert window.reading.stack.currentWidget() is window.transcript


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
    line = parts.window.reading.alarm_line
    qtbot.waitUntil(line.isVisible)
    assert line.text().startswith("No sound reaches me: ")
    parts.session.reading = Levels(-10.0, -20.0, True)
    qtbot.waitUntil(lambda: not line.isVisible())
    assert "clipping" in parts.window.toolbar.meter.accessibleDescription()


def test_another_microphone_can_be_chosen_while_one_is_recorded_and_is_named(
    parts: WindowParts, qtbot: QtBot
) -> None:
    bar = parts.window.toolbar
    parts.session.devices = (DeviceInfo("Spare Microphone", 1, 0, 48_000),)
    parts.session.input_used = ("Test Microphone", True)
    assert bar.input_chooser.isEnabled()
    enter(parts, SessionState.STARTING, qtbot)
    assert not bar.input_chooser.isEnabled()
    record(parts, qtbot)
    qtbot.waitUntil(bar.input_chooser.isEnabled)
    qtbot.waitUntil(lambda: bar.detail_label.text() == "from Test Microphone")
    bar.input_chooser.opened.emit()
    qtbot.waitUntil(lambda: bar.input_chooser.count() == 2)
    bar.input_chooser.setCurrentIndex(1)
    bar.input_chooser.activated.emit(1)
    qtbot.waitUntil(lambda: parts.session.settings.input == "Spare Microphone")
    parts.session.input_used = ("Spare Microphone", True)
    qtbot.waitUntil(lambda: bar.detail_label.text() == "from Spare Microphone")


def test_no_microphone_can_be_chosen_while_a_file_is_read(parts: WindowParts, qtbot: QtBot) -> None:
    parts.session.length_s = 3.0
    parts.session.input_used = ("conversation.flac", False)
    record(parts, qtbot)
    bar = parts.window.toolbar
    qtbot.waitUntil(lambda: bar.detail_label.text() == "from conversation.flac")
    assert not bar.input_chooser.isEnabled()
    enter(parts, SessionState.IDLE, qtbot)
    assert bar.input_chooser.isEnabled()


def _fail(kind: BackendKind, message: str) -> BackendChanged:
    return BackendChanged(kind, "none-such", BackendState.FAILED, message=message)


def test_a_recording_that_ends_without_words_stays_with_its_timeline_and_sound(
    qtbot: QtBot, tmp_path: Path
) -> None:
    parts = make_window(tmp_path, Settings(keep=KeepPolicy.AUDIO_AND_TEXT))
    window = parts.window
    window.show()
    parts.controller.attach(parts.session.as_session())
    record(parts, qtbot)
    turns = activity(((0, 0.5, 3.0), (1, 3.5, 6.0)), 8.0, 8.0)
    parts.session.post(turns, RecordingStopped(started().recording_id, 8 * RATE))
    enter(parts, SessionState.IDLE, qtbot)
    assert window.reading.stack.currentWidget() is window.transcript
    assert window.timeline.isVisible()
    assert timeline_interface(window.timeline).childCount() >= 2
    assert "No words were recognized" in window.transcript.placeholder
    assert "Space" in window.transcript.placeholder
    window.transcript.setFocus()
    qtbot.keyClick(window.transcript, Qt.Key.Key_Space)
    assert parts.session.calls[-1] == "play 0 None"
    close_window(parts, qtbot)


def test_a_recording_without_a_recognizer_says_so_and_offers_its_model(
    qtbot: QtBot, tmp_path: Path
) -> None:
    parts = make_window(tmp_path)
    reading, transcript = parts.window.reading, parts.window.transcript
    parts.window.show()
    parts.controller.attach(parts.session.as_session())
    parts.session.post(_fail(BackendKind.RECOGNIZER, "The model whisper-tiny.en is not there."))
    qtbot.waitUntil(parts.window.welcome.missing.isVisible)
    record(parts, qtbot)
    assert "No words can be written" in transcript.placeholder
    assert "Fetch it below" in transcript.placeholder
    assert reading.missing_models.isVisible()
    assert reading.missing_models.pull_button.isEnabled()
    reading.missing_models.pull_asked.disconnect()  # nothing is to be fetched here
    with qtbot.waitSignal(reading.missing_models.pull_asked):
        reading.missing_models.pull_button.click()
    parts.shelf.pull_progress.emit(0.5, "Halfway")
    assert reading.missing_models.text.text() == "Halfway"
    assert reading.missing_models.pull_bar.value() == 50
    missing = Notice(Severity.ERROR, "There is no recognizer.", topic="recognizer")
    parts.session.post(missing, *BACKENDS)
    qtbot.waitUntil(lambda: "began without the model" in transcript.placeholder)
    qtbot.waitUntil(lambda: not reading.missing_models.isVisible())
    parts.session.post(RecordingStopped(started().recording_id, 8 * RATE))
    enter(parts, SessionState.IDLE, qtbot)
    assert "has no words" in transcript.placeholder
    assert parts.state.open_notices == []
    close_window(parts, qtbot)


def test_a_recognizer_that_failed_for_another_reason_is_told_with_that(
    parts: WindowParts, qtbot: QtBot
) -> None:
    parts.session.post(_fail(BackendKind.RECOGNIZER, "It is broken. Choose another one."))
    record(parts, qtbot)
    placeholder = parts.window.transcript.placeholder
    assert placeholder == "No words can be written. It is broken. Choose another one."
    assert not parts.window.reading.missing_models.isVisible()


def test_a_kept_recording_without_words_is_not_said_to_be_listening(
    parts: WindowParts, qtbot: QtBot
) -> None:
    record(parts, qtbot)
    parts.state.show_stored(TranscriptDocument(), "Old", "old")
    assert "No words were recognized" in parts.window.transcript.placeholder
    assert "Space" not in parts.window.transcript.placeholder
    parts.state.set_stored_levels("old", LevelTrack(RATE))
    assert "Space" in parts.window.transcript.placeholder
