"""The command line while time passes: live lines, Ctrl-C, kill -9, the last word."""

import fcntl
import json
import os
import pty
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
import soundfile

from engine.core.resources import resource_path
from engine.store.library import SessionLibrary
from tests.helpers.cli import cli_command, cli_environment, run_cli

FAKES = ("--recognizer", "fake", "--diarizer", "fake")


@contextmanager
def running(*arguments: str, **env: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        cli_command(*arguments),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=cli_environment(**env),
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def wait_for_event(process: subprocess.Popen[str], name: str) -> dict:
    assert process.stdout is not None
    for line in process.stdout:
        event = json.loads(line)
        if event["event"] == name:
            return event
    raise AssertionError(f"no event {name}")


def test_lines_when_listening_live_then_printed_while_it_goes_on():
    with running("listen", "--input", "demo", "--seconds", "9", *FAKES) as process:
        assert process.stdout is not None
        first = process.stdout.readline()
        assert process.poll() is None
        rest, _ = process.communicate(timeout=60)
        assert process.returncode == 0
    assert first.startswith("[00:00:00] A  ")
    assert len(rest.splitlines()) >= 2
    assert rest.splitlines()[-1] < "[00:00:12"


def test_json_when_listening_then_every_line_is_an_event_and_the_words_are_whole():
    said = "alpha bravo charlie delta"
    outcome = run_cli(
        "listen", "--input", "demo", "--fast", "--json", "--recognizer", f"fake:{said}",
        "--diarizer", "fake",
    )  # fmt: skip
    events = [json.loads(line) for line in outcome.lines]
    assert events[0] == {"event": "schema", "version": 1}
    names = [event["event"] for event in events]
    assert names.index("recording_started") < names.index("final_words")
    assert names.index("final_words") < names.index("recording_stopped")
    words = [w["text"] for e in events if e["event"] == "final_words" for w in e["words"]]
    assert "".join(words).split() == said.split()


def test_seconds_when_given_then_the_recording_has_about_that_length():
    outcome = run_cli("listen", "--input", "null", "--seconds", "1.5", "--json", *FAKES)
    assert outcome.status == 0, outcome.err
    stopped = [json.loads(line) for line in outcome.lines if "recording_stopped" in line]
    assert 1.5 <= stopped[0]["num_samples"] / 16_000 < 4


def test_ctrl_c_when_pressed_once_then_stops_with_the_last_words():
    with running("listen", "--input", "demo", "--json", *FAKES) as process:
        wait_for_event(process, "final_words")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        assert process.returncode == 0, err
    events = [json.loads(line) for line in out.splitlines()]
    assert "recording_stopped" in [event["event"] for event in events]
    assert "Traceback" not in err


def test_ctrl_c_when_a_file_is_rendered_then_nothing_is_left_behind(tmp_path):
    folder = tmp_path / "out"
    folder.mkdir()
    text = "A sentence of some words. " * 4000
    with running("say", text, "-o", str(folder / "out.wav"), "--voice", "fake") as process:
        deadline_s = time.monotonic() + 60
        while not list(folder.iterdir()) and time.monotonic() < deadline_s:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "Traceback" not in err
    assert list(folder.iterdir()) == []


def test_kill_when_recording_then_all_but_the_last_second_is_kept_and_listed(home):
    listen = ("listen", "--input", "demo", "--keep", "audio-and-text", "--json", *FAKES)
    with running(*listen) as process:
        wait_for_event(process, "recording_started")
        began_s = time.monotonic()
        wait_for_event(process, "final_words")
        time.sleep(max(0.0, 4.0 - (time.monotonic() - began_s)))
        lived_s = time.monotonic() - began_s
        process.kill()
        process.wait(10)
    sessions = home / "data" / "sessions"
    (info,) = SessionLibrary(sessions).list()
    assert info.duration_s >= lived_s - 1.0
    assert not info.is_closed
    assert info.num_words >= 3
    listed = run_cli("sessions", "list")
    assert listed.status == 0
    assert info.id in listed.out
    assert "broke off" in listed.out
    # What is there can be read, as text and as audio.
    assert len(run_cli("sessions", "show", "last").out.split()) > 3
    (audio,) = sessions.glob(f"{info.id}/*.wav")
    assert audio.stat().st_size >= 32_000 * (lived_s - 1.0)
    assert audio.stat().st_mode & 0o077 == 0


@pytest.mark.models
@pytest.mark.parametrize("command", ["listen", "transcribe"])
def test_last_word_when_it_ends_100_ms_before_the_end_then_is_there(command, tmp_path):
    path = tmp_path / "cut.wav"
    _cut_after_last_word(path)
    if command == "listen":
        outcome = run_cli("listen", "--input", f"file:{path}", timeout_s=200)
    else:
        outcome = run_cli("transcribe", str(path), timeout_s=200)
    assert outcome.status == 0, outcome.err
    assert "something" in outcome.out.lower()


def _cut_after_last_word(path: Path) -> None:
    """Write the end of the demo conversation, cut 100 ms after its last sound."""
    pcm, rate = soundfile.read(resource_path("demo/conversation.flac"), dtype="float32")
    frame = rate // 100
    rms = np.sqrt(np.square(pcm[: len(pcm) // frame * frame].reshape(-1, frame)).mean(axis=1))
    last = np.flatnonzero(rms > 0.02 * rms.max())[-1]
    end = (last + 1) * frame + rate // 10
    soundfile.write(path, pcm[end - 6 * rate : end], rate)


def test_bench_when_short_then_prints_the_speed_of_the_engine():
    outcome = run_cli("bench", "--fakes")
    assert outcome.status == 0, outcome.err
    (figure,) = [line for line in outcome.lines if line.startswith("engine without models")]
    assert float(figure.split()[-5]) > 10


def test_doctor_when_run_then_every_line_is_ok_or_says_what_to_do():
    outcome = run_cli("doctor")
    assert outcome.status in (0, 3)
    assert "Traceback" not in outcome.err
    names = set()
    for line in outcome.lines:
        mark, name, text = line.split(maxsplit=2)
        assert mark in ("ok", "problem")
        assert text
        names.add(name)
    assert {"vivavoce", "python", "settings", "window", "display", "gpu"} <= names
    assert {"model", "voice", "folder", "disk", "recordings"} <= names


def test_tail_when_on_a_terminal_then_rewritten_in_place_until_the_line_is_whole():
    master, slave = pty.openpty()
    listen = cli_command("listen", "--input", "demo", "--seconds", "5", *FAKES)
    with subprocess.Popen(listen, stdout=slave, stderr=subprocess.PIPE, env=cli_environment()) as p:
        os.close(slave)
        shown = _read_to_end(master)
        assert p.wait(60) == 0
    assert "\r\x1b[2K" in shown
    assert "\x1b[2m" in shown  # what may still change is dim
    # Whole lines end with a line break, and what is rewritten does not.
    lines = [line.rpartition("\x1b[2K")[2] for line in shown.split("\r\n")]
    assert len([line for line in lines if line.startswith("[00:00:0")]) >= 2
    assert lines[-1] == ""


def _read_to_end(terminal: int) -> str:
    content = b""
    with os.fdopen(terminal, "rb", buffering=0) as file:
        while True:
            try:
                part = file.read(4096)
            except OSError:  # how Linux says that the other end has closed
                break
            if not part:
                break
            content += part
    return content.decode()


@pytest.mark.skipif(not hasattr(fcntl, "F_SETPIPE_SZ"), reason="pipes have one size here")
def test_listen_when_nobody_reads_what_it_prints_then_every_word_is_kept_and_sigterm_ends_it(
    tmp_path,
):
    reader, writer = os.pipe()
    fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)  # full within a second or two
    arguments = ("listen", "-i", "demo", "--json", "--keep", "audio-and-text", *FAKES)
    command = cli_command(*arguments)
    environment = cli_environment(VIVAVOCE_HOME=str(tmp_path))
    with subprocess.Popen(
        command, stdout=writer, stderr=subprocess.DEVNULL, env=environment
    ) as process:
        os.close(writer)
        library = SessionLibrary(tmp_path / "data" / "sessions")
        try:
            end_s = time.monotonic() + 60
            while not (infos := library.list()) or infos[0].duration_s < 12:
                assert time.monotonic() < end_s
                time.sleep(0.2)
            process.terminate()
            asked_s = time.monotonic()
            process.wait(30)
            took_s = time.monotonic() - asked_s
        finally:
            process.kill()
            os.close(reader)
    (info,) = library.list()
    assert info.is_closed
    document = library.open(info.id).document()
    words, rate = document.words, document.sample_rate
    # To the end of what was recorded, though a few lines at most fit into the pipe.
    assert words[-1].word.end / rate > info.duration_s - 4
    assert took_s < 15  # 3 to 4 s; a busy machine is slower
