"""Hours of use with a fault a minute, at a virtual clock; or real time on a real sound server.

Run: python -m benchmarks.soak [--hours H] [--seed N] [--real-models MINUTES] [--why]
     python -m benchmarks.soak --real-time MINUTES
"""

import argparse
import sys
import tempfile
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks.soak_checks import (
    check_audio,
    check_document,
    check_run,
    check_threads,
    check_words,
)
from benchmarks.soak_faults import EXPECTED_LOG, plan
from benchmarks.soak_log import watched_log
from benchmarks.soak_report import Report
from benchmarks.soak_run import Soak
from benchmarks.soak_signal import RATE, coded, make_tones
from engine.backends.fake_diarizer import FakeDiarizer
from engine.backends.fake_recognizer import FakeRecognizer
from engine.backends.fake_synthesizer import FakeSynthesizer
from engine.backends.protocols import Backend, BackendContext
from engine.core.config import Settings
from engine.core.types import BackendKind, Pcm

_MAKERS: dict[BackendKind, Callable[[], Backend]] = {
    BackendKind.RECOGNIZER: FakeRecognizer,
    BackendKind.DIARIZER: FakeDiarizer,
    BackendKind.SYNTHESIZER: FakeSynthesizer,
}
_INTERVAL_S = 60.0


def soak_fakes(hours: float, seed: int, interval_s: float = _INTERVAL_S) -> Report:
    """Record for so long on fake backends, a fault each `interval_s`; check everything."""
    tones = make_tones()

    def heard(rate: int, start: int, end: int) -> Pcm:
        if rate == RATE:
            return coded(start, end)
        return tones.at(np.arange(start, end) / rate).astype(np.float32)

    def create(kind: BackendKind, _id: str, _context: BackendContext) -> Backend:
        return _MAKERS[kind]()

    report = Report(f"{hours:g} h at the virtual clock, fake backends, seed {seed}")
    with tempfile.TemporaryDirectory() as name, watched_log(EXPECTED_LOG) as log:
        folder = Path(name)
        settings = Settings(
            recognizer="fake", diarizer="fake", synthesizer="fake", keep="audio-and-text"
        )
        soak = Soak(folder, heard, create, lambda _: folder, settings)
        with soak.session:
            soak.run(hours * 3600, plan(hours * 3600, interval_s, seed), seed)
        check_run(report, soak, log.lines)
        check_audio(report, soak, folder, tones)
        check_words(report, soak, folder)
        check_document(report, soak, folder)
        check_threads(report)
    return report


def main() -> int:
    """Print figures and checks; return 1 if any check fails."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hours", type=float, default=4.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--real-models", type=float, default=4.0, metavar="MINUTES")
    parser.add_argument("--real-time", type=float, default=0.0, metavar="MINUTES")
    parser.add_argument("--why", action="store_true", help="tell what memory grew by")
    arguments = parser.parse_args()
    if arguments.real_time:
        from benchmarks.soak_real_time import run

        return _tell(run(arguments.real_time))
    if arguments.why:
        tracemalloc.start()
    failed = 0
    if arguments.hours:
        failed |= _tell(soak_fakes(arguments.hours, arguments.seed))
    if arguments.real_models:
        from benchmarks.soak_real_models import soak_real

        failed |= _tell(soak_real(arguments.real_models, arguments.seed))
    return failed


def _tell(report: Report) -> int:
    print(report.text(), flush=True)
    return int(bool(report.failures))


if __name__ == "__main__":
    sys.exit(main())
