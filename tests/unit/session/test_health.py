"""The figures of a session's health."""

import pytest

from engine.backends.fake_recognizer import FakeRecognizer
from engine.backends.protocols import BackendContext, GpuBackend
from engine.core.sync import CancelToken
from engine.core.types import BackendKind
from engine.session.health import LOAD_SPAN_S, LoadMeter
from engine.session.pool import BackendPool

pytestmark = pytest.mark.unit


def test_load_when_nothing_was_worked_through_then_it_is_nothing() -> None:
    assert LoadMeter().take(0.0, 0.0) == 0.0


def test_load_when_a_lane_is_half_as_fast_as_speech_then_it_is_two() -> None:
    meter = LoadMeter()
    loads = [meter.take(second, 2.0 * second) for second in range(1, 30)]
    assert loads == [2.0] * 29


def test_load_when_a_lane_becomes_slow_then_the_past_does_not_hide_it() -> None:
    meter, worked_s, busy_s = LoadMeter(), 0.0, 0.0
    for _ in range(3600):
        worked_s, busy_s = worked_s + 1.0, busy_s + 0.1
        assert meter.take(worked_s, busy_s) == pytest.approx(0.1)
    for _ in range(int(LOAD_SPAN_S) + 1):
        worked_s, busy_s = worked_s + 1.0, busy_s + 0.9
        load = meter.take(worked_s, busy_s)
    assert load == pytest.approx(0.9)


def test_load_when_asked_twice_at_the_same_moment_then_it_is_the_same() -> None:
    meter = LoadMeter()
    meter.take(5.0, 1.0)
    assert meter.take(10.0, 4.0) == meter.take(10.0, 4.0) == pytest.approx(0.4)


def test_load_when_the_first_second_took_long_then_it_is_no_alarm() -> None:
    assert LoadMeter().take(0.1, 0.8) == pytest.approx(0.8)


class _OnGpu(FakeRecognizer):
    num_bytes = 0

    def gpu_bytes(self) -> int:
        return self.num_bytes


def _pool(backend: FakeRecognizer) -> BackendPool:
    kind = BackendKind.RECOGNIZER
    pool = BackendPool(
        {kind: "one"}, lambda *_: backend, lambda _: BackendContext(lambda _: None), lambda _: None
    )
    pool.wait(kind, CancelToken())
    return pool


@pytest.mark.parametrize(("held", "told"), [(0, None), (2_500_000, 2_500_000)])
def test_gpu_memory_when_a_backend_may_run_there_then_only_what_is_held_is_told(
    held: int, told: int | None
) -> None:
    backend = _OnGpu()
    backend.num_bytes = held
    assert isinstance(backend, GpuBackend)
    pool = _pool(backend)
    assert pool.gpu_bytes() == told
    pool.close()


def test_gpu_memory_when_no_backend_knows_a_gpu_then_there_is_none() -> None:
    pool = _pool(FakeRecognizer())
    assert pool.gpu_bytes() is None
    pool.close()
