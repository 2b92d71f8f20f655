import sys

import pytest

from engine.cli.checks import (
    Check,
    check_audio,
    check_disk,
    check_display,
    check_gpu,
    check_models,
    check_voices,
    check_window_library,
)
from engine.core.config import Settings
from engine.core.errors import DeviceError


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
