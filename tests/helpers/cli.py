"""Runs the command line in a process of its own."""

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a command left behind."""

    status: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()


def cli_command(*arguments: str) -> list[str]:
    """Return the command that runs the command line without the window."""
    return [sys.executable, "-m", "engine.cli", *arguments]


def cli_environment(**values: str) -> dict[str, str]:
    """Return the test's environment, with the checkout importable from any folder."""
    return {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "2", **values}


def run_cli(
    *arguments: str,
    stdin: str = "",
    timeout_s: float = 120.0,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
) -> Outcome:
    """Run a command to its end."""
    done = subprocess.run(
        cli_command(*arguments),
        input=stdin,
        capture_output=True,
        text=True,
        timeout=timeout_s,
        cwd=cwd or ROOT,
        env=cli_environment(**(env or {})),
        check=False,
    )
    return Outcome(done.returncode, done.stdout, done.stderr)
