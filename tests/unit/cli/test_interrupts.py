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
