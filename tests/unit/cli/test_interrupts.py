import os
import signal

import pytest

from engine.cli.interrupts import Interrupts


def _press_ctrl_c() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def test_ctrl_c_when_pressed_again_then_asks_for_more_each_time():
    with Interrupts() as interrupts:
        assert not interrupts.stop.is_cancelled
        _press_ctrl_c()
        assert interrupts.stop.is_cancelled
        assert not interrupts.discard.is_cancelled
        _press_ctrl_c()
        assert interrupts.discard.is_cancelled
        with pytest.raises(KeyboardInterrupt):
            _press_ctrl_c()


def test_handlers_when_left_then_are_as_before():
    before = signal.getsignal(signal.SIGINT)
    with Interrupts():
        assert signal.getsignal(signal.SIGINT) != before
    assert signal.getsignal(signal.SIGINT) == before


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_wish_of_the_system_when_it_comes_then_the_rest_is_discarded_soon(name):
    with Interrupts() as interrupts:
        os.kill(os.getpid(), getattr(signal, name))
        assert interrupts.stop.is_cancelled
        assert interrupts.is_urgent
        os.kill(os.getpid(), getattr(signal, name))
        assert not interrupts.discard.is_cancelled
        assert interrupts.discard.wait(10)


def test_signal_when_it_was_ignored_then_stays_so():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with Interrupts() as interrupts:
            os.kill(os.getpid(), signal.SIGHUP)
            assert not interrupts.stop.is_cancelled
    finally:
        signal.signal(signal.SIGHUP, before)
