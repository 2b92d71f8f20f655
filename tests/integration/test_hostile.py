"""A part of the malformed inputs of `benchmarks.hostile`, by the commands a user would give."""

import re
import subprocess
import sys

import pytest

from tests.helpers.cli import ROOT, cli_environment


@pytest.mark.slow
def test_hostile_input_when_a_part_is_tried_then_no_crash_hang_or_silent_loss():
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.hostile", "--quick"],
        cwd=ROOT,
        env=cli_environment(OMP_NUM_THREADS="1"),
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    # Case count, crashes, hangs, silent losses, too much memory.
    total = re.search(r"^all +(\d+) +(\d+) +(\d+) +(\d+) +(\d+)", done.stdout, re.MULTILINE)
    assert total is not None, done.stdout
    assert int(total[1]) >= 80
    assert [int(figure) for figure in total.groups()[1:]] == [0, 0, 0, 0]
