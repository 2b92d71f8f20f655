"""What a killed process loses: `python -m benchmarks.crash [--kills N] [--seed N]`.

Records in a process of its own and kills it (SIGKILL) at random moments: while it starts, records,
is edited, is paused, and stops. Finishes what is left as the program would, and compares it with
what the process had told. The status is 1 if more is lost than a second of sound and one line.
"""

import argparse
import os
import random
import select
import statistics
import sys
import tempfile
import time
from collections import Counter
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path

# For the processes that record: they are many, and short.
os.environ["OMP_NUM_THREADS"] = "1"

from benchmarks.crash_check import Outcome, check
from benchmarks.crash_child import (
    ASKED,
    CLOSED,
    RECORD,
    STARTED,
    STOPPING,
    Mode,
    Plan,
    record,
)
from engine.store.library import SessionLibrary

_WHEN_S = {
    Mode.LIVE: (STARTED, 0.0, 3.0),
    Mode.FAST: (STARTED, 0.0, 0.4),
    Mode.EDITS: (STARTED, 0.8, 3.0),
    Mode.TEXT: (STARTED, 0.0, 3.0),
    Mode.PAUSE: (STARTED, 0.5, 1.5),
    Mode.START: (ASKED, 0.0, 0.05),
    Mode.STOP: (STOPPING, 0.0, 0.04),
}
"""After what is told, and how many seconds later at the earliest and the latest, a kill comes."""
_PATIENCE_S = 60.0


def main() -> int:
    """Kill and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    began_s = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        outcomes = run(options.kills, options.seed, Path(folder) / "sessions")
    print_table(outcomes)
    print(f"\n{len(outcomes)} kills in {time.monotonic() - began_s:.0f} s")
    bad = [outcome for outcome in outcomes if not outcome.is_good]
    for outcome in bad:
        print(f"FAULT: {outcome}")
    return 1 if bad else 0


def run(num_kills: int, seed: int, root: Path) -> list[Outcome]:
    """Return what became of each kill; all record into the same folder, one after the other."""
    rng, modes = random.Random(seed), list(Mode)
    context = get_context("forkserver")
    context.set_forkserver_preload(["benchmarks.crash_child"])
    outcomes = []
    for number in range(num_kills):
        mode = modes[number % len(modes)]
        known = frozenset(info.id for info in SessionLibrary(root).list())
        ours, theirs = context.Pipe(duplex=False)
        process = context.Process(target=record, args=(Plan(mode, root), theirs), daemon=True)
        process.start()
        theirs.close()
        told = _listen(ours, _WHEN_S[mode], rng)
        process.kill()
        process.join()
        _read(ours, told)
        ours.close()
        outcomes.append(check(mode, root, known, told))
    return outcomes


def print_table(outcomes: list[Outcome]) -> None:
    """Print a line for each of what processes did when they were killed, and one for all."""
    print(
        f"{'killed while':<14}{'kills':>6}{'recorded':>10}{'audio lost: median':>20}{'worst':>8}"
        f"{'lines lost: worst':>19}{'had ended':>11}{'faults':>8}"
    )
    for name, some in [
        *((mode.value, [o for o in outcomes if o.mode is mode]) for mode in Mode),
        ("all", outcomes),
    ]:
        if some:
            lost_ms = [1000 * outcome.audio_lost_s for outcome in some]
            print(
                f"{name:<14}{len(some):>6}{sum(o.recorded_s for o in some):>8.0f} s"
                f"{statistics.median(lost_ms):>17.0f} ms{max(lost_ms):>5.0f} ms"
                f"{max(o.lines_lost for o in some):>19}{sum(o.was_closed for o in some):>11}"
                f"{sum(bool(o.faults) for o in some):>8}"
            )


def _listen(
    pipe: Connection, when: tuple[bytes, float, float], rng: random.Random
) -> Counter[bytes]:
    """Take in what a process tells until its moment has come."""
    what, earliest_s, latest_s = when
    wait_s = rng.uniform(earliest_s, latest_s)
    told: Counter[bytes] = Counter()
    seen: set[bytes] = set()
    limit_s = time.monotonic() + _PATIENCE_S
    while what not in seen:
        if time.monotonic() > limit_s or not _read(pipe, told, seen, timeout_s=1.0):
            raise TimeoutError(f"the process told {sorted(seen)}, and not {what!r}")
    end_s = time.monotonic() + wait_s
    while (left_s := end_s - time.monotonic()) > 0 and CLOSED not in seen:
        if not _read(pipe, told, seen, timeout_s=left_s):
            break
    return told


def _read(
    pipe: Connection,
    told: Counter[bytes],
    seen: set[bytes] | None = None,
    timeout_s: float | None = None,
) -> bool:
    """Take in what is there, all until the end if there is no timeout; False at the end."""
    while timeout_s is None or select.select([pipe], [], [], timeout_s)[0]:
        data = os.read(pipe.fileno(), RECORD.size * 400)
        for what, count in RECORD.iter_unpack(data[: len(data) // RECORD.size * RECORD.size]):
            told[what] = max(told[what], count)
            if seen is not None:
                seen.add(what)
        if not data:
            return False
        if timeout_s is not None:
            break
    return True


if __name__ == "__main__":
    sys.exit(main())
