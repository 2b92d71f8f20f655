"""What happens to malformed input: `python -m benchmarks.hostile [--quick] [--family NAME]`.

Makes several hundred broken files of every kind that the program reads, from a seed, and does with
each what a user would do. Prints one table, and every fault; the status is 1 if there is one.
"""

import argparse
import os
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

# Before anything starts threads of its own: they would not survive the fork.
os.environ["OMP_NUM_THREADS"] = "1"

from benchmarks import (
    hostile_archives,
    hostile_audio,
    hostile_checkpoints,
    hostile_headers,
    hostile_places,
    hostile_sessions,
    hostile_settings,
    hostile_speech,
    hostile_voices,
)
from benchmarks.hostile_case import (
    FAULTS,
    LIMIT_BYTES,
    LIMIT_S,
    Case,
    Result,
    Verdict,
    judge,
)
from benchmarks.hostile_commands import transcribe
from benchmarks.hostile_run import run_case
from engine.cli.inputs import DEMO_FILE
from engine.core.resources import resource_path

_PARTS = (
    hostile_audio, hostile_headers, hostile_places, hostile_checkpoints, hostile_archives,
    hostile_settings, hostile_sessions, hostile_speech, hostile_voices,
)  # fmt: skip
_QUICK_EVERY = 15
_GOOD = Case("", "", lambda _: transcribe(resource_path(DEMO_FILE)))


def main() -> int:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--quick", action="store_true", help="a part of them, under a minute")
    parser.add_argument("--family", help="only families that begin so")
    parser.add_argument("--verbose", action="store_true", help="name every case")
    options = parser.parse_args()
    chosen = list(_chosen(options))
    _import_what_is_needed()
    verdicts: dict[str, Counter[Verdict]] = defaultdict(Counter)
    faults, slowest_s, most_bytes, began_s = [], 0.0, 0, time.monotonic()
    with tempfile.TemporaryDirectory() as scratch:
        os.chmod(scratch, 0o755)
        folder = Path(scratch) / "case"
        usual_bytes = run_case(_GOOD, folder, 0).grown_bytes
        for case in chosen:
            result = run_case(case, folder, usual_bytes)
            verdict, why = judge(case, result)
            verdicts[case.family][verdict] += 1
            slowest_s = max(slowest_s, result.seconds)
            most_bytes = max(most_bytes, result.grown_bytes)
            if options.verbose:
                _tell(case, verdict, why, result)
            if verdict in FAULTS:
                faults.append((case, verdict, why, result))
    _print_table(verdicts)
    print(
        f"\n{len(chosen)} cases in {time.monotonic() - began_s:.0f} s; the slowest took "
        f"{slowest_s:.1f} s (limit {LIMIT_S:.0f}), the largest {most_bytes / 2**20:.0f} MB above "
        f"the program (limit {LIMIT_BYTES / 2**20:.0f})"
    )
    for fault in faults:
        _tell(*fault)
    return 1 if faults else 0


def _chosen(options: argparse.Namespace) -> Iterator[Case]:
    for part in _PARTS:
        found = [
            case
            for case in part.cases(options.seed)
            if not options.family or case.family.startswith(options.family)
        ]
        if options.quick:
            found = [case for case in found if not case.is_slow][::_QUICK_EVERY]
        yield from found


def _import_what_is_needed() -> None:
    """Once here, not in every process."""
    import av
    import safetensors.torch
    import soundfile
    import torch
    import yaml

    import engine.cli.listening
    import engine.cli.saying
    import engine.cli.transcribing
    import engine.models.checkpoints
    import engine.store.library

    torch.set_num_threads(1)
    assert av
    assert safetensors.torch
    assert soundfile
    assert yaml
    assert engine


def _print_table(verdicts: dict[str, Counter[Verdict]]) -> None:
    columns = list(Verdict)
    print(f"{'family':<20}{'cases':>7}" + "".join(f"{column:>13}" for column in columns))
    for family, counts in [*verdicts.items(), ("all", sum(verdicts.values(), Counter()))]:
        cells = "".join(f"{counts[column]:>13}" for column in columns)
        print(f"{family:<20}{counts.total():>7}{cells}")


def _tell(case: Case, verdict: Verdict, why: str, result: Result) -> None:
    print(
        f"{verdict}: {case.family}, {case.name}: {why} "
        f"[{result.status}, {result.seconds:.1f} s, {result.grown_bytes / 2**20:.0f} MB]"
    )
    if verdict in FAULTS:
        print("    " + "\n    ".join((result.err.strip() or "-").splitlines()[-6:])[:1500])


if __name__ == "__main__":
    sys.exit(main())
