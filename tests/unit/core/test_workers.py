"""Jobs on threads that keep nobody."""

import subprocess
import sys
import threading
from concurrent.futures import CancelledError
from pathlib import Path

import pytest

from engine.core.workers import Workers

pytestmark = pytest.mark.unit


def test_submit_when_there_is_one_thread_then_jobs_run_in_order():
    workers, order = Workers(1, "test"), []
    futures = [workers.submit(lambda i=i: order.append(i) or i) for i in range(50)]
    assert [future.result(10) for future in futures] == list(range(50))
    assert order == list(range(50))
    assert workers.close(10)


def test_submit_when_there_are_many_jobs_then_no_more_run_at_once_than_there_are_threads():
    workers, both = Workers(2, "test"), threading.Barrier(2, timeout=10)
    assert {workers.submit(both.wait).result, workers.submit(both.wait).result}
    names = {workers.submit(lambda: threading.current_thread().name).result(10) for _ in range(20)}
    assert names <= {"test_0", "test_1"}
    assert workers.close(10)


def test_job_when_it_fails_then_its_future_raises_and_the_next_one_runs():
    workers = Workers(1, "test")
    failed = workers.submit(lambda: 1 // 0)
    assert workers.submit(lambda: 7).result(10) == 7
    with pytest.raises(ZeroDivisionError):
        failed.result(10)
    workers.close(10)


def test_close_when_jobs_wait_then_they_are_done_or_dropped_as_asked():
    for is_dropping in (False, True):
        workers, may_go_on, is_on = Workers(1, "test"), threading.Event(), threading.Event()

        def work(is_on=is_on, may_go_on=may_go_on) -> None:
            is_on.set()
            may_go_on.wait(10)

        workers.submit(work)
        assert is_on.wait(10)
        waiting = workers.submit(lambda: 1)
        assert not workers.close(0.0, is_dropping=is_dropping)
        may_go_on.set()
        assert workers.close(10)
        if is_dropping:
            with pytest.raises(CancelledError):
                waiting.result(10)
        else:
            assert waiting.result(10) == 1
        assert workers.submit(lambda: 1).cancelled()


def test_process_when_a_job_never_ends_then_ends_all_the_same():
    code = (
        "import threading; from engine.core.workers import Workers;"
        "Workers(1, 'test').submit(threading.Event().wait)"
    )
    root = Path(__file__).parents[3]
    done = subprocess.run([sys.executable, "-c", code], cwd=root, timeout=60, check=False)
    assert done.returncode == 0
