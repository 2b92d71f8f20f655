import io
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from engine.cli.console import Console
from engine.cli.exit_codes import DONE, INPUT_PROBLEM, INTERRUPTED
from engine.cli.saying import speak_aloud
from engine.core.errors import DeviceError
from engine.core.events import UtteranceChanged, UtteranceState
from engine.core.sync import CancelToken
from engine.core.timebase import MonotonicClock
from engine.core.types import BackendKind
from tests.helpers.output_bench import Loudspeaker
from tests.helpers.session import ScriptedDevices, SessionBench

pytestmark = pytest.mark.unit

RATE = 16_000
LOST_AT = RATE // 4
TEXT = "This is a text that takes a few seconds to be spoken, so that it can be interrupted."
Make = Callable[[int | None], SessionBench]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    benches = []

    def build(num_lost: int | None) -> SessionBench:
        """Make a session whose loudspeaker is lost, and there again after some vain openings."""
        clock, num_opened = MonotonicClock(), 0

        def open_output() -> Loudspeaker:
            nonlocal num_opened
            num_opened += 1
            if num_opened > 1 and (num_lost is None or num_opened <= 1 + num_lost):
                raise DeviceError("There is no loudspeaker.", advice="Plug one in.")
            output = Loudspeaker(clock, RATE, LOST_AT if num_opened == 1 else None)
            output.start()
            return output

        benches.append(SessionBench(tmp_path, ScriptedDevices((), open_output)))
        benches[-1].session.load((BackendKind.SYNTHESIZER,))
        return benches[-1]

    yield build
    for bench in benches:
        bench.session.close()


def _console() -> tuple[Console, io.StringIO]:
    err = io.StringIO()
    return Console(io.StringIO(), err), err


@pytest.mark.timeout(30)
def test_say_when_the_loudspeaker_stays_away_then_gives_up_and_says_what_to_do(make: Make) -> None:
    console, err = _console()
    status = speak_aloud(make(None).session, TEXT, console, CancelToken(), patience_s=0.2)
    assert status == INPUT_PROBLEM
    assert "the rest is not spoken" in err.getvalue()
    assert "--device" in err.getvalue()


@pytest.mark.timeout(60)
def test_say_when_the_loudspeaker_comes_back_then_goes_on_to_the_end(make: Make) -> None:
    console, err = _console()
    bench = make(2)
    assert speak_aloud(bench.session, TEXT, console, CancelToken()) == DONE
    assert err.getvalue() == ""
    assert bench.told(UtteranceChanged)[-1].heard_samples > LOST_AT


@pytest.mark.timeout(30)
def test_say_when_stopped_while_the_loudspeaker_is_lost_then_ends_at_once(make: Make) -> None:
    console, err = _console()
    bench, stop = make(None), CancelToken()

    def take(event: object) -> None:
        if isinstance(event, UtteranceChanged) and event.state is UtteranceState.PAUSED:
            stop.cancel()

    bench.session.subscribe(take)
    assert speak_aloud(bench.session, TEXT, console, stop) == INTERRUPTED
    assert err.getvalue() == ""
