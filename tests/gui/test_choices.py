"""Devices, voices and models are chosen, and remembered or refused."""

import threading
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

from engine.audio.device import DeviceInfo
from engine.core.config import Settings, load_settings
from engine.core.errors import DeviceError, EngineError
from engine.core.events import (
    BackendChanged,
    BackendState,
)
from engine.core.types import BackendKind
from tests.helpers.window import (
    WindowParts,
    close_window,
    make_window,
    wait_for_call,
)

pytestmark = pytest.mark.gui


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
    wait_for_call(parts, qtbot, "start file:/tmp/talk.wav keep=text")
    parts.session.devices = (DeviceInfo("Headset", 1, 2, 48_000),)
    qtbot.waitUntil(lambda: not parts.window.findChildren(QFileDialog))
    qtbot.mouseClick(welcome.look_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not welcome.no_input.isVisible())


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
    assert "Whisper tiny.en" in welcome.missing.text.text()
    assert welcome.missing.pull_button.isEnabled()
    assert "not available" in parts.window.health_strip.backends[BackendKind.RECOGNIZER].text()
    close_window(parts, qtbot)


def test_untrained_weights_show_a_banner(parts: WindowParts, qtbot: QtBot) -> None:
    assert not parts.window.reading.banner.isVisible()
    parts.session.post(
        BackendChanged(BackendKind.DIARIZER, "tower", BackendState.READY, "Tower", is_trained=False)
    )
    qtbot.waitUntil(parts.window.reading.banner.isVisible)
    assert "Untrained weights (Tower)" in parts.window.reading.banner.text.text()


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
    wait_for_call(parts, qtbot, "start default keep=text")  # with all changes before it
    assert parts.session.settings.synthesizer == "piper:other"
    assert parts.session.settings.output == "Headset"
    assert threading.main_thread() not in threads


def test_a_refused_change_is_taken_back_where_it_shows(parts: WindowParts, qtbot: QtBot) -> None:
    def change(settings: Settings) -> None:
        if settings.synthesizer != "piper":
            raise EngineError("The voice cannot be changed while it speaks.")

    parts.session.change_settings = change
    parts.window.model_choices.show_voices([("piper", "One"), ("piper:other", "Other")])
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
    window.model_choices.show_chosen()
    menu.actions()[0].trigger()
    assert parts.controller.settings.diarizer == "cluster"
    menu.actions()[1].trigger()
    assert parts.controller.settings.diarizer == "sortformer:/models/x.nemo"


def test_a_diarizer_chosen_while_recording_is_taken_back(parts: WindowParts, qtbot: QtBot) -> None:
    def change(settings: Settings) -> None:
        raise EngineError("The models cannot be changed while recording.")

    parts.session.change_settings = change
    parts.window.model_choices.show_diarizers([("cluster", "One"), ("sortformer", "Other")])
    actions = parts.window.menu_actions.choices["diarizers"][0].actions
    actions()[1].trigger()
    qtbot.waitUntil(lambda: actions()[0].isChecked())
    assert parts.controller.settings.diarizer == "cluster"
