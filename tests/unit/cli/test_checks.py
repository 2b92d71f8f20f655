import shutil
import sys
from collections import namedtuple

import pytest

from engine.cli.check import Check
from engine.cli.check_folders import (
    MARGIN_BYTES,
    check_disk,
    check_folders,
    check_recordings,
    check_settings,
)
from engine.cli.checks import (
    check_audio,
    check_display,
    check_gpu,
    check_models,
    check_voices,
    check_window_library,
)
from engine.core.config import Settings, folders
from engine.core.errors import DeviceError
from engine.store.header import EVENTS_NAME


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="displays by variable")
@pytest.mark.parametrize("name", ["DISPLAY", "WAYLAND_DISPLAY"])
def test_display_when_a_variable_names_one_then_ok(name):
    assert check_display({name: ":0"}).is_ok
    missing = check_display({})
    assert not missing.is_ok
    assert "vivavoce listen" in missing.advice


def test_audio_when_there_is_no_sound_system_then_says_what_to_do(monkeypatch):
    def fail(*_: object) -> None:
        raise DeviceError("There is none.", advice="Plug in.")

    monkeypatch.setattr("engine.audio.provider.SystemDevices.list_devices", fail)
    (check,) = check_audio()
    assert check == Check("audio", False, "There is none.", "Plug in.", 3)


def test_audio_when_nothing_is_plugged_in_then_both_are_missing(monkeypatch):
    monkeypatch.setattr("engine.audio.provider.SystemDevices.list_devices", lambda _: ())
    microphone, loudspeaker, _ = check_audio()
    assert not microphone.is_ok
    assert not loudspeaker.is_ok


def test_gpu_when_its_kernel_fails_then_says_why_and_that_the_cpu_is_used(monkeypatch):
    monkeypatch.setattr("engine.cli.checks._GPU_PROBE", "raise RuntimeError('no kernel image')")
    check = check_gpu()
    assert check.is_ok
    assert "no kernel image" in check.text
    assert "CPU" in check.text


def test_window_library_when_it_does_not_load_then_says_which_part(monkeypatch):
    monkeypatch.setattr("engine.cli.checks._WINDOW_PROBE", "import libsomething")
    check = check_window_library()
    assert not check.is_ok
    assert "libsomething" in check.text


def test_models_when_missing_then_those_needed_say_the_command(home):
    checks = list(check_models(Settings(), {"VIVAVOCE_HOME": str(home)}))
    advice = {check.advice for check in checks if not check.is_ok}
    assert "Run: vivavoce models pull whisper-tiny.en" in advice
    settings = Settings(recognizer="none", diarizer="none", synthesizer="fake")
    assert all(c.is_ok for c in check_models(settings, {"VIVAVOCE_HOME": str(home)}))


def test_voices_when_listed_then_without_those_for_tests():
    assert all("hum" not in check.text for check in check_voices())


def test_disk_when_the_folder_does_not_exist_yet_then_its_parent_counts(home):
    check = check_disk(Settings(), {"VIVAVOCE_HOME": str(home / "not" / "yet")})
    assert "free in" in check.text


def test_disk_when_less_than_the_margin_is_free_then_says_how_much_and_what_to_do(
    home, monkeypatch
):
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(2, 1, MARGIN_BYTES - 1))
    check = check_disk(Settings(), _environment(home))
    assert not check.is_ok
    assert "1000.0 MB are free" in check.text
    assert "Free disk space" in check.advice
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(2, 1, MARGIN_BYTES))
    assert check_disk(Settings(), _environment(home)).is_ok


def test_folders_when_one_cannot_be_written_then_names_it_and_its_reason(home):
    home.mkdir()
    (home / "state").write_text("a file where a folder should be")
    checks = list(check_folders(Settings(), _environment(home)))
    (bad,) = [check for check in checks if not check.is_ok]
    assert str(home / "state") in bad.text
    assert "log" in bad.text
    assert "Not a directory" in bad.text
    assert bad.advice
    assert len(checks) == 4


def test_settings_when_their_file_is_broken_then_says_so_and_the_others_are_checked(home):
    path = folders(Settings(), _environment(home)).settings_file
    path.parent.mkdir(parents=True)
    path.write_text("input = [")
    check, settings = check_settings(_environment(home))
    assert settings == Settings()
    assert (check.is_ok, check.exit_code) == (False, 2)
    assert str(path) in check.text
    assert "Mend or delete it." in check.advice
    path.write_text('input = "null"')
    check, settings = check_settings(_environment(home))
    assert check.is_ok
    assert settings.input == "null"


def test_recordings_when_one_broke_off_then_says_how_to_finish_it(home):
    place = folders(Settings(), _environment(home)).sessions / "2026-01-01_10-00-00"
    assert check_recordings(Settings(), _environment(home)).is_ok
    place.mkdir(parents=True)
    (place / EVENTS_NAME).write_text("")
    check = check_recordings(Settings(), _environment(home))
    assert not check.is_ok
    assert check.text.startswith("1 of 1 recordings broke off")
    assert check.advice == "Run: vivavoce sessions recover"


def test_models_when_one_is_damaged_then_says_so_though_its_size_is_right(home, models_dir):
    models = home / "models"
    shutil.copytree(models_dir / "whisper-tiny.en", models / "whisper-tiny.en")
    largest = max((models / "whisper-tiny.en").iterdir(), key=lambda path: path.stat().st_size)
    content = bytearray(largest.read_bytes())
    content[len(content) // 2] ^= 1
    largest.write_bytes(content)
    settings = Settings(models_dir=str(models), diarizer="none", synthesizer="fake")
    (bad,) = [check for check in check_models(settings, {}) if not check.is_ok]
    assert "is damaged" in bad.text
    assert bad.advice == "Run: vivavoce models pull whisper-tiny.en"


def test_models_when_a_setting_names_no_backend_then_says_so(home):
    (check,) = check_models(Settings(recognizer="parrot"), _environment(home))
    assert not check.is_ok
    assert "parrot" in check.text
    assert "Choose one of" in check.advice


def _environment(home):
    return {"VIVAVOCE_HOME": str(home)}
