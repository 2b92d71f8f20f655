"""A session is given commands in every order; whatever they are, it keeps its promises."""

import itertools
import logging
import shutil
import tempfile
import threading
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from engine.audio.device import DeviceInfo, InputBlock
from engine.audio.virtual_output import NullOutput
from engine.backends.fake_synthesizer import SynthesizerScript
from engine.core.config import KeepPolicy
from engine.core.errors import DeviceError, EngineError
from engine.core.events import (
    ActivityRevised,
    FinalWords,
    Notice,
    PartialWords,
    RecordingStarted,
    RecordingStopped,
    SessionState,
    Severity,
    SpanMarked,
    SpeakerRenamed,
    StateChanged,
)
from engine.core.timebase import MonotonicClock
from engine.core.types import BackendKind, SpanKind
from engine.store.library import SessionLibrary
from tests.helpers.coded_speech import (
    RATE,
    VOICED_SAMPLES,
    WORD_SAMPLES,
    CodedDiarizer,
    CodedRecognizer,
    coded_pcm,
    numbers_told,
)
from tests.helpers.session import SessionBench

S = SessionState
FOLLOWS = {
    S.IDLE: {S.STARTING, S.CLOSED},
    S.STARTING: {S.RECORDING, S.STOPPING, S.IDLE},
    S.RECORDING: {S.PAUSED, S.STOPPING},
    S.PAUSED: {S.RECORDING, S.STOPPING},
    S.STOPPING: {S.STOPPING, S.IDLE},
    S.CLOSED: set(),
}
BLOCK = 1600


class Microphone:
    """Says coded words as fast as it is read; ends by itself, or is lost, if it is to."""

    is_live = True
    name = "coded microphone"
    sample_rate = RATE
    num_overflows = 0

    def __init__(self, num_blocks: int, *, is_lost: bool = False) -> None:
        self._pcm = coded_pcm(num_blocks * BLOCK // WORD_SAMPLES + 1)
        self._left = num_blocks
        self._at = 0
        self._is_lost = is_lost
        self._is_running = False

    def start(self) -> None:
        self._is_running = True

    def read(self) -> InputBlock:
        if not self._is_running:
            return InputBlock(np.zeros(0, np.float32))
        if self._left == 0:
            if self._is_lost:
                raise DeviceError("It was unplugged.")
            return InputBlock(np.zeros(0, np.float32), is_end=True)
        self._left -= 1
        self._at += BLOCK
        return InputBlock(self._pcm[self._at - BLOCK : self._at])

    def pause(self) -> None:
        self._is_running = False

    def close(self) -> None:
        self._is_running = False


class Devices:
    """Opens what a name begins with, each name once: what was lost stays away."""

    def __init__(self) -> None:
        self._opened: set[str] = set()

    def list_devices(self) -> tuple[DeviceInfo, ...]:
        return ()

    def open_input(self, name: str) -> Microphone:
        if name in self._opened:
            raise DeviceError("It is still away.")
        self._opened.add(name)
        match name.partition(" ")[0]:
            case "missing":
                raise DeviceError("There is no microphone.")
            case "short":
                return Microphone(7)
            case "lost":
                return Microphone(5, is_lost=True)
        return Microphone(3000)

    def open_output(self, name: str) -> NullOutput:
        return NullOutput(MonotonicClock(), RATE)


class LifeCycle(RuleBasedStateMachine):
    """Commands as a hasty user gives them: most are not waited for."""

    @initialize(keep=st.sampled_from(list(KeepPolicy)), is_slow=st.booleans())
    def open(self, keep: KeepPolicy, is_slow: bool) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="vivavoce-life-"))
        self.numbers = itertools.count()
        self.has_discarded = self.is_closed = False
        self.keep = keep

        def dawdle(start: int, block: object) -> None:
            if is_slow:
                threading.Event().wait(0.02)

        self.bench = SessionBench(
            self.folder,
            Devices(),
            keep=keep,
            synthesizer=SynthesizerScript(),
            makers={
                BackendKind.RECOGNIZER: lambda: CodedRecognizer(dawdle),
                BackendKind.DIARIZER: CodedDiarizer,
            },
            hold_back_own_voice=False,
        )
        self.session = self.bench.session
        self.futures: list = []

    def order(self, future) -> None:
        self.futures.append(future)

    @rule(source=st.sampled_from(["endless", "short", "lost", "missing"]))
    def start(self, source: str) -> None:
        self.order(self.session.start(f"{source} {next(self.numbers)}"))

    @rule()
    def pause(self) -> None:
        self.order(self.session.pause())

    @rule()
    def resume(self) -> None:
        self.order(self.session.resume())

    @rule()
    def stop(self) -> None:
        self.order(self.session.stop())

    @rule()
    def stop_at_once(self) -> None:
        self.has_discarded = True
        self.order(self.session.stop(discard_backlog=True))

    @rule()
    def stop_and_wait(self) -> None:
        future = self.session.stop()
        if not self.is_closed:
            future.result(20)

    @rule(text=st.sampled_from(["Hello.", "One. Two. Three. Four. Five."]))
    def speak(self, text: str) -> None:
        self.session.speak(text)

    @rule()
    def pause_speaking(self) -> None:
        self.session.pause_speaking()

    @rule()
    def replay(self) -> None:
        self.session.replay_speech()

    @rule()
    def stop_speaking(self) -> None:
        self.session.stop_speaking()

    @rule(start=st.integers(0, 2 * RATE), end=st.one_of(st.none(), st.integers(0, 3 * RATE)))
    def play(self, start: int, end: int | None) -> None:
        self.session.play(start, end)

    @rule()
    def stop_playing(self) -> None:
        self.session.stop_playing()

    @rule(name=st.text(max_size=5))
    def rename(self, name: str) -> None:
        self.session.edit([SpeakerRenamed(0, 0, name)])

    @rule()
    def load(self) -> None:
        self.session.load()

    @rule()
    def look(self) -> None:
        self.session.health()
        self.session.levels()
        self.session.playing_at()

    @rule(tenths=st.integers(1, 2))
    def let_time_pass(self, tenths: int) -> None:
        threading.Event().wait(tenths / 10)

    @precondition(lambda self: not self.is_closed)
    @rule()
    def close(self) -> None:
        self.is_closed = True
        self.session.close()

    @invariant()
    def states_follow_each_other(self) -> None:
        if not hasattr(self, "bench"):
            return
        states = [event.state for event in self.bench.told(StateChanged)]
        for before, after in zip([S.IDLE, *states], states, strict=False):
            assert after in FOLLOWS[before], f"{after} after {before}: {states}"

    def teardown(self) -> None:
        if not hasattr(self, "bench"):
            return
        self.session.close()
        try:
            self._check()
        finally:
            shutil.rmtree(self.folder)

    def _check(self) -> None:
        assert self.bench.told(StateChanged)[-1].state is S.CLOSED
        self.states_follow_each_other()
        left = [t.name for t in threading.enumerate() if t.name.startswith("vivavoce")]
        assert left == []
        for future in self.futures:
            error = future.exception(5) if not future.cancelled() else None
            assert error is None or isinstance(error, EngineError)
        started = [event.recording_id for event in self.bench.told(RecordingStarted)]
        stopped = [event.recording_id for event in self.bench.told(RecordingStopped)]
        assert started == stopped
        for recording in self._recordings():
            self._check_words(recording)
        self._check_kept(started)

    def _recordings(self) -> list[list]:
        """Return the events of each recording, from its start to the next."""
        parts: list[list] = []
        for event in self.bench.events:
            if isinstance(event, RecordingStarted):
                parts.append([])
            if parts:
                parts[-1].append(event)
        return parts

    def _check_words(self, events: list) -> None:
        (at,) = (i for i, event in enumerate(events) if isinstance(event, RecordingStopped))
        late = [
            event
            for event in events[at:]
            if isinstance(event, FinalWords | PartialWords | ActivityRevised | SpanMarked)
        ]
        assert late == []
        told = numbers_told(events)
        assert told == sorted(told)
        pauses = {
            event.start // WORD_SAMPLES
            for event in events
            if isinstance(event, SpanMarked) and event.kind is SpanKind.PAUSE
        }
        # A word in whose middle somebody pauses is heard in two parts.
        assert all(told.count(number) == 1 or number in pauses for number in told)
        length = events[at].num_samples
        is_cut = self.has_discarded or any(
            isinstance(event, Notice) and event.severity is Severity.ERROR for event in events
        )
        marked = [
            event
            for event in events
            if isinstance(event, SpanMarked) and event.kind is not SpanKind.PAUSE
        ]
        for number in range((length - VOICED_SAMPLES) // WORD_SAMPLES + 1):
            middle = number * WORD_SAMPLES + VOICED_SAMPLES // 2
            assert (
                number in told or is_cut or any(mark.start <= middle < mark.end for mark in marked)
            ), f"word {number} of {length} samples was neither told nor marked"

    def _check_kept(self, started: list[str]) -> None:
        stored = {each.id: each for each in SessionLibrary(self.folder).list()}
        kept = started if self.keep is not KeepPolicy.NOTHING else []
        assert set(stored) == set(kept)
        assert all(each.is_closed for each in stored.values())


@pytest.fixture(autouse=True)
def _quiet(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.ERROR)


TestLifeCycle = pytest.mark.property(pytest.mark.expects_log(LifeCycle.TestCase))
TestLifeCycle.settings = settings(
    max_examples=25,
    stateful_step_count=15,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)
