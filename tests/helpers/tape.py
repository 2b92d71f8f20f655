"""A listening lane in virtual time, and recorded audio for it."""

import threading
from collections.abc import Callable, Sequence

from engine.core.errors import EngineError, StoreError
from engine.core.events import PlayChanged, PlayState
from engine.core.types import Pcm
from engine.pipeline import loudspeaker
from engine.pipeline.listen_back import ListenHooks, ListenLane
from tests.helpers.output_bench import Loudspeaker, OutputBench

RATE = 16_000
ENDS = (PlayState.ENDED, PlayState.FAILED)
_PATIENCE_S = 20.0


class Tape:
    """Recorded audio that may be dropped at its beginning and grow at its end."""

    def __init__(self, pcm: Pcm, rate: int = RATE, start: int = 0) -> None:
        self._pcm = pcm
        self.sample_rate = rate
        self.start = start
        self.end = len(pcm)
        self.read_until = 0
        self.longest_read = 0
        self.num_closed = 0

    def read(self, start: int, num_samples: int) -> Pcm:
        if start < self.start:
            raise self.gone()
        self.longest_read = max(self.longest_read, num_samples)
        pcm = self._pcm[start : min(start + num_samples, self.end)]
        self.read_until = start + len(pcm)
        return pcm

    def gone(self) -> EngineError:
        return StoreError("It is gone.", advice="Keep it.")

    def close(self) -> None:
        self.num_closed += 1


class ListenBench(OutputBench[PlayChanged]):
    """A listening lane on virtual outputs, and the list of what it told."""

    def __init__(
        self,
        *,
        rates: Sequence[int] = (RATE,),
        lost_at: Sequence[int | None] = (),
        make_output: type[Loudspeaker] = Loudspeaker,
        keeps: bool = True,
    ) -> None:
        super().__init__(
            PlayChanged, ENDS, rates=rates, lost_at=lost_at, make_output=make_output, keeps=keeps
        )
        self.on_wait: Callable[[], None] = lambda: None
        self.lane = ListenLane(
            ListenHooks(self.post, lambda: self.gate, self.clock.now_s, self._wait),
            loudspeaker.Loudspeaker(self.open),
        )

    def play(self, tape: Tape, start: int = 0, end: int | None = None) -> None:
        self.lane.play(lambda: tape, start, end)

    def _wait(self, event: threading.Event, timeout_s: float | None) -> None:
        if timeout_s is None:
            assert event.wait(_PATIENCE_S), "nobody woke it"
        elif not event.is_set():
            self.clock.advance(timeout_s)
        self.on_wait()
        self.act()
