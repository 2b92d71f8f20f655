"""What a power cut loses: `python -m benchmarks.crash_power [--cuts N]`; Linux, as root.

Records to an ext4 file system in a file, and copies that file at random moments: what has reached
the disk by then, and no more. Each copy is mounted and its session finished and compared with
what had been recorded. This disk never reorders writes; real ones may, and lose more.
"""

import argparse
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.crash_check import Outcome, check
from benchmarks.crash_child import SAMPLES, Mode, Plan, make_session

_SIZE_MB = 96


def main() -> int:
    """Cut and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cuts", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if sys.platform != "linux" or os.geteuid() != 0:
        print("This needs Linux, and an administrator's rights to mount file systems.")
        return 2
    with tempfile.TemporaryDirectory() as scratch:
        outcomes = _run(options.cuts, options.seed, Path(scratch))
    lost_ms = [1000 * outcome.audio_lost_s for outcome in outcomes]
    lines = [outcome.lines_lost for outcome in outcomes]
    print(
        f"{len(outcomes)} power cuts: audio lost {statistics.median(lost_ms):.0f} ms (median), "
        f"{max(lost_ms):.0f} ms (worst); lines lost {statistics.median(lines):.0f} (median), "
        f"{max(lines)} (worst)"
    )
    faults = [outcome for outcome in outcomes if outcome.faults]
    for outcome in faults:
        print(f"FAULT: {outcome}")
    return 1 if faults else 0


def _run(num_cuts: int, seed: int, scratch: Path) -> list[Outcome]:
    rng, told = random.Random(seed), Counter[bytes]()
    image, copy = scratch / "disk.img", scratch / "copy.img"
    with image.open("wb") as file:
        file.truncate(_SIZE_MB * 2**20)
    _do("mkfs.ext4", "-q", "-F", str(image))
    outcomes: list[Outcome] = []
    with _mounted(image, scratch / "disk") as disk:
        session = make_session(
            Plan(Mode.LIVE, disk / "sessions"),
            lambda what, count: told.update({what: count - told[what]}),
        )
        with session:
            session.start().result()
            while len(outcomes) < num_cuts:
                time.sleep(rng.uniform(0.2, 1.8))
                before = Counter(told)
                _do("cp", "--sparse=always", str(image), str(copy))
                with _mounted(copy, scratch / "after") as after:
                    outcomes.append(check(Mode.LIVE, after / "sessions", frozenset(), before))
                assert before[SAMPLES] <= told[SAMPLES]
    return outcomes


@contextmanager
def _mounted(image: Path, folder: Path) -> Iterator[Path]:
    folder.mkdir(exist_ok=True)
    _do("mount", "-o", "loop", str(image), str(folder))
    try:
        yield folder
    finally:
        _do("umount", str(folder))


def _do(*command: str) -> None:
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    sys.exit(main())
