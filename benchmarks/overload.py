"""What is lost, how far behind a session falls and how soon it is back, when it has too much to do.

Run: python -m benchmarks.overload [--real SECONDS [--busy N]]

Without --real: coded words and fake backends on a clock that waits for them. With it: the small
real models hear the demo conversation over and over at the pace of speech, and for a third of the
time N processes a core keep it busy.
"""

import argparse
import multiprocessing
import os
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from engine.audio.device import InputStream
from engine.audio.files import AudioFileReader
from engine.audio.virtual import ArrayInput
from engine.backends import registry
from engine.core.config import Settings, folders
from engine.core.events import FinalWords, Notice, SpanMarked
from engine.core.resources import resource_path
from engine.core.timebase import MonotonicClock
from engine.core.types import SpanKind
from engine.session.services import Services
from engine.session.session import Session
from engine.store.manifest import load_manifest
from engine.store.models import ModelStore
from tests.helpers.overload import LIVE_S, SCENARIOS, Outcome, play


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--real", type=float, default=0.0, metavar="SECONDS")
    parser.add_argument("--busy", type=int, default=8, metavar="N", help="a core; 8")
    arguments = parser.parse_args()
    if arguments.real:
        print_real(arguments.real, arguments.busy * (os.cpu_count() or 1))
        return
    head = ("lost", "behind", "live after", "left out", "told", "filled in", "marked", "stop")
    print("".join(f"{text:>12}" for text in head))
    for scenario in SCENARIOS:
        print(f"{scenario.title}:")
        print(row(play(scenario)))


def row(outcome: Outcome) -> str:
    """Return an outcome as a line of a table."""
    cells = (
        f"{outcome.lost_s:.2f} s",
        f"{outcome.max_backlog_s:.1f} s",
        f"{outcome.back_to_live_s:.1f} s",
        f"{outcome.left_out_s:.0f} s",
        f"{outcome.num_told}/{outcome.num_words}",
        f"{outcome.num_filled}",
        f"{outcome.num_marked}",
        f"{outcome.stop_s:.1f} s",
    )
    return "".join(f"{cell:>12}" for cell in cells)


@dataclass
class _Real:
    """What is seen of the real session, from one thread and its events."""

    notices: list[str] = field(default_factory=list)
    marks: dict[int, list[SpanMarked]] = field(default_factory=dict)
    num_words: int = 0
    num_filled: int = 0
    newest: int = 0
    max_backlog_s: tuple[float, float] = (0.0, 0.0)
    live_after_s: float | None = None

    def take(self, event: object) -> None:
        match event:
            case Notice(message=message):
                self.notices.append(message)
            case SpanMarked(kind=SpanKind.UNTRANSCRIBED, mark_id=mark_id):
                self.marks.setdefault(mark_id, []).append(event)
            case FinalWords(words=words):
                self.num_words += len(words)
                self.num_filled += sum(word.end < self.newest for word in words)
                self.newest = max([self.newest, *(word.end for word in words)])


def print_real(seconds: float, num_busy: int) -> None:
    """Let the real models listen while other processes take the cores away."""
    hog_s = (seconds / 4, seconds * 7 / 12)
    seen = _Real()
    with tempfile.TemporaryDirectory(prefix="vivavoce-overload-") as folder:
        session, source = _session(Path(folder), seconds)
        with session:
            session.subscribe(seen.take)
            session.load()
            for kind in ("recognizer", "diarizer"):
                session.wait_until_loaded(kind)  # type: ignore[arg-type]
            session.start().result()
            began_s = time.monotonic()
            with hogs(num_busy, hog_s, began_s):
                _watch(session, seen, began_s, seconds, hog_s[1])
            stop_s = time.monotonic()
            session.stop().result()
            stop_s = time.monotonic() - stop_s
            session.drain_events()
            rate = session.document.sample_rate
            recorded_s = session.document.num_samples / rate
            lost_s = session.health().lost_s
    left_out_s = sum(m[0].end - m[0].start for m in seen.marks.values()) / rate
    left_s = sum(m[-1].end - m[-1].start for m in seen.marks.values()) / rate
    print(f"{os.cpu_count()} cores, {num_busy} busy processes on them from {hog_s[0]:.0f} s")
    print(f"to {hog_s[1]:.0f} s of {source}")
    print(f"recorded {recorded_s:.1f} s, lost {lost_s:.2f} s")
    print("longest backlog: recognizer {:.1f} s, diarizer {:.1f} s".format(*seen.max_backlog_s))
    after = "never" if seen.live_after_s is None else f"{seen.live_after_s:.1f} s after the load"
    print(f"live again: {after}")
    print(f"left out {left_out_s:.1f} s, of which not filled in {left_s:.1f} s")
    print(f"{seen.num_words} words, {seen.num_filled} of them filled in; stop took {stop_s:.1f} s")
    for message in seen.notices:
        print(f"  {message}")


def _watch(
    session: Session, seen: _Real, began_s: float, seconds: float, quiet_at_s: float
) -> None:
    while (now_s := time.monotonic() - began_s) < seconds:
        health = session.health()
        backlogs = (health.recognizer_backlog_s, health.diarizer_backlog_s)
        seen.max_backlog_s = (
            max(seen.max_backlog_s[0], backlogs[0]),
            max(seen.max_backlog_s[1], backlogs[1]),
        )
        if now_s >= quiet_at_s and seen.live_after_s is None and max(backlogs) < LIVE_S:
            seen.live_after_s = now_s - quiet_at_s
        time.sleep(0.05)


@contextmanager
def hogs(count: int, span_s: tuple[float, float], began_s: float) -> Iterator[None]:
    """Let processes compute between two moments after `began_s`."""
    context = multiprocessing.get_context("spawn")
    spans = (began_s + span_s[0], began_s + span_s[1])
    processes = [context.Process(target=_burn, args=spans, daemon=True) for _ in range(count)]
    for process in processes:
        process.start()
    try:
        yield
    finally:
        for process in processes:
            process.terminate()
            process.join()


def _burn(start_s: float, end_s: float) -> None:
    threading.Event().wait(max(0.0, start_s - time.monotonic()))
    values = np.random.default_rng(0).random((200, 200))
    while time.monotonic() < end_s:
        values = values @ values
        values /= values.max()


class _Devices:
    def __init__(self, source: ArrayInput) -> None:
        self._source = source

    def list_devices(self) -> tuple[()]:
        return ()

    def open_input(self, name: str) -> InputStream:
        return self._source

    def open_output(self, name: str) -> object:
        raise NotImplementedError


def _session(folder: Path, seconds: float) -> tuple[Session, str]:
    path = resource_path("demo/conversation.flac")
    with AudioFileReader(path) as reader:
        rate, pcm = reader.sample_rate, reader.read(reader.sample_rate * 600)
    looped = np.tile(pcm, int(seconds * rate / len(pcm)) + 2)[: int((seconds + 5) * rate)]
    settings = Settings(synthesizer="none", keep="audio-and-text")
    clock = MonotonicClock()
    store = ModelStore(folders(settings, os.environ).models, load_manifest())
    services = Services(
        devices=_Devices(ArrayInput(looped, rate, clock, is_live=True)),  # type: ignore[arg-type]
        create_backend=registry.create,
        model_path=store.path,
        sessions_dir=folder,
        clock=clock,
    )
    return Session(settings, services), f"{seconds:.0f} s"


if __name__ == "__main__":
    main()
