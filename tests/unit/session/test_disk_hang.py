"""A disk that does not answer holds up neither sound nor text, nor the end."""

import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from engine.audio.virtual import NullInput
from engine.core.errors import StoreError
from engine.core.events import Event, Notice, Severity, SpanMarked, StateChanged
from engine.core.timebase import MonotonicClock
from engine.session.disk_answer import CALM_S, STALL_S, DiskAnswer
from engine.session.disk_thread import DiskThread
from engine.store.library import SessionLibrary
from tests.helpers.session import RATE, ScriptedDevices, SessionBench

pytestmark = [pytest.mark.unit, pytest.mark.expects_log]
LIMIT_S = 5.0
SLACK_S = 4.0
"""What a machine under load may add."""


class HangingDisk:
    """An fsync that does not return while the disk hangs."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._answers = threading.Event()
        self._answers.set()
        self.is_reached = threading.Event()
        self._fsync = os.fsync
        monkeypatch.setattr(os, "fsync", self._sync)

    def hang(self) -> None:
        self.is_reached.clear()
        self._answers.clear()

    def answer(self) -> None:
        self._answers.set()

    def _sync(self, descriptor: int) -> None:
        if not self._answers.is_set():
            self.is_reached.set()
            self._answers.wait(60)
        self._fsync(descriptor)


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Iterator[HangingDisk]:
    made = HangingDisk(monkeypatch)
    yield made
    made.answer()
    for thread in threading.enumerate():
        if thread.name.startswith("vivavoce"):
            thread.join(10)
    assert [t.name for t in threading.enumerate() if t.name.startswith("vivavoce")] == []


@pytest.fixture
def make(tmp_path: Path, disk: HangingDisk) -> Iterator[Callable[[], SessionBench]]:
    benches: list[SessionBench] = []

    def build() -> SessionBench:
        clock = MonotonicClock()
        devices = ScriptedDevices([NullInput(clock, RATE) for _ in range(3)])
        benches.append(SessionBench(tmp_path, devices))
        return benches[-1]

    yield build
    disk.answer()
    for bench in benches:
        bench.session.close()


def until(condition: Callable[[], object], timeout_s: float = 20.0) -> None:
    end_s = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < end_s, "it did not happen in time"
        threading.Event().wait(0.005)


def told(bench: SessionBench, text: str) -> list[Notice]:
    return [event for event in bench.told(Notice) if text in event.message]


def record_on_hanging_disk(bench: SessionBench, disk: HangingDisk) -> None:
    bench.session.start().result(10)
    until(lambda: bench.session.recorded_s() > 0.3)
    disk.hang()
    assert disk.is_reached.wait(10)


def test_recording_when_the_disk_hangs_for_a_while_then_told_and_nothing_is_lost(
    make: Callable[[], SessionBench], disk: HangingDisk, tmp_path: Path, monkeypatch
) -> None:
    monkeypatch.setattr("engine.session.disk_answer.STALL_S", 1.2)
    monkeypatch.setattr("engine.session.disk_answer.CALM_S", 0.25)
    bench = make()
    record_on_hanging_disk(bench, disk)
    recorded_s, num_words = bench.session.recorded_s(), len(bench.session.document.words)
    until(lambda: told(bench, "does not answer"))
    until(lambda: bench.session.recorded_s() > recorded_s + 1.5)
    until(lambda: len(bench.session.document.words) > num_words + 1)
    disk.answer()
    until(lambda: told(bench, "answers again"))
    bench.session.stop().result(20)

    notices = [(n.severity, n.message) for n in bench.told(Notice)]
    assert [severity for severity, _ in notices] == [Severity.WARNING, Severity.INFO], notices
    assert bench.told(SpanMarked) == []
    stored = SessionLibrary(tmp_path).open("last")
    assert stored.header.is_closed
    assert stored.document().text() == bench.session.document.text()
    assert stored.audio_path is not None
    assert stored.audio_path.stat().st_size == 44 + 2 * stored.header.num_samples


def test_close_when_the_disk_hangs_then_in_time_and_the_session_is_left_to_be_recovered(
    make: Callable[[], SessionBench], disk: HangingDisk, tmp_path: Path
) -> None:
    bench = make()
    record_on_hanging_disk(bench, disk)
    until(lambda: bench.session.recorded_s() > 1.5)
    began_s = time.monotonic()
    bench.session.close()
    assert time.monotonic() - began_s < LIMIT_S + SLACK_S

    stored = SessionLibrary(tmp_path).open("last")
    assert not stored.header.is_closed
    (notice,) = told(bench, "not whole")
    assert notice.severity is Severity.ERROR
    assert "disk" in bench.told(StateChanged)[-1].detail
    # Written it is: what was said can be read, whatever becomes of the process.
    assert stored.document().text() == bench.session.document.text()


def test_stop_when_the_disk_hangs_then_waits_and_says_so_and_finishes_when_it_answers(
    make: Callable[[], SessionBench], disk: HangingDisk, tmp_path: Path, monkeypatch
) -> None:
    monkeypatch.setattr("engine.session.keeping.END_S", 1.5)
    monkeypatch.setattr("engine.session.keeping.BEGIN_S", 0.1)
    bench = make()
    record_on_hanging_disk(bench, disk)
    bench.session.stop().result(20)
    bench.session.drain_events()
    assert any(state.detail == "waiting for the disk" for state in bench.told(StateChanged))
    assert len(told(bench, "not whole")) == 1
    assert not SessionLibrary(tmp_path).open("last").header.is_closed
    with pytest.raises(StoreError, match="does not answer, so no recording can be kept"):
        bench.session.start().result(20)

    disk.answer()
    until(lambda: told(bench, "is whole in"))
    (info,) = SessionLibrary(tmp_path).list()
    assert info.is_closed
    bench.session.start().result(20)
    until(lambda: bench.session.recorded_s() > 0.2)
    bench.session.stop().result(20)
    assert all(info.is_closed for info in SessionLibrary(tmp_path).list())
    assert len(SessionLibrary(tmp_path).list()) == 2


def test_listening_back_when_the_disk_does_not_write_then_the_newest_sound_is_there(
    make: Callable[[], SessionBench], monkeypatch
) -> None:
    is_over = threading.Event()
    bench = make()
    bench.session.start().result(10)
    monkeypatch.setattr(
        "engine.store.held_file.HeldFile.write", lambda _file: is_over.wait(60) and None
    )
    try:
        until(lambda: bench.session.recorded_s() > 1.0)
        newest = bench.session._recorder.audio
        assert newest is not None
        audio = newest.open()
        assert audio.end > RATE // 2
        assert len(audio.read(RATE // 4, RATE // 4)) == RATE // 4
        audio.close()
    finally:
        is_over.set()
        monkeypatch.undo()


def test_answer_when_the_disk_is_slow_again_and_again_then_told_once_until_it_is_well() -> None:
    busy_s, events = [0.0], list[Event]()
    answer = DiskAnswer(Path("/recordings"), lambda: busy_s[0], events.append)

    def look(*values: float) -> None:
        for value in values:
            busy_s[0] = value
            answer.look(CALM_S / 2)

    look(0.0, STALL_S, STALL_S + 0.1, 60.0)
    # It answers in between, and hangs again.
    look(0.1, STALL_S + 1, 0.0, STALL_S + 1)
    assert [event.severity for event in events] == [Severity.WARNING]
    assert "/recordings" in events[0].message
    assert answer.is_missing
    look(0.0, 0.0)
    assert [event.severity for event in events] == [Severity.WARNING, Severity.INFO]
    assert not answer.is_missing
    look(STALL_S + 1)
    assert len(events) == 3


def test_thread_when_its_work_fails_then_told_once_and_goes_on() -> None:
    events: list[Event] = []
    turns: list[int] = []

    def work() -> None:
        turns.append(len(turns))
        raise ZeroDivisionError

    thread = DiskThread("vivavoce-journal", work, 60.0, events.append)
    thread.start()
    assert thread.wait(10)
    assert thread.wait(10)
    assert len(events) == 1
    assert len(turns) >= 2
    thread.end()
    assert thread.join(10)
    assert thread.wait(10)


def test_thread_when_it_is_to_end_while_it_works_then_ends_after_that() -> None:
    is_working, is_over = threading.Event(), threading.Event()

    def work() -> None:
        is_working.set()
        is_over.wait(60)

    thread = DiskThread("vivavoce-journal", work, 60.0, lambda _: None)
    thread.start()
    thread.ask()
    assert is_working.wait(10)
    assert not thread.wait(0.01)
    assert thread.busy_s > 0.0
    thread.end()
    assert not thread.join(0.01)
    is_over.set()
    assert thread.join(10)
