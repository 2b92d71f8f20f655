"""The window's commands over a scripted session."""

import shutil
import threading
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QFileDialog, QMessageBox, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from app.views.keep_dialog import KeepDialog
from engine.audio.device import DeviceInfo
from engine.audio.levels import LevelAlarm, Levels
from engine.core.config import KeepPolicy, Settings, load_settings
from engine.core.errors import BackendError, DeviceError, EngineError, StoreError
from engine.core.events import (
    BackendChanged,
    BackendState,
    FinalWords,
    Notice,
    SessionState,
    Severity,
    UtteranceChanged,
    UtteranceState,
)
from engine.core.types import BackendKind
from engine.session.build import build_session
from engine.session.session import Session
from engine.store.exporters.options import ExportFormat
from engine.store.header import SessionHeader
from engine.store.journal import Journal
from tests.helpers.window import (
    RATE,
    WindowParts,
    close_window,
    conversation,
    make_window,
    started,
    words,
)

pytestmark = pytest.mark.gui


def _enter(parts: WindowParts, state: SessionState, qtbot: QtBot, detail: str = "") -> None:
    parts.session.enter(state, detail)
    qtbot.waitUntil(lambda: parts.state.session_state is state)


def _wait_for_call(parts: WindowParts, qtbot: QtBot, call: str) -> None:
    qtbot.waitUntil(lambda: parts.session.calls[-1:] == [call])


def _record(parts: WindowParts, qtbot: QtBot) -> None:
    _enter(parts, SessionState.STARTING, qtbot)
    parts.session.post(started())
    _enter(parts, SessionState.RECORDING, qtbot)


def test_the_button_is_red_only_while_sound_is_really_recorded(
    parts: WindowParts, qtbot: QtBot
) -> None:
    button = parts.window.toolbar.record_button
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    _wait_for_call(parts, qtbot, "start default keep=text")
    is_red = []
    for state in (
        SessionState.STARTING,
        SessionState.RECORDING,
        SessionState.PAUSED,
        SessionState.STOPPING,
        SessionState.IDLE,
    ):
        _enter(parts, state, qtbot)
        is_red.append(button.property("recording"))
    assert is_red == [False, True, False, False, False]


def test_pause_resume_stop_and_skip_go_to_the_session(parts: WindowParts, qtbot: QtBot) -> None:
    bar = parts.window.toolbar
    _record(parts, qtbot)
    qtbot.mouseClick(bar.pause_button, Qt.MouseButton.LeftButton)
    _enter(parts, SessionState.PAUSED, qtbot)
    assert bar.pause_button.text() == "Resume"
    qtbot.mouseClick(bar.pause_button, Qt.MouseButton.LeftButton)
    qtbot.mouseClick(bar.stop_button, Qt.MouseButton.LeftButton)
    _enter(parts, SessionState.STOPPING, qtbot, "finishing the text, 3.0 s left")
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
    _wait_for_call(parts, qtbot, "start default keep=text")
    environment = {"VIVAVOCE_HOME": str(tmp_path)}
    qtbot.waitUntil(lambda: load_settings(environment).keep == "text")
    qtbot.waitUntil(lambda: parts.window.findChild(KeepDialog) is None)
    parts.session.calls.clear()
    parts.controller.record()
    assert parts.window.findChild(KeepDialog) is None
    _wait_for_call(parts, qtbot, "start default keep=text")
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
    _record(parts, qtbot)
    _enter(parts, SessionState.IDLE, qtbot)
    qtbot.waitUntil(lambda: parts.session.settings.keep == "text")


def test_the_welcome_gives_way_to_the_transcript_and_stays_away(
    parts: WindowParts, qtbot: QtBot
) -> None:
    window = parts.window
    assert window.stack.currentWidget() is window.welcome
    _record(parts, qtbot)
    assert window.stack.currentWidget() is window.transcript
    parts.session.post(*conversation()[1:])
    _enter(parts, SessionState.IDLE, qtbot)
    assert window.stack.currentWidget() is window.transcript


def test_closing_while_recording_finishes_first_and_never_blocks(
    parts: WindowParts, qtbot: QtBot
) -> None:
    _record(parts, qtbot)
    may_end = threading.Event()
    parts.session.close_blocks = lambda: may_end.wait(20) and None
    parts.window.close()
    assert parts.window.isVisible()
    assert "finishing the text" in parts.window.windowTitle()
    qtbot.wait(50)
    assert not parts.lifecycle.is_finished
    _enter(parts, SessionState.STOPPING, qtbot)
    parts.window.close()
    assert parts.session.calls[-1] == "stop discard=True"
    may_end.set()
    qtbot.waitUntil(lambda: parts.lifecycle.is_finished)
    assert parts.session.calls[-1] == "close"


def test_a_session_still_being_made_is_closed_after_the_window(
    qtbot: QtBot, tmp_path: Path
) -> None:
    parts = make_window(tmp_path)
    parts.window.show()
    may_come = threading.Event()

    def build(settings: Settings, environment: object) -> Session:
        assert settings
        assert environment
        may_come.wait(20)
        return parts.session.as_session()

    parts.controller.build(build)
    parts.window.close()
    assert not parts.window.isVisible()
    qtbot.wait(30)
    assert not parts.lifecycle.is_finished
    may_come.set()
    close_window(parts, qtbot)
    assert parts.session.calls == ["close"]


def test_an_engine_that_cannot_be_made_is_a_notice_and_the_window_still_closes(
    qtbot: QtBot, tmp_path: Path
) -> None:
    parts = make_window(tmp_path)
    parts.window.show()

    def build(settings: Settings, environment: object) -> Session:
        raise StoreError(f"The list of models is damaged ({settings.recognizer}, {environment}).")

    parts.controller.build(build)
    qtbot.waitUntil(lambda: bool(parts.state.open_notices))
    assert not parts.window.toolbar.record_button.isEnabled()
    close_window(parts, qtbot)


def test_closing_while_idle_hides_at_once(parts: WindowParts, qtbot: QtBot) -> None:
    parts.window.close()
    assert not parts.window.isVisible()
    qtbot.waitUntil(lambda: parts.lifecycle.is_finished)
    assert parts.session.calls[-1] == "close"


def test_nothing_is_pulled_while_nothing_is_recorded(parts: WindowParts, qtbot: QtBot) -> None:
    assert not parts.window.pulse.is_running
    parts.session.length_s = 12.0
    _record(parts, qtbot)
    assert parts.window.pulse.is_running
    label = parts.window.toolbar.time_label
    qtbot.waitUntil(lambda: label.text() == "00:00:12")
    qtbot.waitUntil(lambda: "backlog 0.4 s" in parts.window.health_strip.losses.text())
    _enter(parts, SessionState.IDLE, qtbot)
    assert not parts.window.pulse.is_running


@pytest.mark.parametrize("alarm", [alarm for alarm in LevelAlarm if alarm is not LevelAlarm.NONE])
def test_a_silent_input_is_told_in_a_line_until_sound_comes(
    parts: WindowParts, qtbot: QtBot, alarm: LevelAlarm
) -> None:
    parts.session.reading = Levels(alarm=alarm)
    _record(parts, qtbot)
    line = parts.window.alarm_line
    qtbot.waitUntil(line.isVisible)
    assert line.text().startswith("No sound reaches me: ")
    parts.session.reading = Levels(-10.0, -20.0, True)
    qtbot.waitUntil(lambda: not line.isVisible())
    assert "clipping" in parts.window.toolbar.meter.accessibleDescription()


def test_devices_are_offered_and_a_choice_is_remembered(parts: WindowParts, qtbot: QtBot) -> None:
    chooser = parts.window.toolbar.input_chooser
    parts.session.devices = (
        DeviceInfo("Headset", 1, 2, 48_000),
        DeviceInfo("Monitor of Headset", 2, 0, 48_000, is_monitor=True),
        DeviceInfo("Desk microphone", 2, 0, 44_100),
    )
    chooser.opened.emit()
    qtbot.waitUntil(lambda: chooser.count() == 4)
    names = [chooser.itemData(i) for i in range(4)]
    assert names == ["default", "Headset", "Desk microphone", "Monitor of Headset"]
    chooser.setCurrentIndex(2)
    chooser.activated.emit(2)
    qtbot.waitUntil(lambda: parts.session.settings.input == "Desk microphone")
    parts.session.devices = ()
    chooser.opened.emit()
    qtbot.waitUntil(lambda: chooser.count() == 2)
    assert chooser.currentData() == "Desk microphone"


def test_many_quick_changes_are_saved_once_and_the_last_one_wins(
    parts: WindowParts, qtbot: QtBot, tmp_path: Path
) -> None:
    for _ in range(20):
        parts.controller.change_text_size(1)
    environment = {"VIVAVOCE_HOME": str(tmp_path)}
    qtbot.waitUntil(lambda: load_settings(environment).text_size_pt == 33)
    parts.controller.set_output("Headset")
    parts.window.close()
    assert load_settings(environment).output == "Headset"
    assert parts.state.history == []


def test_a_machine_without_sound_is_a_notice_that_can_be_put_away(
    parts: WindowParts, qtbot: QtBot
) -> None:
    parts.session.device_error = DeviceError("No sound system.", advice="Start one.")
    parts.controller.list_devices()
    bar = parts.window.notice_bar
    qtbot.waitUntil(bar.isVisible)
    assert bar.text.text() == "No sound system. Start one."
    parts.controller.list_devices()
    qtbot.waitUntil(lambda: len(parts.state.history) == 2)
    assert len(parts.state.open_notices) == 1
    qtbot.mouseClick(bar.close_button, Qt.MouseButton.LeftButton)
    assert not bar.isVisible()


def test_a_text_is_spoken_and_its_sentence_marked(parts: WindowParts, qtbot: QtBot) -> None:
    panel = parts.window.speak_panel
    text = "First 😀 one. Second one."
    panel.text.setPlainText(text)
    qtbot.mouseClick(panel.speak_button, Qt.MouseButton.LeftButton)
    assert parts.session.calls[-1] == f"speak {text}"
    parts.session.post(
        UtteranceChanged(1, UtteranceState.SPEAKING, text.index("Second"), len(text))
    )
    qtbot.waitUntil(lambda: bool(panel.text.extraSelections()))
    assert panel.text.extraSelections()[0].cursor.selectedText() == "Second one."
    qtbot.mouseClick(panel.stop_button, Qt.MouseButton.LeftButton)
    assert parts.session.calls[-1] == "stop speaking"
    parts.session.post(UtteranceChanged(1, UtteranceState.CANCELLED))
    qtbot.waitUntil(lambda: not panel.text.extraSelections())
    assert not panel.stop_button.isEnabled()


def test_ctrl_enter_speaks_and_escape_stops(parts: WindowParts, qtbot: QtBot) -> None:
    panel = parts.window.speak_panel
    parts.window.activateWindow()
    panel.text.setPlainText("Hello.")
    panel.text.setFocus()
    qtbot.waitUntil(panel.text.hasFocus)
    qtbot.keyClick(panel.text, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert parts.session.calls[-1] == "speak Hello."
    qtbot.keyClick(panel.text, Qt.Key.Key_Escape)
    assert parts.session.calls[-1] == "stop speaking"
    assert panel.text.toPlainText() == "Hello."


def test_a_voice_that_fails_says_why(parts: WindowParts, qtbot: QtBot) -> None:
    panel = parts.window.speak_panel
    panel.text.setPlainText("Hello.")
    parts.session.speak_error = BackendError("The voice is gone.", advice="Choose another.")
    panel.speak()
    assert panel.message.text() == "The voice is gone. Choose another."
    parts.session.post(UtteranceChanged(1, UtteranceState.FAILED, message="No loudspeaker."))
    qtbot.waitUntil(lambda: panel.message.text() == "No loudspeaker.")


def test_a_spoken_text_is_saved_and_a_file_that_cannot_be_written_says_so(
    parts: WindowParts, qtbot: QtBot, tmp_path: Path
) -> None:
    panel = parts.window.speak_panel
    path = tmp_path / "speech.wav"
    panel.save_asked.emit("Good morning. How are you?", path)
    assert panel.progress.isVisible()
    qtbot.waitUntil(lambda: "speech.wav saved" in panel.message.text())
    assert not panel.progress.isVisible()
    assert path.read_bytes()[:4] == b"RIFF"
    panel.save_asked.emit("Good morning.", tmp_path / "no folder" / "speech.wav")
    qtbot.waitUntil(lambda: panel.message.property("role") == "problem")
    assert "no folder" in panel.message.text()


def test_missing_models_are_named_with_a_button_that_fetches_them(
    qtbot: QtBot, tmp_path: Path
) -> None:
    parts = make_window(tmp_path)
    parts.window.show()
    parts.controller.attach(parts.session.as_session())
    parts.session.post(
        BackendChanged(
            BackendKind.RECOGNIZER,
            "whisper",
            BackendState.FAILED,
            "Whisper",
            message="The model whisper-tiny.en is not installed.",
        )
    )
    welcome = parts.window.welcome
    qtbot.waitUntil(welcome.missing.isVisible)
    assert "Whisper tiny.en" in welcome.missing_text.text()
    assert welcome.pull_button.isEnabled()
    assert "not available" in parts.window.health_strip.backends[BackendKind.RECOGNIZER].text()
    close_window(parts, qtbot)


def test_untrained_weights_show_a_banner(parts: WindowParts, qtbot: QtBot) -> None:
    assert not parts.window.banner.isVisible()
    parts.session.post(
        BackendChanged(BackendKind.DIARIZER, "tower", BackendState.READY, "Tower", is_trained=False)
    )
    qtbot.waitUntil(parts.window.banner.isVisible)
    assert "Untrained weights (Tower)" in parts.window.banner.text.text()


def _store_session(folder: Path) -> None:
    header = SessionHeader(
        id="2026-01-02_03-04-05",
        started_at="2026-01-02T03:04:05+00:00",
        sample_rate=RATE,
        device="mic",
        keep=KeepPolicy.TEXT,
        recognizer="fake",
        diarizer="fake",
    )
    journal = Journal.create(folder, header)
    journal.events.append(FinalWords(words("kept words", 0.5, 1.5)))
    journal.close()


def test_a_kept_recording_is_listed_opened_exported_and_deleted(
    parts: WindowParts, qtbot: QtBot, tmp_path: Path
) -> None:
    panel = parts.window.sessions_panel
    _store_session(parts.shelf.sessions_dir)
    parts.shelf.list_sessions()
    qtbot.waitUntil(lambda: "2 words" in panel.list.item(0).text())
    parts.session.post(*conversation())
    qtbot.waitUntil(lambda: len(parts.state.live_document.lines) > 0)
    panel.list.itemActivated.emit(panel.list.item(0))
    qtbot.waitUntil(lambda: not parts.state.is_live_shown)
    assert parts.state.document.text() == "kept words"
    assert parts.window.banner.isVisible()
    # A live recording goes on behind it.
    parts.session.post(FinalWords(words("more", 27.0, 28.0)))
    qtbot.waitUntil(lambda: "more" in parts.state.live_document.text())
    assert len(parts.window.transcript.rows.rows) == 1
    out = tmp_path / "out.srt"
    parts.shelf.export_shown(out)
    qtbot.waitUntil(lambda: bool(parts.state.open_notices))
    assert "Saved as" in parts.state.open_notices[-1].notice.message
    assert "kept words" in out.read_text("utf-8")
    panel.delete_asked.emit("2026-01-02_03-04-05")
    qtbot.waitUntil(lambda: "listed here" in panel.list.item(0).text())
    assert parts.state.is_live_shown
    assert "more" in parts.state.document.text()


def test_a_recording_that_broke_off_is_named_so_and_shows_its_text(
    parts: WindowParts, qtbot: QtBot
) -> None:
    panel = parts.window.sessions_panel
    header = SessionHeader(
        id="2026-01-02_03-04-05",
        started_at="2026-01-02T03:04:05+00:00",
        sample_rate=RATE,
        device="mic",
        keep=KeepPolicy.AUDIO_AND_TEXT,
        recognizer="fake",
        diarizer="fake",
    )
    journal = Journal.create(parts.shelf.sessions_dir, header)
    journal.events.append(FinalWords(words("what was said before the crash", 0.5, 1.5)))
    parts.shelf.list_sessions()
    qtbot.waitUntil(lambda: "listed here" in panel.list.item(0).text())  # it is still being made
    copy = parts.shelf.sessions_dir / "2026-01-02_09-09-09"
    shutil.copytree(parts.shelf.sessions_dir / header.id, copy)
    journal.close()
    parts.shelf.list_sessions()
    qtbot.waitUntil(lambda: panel.list.count() == 2)
    broken = next(
        item for item in (panel.list.item(row) for row in range(2)) if "broke off" in item.text()
    )
    assert "6 words" in broken.text()
    panel.list.itemActivated.emit(broken)
    qtbot.waitUntil(lambda: not parts.state.is_live_shown)
    assert parts.state.document.text() == "what was said before the crash"
    qtbot.waitUntil(lambda: "broke off" not in "".join(_listed(parts)))
    (finished,) = (shown.notice.message for shown in parts.state.history)
    assert "6 words are kept" in finished
    assert panel.list.count() == 2


def test_an_empty_recording_that_broke_off_is_gone_once_it_is_opened(
    parts: WindowParts, qtbot: QtBot
) -> None:
    header = SessionHeader("empty", "2026-01-02T03:04:05+00:00", RATE)
    journal = Journal.create(parts.shelf.sessions_dir, header)
    copy = shutil.copytree(journal.folder, parts.shelf.sessions_dir / "copy")
    journal.close(KeepPolicy.NOTHING)
    copy.rename(journal.folder)
    parts.shelf.list_sessions()
    qtbot.waitUntil(lambda: "broke off" in "".join(_listed(parts)))
    parts.shelf.open_session("empty")
    qtbot.waitUntil(lambda: "listed here" in "".join(_listed(parts)))
    assert "before anything was recorded" in parts.state.history[-1].notice.message
    assert parts.state.is_live_shown


def _listed(parts: WindowParts) -> list[str]:
    items = parts.window.sessions_panel.list
    return [items.item(row).text() for row in range(items.count())]


def test_a_recording_is_deleted_only_after_a_confirmation(parts: WindowParts, qtbot: QtBot) -> None:
    panel = parts.window.sessions_panel
    _store_session(parts.shelf.sessions_dir)
    parts.shelf.list_sessions()
    qtbot.waitUntil(lambda: "2 words" in panel.list.item(0).text())
    assert not panel.delete_button.isEnabled()
    panel.list.setCurrentRow(0)
    for answer in ("Cancel", "Delete"):
        assert list(parts.shelf.sessions_dir.iterdir())
        qtbot.mouseClick(panel.delete_button, Qt.MouseButton.LeftButton)
        (box,) = panel.findChildren(QMessageBox)
        assert box.defaultButton().text() == "Cancel"
        (button,) = [button for button in box.buttons() if button.text() == answer]
        qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
        qtbot.waitUntil(lambda: not panel.findChildren(QMessageBox))
    qtbot.waitUntil(lambda: "listed here" in panel.list.item(0).text())
    assert not list(parts.shelf.sessions_dir.iterdir())
    assert not panel.delete_button.isEnabled()


@pytest.mark.parametrize("kind", list(ExportFormat))
def test_a_kept_recording_is_exported_by_the_name_of_the_file(
    parts: WindowParts, qtbot: QtBot, tmp_path: Path, kind: ExportFormat
) -> None:
    panel, path = parts.window.sessions_panel, tmp_path / f"out.{kind}"
    _store_session(parts.shelf.sessions_dir)
    parts.shelf.list_sessions()
    qtbot.waitUntil(lambda: "2 words" in panel.list.item(0).text())
    panel.list.setCurrentRow(0)
    qtbot.mouseClick(panel.export_button, Qt.MouseButton.LeftButton)
    (dialog,) = parts.window.findChildren(QFileDialog)
    dialog.fileSelected.emit(str(path))
    dialog.reject()
    qtbot.waitUntil(lambda: bool(parts.state.open_notices))
    assert "Saved as" in parts.state.open_notices[-1].notice.message
    assert path.is_file()


def test_a_kept_recording_is_shown_from_its_beginning(parts: WindowParts, qtbot: QtBot) -> None:
    header = SessionHeader("long", "2026-01-02T03:04:05+00:00", RATE, keep=KeepPolicy.TEXT)
    journal = Journal.create(parts.shelf.sessions_dir, header)
    for minute in range(60):
        journal.events.append(FinalWords(words("one more minute", 60.0 * minute, 60 * minute + 1)))
    journal.close()
    parts.shelf.open_session("long")
    qtbot.waitUntil(lambda: not parts.state.is_live_shown)
    view = parts.window.transcript
    assert view.content_height() > view.viewport().height()
    assert view.offset == 0
    assert not view.is_following


def test_without_a_microphone_the_welcome_offers_the_demo_and_files(
    parts: WindowParts, qtbot: QtBot
) -> None:
    welcome = parts.window.welcome
    parts.session.devices = (DeviceInfo("Monitor of Headset", 2, 0, 48_000, is_monitor=True),)
    qtbot.mouseClick(welcome.look_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(welcome.no_input.isVisible)
    assert welcome.demo_button.isEnabled()
    qtbot.mouseClick(welcome.file_button, Qt.MouseButton.LeftButton)
    (dialog,) = parts.window.findChildren(QFileDialog)
    dialog.fileSelected.emit("/tmp/talk.wav")
    dialog.reject()
    _wait_for_call(parts, qtbot, "start file:/tmp/talk.wav keep=text")
    parts.session.devices = (DeviceInfo("Headset", 1, 2, 48_000),)
    qtbot.waitUntil(lambda: not parts.window.findChildren(QFileDialog))
    qtbot.mouseClick(welcome.look_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not welcome.no_input.isVisible())


def test_a_voice_that_takes_its_time_to_go_does_not_hold_the_window_up(
    parts: WindowParts, qtbot: QtBot
) -> None:
    may_go, threads = threading.Event(), []

    def change(settings: Settings) -> None:
        threads.append(threading.current_thread())
        may_go.wait(20)
        parts.session.settings = settings

    parts.session.change_settings = change
    parts.controller.set_voice("piper:other")
    parts.controller.set_output("Headset")
    parts.controller.record()
    qtbot.wait(30)
    assert parts.session.calls == ["load"]
    may_go.set()
    _wait_for_call(parts, qtbot, "start default keep=text")  # with all changes before it
    assert parts.session.settings.synthesizer == "piper:other"
    assert parts.session.settings.output == "Headset"
    assert threading.main_thread() not in threads


def test_a_refused_change_is_taken_back_where_it_shows(parts: WindowParts, qtbot: QtBot) -> None:
    def change(settings: Settings) -> None:
        if settings.synthesizer != "piper":
            raise EngineError("The voice cannot be changed while it speaks.")

    parts.session.change_settings = change
    parts.window.show_voices([("piper", "One"), ("piper:other", "Other")])
    parts.window.speak_panel.voice.setCurrentIndex(1)
    parts.controller.set_voice("piper:other")
    parts.controller.set_output("Headset")
    qtbot.waitUntil(lambda: bool(parts.state.open_notices))
    qtbot.waitUntil(lambda: parts.window.speak_panel.voice.currentText() == "One")
    assert parts.controller.settings.synthesizer == "piper"
    assert parts.controller.settings.output == "Headset"


def test_the_diarizer_is_chosen_in_the_menu(parts: WindowParts, qtbot: QtBot) -> None:
    window, menu = parts.window, parts.window.menu_actions.choices["diarizers"][0]

    def entries() -> dict[str, bool]:
        return {action.text(): action.isChecked() for action in menu.actions()}

    parts.shelf.list_diarizers()
    qtbot.waitUntil(menu.isEnabled)
    assert len(entries()) == 3, "voices clustered, the Sortformer, and neither; no fakes"
    assert [title for title, is_on in entries().items() if is_on] == ["Voice clustering (GE2E)"]
    next(action for action in menu.actions() if "Sortformer" in action.text()).trigger()
    assert parts.controller.settings.diarizer == "sortformer"

    # A path given in the settings stays with its entry.
    parts.controller.set_diarizer("sortformer:/models/x.nemo")
    window.show_choices()
    menu.actions()[0].trigger()
    assert parts.controller.settings.diarizer == "cluster"
    menu.actions()[1].trigger()
    assert parts.controller.settings.diarizer == "sortformer:/models/x.nemo"


def test_a_diarizer_chosen_while_recording_is_taken_back(parts: WindowParts, qtbot: QtBot) -> None:
    def change(settings: Settings) -> None:
        raise EngineError("The models cannot be changed while recording.")

    parts.session.change_settings = change
    parts.window.show_diarizers([("cluster", "One"), ("sortformer", "Other")])
    actions = parts.window.menu_actions.choices["diarizers"][0].actions
    actions()[1].trigger()
    qtbot.waitUntil(lambda: actions()[0].isChecked())
    assert parts.controller.settings.diarizer == "cluster"


def test_no_message_of_the_window_speaks_of_the_command_line(qtbot: QtBot, tmp_path: Path) -> None:
    home = {"VIVAVOCE_HOME": str(tmp_path), "VIVAVOCE_MODELS_DIR": str(tmp_path / "none")}
    parts = make_window(tmp_path)
    session = build_session(load_settings(home), home)
    parts.window.show()
    parts.controller.attach(session)
    kinds = (BackendKind.RECOGNIZER, BackendKind.DIARIZER, BackendKind.SYNTHESIZER)

    def is_failed(kind: BackendKind) -> bool:
        backend = parts.state.backends.get(kind)
        return backend is not None and backend.state is BackendState.FAILED

    qtbot.waitUntil(lambda: all(map(is_failed, kinds)), timeout=60_000)
    parts.shelf.open_session("deleted meanwhile")
    qtbot.waitUntil(lambda: bool(parts.state.open_notices))
    texts = [backend.message for backend in parts.state.backends.values()]
    texts += [f"{d.notice.message} {d.notice.advice}" for d in parts.state.history]
    assert len(texts) >= 4
    for text in texts:
        assert "vivavoce " not in text
        assert "file:PATH" not in text
    close_window(parts, qtbot)


def test_no_button_is_cut_in_a_narrow_window_with_longer_labels(
    parts: WindowParts, qtbot: QtBot
) -> None:
    window = parts.window
    _record(parts, qtbot)
    parts.session.post(*conversation()[1:])
    window.show_delays(True)
    window.resize(900, 600)
    buttons = [button for button in window.findChildren(QPushButton) if button.isVisible()]
    assert len(buttons) > 8
    for button in buttons:
        text = button.text()
        button.setText(text + text[: max(3, len(text) * 2 // 5)])

    def cut() -> list[str]:
        return [button.text() for button in buttons if button.width() < button.sizeHint().width()]

    qtbot.waitUntil(lambda: cut() == [])
    assert window.toolbar.time_label.width() >= window.toolbar.time_label.sizeHint().width()


def test_every_control_has_a_name_and_can_be_reached(parts: WindowParts) -> None:
    nameless = []
    for widget in parts.window.findChildren(QWidget):
        if widget.focusPolicy() & Qt.FocusPolicy.TabFocus and widget.isVisible():
            text = getattr(widget, "text", lambda: "")
            name = widget.accessibleName() or (text() if callable(text) else "")
            if not name:
                nameless.append(widget)
    assert nameless == []


def test_tab_goes_from_the_controls_over_the_panels_to_the_timeline(
    parts: WindowParts, qtbot: QtBot
) -> None:
    _record(parts, qtbot)
    parts.window.speak_panel.text.setPlainText("Hello.")
    window, order = parts.window, []
    widget: QWidget = window.toolbar.record_button
    for _ in range(500):
        widget = widget.nextInFocusChain()
        if widget.focusPolicy() & Qt.FocusPolicy.TabFocus and widget.isVisibleTo(window):
            order.append(widget)
    wanted = [
        window.toolbar.pause_button,
        window.toolbar.stop_button,
        window.toolbar.output_chooser,
        window.sessions_panel.filter,
        window.transcript,
        window.speak_panel.text,
        window.speak_panel.speak_button,
        window.timeline,
    ]
    places = [order.index(widget) for widget in wanted]
    assert places == sorted(places)


def test_both_themes_paint_every_state(parts: WindowParts, qtbot: QtBot) -> None:
    parts.session.post(*conversation())
    parts.state.add_notice(Notice(Severity.ERROR, "Something.", "Do something."))
    qtbot.waitUntil(lambda: len(parts.state.document.lines) > 0)
    colors = set()
    for name in ("light", "dark"):
        parts.window.appearance.force(name)
        image = parts.window.grab().toImage()
        colors.add(image.pixelColor(image.width() // 2, image.height() // 2).name())
    assert len(colors) == 2
    assert QApplication.instance() is not None
