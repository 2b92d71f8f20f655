"""A session that hears coded words on a lockstep clock while its lanes are given too much to do."""

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from engine.audio.virtual import ArrayInput
from engine.core.config import KeepPolicy
from engine.core.events import FinalWords, Notice, RecordingStopped, SpanMarked
from engine.core.types import BackendKind, Pcm, SpanKind
from tests.helpers.coded_speech import (
    RATE,
    VOICED_SAMPLES,
    WORD_SAMPLES,
    CodedDiarizer,
    CodedRecognizer,
    coded_pcm,
    numbers_told,
)
from tests.helpers.lockstep import LockstepClock
from tests.helpers.session import ScriptedDevices, SessionBench

LIVE_S = 1.0
"""A lane whose backlog is less is live."""

Cost = Callable[[float], float]
"""Seconds that a second of audio takes, at a moment."""


def load_between(start_s: float, end_s: float, cost: float, usual: float = 0.3) -> Cost:
    """Return a cost that is higher for a while."""
    return lambda now_s: cost if start_s <= now_s < end_s else usual


USUAL = load_between(0, 0, 0)


@dataclass(frozen=True, slots=True)
class Scenario:
    """What happens to a session.

    Args:
        title: for people.
        length_s: of what is said.
        load_end_s: when there is nothing unusual any more.
        recognizer: what it costs.
        diarizer: likewise.
        stall_s: (moment, length) of one push of the recognizer that does not return for so long.
        keep: what of the recording is kept.
    """

    title: str
    length_s: float
    load_end_s: float
    recognizer: Cost = USUAL
    diarizer: Cost = USUAL
    stall_s: tuple[float, float] | None = None
    keep: KeepPolicy = KeepPolicy.AUDIO_AND_TEXT


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of it; seconds.

    Args:
        lost_s: audio that was said and is not in the recording.
        max_backlog_s: the longest that any lane had.
        back_to_live_s: from the end of the load to a backlog of less than a second.
        left_out_s: audio that was left out at first.
        num_words: words said.
        num_told: of them, words told.
        num_twice: words told more than once.
        num_filled: of those told, words that were filled in afterwards.
        num_marked: words not told that lie in a stretch marked as untranscribed.
        stop_s: from the order to stop to its end.
        notices: what people were told.
    """

    lost_s: float
    max_backlog_s: float
    back_to_live_s: float
    left_out_s: float
    num_words: int
    num_told: int
    num_twice: int
    num_filled: int
    num_marked: int
    stop_s: float
    notices: tuple[str, ...]


def play(scenario: Scenario) -> Outcome:
    """Run a scenario from its beginning to the last word filled in."""
    with tempfile.TemporaryDirectory(prefix="vivavoce-overload-") as folder:
        return _Run(scenario, Path(folder)).outcome()


class _Run:
    def __init__(self, scenario: Scenario, folder: Path) -> None:
        self._scenario = scenario
        self._clock = LockstepClock()
        self._has_stalled = False
        num_words = round(scenario.length_s * RATE / WORD_SAMPLES)
        pcm = coded_pcm(num_words)
        self._num_samples = len(pcm)
        source = ArrayInput(pcm, RATE, self._clock, is_live=True)
        self._bench = SessionBench(
            folder,
            ScriptedDevices([source], clock=self._clock),
            clock=self._clock,
            keep=scenario.keep,
            makers={
                BackendKind.RECOGNIZER: lambda: CodedRecognizer(self._recognize),
                BackendKind.DIARIZER: lambda: CodedDiarizer(self._diarize),
            },
        )
        self._max_backlog_s = 0.0
        self._live_at_s: float | None = None
        self._told_live = 0

    def outcome(self) -> Outcome:
        session = self._bench.session
        session.load()
        for kind in (BackendKind.RECOGNIZER, BackendKind.DIARIZER):
            session.wait_until_loaded(kind)
        session.start().result(20)
        end_s = self._scenario.length_s - 0.5
        self._clock.run(lambda: self._clock.now_s() >= end_s, self._is_idle)
        stop_at_s = self._clock.now_s()
        stopping = session.stop()
        self._clock.run(stopping.done, self._is_idle)
        stopping.result(20)
        stop_s = self._clock.now_s() - stop_at_s
        session.drain_events()
        self._clock.release()
        session.close()
        return self._measure(stop_at_s, stop_s)

    def _recognize(self, start: int, block: Pcm) -> None:
        stall = self._scenario.stall_s
        if stall is not None and self._clock.now_s() >= stall[0] and not self._has_stalled:
            self._has_stalled = True
            self._clock.sleep(stall[1])
        self._clock.sleep(self._scenario.recognizer(self._clock.now_s()) * len(block) / RATE)

    def _diarize(self, start: int, block: Pcm) -> None:
        self._clock.sleep(self._scenario.diarizer(self._clock.now_s()) * len(block) / RATE)

    def _is_idle(self, num_asleep: int) -> bool:
        health = self._bench.session.health()
        backlogs = (health.recognizer_backlog_s, health.diarizer_backlog_s)
        self._look(max(backlogs))
        is_capturing = self._bench.session.recorded_s() > 0 and not self._is_stopping()
        return num_asleep >= is_capturing + sum(each > 0 for each in backlogs)

    def _is_stopping(self) -> bool:
        return self._bench.session.state.value in ("stopping", "idle")

    def _look(self, backlog_s: float) -> None:
        self._max_backlog_s = max(self._max_backlog_s, backlog_s)
        now_s = self._clock.now_s()
        is_after = now_s >= self._scenario.load_end_s
        if is_after and self._live_at_s is None and backlog_s < LIVE_S:
            self._live_at_s = now_s

    def _measure(self, stop_at_s: float, stop_s: float) -> Outcome:
        bench = self._bench
        (stopped,) = bench.told(RecordingStopped)
        marks = [m for m in bench.told(SpanMarked) if m.kind is SpanKind.UNTRANSCRIBED]
        first = {mark.mark_id: mark for mark in reversed(marks)}
        last = {mark.mark_id: mark for mark in marks}
        num_words = (stopped.num_samples - VOICED_SAMPLES) // WORD_SAMPLES + 1
        # A last word that was cut by the end counts for nothing.
        told = [number for number in numbers_told(bench.events) if number < num_words]
        middles = {n: n * WORD_SAMPLES + VOICED_SAMPLES // 2 for n in range(num_words)}
        missing = [n for n in range(num_words) if n not in set(told)]
        newest, num_filled = -1, 0
        for event in bench.told(FinalWords):
            for number in numbers_told([event]):
                num_filled += number < newest
                newest = max(newest, number)
        captured_s = stopped.num_samples / RATE
        live_at_s = self._live_at_s
        return Outcome(
            lost_s=max(0.0, stop_at_s - captured_s),
            max_backlog_s=self._max_backlog_s,
            back_to_live_s=(
                float("inf") if live_at_s is None else live_at_s - self._scenario.load_end_s
            ),
            left_out_s=sum(mark.end - mark.start for mark in first.values()) / RATE,
            num_words=num_words,
            num_told=len(set(told)),
            num_twice=len(told) - len(set(told)),
            num_filled=num_filled,
            num_marked=sum(
                any(mark.start <= middles[n] < mark.end for mark in last.values()) for n in missing
            ),
            stop_s=stop_s,
            notices=tuple(notice.message for notice in bench.told(Notice)),
        )


SCENARIOS = (
    Scenario("recognizer 10 times slower than speech, 60 s", 150, 70, load_between(10, 70, 10.0)),
    Scenario("one push that returns after 60 s", 150, 70, stall_s=(10, 60)),
    Scenario(
        "burst: both lanes 3 times slower than speech, 30 s",
        100,
        40,
        load_between(10, 40, 3.0),
        load_between(10, 40, 3.0),
    ),
    Scenario("recognizer a little too slow for ever", 150, 0, lambda _: 1.25),
    Scenario(
        "diarizer 10 times slower than speech, 90 s",
        200,
        100,
        diarizer=load_between(10, 100, 10.0, 0.1),
    ),
    Scenario(
        "recognizer 10 times slower, 60 s, nothing kept",
        150,
        70,
        load_between(10, 70, 10.0),
        keep=KeepPolicy.NOTHING,
    ),
)
