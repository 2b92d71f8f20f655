"""Whoever listens to a session may block: what is said is kept all the same, each in its own."""

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.audio.device import InputBlock
from engine.core.events import Event, FinalWords, RecordingStarted, RecordingStopped, SpanMarked
from engine.store.library import SessionLibrary
from tests.helpers.session import (
    RATE,
    ScriptedDevices,
    ScriptedInput,
    SessionBench,
    array_input,
    block,
)

pytestmark = pytest.mark.unit


@pytest.fixture
def is_over() -> Iterator[threading.Event]:
    over = threading.Event()
    yield over
    over.set()


@pytest.fixture
def bench(tmp_path: Path, is_over: threading.Event) -> Iterator[SessionBench]:
    """Two recordings of 4 s, read fast, and a printer whose reader stops at the first words."""
    devices = ScriptedDevices([array_input(4), array_input(4)])
    made = SessionBench(tmp_path, devices)

    def print_or_block(event: Event) -> None:
        if isinstance(event, FinalWords):
            is_over.wait(60)

    made.session.subscribe(print_or_block)
    yield made
    is_over.set()
    made.session.close()
    assert [t.name for t in threading.enumerate() if t.name.startswith("vivavoce")] == []


def record(bench: SessionBench) -> None:
    bench.session.start().result(10)
    assert bench.session.wait_until_stopped(10)


def test_recording_when_a_subscriber_blocks_then_every_word_is_kept_and_nobody_waits(
    bench: SessionBench, tmp_path: Path, is_over: threading.Event
) -> None:
    record(bench)
    began_s = time.monotonic()
    bench.session.stop().result(10)
    assert time.monotonic() - began_s < 5
    # The printer has had one event with words at most by now.
    stored = SessionLibrary(tmp_path).open("last")
    assert stored.header.is_closed
    kept = [event for event in stored.events() if isinstance(event, FinalWords)]
    assert len(kept) > 3
    assert stored.header.num_words == len(bench.session.document.words)
    assert len(bench.told(FinalWords)) <= 1
    is_over.set()
    assert bench.session.drain_events()
    assert [event.words for event in bench.told(FinalWords)] == [event.words for event in kept]
    assert stored.document().text() == bench.session.document.text()


def test_recordings_when_a_subscriber_blocks_meanwhile_then_each_keeps_what_was_said_in_it(
    bench: SessionBench, tmp_path: Path, is_over: threading.Event
) -> None:
    record(bench)
    record(bench)
    assert not is_over.is_set()
    library = SessionLibrary(tmp_path)
    sessions = [library.open(info.id) for info in library.list()]
    assert len(sessions) == 2
    for stored in sessions:
        ids = [
            event.recording_id
            for event in stored.events()
            if isinstance(event, RecordingStarted | RecordingStopped)
        ]
        assert ids == [stored.header.id] * 2
        words = [w for e in stored.events() if isinstance(e, FinalWords) for w in e.words]
        assert len(words) == stored.header.num_words == len(stored.document().words)
        assert max(word.end for word in words) <= 4 * RATE
    assert sessions[0].document().text() == sessions[1].document().text()


@pytest.mark.expects_log
def test_recording_when_its_device_comes_back_in_the_next_one_then_that_hears_nothing_of_it(
    tmp_path: Path, is_over: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.session.recording.CAPTURE_END_S", 0.1)
    is_reached = threading.Event()

    class Hanging(ScriptedInput):
        def read(self) -> InputBlock:
            if not self._blocks:
                is_reached.set()
                is_over.wait(60)
                return block(RATE, lost=RATE)
            return super().read()

    devices = ScriptedDevices([Hanging([block(RATE)]), ScriptedInput([block(RATE)] * 2)])
    bench = SessionBench(tmp_path, devices)
    with bench.session as session:
        session.start().result(10)
        assert is_reached.wait(10)
        (capture,) = (t for t in threading.enumerate() if t.name == "vivavoce-capture")
        session.stop().result(10)
        session.start().result(10)
        is_over.set()
        capture.join(10)
        assert not capture.is_alive()
        session.stop().result(10)
        assert session.document.spans == ()
    assert bench.told(SpanMarked) == []
