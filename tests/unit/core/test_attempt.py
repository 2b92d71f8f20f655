import threading
import time

import pytest

from engine.core.attempt import Attempt
from engine.core.errors import DeviceError
from engine.core.suspend import suspended_s

pytestmark = pytest.mark.unit


def test_attempt_when_it_ends_then_gives_its_result_or_error() -> None:
    attempt = Attempt(lambda: 7)
    assert attempt.wait(10)
    assert attempt.result() == 7

    def fail() -> int:
        raise DeviceError("Busy.")

    failed = Attempt(fail)
    assert failed.wait(10)
    with pytest.raises(DeviceError, match="Busy"):
        failed.result()


@pytest.mark.parametrize("is_late", [True, False])
def test_attempt_when_given_up_then_its_result_is_discarded_whenever_it_comes(
    is_late: bool,
) -> None:
    go_on, discarded = threading.Event(), threading.Event()
    if not is_late:
        go_on.set()

    def work() -> int:
        go_on.wait(10)
        return 7

    attempt = Attempt(work, lambda _result: discarded.set())
    assert attempt.wait(0.0 if is_late else 10) is not is_late
    attempt.give_up()
    attempt.give_up()
    go_on.set()
    assert discarded.wait(10)


def test_suspended_when_the_computer_does_not_sleep_then_stands_still(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before_s = suspended_s()
    assert before_s >= -0.1
    monkeypatch.setattr("time.time", lambda: 0.0)
    assert suspended_s() == pytest.approx(before_s, abs=0.1)


def test_suspended_when_it_slept_then_is_what_the_boot_time_has_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before_s, clock_gettime = suspended_s(), time.clock_gettime
    monkeypatch.setattr("time.clock_gettime", lambda clock: clock_gettime(clock) + 3600.0)
    assert suspended_s() - before_s == pytest.approx(3600.0, abs=0.1)
    monkeypatch.delattr("time.CLOCK_BOOTTIME")
    assert suspended_s() == 0.0
