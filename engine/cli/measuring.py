"""The measurements of `vivavoce bench`, each on a session of its own."""

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

import psutil

from engine.cli.inputs import DEMO, choose_input
from engine.cli.preflight import check_backends
from engine.core.config import KeepPolicy, Settings
from engine.core.events import Event, FinalWords, PartialWords
from engine.core.types import BackendKind
from engine.session.build import build_session
from engine.session.session import Session

_ENGINE_S = 600.0
_SENTENCE = "This is the time from asking to hearing."
_LISTEN = (BackendKind.RECOGNIZER, BackendKind.DIARIZER)


@dataclass(frozen=True, slots=True)
class Row:
    """One figure."""

    name: str
    value: float
    unit: str
    note: str = ""


@dataclass(slots=True)
class _Delays:
    """Collects how long after its end each word was shown and committed. Thread: events."""

    session: Session
    shown_s: list[float] = field(default_factory=list)
    committed_s: list[float] = field(default_factory=list)
    _shown_until: int = 0

    def take(self, event: Event) -> None:
        now_s, rate = self.session.recorded_s(), self.session.document.sample_rate
        match event:
            case PartialWords(words=words) | FinalWords(words=words):
                fresh = [word.end for word in words if word.end > self._shown_until]
                self.shown_s += [now_s - end / rate for end in fresh]
                self._shown_until = max([self._shown_until, *fresh])
            case _:
                return
        if isinstance(event, FinalWords):
            self.committed_s += [now_s - word.end / rate for word in words]


def measure_all(
    settings: Settings,
    environment: Mapping[str, str],
    status: Callable[[str], None],
    is_short: bool,
) -> Iterator[Row]:
    """Yield figures as they are measured.

    Args:
        settings: choose the backends.
        environment: the process's.
        status: told what is being measured.
        is_short: leave out everything that needs a model.

    Raises:
        EngineError: a model is missing.
    """
    settings = replace(settings, keep=KeepPolicy.NOTHING)
    status("the engine, on test models")
    yield from _measure_engine(settings, environment)
    if is_short:
        return
    check_backends(settings, environment, (*_LISTEN, BackendKind.SYNTHESIZER))
    status("the demo conversation, live")
    yield from _measure_listening(settings, environment, is_fast=False)
    status("the demo conversation, as fast as it goes")
    yield from _measure_listening(settings, environment, is_fast=True)
    status("the voice")
    yield from _measure_voice(settings, environment)


def _measure_engine(settings: Settings, environment: Mapping[str, str]) -> Iterator[Row]:
    fakes = replace(settings, recognizer="fake", diarizer="fake")
    with build_session(fakes, environment, is_fast=True) as session:
        began_s = time.perf_counter()
        session.start("null").result()
        while session.recorded_s() < _ENGINE_S and not session.wait_until_stopped(0.01):
            pass
        recorded_s = session.recorded_s()
        session.stop().result()
        took_s = time.perf_counter() - began_s
    yield Row("engine without models, times real time", recorded_s / took_s, "x", "at least 200")


def _measure_listening(
    settings: Settings, environment: Mapping[str, str], *, is_fast: bool
) -> Iterator[Row]:
    process = psutil.Process()
    with build_session(settings, environment, is_fast=is_fast) as session:
        delays = _Delays(session)
        session.subscribe(delays.take)
        session.load(_LISTEN)
        for kind in _LISTEN:
            session.wait_until_loaded(kind)
        began_s, cpu_s = time.perf_counter(), _cpu_s(process)
        session.start(choose_input(DEMO).device).result()
        session.wait_until_stopped()
        took_s, cpu_s = time.perf_counter() - began_s, _cpu_s(process) - cpu_s
        session.drain_events()
        audio_s = session.document.num_samples / session.document.sample_rate
    if is_fast:
        yield Row("demo from a file, times real time", audio_s / took_s, "x")
        return
    yield Row("word shown after its end, median", _quantile(delays.shown_s, 0.5), "s")
    yield Row("word committed after its end, median", _quantile(delays.committed_s, 0.5), "s")
    yield Row("word committed after its end, 95 of 100", _quantile(delays.committed_s, 0.95), "s")
    yield Row("processor seconds a second of conversation", cpu_s / audio_s, "s")


def _measure_voice(settings: Settings, environment: Mapping[str, str]) -> Iterator[Row]:
    with build_session(replace(settings, output="null"), environment) as session:
        session.load((BackendKind.SYNTHESIZER,))
        session.wait_until_loaded(BackendKind.SYNTHESIZER)
        session.speak(_SENTENCE)
        while session.is_speaking:
            time.sleep(0.01)
        delay_s = session.health().first_sound_delay_s or 0.0
    yield Row("voice, from asking to the first sound", delay_s, "s")


def _cpu_s(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


def _quantile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else float("nan")
