"""A GPU that fails in the middle of a recording."""

import threading

import pytest

from engine.backends.protocols import ON_CPU, BackendContext
from engine.core.errors import ComputeDeviceError, ModelLoadError
from engine.core.events import ActivityRevised, BackendChanged, BackendState, Notice, SpanMarked
from engine.core.types import BackendKind, Pcm
from engine.session.services import Services
from engine.session.session import Session
from tests.helpers.coded_speech import RATE, CodedDiarizer, CodedRecognizer, coded_pcm, numbers_told
from tests.helpers.session import ScriptedDevices, ScriptedInput, SessionBench, block

pytestmark = [pytest.mark.unit, pytest.mark.expects_log]
NUM_WORDS = 40


class GpuBench(SessionBench):
    """Backends that are made for a GPU unless they are told not to."""

    def __init__(self, tmp_path, kind: BackendKind, *, has_cpu: bool = True) -> None:
        pcm = coded_pcm(NUM_WORDS)
        source = ScriptedInput([block(pcm[at : at + RATE]) for at in range(0, len(pcm), RATE)])
        super().__init__(tmp_path, ScriptedDevices([source]))
        self.closed: list[str] = []
        made = {BackendKind.RECOGNIZER: CodedRecognizer, BackendKind.DIARIZER: CodedDiarizer}

        def fail(start: int, pcm: Pcm) -> None:
            if start + len(pcm) > 6 * RATE:
                raise ComputeDeviceError("The GPU is out of memory.")

        def create(asked: BackendKind, _id: str, context: BackendContext):
            if asked is not kind:
                return made[asked]()
            if ON_CPU in context.options:
                if not has_cpu:
                    raise ModelLoadError("It is too large.")
                return made[asked]()
            backend = made[asked](fail, device="Test GPU")
            backend.close = lambda: self.closed.append("Test GPU")
            return backend

        self.session.close()
        self.events.clear()
        self.session = Session(
            self.session.settings,
            Services(
                devices=self.devices,
                create_backend=create,
                model_path=lambda _id: tmp_path,
                sessions_dir=tmp_path,
                clock=self.session._services.clock,
            ),
        )
        self.session.subscribe(self.events.append)

    def record(self) -> None:
        self.session.start().result(10)
        for _ in range(2000):
            if self.session.recorded_s() >= NUM_WORDS * 0.4:
                break
            threading.Event().wait(0.01)
        self.session.stop().result(20)
        self.session.close()


def test_gpu_when_it_fails_while_words_are_recognized_then_the_cpu_goes_on_and_none_is_lost(
    tmp_path,
):
    bench = GpuBench(tmp_path, BackendKind.RECOGNIZER)
    bench.record()

    assert sorted(numbers_told(bench.events)) == list(range(NUM_WORDS))
    ready = [e for e in bench.told(BackendChanged) if e.state is BackendState.READY]
    assert [e.device for e in ready if e.kind is BackendKind.RECOGNIZER] == ["Test GPU", "CPU"]
    assert any("goes on without the GPU" in notice.message for notice in bench.told(Notice))
    assert bench.closed == ["Test GPU"]


def test_gpu_when_it_fails_while_speakers_are_told_apart_then_they_are_of_a_new_epoch(tmp_path):
    bench = GpuBench(tmp_path, BackendKind.DIARIZER)
    bench.record()

    live = [rows for rows in bench.told(ActivityRevised) if not rows.is_settled]
    assert {rows.epoch for rows in live} == {0, 1}
    told = max(rows.first_frame + len(rows.probabilities) for rows in live)
    assert told == NUM_WORDS * 4
    assert sorted(numbers_told(bench.events)) == list(range(NUM_WORDS))


def test_gpu_when_the_cpu_cannot_take_over_then_says_so_and_the_rest_is_marked(tmp_path):
    bench = GpuBench(tmp_path, BackendKind.RECOGNIZER, has_cpu=False)
    bench.record()

    assert any("The recognizer stopped" in notice.message for notice in bench.told(Notice))
    marks = {mark.mark_id: mark for mark in bench.told(SpanMarked)}
    end = max(mark.end for mark in marks.values())
    assert end == NUM_WORDS * 6400
