"""Counts the samples of a source beside the program, as the sound server's clock runs by itself."""

import os
import subprocess
import threading

from tests.helpers.pulse import RATE, VirtualSound


class ServerClock:
    """How much sound a source has brought since it was opened. Thread: any; one of its own reads.

    Args:
        sound: the server.
        source: heard.
    """

    def __init__(self, sound: VirtualSound, source: str) -> None:
        format_ = (f"--rate={RATE}", "--channels=1", "--format=s16le", "--raw")
        self._process = subprocess.Popen(
            ("parec", f"--device={source}", "--latency-msec=10", *format_),
            env={**os.environ, **sound.env()},
            stdout=subprocess.PIPE,
        )
        # NB: written by the thread alone, read by any.
        self._num_bytes = 0
        self._thread = threading.Thread(target=self._run, name="soak-server-clock", daemon=True)
        self._thread.start()

    @property
    def seconds(self) -> float:
        """What has come so far."""
        return self._num_bytes / 2 / RATE

    def close(self) -> None:
        """End."""
        self._process.terminate()
        self._process.wait()
        self._thread.join()

    def _run(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as pipe:
            while data := os.read(pipe.fileno(), 65_536):
                self._num_bytes += len(data)
