"""A display without a screen."""

import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def virtual_display(width: int = 1400, height: int = 900) -> Iterator[str]:
    """Run Xvfb and yield the name of its display."""
    with tempfile.TemporaryFile("w+") as answer:
        server = subprocess.Popen(
            ["Xvfb", "-displayfd", "1", "-screen", "0", f"{width}x{height}x24", "-nolisten", "tcp"],
            stdout=subprocess.PIPE,
            stderr=answer,
            text=True,
        )
        try:
            assert server.stdout is not None
            number = server.stdout.readline().strip()
            if not number:
                raise RuntimeError("Xvfb did not start")
            yield f":{number}"
        finally:
            server.terminate()
            server.wait()
            if server.stdout is not None:
                server.stdout.close()
