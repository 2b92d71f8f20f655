"""Faults that nobody foresaw in the engine's threads: told once, never in silence."""

from pathlib import Path

import pytest

from engine.core.errors import DeviceError
from engine.core.events import Notice, Severity
from engine.core.unexpected import MESSAGE, UnexpectedError, told
from engine.pipeline.bus import EventBus
from engine.session.disk import DiskHooks, DiskWatch
from tests.helpers.session import ScriptedDevices, SessionBench, array_input


def test_error_when_told_then_only_words_for_people_are_passed_on():
    known = DeviceError("It is unplugged.", advice="Plug it in.")
    assert told(known) is known
    unknown = told(ValueError("what somebody said"))
    assert isinstance(unknown, UnexpectedError)
    assert "somebody" not in unknown.text
    assert "the log has the details" in unknown.text


def test_subscriber_when_it_breaks_down_then_the_others_are_told_once(caplog):
    bus, heard = EventBus(), []

    def broken(event: object) -> None:
        raise ZeroDivisionError

    bus.subscribe(broken)
    bus.subscribe(heard.append)
    for number in range(3):
        bus.post(Notice(Severity.INFO, f"Number {number}."))
    bus.drain()
    bus.drain()
    bus.close()
    assert [n.message for n in heard] == ["Number 0.", "Number 1.", "Number 2.", MESSAGE]
    assert "an event subscriber failed" in caplog.text


class _BrokenDevices(ScriptedDevices):
    """Breaks down where a device is opened."""

    def open_input(self, name):
        raise ZeroDivisionError(f"{name} by zero")


def test_start_when_it_breaks_down_then_is_told_once_and_the_session_lives(tmp_path, caplog):
    bench = SessionBench(tmp_path, _BrokenDevices([array_input(1)]))
    with bench.session as session:
        with pytest.raises(UnexpectedError):
            session.start().result(10)
        session.drain_events()
        (notice,) = bench.told(Notice)
        assert notice.message.startswith(f"Recording could not start: {MESSAGE}")
        assert "by zero" not in notice.message
        assert "by zero" in caplog.text


def test_order_when_it_breaks_down_and_nobody_waits_then_is_told_and_logged(
    tmp_path, caplog, monkeypatch
):
    bench = SessionBench(tmp_path, ScriptedDevices([array_input(1)]))

    def fail(_: object) -> None:
        raise ZeroDivisionError("pausing by zero")

    monkeypatch.setattr("engine.session.recorder.Recorder.pause", fail)
    with bench.session as session:
        session.pause().exception(10)
        # Orders are carried out one after the other: the one before has been told by then.
        session.resume().result(10)
        session.drain_events()
        assert [n.message for n in bench.told(Notice)] == [MESSAGE]
    assert "pausing by zero" in caplog.text


def test_watch_over_the_disk_when_it_breaks_down_then_the_user_is_told_to_look(tmp_path, caplog):
    told_of: list[Notice] = []

    def fail(_: Path) -> int:
        raise ZeroDivisionError

    watch = DiskWatch(tmp_path, 32_000.0, DiskHooks(told_of.append, lambda: None), fail)
    for _ in range(20):
        watch.look()
    (notice,) = told_of
    assert "free disk space" in notice.message
    assert "200.0 MB" in notice.advice
    assert "the watch over the disk ended" in caplog.text
