import threading
from dataclasses import replace
from pathlib import Path

import pytest

from engine.backends.fake_recognizer import FakeRecognizer
from engine.backends.protocols import BackendContext
from engine.core.errors import BackendError, CancelledError, ModelMissingError
from engine.core.events import BackendState, Notice
from engine.core.sync import CancelToken
from engine.core.types import BackendKind
from engine.session.pool import BackendPool

KIND = BackendKind.RECOGNIZER


class Bench:
    def __init__(self, make, backend_id: str = "first") -> None:
        self.told = []
        self.pool = BackendPool(
            {KIND: backend_id},
            lambda _kind, backend_id, _context: make(backend_id),
            lambda _kind: BackendContext(lambda _: Path()),
            self.told.append,
        )


@pytest.fixture
def bench():
    made = []

    def build(make, backend_id: str = "first") -> Bench:
        made.append(Bench(make, backend_id))
        return made[-1]

    yield build
    for each in made:
        each.pool.close()


@pytest.mark.unit
def test_wait_when_it_loads_then_returns_it_and_tells(bench):
    made = bench(lambda _: FakeRecognizer())
    backend = made.pool.wait(KIND, CancelToken())

    assert backend is not None
    assert backend.open_stream() is not None
    states = [event.state for event in made.told]
    assert states[0] is BackendState.LOADING
    assert states[-1] is BackendState.READY


@pytest.mark.unit
def test_wait_when_loading_fails_then_raises_and_a_later_try_can_succeed(bench):
    outcomes = [ModelMissingError("It is missing.", advice="Fetch it."), None]

    class Once(FakeRecognizer):
        def load(self, progress, cancel):
            error = outcomes.pop(0)
            if error is not None:
                raise error
            super().load(progress, cancel)

    made = bench(lambda _: Once())
    with pytest.raises(ModelMissingError, match="missing"):
        made.pool.wait(KIND, CancelToken())
    assert made.pool.wait(KIND, CancelToken()) is not None


@pytest.mark.unit
@pytest.mark.expects_log
def test_wait_when_a_backend_breaks_in_any_way_then_nobody_waits_for_ever(bench):
    class Broken(FakeRecognizer):
        def load(self, progress, cancel):
            raise ZeroDivisionError("in the middle")

    made = bench(lambda _: Broken())
    with pytest.raises(BackendError, match="in the middle"):
        made.pool.wait(KIND, CancelToken())


@pytest.mark.unit
@pytest.mark.expects_log
def test_wait_when_the_spec_itself_breaks_then_nobody_waits_for_ever(bench):
    class Broken(FakeRecognizer):
        @property
        def spec(self):
            raise RuntimeError("no spec")

        def load(self, progress, cancel):
            pass

    made = bench(lambda _: Broken())
    with pytest.raises(BackendError, match="unexpected"):
        made.pool.wait(KIND, CancelToken())


@pytest.mark.unit
def test_wait_when_cancelled_then_returns_while_it_still_loads(bench):
    release = threading.Event()

    class Slow(FakeRecognizer):
        def load(self, progress, cancel):
            release.wait(10)

    made = bench(lambda _: Slow())
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(CancelledError):
        made.pool.wait(KIND, cancel)
    release.set()


@pytest.mark.unit
def test_wait_when_the_kind_is_off_then_there_is_none(bench):
    made = bench(lambda _: FakeRecognizer(), "none")

    assert made.pool.wait(KIND, CancelToken()) is None


@pytest.mark.unit
def test_select_when_the_old_one_is_still_loading_then_it_is_closed_and_the_new_one_comes(bench):
    release, loading = threading.Event(), threading.Event()
    closed = []

    class Named(FakeRecognizer):
        def __init__(self, name):
            super().__init__()
            self.name = name

        def load(self, progress, cancel):
            if self.name == "first":
                loading.set()
                release.wait(10)
            super().load(progress, cancel)

        def close(self):
            closed.append(self.name)
            super().close()

    made = bench(Named)
    made.pool.load((KIND,))
    assert loading.wait(5)
    made.pool.select(KIND, "second")
    release.set()

    assert made.pool.wait(KIND, CancelToken()).name == "second"
    assert closed == ["first"]


@pytest.mark.unit
def test_forget_when_a_backend_is_at_work_then_it_is_not_closed_and_another_comes(bench):
    made_backends = []

    class Counted(FakeRecognizer):
        is_closed = False

        def __init__(self):
            super().__init__()
            made_backends.append(self)

        def close(self):
            self.is_closed = True

    made = bench(lambda _: Counted())
    first = made.pool.wait(KIND, CancelToken())
    made.pool.forget(KIND)
    second = made.pool.wait(KIND, CancelToken())
    made.pool.close()

    assert first is not second
    assert [backend.is_closed for backend in made_backends] == [False, True]


@pytest.mark.unit
def test_ready_when_a_backend_has_something_to_say_of_how_it_runs_then_people_are_told(bench):
    class Slower(FakeRecognizer):
        @property
        def spec(self):
            return replace(super().spec, note="It runs without the GPU: it is full.")

    made = bench(lambda _: Slower())
    made.pool.wait(KIND, CancelToken())
    made.pool.close()

    notices = [event.message for event in made.told if isinstance(event, Notice)]
    assert notices == ["It runs without the GPU: it is full."]
