"""What the window costs: a four-hour session read and changed, the live view, and its delays.

Run: python -m benchmarks.window [long] [live] [delay]. Needs Xvfb; `delay` also PulseAudio, see
tests/helpers/pulse.py. Without a name all three run, each in a process of its own.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import psutil

from benchmarks.display import virtual_display
from benchmarks.long_session import FRAME_MS, RATE, STEP_S, opening, steps

HOURS = 4.0
_MB = 1e6
PARTS = ("long", "live", "delay")


def main() -> None:
    """Run each part in a process of its own, so that none is measured with another's memory."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", choices=(*PARTS, []), help="which; all by default")
    parser.add_argument("--hours", type=float, default=HOURS, help="length of the long session")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.here:
        _PARTS[options.parts[0]](options.hours)
        return
    with virtual_display() as display:
        for part in options.parts or PARTS:
            environment = {**os.environ, "DISPLAY": display, "QT_QPA_PLATFORM": "xcb"}
            command = [sys.executable, "-m", __spec__.name, part, "--here"]
            command += ["--hours", str(options.hours)]
            if part == "delay":
                command = [sys.executable, "-m", "tests.helpers.pulse", "--", *command]
            subprocess.run(command, env=environment, check=True)


class Bench:
    """A shown window whose session is scripted, and the clock that times its frames."""

    def __init__(self, home: Path) -> None:
        from PySide6.QtWidgets import QApplication

        from app.garbage import GarbageCollector
        from tests.helpers.scripted_session import BACKENDS
        from tests.helpers.window import make_window

        self.application = QApplication.instance() or QApplication(["vivavoce"])
        self.application.setStyle("Fusion")
        self.parts = make_window(home)
        self.window = self.parts.window
        self.window.show()
        self.parts.controller.attach(self.parts.session.as_session())
        self.parts.session.post(*BACKENDS)
        self._collector = GarbageCollector(self.application)
        self._collector.start()
        self.settle()

    def settle(self) -> None:
        """Let everything that waits be done and painted."""
        for _ in range(5):
            self.application.processEvents()

    def frame_ms(self, act: Callable[[], object]) -> float:
        """Return the time from before an action until its picture is painted."""
        began_s = time.perf_counter()
        act()
        self.application.processEvents()
        return 1000 * (time.perf_counter() - began_s)


def measure_long(hours: float) -> None:
    """Print memory and frame times of a long session."""
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder))
        process = psutil.Process()
        state = bench.parts.state
        state.take([opening()])
        seconds = hours * 3600
        after_s, begin_mb, first_ms, append_ms = 600.0, 0.0, list[float](), list[float]()
        for number, events in enumerate(steps(seconds)):
            spent_ms = bench.frame_ms(lambda events=events: state.take(events))
            now_s = (number + 1) * STEP_S
            bench.window.timeline.set_duration(now_s)
            if now_s <= after_s:
                first_ms.append(spent_ms)
                begin_mb = process.memory_info().rss / _MB
            elif now_s > seconds - 600:
                append_ms.append(spent_ms)
        grown_mb = process.memory_info().rss / _MB - begin_mb
        document = state.document
        print(
            f"{hours:g} h: {len(document.words)} words, {len(document.lines)} lines, "
            f"{len(document.speakers)} speakers; memory from minute 10 to the end: "
            f"{grown_mb:+.1f} MB ({begin_mb:.0f} MB before)"
        )
        print(_row("append, first 10 min", first_ms))
        print(_row("append, last 10 min", append_ms))
        for title, times_ms in _reading(bench):
            print(_row(title, times_ms))


def _reading(bench: Bench) -> Iterator[tuple[str, list[float]]]:
    """Yield frame times of everything a reader does with a long session."""
    window, rng = bench.window, np.random.default_rng(5)
    transcript, timeline, search = window.transcript, window.timeline, window.search
    bar = transcript.verticalScrollBar()
    places = rng.integers(bar.maximum(), size=200).tolist()
    yield "scroll to anywhere", [bench.frame_ms(lambda y=y: bar.setValue(y)) for y in places]
    bar.setValue(bar.maximum() // 2)
    yield (
        "scroll by lines",
        [bench.frame_ms(lambda: bar.setValue(bar.value() + 60)) for _ in range(200)],
    )
    zooms = [False] * 60 + [True] * 60
    yield "zoom timeline", [bench.frame_ms(lambda z=z: timeline.zoom(z)) for z in zooms]
    timeline.show_all()
    yield (
        "drag timeline, whole session",
        [bench.frame_ms(lambda: timeline.scroll_pages(-0.01)) for _ in range(60)],
    )
    for _ in range(12):
        timeline.zoom(True)
    yield (
        "drag timeline, closer",
        [bench.frame_ms(lambda s=s: timeline.scroll_pages(s)) for s in [0.05] * 60 + [-0.05] * 60],
    )
    typed = ["s", "sh", "shi", "ship", "ship t", "ship the", "n", "nu", "nobody re"] * 6
    yield "search, each letter", [bench.frame_ms(lambda t=t: search.set_query(t)) for t in typed]
    search.set_query("nobody")
    bench.settle()
    yield "next hit", [bench.frame_ms(search.next) for _ in range(100)]
    search.clear()
    editing, document = bench.parts.context.editing, bench.parts.state.document
    names = [f"Person {number}" for number in range(20)]
    yield (
        "rename a speaker",
        [bench.frame_ms(lambda n=n: editing.rename(document.speakers[0], n)) for n in names],
    )
    sizes = [1] * 5 + [-1] * 5
    controller = bench.parts.controller
    yield "text size", [bench.frame_ms(lambda s=s: controller.change_text_size(s)) for s in sizes]


def measure_live(hours: float) -> None:
    """Print what 30 pictures a second cost at the end of a long session."""
    del hours
    from PySide6.QtCore import QEventLoop, QTimer

    from engine.core.events import SessionState

    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder))
        state, session = bench.parts.state, bench.parts.session
        state.take([opening()])
        told = list(steps(1200.0))
        for events in told[:-40]:
            state.take(events)
        session.enter(SessionState.RECORDING)
        begin_s, pending = (len(told) - 40) * STEP_S, iter(told[-40:])
        began_s, num_frames, fed = time.monotonic(), 0, 0

        def beat() -> None:
            nonlocal num_frames, fed
            passed_s = time.monotonic() - began_s
            # Ten partials a second and the words of every step, as a live session tells them.
            if passed_s >= fed * STEP_S and (events := next(pending, None)) is not None:
                state.take(events)
                fed += 1
            elif num_frames % 3 == 0:
                state.take(told[num_frames % 300][2:3])
            bench.window.timeline.set_duration(begin_s + passed_s)
            num_frames += 1

        timer, loop = QTimer(), QEventLoop()
        timer.timeout.connect(beat)
        timer.start(33)
        QTimer.singleShot(2000, loop.quit)
        loop.exec()
        cpu_s, wall_s, count = time.thread_time(), time.monotonic(), num_frames
        QTimer.singleShot(30_000, loop.quit)
        loop.exec()
        cpu_s, wall_s = time.thread_time() - cpu_s, time.monotonic() - wall_s
        timer.stop()
        print(
            f"live: {(num_frames - count) / wall_s:.1f} pictures a second cost "
            f"{100 * cpu_s / wall_s:.1f} % of a core"
        )


def measure_delay(hours: float) -> None:
    """Print how late words and rows are on the screen, from a virtual microphone."""
    del hours
    from benchmarks.window_delay import measure

    measure()


def _row(title: str, times_ms: list[float]) -> str:
    p50, p95 = np.percentile(times_ms, [50, 95])
    return f"{title:30} p50 {p50:6.1f}  p95 {p95:6.1f}  worst {max(times_ms):6.1f} ms"


_PARTS = {"long": measure_long, "live": measure_live, "delay": measure_delay}

__all__ = ["FRAME_MS", "RATE", "Bench", "main"]

if __name__ == "__main__":
    main()
