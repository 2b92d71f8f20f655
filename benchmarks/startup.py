"""Time from the start of the process to the first picture of the window, and what imports cost.

Run: python -m benchmarks.startup [--runs N]. Needs Xvfb.
"""

import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.display import virtual_display


def window_s(display: str) -> float:
    """Return seconds until the window was painted in one fresh process."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {
            **os.environ,
            "DISPLAY": display,
            "QT_QPA_PLATFORM": "xcb",
            "VIVAVOCE_HOME": folder,
        }
        process = subprocess.Popen([sys.executable, "-m", "app.main"], env=environment)
        try:
            deadline_s = time.monotonic() + 60
            while time.monotonic() < deadline_s:
                for log in Path(folder).rglob("*.log"):
                    found = re.search(r"visible ([\d.]+) s after", log.read_text())
                    if found:
                        return float(found[1])
                time.sleep(0.1)
            raise TimeoutError("the window did not show")
        finally:
            process.terminate()
            process.wait(30)


def command_s(*arguments: str) -> float:
    """Return the wall time of a command."""
    began_s = time.perf_counter()
    subprocess.run([sys.executable, "-m", "app.main", *arguments], check=True, capture_output=True)
    return time.perf_counter() - began_s


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    runs = parser.parse_args().runs
    with virtual_display() as display:
        times_s = [window_s(display) for _ in range(runs)]
    print(
        f"window visible: best {min(times_s):.2f} s, median {statistics.median(times_s):.2f} s, "
        f"worst {max(times_s):.2f} s of {runs}"
    )
    for arguments in (("--version",), ("--help",)):
        best_s = min(command_s(*arguments) for _ in range(runs))
        print(f"vivavoce {' '.join(arguments)}: best {best_s:.2f} s")


if __name__ == "__main__":
    main()
