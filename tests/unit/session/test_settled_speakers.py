"""An encoder beside the diarizer: its windows settle who spoke."""

import threading

import numpy as np
import pytest

from engine.backends.fake_diarizer import DiarizerScript
from engine.backends.fake_diarizer import Turn as ScriptedTurn
from engine.backends.protocols import BackendSpec
from engine.core.errors import BackendError
from engine.core.events import (
    ActivityRevised,
    BackendChanged,
    BackendState,
    Notice,
    Severity,
    SpanMarked,
)
from engine.core.types import BackendKind
from engine.store.library import SessionLibrary
from tests.helpers.session import RATE, ScriptedDevices, SessionBench, array_input

WINDOW = 4 * RATE
FRAMES = 50


class ScriptedEncoder:
    """Settles windows of 4 s: its slot 0 speaks in the first half, slot 1 in the second."""

    spec = BackendSpec(
        id="scripted",
        title="Scripted encoder",
        kinds=(BackendKind.ENCODER, BackendKind.DIARIZER),
        sample_rate=RATE,
        frame_ms=80,
        is_trained=False,
    )

    def __init__(self, fail_at: int | None = None, must_come_after: threading.Event | None = None):
        self.fail_at = fail_at
        self.is_closed = False
        self._gate = must_come_after

    def load(self, progress, cancel) -> None:
        if self._gate is not None:
            self._gate.wait(5)

    def close(self) -> None:
        self.is_closed = True

    def open_stream(self):
        return ScriptedEncoderStream(self)


class ScriptedEncoderStream:
    def __init__(self, encoder: ScriptedEncoder) -> None:
        self._encoder = encoder
        self._num_samples = self._num_told = 0

    def push(self, block):
        self._num_samples += len(block)
        fail_at = self._encoder.fail_at
        if fail_at is not None and self._num_samples >= fail_at:
            self._encoder.fail_at = None
            raise BackendError("It broke.")
        events = []
        while self._num_samples >= (self._num_told + 1) * WINDOW:
            rows = np.full((FRAMES, 2), 0.05, np.float32)
            rows[:25, 0] = rows[25:, 1] = 0.95
            first = self._num_told * FRAMES
            events.append(ActivityRevised(first, 80, rows, first + FRAMES, is_settled=True))
            self._num_told += 1
        return events

    def flush(self):
        return []

    def close(self) -> None:
        pass


def live_turns(*slots: int) -> DiarizerScript:
    """Return live turns of 2 s."""
    turns = [ScriptedTurn(slot, 20 * i, 20 * (i + 1)) for i, slot in enumerate(slots)]
    return DiarizerScript(turns=tuple(turns), num_speakers=4, late_frames=0)


@pytest.fixture
def make(tmp_path):
    benches = []

    def build(**options) -> SessionBench:
        devices = ScriptedDevices([array_input(8)])
        benches.append(SessionBench(tmp_path / "sessions", devices, **options))
        return benches[-1]

    yield build
    for bench in benches:
        bench.session.close()


def after_live_rows(bench: SessionBench) -> threading.Event:
    """Return what happens once the diarizer has told of 6 s."""
    heard = threading.Event()

    def take(event) -> None:
        is_live = isinstance(event, ActivityRevised) and not event.is_settled
        if is_live and event.first_frame + len(event.probabilities) >= 60:
            heard.set()

    bench.session.subscribe(take)
    return heard


@pytest.mark.unit
def test_settled_rows_when_slots_differ_come_on_the_live_ones_and_stay(make, tmp_path):
    encoder = ScriptedEncoder()
    bench = make(diarizer=live_turns(2, 1, 2, 1), encoder=encoder)
    encoder._gate = after_live_rows(bench)
    bench.run()

    told = [event for event in bench.told(ActivityRevised) if event.is_settled]
    assert told
    assert all(event.epoch == 0 for event in told)
    track = bench.session.document.activity
    assert int(track.rows(5, 6)[0].argmax()) == 2
    assert int(track.rows(30, 31)[0].argmax()) == 1
    np.testing.assert_allclose(track.rows(5, 6)[0].max(), 0.95, atol=1e-3)
    stored = SessionLibrary(tmp_path / "sessions").open("last").document().activity
    np.testing.assert_allclose(stored.rows(0, 80), track.rows(0, 80), atol=2e-3)


@pytest.mark.unit
def test_settled_rows_when_there_is_no_diarizer_are_the_only_ones(make):
    bench = make(encoder=ScriptedEncoder(), has_diarizer=False)
    bench.run()

    track = bench.session.document.activity
    assert (track.num_frames, track.frame_ms, track.live_until) == (100, 80, 0)
    assert [int(row.argmax()) for row in track.rows(0, 100)[10::25]] == [0, 1, 0, 1]
    changes = [e for e in bench.told(BackendChanged) if e.kind is BackendKind.ENCODER]
    assert changes[-1].state is BackendState.READY
    assert not bench.session.document.is_trained


@pytest.mark.unit
def test_encoder_when_it_fails_once_starts_anew_and_the_rest_is_settled(make, caplog):
    bench = make(encoder=ScriptedEncoder(fail_at=2 * RATE), diarizer=live_turns(0, 1, 0, 1))
    bench.run()

    assert any(event.is_settled for event in bench.told(ActivityRevised))
    assert not [n for n in bench.told(Notice) if n.severity is Severity.ERROR]
    assert not bench.told(SpanMarked), "the words are all there"
    assert len(bench.session.document.words) > 0


@pytest.mark.unit
def test_encoder_when_none_is_chosen_has_no_lane(make):
    bench = make()
    names: set[str] = set()
    bench.session.subscribe(lambda event: names.update(t.name for t in threading.enumerate()))
    bench.run()

    assert "vivavoce-diarizer" in names
    assert "vivavoce-encoder" not in names
