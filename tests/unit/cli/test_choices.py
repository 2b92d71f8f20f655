from dataclasses import replace
from pathlib import Path

import pytest

from engine.cli.exit_codes import exit_code_of
from engine.cli.inputs import choose_input, inspect_file
from engine.cli.keeping import choose_keep
from engine.cli.preflight import check_backends, check_output
from engine.cli.saying import choose_voice
from engine.cli.startup import Startup
from engine.cli.transcribing import choose_format
from engine.core.config import KeepPolicy, Settings, load_settings
from engine.core.errors import (
    AudioFileError,
    BackendError,
    CancelledError,
    CodesError,
    ConfigError,
    DeviceError,
    EngineError,
    ModelFileError,
    ModelMissingError,
    StoreError,
)
from engine.core.types import BackendKind


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (ConfigError, 2),
        (DeviceError, 3),
        (AudioFileError, 3),
        (CodesError, 3),
        (ModelMissingError, 4),
        (ModelFileError, 4),
        (BackendError, 5),
        (StoreError, 5),
        (EngineError, 5),
        (CancelledError, 130),
    ],
)
def test_exit_code_when_an_error_ends_the_program_then_says_its_kind(error, status):
    assert exit_code_of(error("x")) == status


@pytest.mark.parametrize("name", ["demo", "file:demo"])
def test_choose_input_when_demo_then_the_bundled_file(name):
    choice = choose_input(name)
    assert choice.path is not None
    assert choice.device == f"file:{choice.path}"
    facts = inspect_file(choice.path)
    assert 20 < facts.duration_s < 60


def test_choose_input_when_a_device_then_its_name():
    assert choose_input("Headset").device == "Headset"
    assert choose_input("Headset").path is None


def test_choose_input_when_a_file_is_called_demo_then_that_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("demo").write_bytes(b"x")
    assert choose_input("file:demo").path == Path("demo")


@pytest.mark.parametrize(
    ("name", "out", "expected"),
    [
        (None, None, "txt"),
        (None, "a.srt", "srt"),
        (None, "a.VTT", "vtt"),
        ("json", "a.srt", "json"),
        ("RTTM", None, "rttm"),
        (None, "plain", "txt"),
    ],
)
def test_choose_format_when_asked_then_by_name_else_by_suffix(name, out, expected):
    assert choose_format(name, Path(out) if out else None) == expected


@pytest.mark.parametrize(("name", "out"), [("docx", None), (None, "a.docx")])
def test_choose_format_when_unknown_then_names_those_there_are(name, out):
    with pytest.raises(ConfigError, match="srt, vtt"):
        choose_format(name, Path(out) if out else None)


@pytest.mark.parametrize(
    ("voice", "expected"),
    [("fake", "fake"), ("piper:joe", "piper:joe"), ("some-voice", "piper:some-voice")],
)
def test_choose_voice_when_given_then_a_synthesizer_or_a_voice_of_it(voice, expected):
    assert choose_voice(voice, "piper:other") == expected


def test_keep_when_never_asked_then_files_leave_nothing_and_microphones_everything(home):
    startup = Startup({"VIVAVOCE_HOME": str(home)})
    microphone = choose_input("default")
    for name in ("demo", "null"):
        choice = choose_input(name)
        assert choose_keep(Settings(), choice, startup, may_ask=True) == KeepPolicy.NOTHING
    assert choose_keep(Settings(), microphone, startup, may_ask=False) == KeepPolicy.AUDIO_AND_TEXT


def test_keep_when_chosen_before_then_nobody_is_asked(home):
    startup = Startup({"VIVAVOCE_HOME": str(home)})
    settings = Settings(keep="text")
    assert choose_keep(settings, choose_input("default"), startup, may_ask=True) == KeepPolicy.TEXT


def test_keep_when_asked_then_the_answer_is_saved_without_other_settings(home, monkeypatch):
    environment = {"VIVAVOCE_HOME": str(home), "VIVAVOCE_INPUT": "Headset"}
    startup = Startup(environment)
    answers = iter(["9", "2"])
    monkeypatch.setattr("typer.prompt", lambda *_, **__: next(answers))
    settings = replace(load_settings(environment), recognizer="fake")
    assert choose_keep(settings, choose_input("x"), startup, may_ask=True) == KeepPolicy.TEXT
    assert load_settings({"VIVAVOCE_HOME": str(home)}) == Settings(keep="text")


def test_check_backends_when_unknown_then_names_those_there_are(home):
    environment = {"VIVAVOCE_HOME": str(home)}
    with pytest.raises(ConfigError, match="whisper, fake, none"):
        check_backends(Settings(recognizer="x"), environment, [BackendKind.RECOGNIZER])


def test_check_backends_when_a_model_is_missing_then_says_which_command_fetches_it(home):
    with pytest.raises(ModelMissingError, match="vivavoce models pull whisper"):
        check_backends(Settings(), {"VIVAVOCE_HOME": str(home)}, [BackendKind.RECOGNIZER])


def test_check_backends_when_off_then_nothing_is_needed(home):
    settings = Settings(diarizer="none")
    assert check_backends(settings, {"VIVAVOCE_HOME": str(home)}, [BackendKind.DIARIZER]) == {}


def test_check_output_when_it_cannot_be_written_then_says_why(tmp_path):
    with pytest.raises(ConfigError, match="is a folder"):
        check_output(tmp_path)
    with pytest.raises(ConfigError, match="does not exist"):
        check_output(tmp_path / "no" / "out.txt")
    check_output(tmp_path / "out.txt")
