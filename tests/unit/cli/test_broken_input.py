"""What commands say of broken files: what is lost is told, and nothing breaks down."""

import io
import json
import os
from pathlib import Path

import numpy as np
import pytest
import soundfile

from engine.cli.main import main
from engine.core.config import Settings, load_settings
from engine.core.errors import ConfigError
from engine.core.files import MAX_SMALL_BYTES

pytestmark = pytest.mark.unit

_ID = "20260101-000000-aaaa"
_WORDS = {"event": "final_words", "words": [{"text": " alpha", "start": 0, "end": 800}]}


def _session(home: Path, events: bytes, num_words: int) -> None:
    folder = home / "data" / "sessions" / _ID
    folder.mkdir(parents=True)
    header = {
        "id": _ID, "started_at": "2026-01-01T00:00:00", "sample_rate": 16_000,
        "is_closed": True, "num_samples": 16_000, "num_words": num_words,
    }  # fmt: skip
    (folder / "session.json").write_text(json.dumps(header))
    (folder / "events.jsonl").write_bytes(events)


def test_show_when_lines_are_damaged_then_tells_how_many(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _session(home, json.dumps(_WORDS).encode() + b'\n{"event": "final_wo', 2)
    assert main(["sessions", "show", _ID]) == 0
    shown = capsys.readouterr()
    assert "alpha" in shown.out
    assert "1 line of" in shown.err
    assert "cannot be read" in shown.err


def test_show_when_words_are_missing_then_tells_how_many(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _session(home, json.dumps(_WORDS).encode() + b"\n", 5)
    assert main(["sessions", "show", _ID]) == 0
    assert "5 words were recorded, but 1 are in" in capsys.readouterr().err


def test_show_when_all_is_there_then_says_nothing(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _session(home, json.dumps(_WORDS).encode() + b"\n", 1)
    assert main(["sessions", "show", _ID]) == 0
    assert capsys.readouterr().err == ""


def test_transcribe_when_damage_shows_only_in_decoding_then_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "cut.flac"
    soundfile.write(path, np.random.default_rng(1).normal(0, 0.1, 80_000), 16_000)
    os.truncate(path, path.stat().st_size // 2)
    assert main(["transcribe", str(path), "--recognizer", "fake", "--diarizer", "none"]) == 3
    shown = capsys.readouterr()
    assert shown.out
    assert shown.err.count("cut.flac was cut off or is damaged") == 1


def test_name_when_it_is_no_text_then_the_log_takes_it(
    home: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    name = os.fsdecode(b"\xff.wav")
    assert main(["-v", "transcribe", name, "--recognizer", "fake"]) == 3
    assert "Traceback" not in capfd.readouterr().err
    assert "udcff" in (home / "state" / "vivavoce.log").read_text()


def test_text_when_it_is_no_utf8_then_is_spoken_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"Hello \xff\xfe."), "utf-8"))
    out = tmp_path / "out.wav"
    assert main(["say", "-", "-o", str(out), "--voice", "fake"]) == 0
    assert out.stat().st_size > 1000


@pytest.mark.parametrize("name", ["input", "recognizer", "models_dir", "sessions_dir"])
def test_setting_when_it_holds_a_control_character_then_refused(name: str) -> None:
    with pytest.raises(ConfigError, match=f"{name} holds a control character"):
        Settings(**{name: "a\0b"})


@pytest.mark.timeout(20)
@pytest.mark.parametrize("content", [b"a = " + b"[" * 50_000, b"#" * (MAX_SMALL_BYTES + 1), None])
def test_settings_file_when_deep_or_large_or_a_pipe_then_says_which_file(
    home: Path, content: bytes | None
) -> None:
    path = home / "config" / "settings.toml"
    path.parent.mkdir(parents=True)
    if content is None:
        os.mkfifo(path)
    else:
        path.write_bytes(content)
    with pytest.raises(ConfigError, match=r"settings\.toml cannot be read"):
        load_settings(os.environ)


def test_environment_when_a_value_is_no_text_then_refused() -> None:
    with pytest.raises(ConfigError, match="The environment has a wrong value"):
        load_settings({"VIVAVOCE_HOLD_BACK_OWN_VOICE": "\ud800"})


@pytest.mark.parametrize(
    "arguments",
    [
        ("transcribe", "IN", "--format", "txt", "-o", "IN", "--recognizer", "fake"),
        ("transcribe", "IN", "--format", "txt", "-o", "LINK", "--recognizer", "fake"),
        ("codec", "IN", "-o", "IN", "--untrained"),
        ("encode", "IN", "-o", "IN", "--untrained"),
    ],
)
def test_output_when_it_is_the_file_that_is_read_then_refused_and_nothing_is_lost(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...]
) -> None:
    path, link = tmp_path / "talk", tmp_path / "link"
    soundfile.write(path, np.zeros(1600), 16_000, format="WAV")
    link.symlink_to(path)
    before = path.read_bytes()
    names = {"IN": str(path), "LINK": str(link)}
    assert main([names.get(argument, argument) for argument in arguments]) == 2
    assert "is the file that is read" in capsys.readouterr().err
    assert path.read_bytes() == before


def test_speech_when_it_is_to_be_written_under_a_wrong_name_then_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["say", "Hello.", "-o", str(tmp_path / "a.mp3"), "--voice", "fake"]) == 2
    assert "End its name in .wav" in capsys.readouterr().err
    assert not (tmp_path / "a.mp3").exists()


def test_setting_when_a_variable_is_misspelt_then_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("VIVAVOCE_TEXT_SIZE", "30")
    assert main(["say", "Hello.", "--voice", "fake"]) == 2
    assert "unknown setting text_size." in capsys.readouterr().err


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('text_size_pt = "big"', "text_size_pt must be a whole number."),
        ("hold_back_own_voice = 1", "hold_back_own_voice must be true or false."),
        ("input = 3", "input must be text in quotes."),
    ],
)
def test_setting_when_it_is_of_another_kind_then_says_of_which_it_must_be(
    home: Path, capsys: pytest.CaptureFixture[str], line: str, said: str
) -> None:
    path = home / "config" / "settings.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{line}\n")
    assert main(["say", "Hello.", "--voice", "fake"]) == 2
    assert said in capsys.readouterr().err
