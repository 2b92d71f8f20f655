import logging
import threading

import pytest

import engine
from engine.cli.main import main
from engine.core.errors import DeviceError, EngineError


def test_version_when_asked_then_printed(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"vivavoce {engine.__version__}\n"


@pytest.mark.parametrize("command", [[], ["listen"], ["transcribe"], ["say"], ["models", "pull"]])
def test_help_when_asked_then_printed(command, capsys):
    assert main([*command, "--help"]) == 0
    assert "Usage: vivavoce" in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments", [["nothing"], ["listen", "--bogus"], ["transcribe"], ["listen", "--keep", "x"]]
)
def test_arguments_when_wrong_then_status_2_and_the_usage(arguments, capsys):
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "Usage: vivavoce" in captured.err


def test_engine_error_when_raised_then_one_line_and_its_status(capsys, monkeypatch):
    def fail(*_: object) -> None:
        raise DeviceError("It is unplugged.", advice="Plug it in.")

    monkeypatch.setattr("engine.audio.provider.SystemDevices.list_devices", fail)
    assert main(["devices"]) == 3
    assert capsys.readouterr().err == "vivavoce: It is unplugged. Plug it in.\n"


def test_bug_when_raised_then_no_traceback_and_the_log_has_it(capsys, monkeypatch, home, caplog):
    def fail(*_: object) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr("engine.audio.provider.SystemDevices.list_devices", fail)
    assert main(["devices"]) == 5
    err = capsys.readouterr().err
    assert "Traceback" not in err
    assert "a bug" not in err, "the words of such errors are for the log"
    assert "It is not your fault" in err
    assert str(home / "state" / "vivavoce.log") in err
    assert "RuntimeError: a bug" in (home / "state" / "vivavoce.log").read_text()


def test_bug_when_raised_on_another_thread_then_it_is_told_and_logged(
    capsys, monkeypatch, home, caplog
):
    def fail_elsewhere(*_: object) -> tuple[()]:
        thread = threading.Thread(target=lambda: 1 / 0)
        thread.start()
        thread.join()
        return ()

    before = threading.excepthook
    monkeypatch.setattr("engine.audio.provider.SystemDevices.list_devices", fail_elsewhere)
    assert main(["devices"]) == 0
    err = capsys.readouterr().err
    assert "Traceback" not in err
    assert err.count("Something unexpected happened") == 1
    assert "ZeroDivisionError" in (home / "state" / "vivavoce.log").read_text()
    assert threading.excepthook is before


def test_traceback_of_an_engine_error_when_verbose_then_in_the_log_alone(monkeypatch, home, capsys):
    def fail(*_: object) -> None:
        raise EngineError("no")

    monkeypatch.setattr("engine.audio.provider.SystemDevices.list_devices", fail)
    log = home / "state" / "vivavoce.log"
    assert main(["devices"]) == 5
    assert not log.exists()
    assert main(["-v", "devices"]) == 5
    assert "Traceback" in log.read_text()
    assert "Traceback" not in capsys.readouterr().err


def test_log_when_the_command_ends_then_nothing_of_it_stays_behind():
    before = (list(logging.getLogger().handlers), logging.getLogger("engine").level)
    main(["models", "path"])
    assert (list(logging.getLogger().handlers), logging.getLogger("engine").level) == before


def test_settings_file_when_wrong_then_status_2_and_its_name(home, capsys):
    (home / "config").mkdir(parents=True)
    (home / "config" / "settings.toml").write_text("colour = 3\n")
    assert main(["models", "list"]) == 2
    assert "settings.toml has the unknown setting colour" in capsys.readouterr().err


def test_sessions_list_when_empty_then_says_so(capsys):
    assert main(["sessions", "list"]) == 0
    assert "There is no recording in" in capsys.readouterr().err


def test_models_pull_when_the_source_does_not_exist_then_status_2(capsys):
    assert main(["models", "pull", "whisper-tiny.en", "--source", "nowhere"]) == 2
    assert "There is no source nowhere" in capsys.readouterr().err
