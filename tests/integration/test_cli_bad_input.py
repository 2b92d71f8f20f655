"""What the command line says to bad input: what, why and what to do, a status, no traceback."""

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
import soundfile

from tests.helpers.cli import Outcome, cli_command, cli_environment, run_cli

FAKES = ("--recognizer", "fake", "--diarizer", "fake")


def check(outcome: Outcome, status: int, *parts: str) -> None:
    assert outcome.status == status, outcome.err
    assert outcome.out == ""
    assert "Traceback" not in outcome.err
    # The MP3 decoder has remarks of its own, and test models are said to be such.
    said = [line for line in outcome.err.splitlines() if line]
    said = [line for line in said if not line.startswith("Note: ") and "untrained" not in line]
    assert len(said) == 1, outcome.err
    assert said[0].startswith("vivavoce: ")
    for part in parts:
        assert part in outcome.err


@pytest.fixture
def no_sound(tmp_path: Path) -> dict[str, str]:
    """An environment without a sound server, on a machine without a sound card."""
    if any(Path("/proc/asound").glob("card*")):
        pytest.skip("this machine has a sound card")
    return {"PULSE_SERVER": f"unix:{tmp_path / 'nowhere'}", "XDG_RUNTIME_DIR": str(tmp_path)}


@pytest.mark.parametrize("command", [("listen", *FAKES), ("devices",)])
def test_device_when_there_is_none_then_status_3(command, no_sound):
    check(run_cli(*command, env=no_sound), 3, "device", "Plug in")


def test_say_when_there_is_no_loudspeaker_then_status_3(no_sound):
    outcome = run_cli("say", "Hello.", "--voice", "fake", env=no_sound)
    assert outcome.status == 3
    assert "Traceback" not in outcome.err
    assert "Plug in" in outcome.err


def test_device_when_its_name_is_unknown_then_status_3(no_sound):
    check(run_cli("listen", "--input", "Nobody's Microphone", *FAKES, env=no_sound), 3)


@pytest.mark.parametrize("command", ["listen", "transcribe"])
@pytest.mark.parametrize(
    ("name", "content"),
    [("empty.wav", b""), ("noise.mp3", b"\x00\x01 no audio at all \xff" * 99), ("text.wav", b"Hi")],
)
def test_file_when_it_is_no_audio_then_status_3(command, name, content, tmp_path):
    path = tmp_path / name
    path.write_bytes(content)
    source = ("--input", f"file:{path}") if command == "listen" else (str(path),)
    check(run_cli(command, *source, *FAKES), 3, name)


@pytest.mark.parametrize("command", ["listen", "transcribe"])
def test_file_when_missing_then_status_3(command, tmp_path):
    path = tmp_path / "nowhere.wav"
    source = ("--input", f"file:{path}") if command == "listen" else (str(path),)
    check(run_cli(command, *source, *FAKES), 3, "nowhere.wav", "does not exist")


def test_file_when_truncated_then_transcribed_as_far_as_it_goes_and_status_3(tmp_path):
    whole, cut = tmp_path / "whole.wav", tmp_path / "cut.wav"
    soundfile.write(whole, np.zeros(5 * 16_000, np.float32), 16_000)
    cut.write_bytes(whole.read_bytes()[: 44 + 3 * 32_000])
    outcome = run_cli("transcribe", str(cut), "--recognizer", "fake", "--diarizer", "none")
    assert outcome.status == 3
    assert len(outcome.out.split()) > 5
    assert "cut.wav was cut off or is damaged" in outcome.err
    assert "Traceback" not in outcome.err


def test_file_when_its_rate_is_out_of_range_then_status_3(tmp_path):
    path = tmp_path / "slow.wav"
    soundfile.write(path, np.zeros(1000, np.float32), 500)
    check(run_cli("transcribe", str(path), *FAKES), 3, "slow.wav", "500")


def test_model_when_missing_then_status_4_and_the_command_that_fetches_it(tmp_path):
    env = {"VIVAVOCE_MODELS_DIR": str(tmp_path)}
    outcome = run_cli("listen", "--input", "demo", "--fast", env=env)
    check(outcome, 4, "not installed", "vivavoce models pull whisper-tiny.en")
    check(run_cli("say", "Hello.", env=env), 4, "vivavoce models pull piper")


@pytest.mark.models
def test_model_when_a_file_is_altered_then_status_4_and_its_name(models_dir, tmp_path):
    for source in models_dir.glob("*/*"):
        target = tmp_path / source.relative_to(models_dir)
        target.parent.mkdir(exist_ok=True)
        if source.name == "config.json":
            shutil.copyfile(source, target)
        elif not source.name.startswith("."):
            target.symlink_to(source)
    config = tmp_path / "whisper-tiny.en" / "config.json"
    content = bytearray(config.read_bytes())
    content[100] ^= 1
    config.write_bytes(content)
    env = {"VIVAVOCE_MODELS_DIR": str(tmp_path)}
    outcome = run_cli("transcribe", "demo", env=env)
    check(outcome, 4, "config.json", "expected", "vivavoce models pull whisper-tiny.en")
    assert run_cli("models", "verify", "whisper-tiny.en", env=env).status == 4


@pytest.mark.parametrize("option", ["--recognizer", "--diarizer"])
def test_backend_when_unknown_then_status_2_and_those_there_are(option):
    outcome = run_cli("listen", "--input", "demo", "--fast", option, "clairvoyant")
    check(outcome, 2, '"clairvoyant"', "fake, none")


def test_voice_when_its_model_is_unknown_then_says_so():
    outcome = run_cli("say", "Hello.", "--voice", "clairvoyant")
    assert outcome.status in (2, 4)
    assert "clairvoyant" in outcome.err
    assert "Traceback" not in outcome.err


@pytest.mark.parametrize("place", ["missing/out.txt", "."])
def test_output_when_it_cannot_be_written_then_status_2_before_any_work(place, tmp_path):
    outcome = run_cli("transcribe", "demo", "-f", "txt", "-o", str(tmp_path / place), *FAKES)
    check(outcome, 2, str(tmp_path))
    check(run_cli("say", "Hello.", "-o", str(tmp_path / place), "--voice", "fake"), 2)


def test_sessions_when_the_id_is_unknown_then_says_how_to_list_them():
    check(run_cli("sessions", "show", "yesterday"), 5, "yesterday", "vivavoce sessions list")


def test_recordings_folder_when_it_cannot_be_made_then_says_so(tmp_path):
    (tmp_path / "file").write_text("in the way")
    outcome = run_cli(
        "listen", "--input", "demo", "--fast", "--keep", "text", *FAKES,
        env={"VIVAVOCE_SESSIONS_DIR": str(tmp_path / "file" / "sessions")},
    )  # fmt: skip
    assert outcome.status == 5
    assert "Traceback" not in outcome.err
    assert str(tmp_path / "file") in outcome.err


def test_fast_when_the_input_is_no_file_then_status_2():
    check(run_cli("listen", "--fast", *FAKES), 2, "--fast is for files")


def test_reader_when_it_goes_away_then_listen_ends_without_a_traceback():

    listen = cli_command("listen", "--input", "null", "--json", "--recognizer", "fake")
    with subprocess.Popen(
        [*listen, "--diarizer", "none", "--keep", "nothing"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=cli_environment(),
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        err = process.stderr.read().decode()
        assert process.wait(60) == 0
    assert "Traceback" not in err
