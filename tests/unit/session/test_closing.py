"""A session ends within five seconds, whatever does not return."""

import threading
import time
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from engine.audio.device import InputBlock
from engine.audio.virtual_output import NullOutput
from engine.backends.fake_recognizer import FakeRecognizer
from engine.core.config import KeepPolicy
from engine.core.errors import EngineError
from engine.core.events import (
    Notice,
    RecordingStarted,
    RecordingStopped,
    SessionState,
    SpanMarked,
    StateChanged,
)
from engine.core.timebase import MonotonicClock
from engine.core.types import BackendKind, SpanKind
from engine.store.library import SessionLibrary
from tests.helpers.session import RATE, ScriptedDevices, ScriptedInput, SessionBench, block

pytestmark = [pytest.mark.unit, pytest.mark.expects_log]
LIMIT_S = 5.0
SLACK_S = 4.0
"""What a machine under load may add."""


class Hang:
    """Does not return until the test is over."""

    def __init__(self) -> None:
        self.is_reached = threading.Event()
        self._over = threading.Event()

    def __call__(self) -> None:
        self.is_reached.set()
        self._over.wait(60)

    def end(self) -> None:
        self._over.set()


@pytest.fixture
def hang() -> Iterator[Hang]:
    made = Hang()
    yield made
    made.end()
    for thread in threading.enumerate():
        if thread.name.startswith("vivavoce"):
            thread.join(10)
    assert [t.name for t in threading.enumerate() if t.name.startswith("vivavoce")] == []


def hanging_recognizer(hang: Hang, after: int = 0) -> FakeRecognizer:
    class Hanging(FakeRecognizer):
        def open_stream(self):
            stream = super().open_stream()
            push, heard = stream.push, [0]

            def wait_and_push(pcm):
                heard[0] += len(pcm)
                if heard[0] > after:
                    hang()
                return push(pcm)

            stream.push = wait_and_push
            return stream

    return Hanging()


class HangingDevices(ScriptedDevices):
    def __init__(self, hang: Hang, inputs=(), *, at_output: bool = False) -> None:
        super().__init__(inputs)
        self._hang = hang
        self._at_output = at_output

    def open_input(self, name: str):
        stream = super().open_input(name)
        if not self._at_output:
            self._hang()
        return stream

    def open_output(self, name: str):
        if self._at_output:
            self._hang()
        return NullOutput(MonotonicClock(), RATE)


class HangingInput(ScriptedInput):
    def __init__(self, hang: Hang, blocks) -> None:
        super().__init__(blocks)
        self._hang = hang

    def read(self) -> InputBlock:
        if not self._blocks:
            self._hang()
            return InputBlock(np.zeros(0, np.float32))
        return super().read()


def until(condition: Callable[[], object]) -> None:
    for _ in range(2000):
        if condition():
            return
        threading.Event().wait(0.005)
    raise TimeoutError("it did not happen in time")


def close_in_time(bench: SessionBench) -> float:
    began_s = time.monotonic()
    bench.session.close()
    took_s = time.monotonic() - began_s
    assert took_s < LIMIT_S + SLACK_S
    return took_s


def test_close_when_a_lane_never_returns_then_the_journal_is_closed_and_the_rest_is_marked(
    tmp_path, hang
):
    bench = SessionBench(
        tmp_path,
        ScriptedDevices([ScriptedInput([block(RATE)] * 5)]),
        makers={BackendKind.RECOGNIZER: lambda: hanging_recognizer(hang, after=RATE)},
    )
    bench.session.start().result(10)
    assert hang.is_reached.wait(10)
    until(lambda: bench.session.recorded_s() >= 5)
    close_in_time(bench)

    stopped = bench.told(RecordingStopped)
    assert [each.num_samples for each in stopped] == [5 * RATE]
    last = bench.told(StateChanged)[-1]
    assert (last.state, "did not return" in last.detail) == (SessionState.CLOSED, True)
    (mark,) = (m for m in bench.told(SpanMarked) if m.kind is SpanKind.UNTRANSCRIBED)
    assert mark.end == 5 * RATE
    stored = SessionLibrary(tmp_path).open("last")
    assert stored.header.is_closed
    assert stored.document().spans == (mark,)
    assert bench.session._recorder.wait_until_idle(0)


def test_stop_when_a_lane_never_returns_and_the_rest_is_discarded_then_the_next_one_works(
    tmp_path, hang
):
    made = iter([hanging_recognizer(hang), FakeRecognizer()])
    bench = SessionBench(
        tmp_path,
        ScriptedDevices([ScriptedInput([block(RATE)] * 2), ScriptedInput([block(RATE)] * 3)]),
        makers={BackendKind.RECOGNIZER: lambda: next(made)},
    )
    bench.session.start().result(10)
    assert hang.is_reached.wait(10)
    bench.session.stop(discard_backlog=True).result(20)
    bench.session.drain_events()
    assert any("given up" in notice.message for notice in bench.told(Notice))
    assert bench.session.state is SessionState.IDLE

    bench.session.start().result(10)
    until(lambda: bench.session.recorded_s() >= 3)
    bench.session.stop().result(20)
    assert len(bench.session.document.words) > 0
    close_in_time(bench)


def test_close_when_the_input_never_opens_then_nothing_begins_afterwards(tmp_path, hang):
    source = ScriptedInput([block(RATE)])
    bench = SessionBench(tmp_path, HangingDevices(hang, [source]))
    starting = bench.session.start()
    assert hang.is_reached.wait(10)
    close_in_time(bench)
    assert bench.session.wait_until_stopped(0)

    hang.end()
    with pytest.raises(EngineError, match="closed"):
        starting.result(10)
    assert source.is_closed
    assert bench.told(RecordingStarted) == []
    assert list(tmp_path.iterdir()) == []


def test_close_when_the_input_never_answers_then_what_it_gave_is_kept(tmp_path, hang):
    source = HangingInput(hang, [block(RATE)] * 3)
    bench = SessionBench(tmp_path, ScriptedDevices([source]))
    bench.session.start().result(10)
    assert hang.is_reached.wait(10)
    close_in_time(bench)

    assert [each.num_samples for each in bench.told(RecordingStopped)] == [3 * RATE]
    stored = SessionLibrary(tmp_path).open("last")
    assert stored.header.is_closed
    assert stored.header.num_samples == 3 * RATE


def test_close_when_a_model_never_loads_then_the_recording_is_kept(tmp_path, hang):
    class Hanging(FakeRecognizer):
        def load(self, progress, cancel):
            hang()
            super().load(progress, cancel)

    bench = SessionBench(
        tmp_path,
        ScriptedDevices([ScriptedInput([block(RATE)] * 2)]),
        makers={BackendKind.RECOGNIZER: Hanging},
    )
    bench.session.load()
    bench.session.start().result(10)
    until(lambda: bench.session.recorded_s() >= 2)
    close_in_time(bench)

    assert [each.num_samples for each in bench.told(RecordingStopped)] == [2 * RATE]
    assert SessionLibrary(tmp_path).open("last").header.is_closed
    assert not any("There is no recognizer" in notice.message for notice in bench.told(Notice))


def test_close_when_the_loudspeaker_never_opens_then_ends_in_time(tmp_path, hang):
    bench = SessionBench(tmp_path, HangingDevices(hang, at_output=True))
    bench.session.speak("Hello.")
    assert hang.is_reached.wait(10)
    close_in_time(bench)

    assert bench.told(StateChanged)[-1].state is SessionState.CLOSED


def test_close_when_a_subscriber_never_returns_then_the_journal_is_closed(tmp_path, hang):
    bench = SessionBench(tmp_path, ScriptedDevices([ScriptedInput([block(RATE)] * 2)]))
    bench.session.start().result(10)
    until(lambda: bench.session.recorded_s() >= 2)
    bench.session.subscribe(lambda _event: hang())
    bench.session.speak("Hello.")
    assert hang.is_reached.wait(10)
    close_in_time(bench)

    assert SessionLibrary(tmp_path).open("last").header.is_closed


def test_commands_when_the_session_is_closed_then_are_refused(tmp_path):
    bench = SessionBench(tmp_path, ScriptedDevices())
    bench.session.close()
    for command in (bench.session.start, bench.session.pause, bench.session.stop):
        with pytest.raises(EngineError, match="closed"):
            command().result(5)


def test_stop_when_no_block_has_come_then_there_was_no_recording(tmp_path):
    bench = SessionBench(tmp_path, ScriptedDevices([ScriptedInput([])]))
    bench.session.start().result(10)
    bench.session.stop().result(10)
    bench.session.close()

    assert bench.told(RecordingStarted) == []
    assert bench.told(RecordingStopped) == []
    states = [each.state for each in bench.told(StateChanged)]
    assert states == [
        SessionState.STARTING,
        SessionState.STOPPING,
        SessionState.IDLE,
        SessionState.CLOSED,
    ]
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


@pytest.mark.parametrize("keep", list(KeepPolicy))
def test_close_when_it_is_paused_then_the_recording_is_whole(tmp_path, keep):
    bench = SessionBench(tmp_path, ScriptedDevices([ScriptedInput([block(RATE)] * 2)]), keep=keep)
    bench.session.start().result(10)
    until(lambda: bench.session.recorded_s() >= 2)
    bench.session.pause().result(10)
    bench.session.close()

    assert [each.num_samples for each in bench.told(RecordingStopped)] == [2 * RATE]
