"""Plays into the default loudspeaker and is frozen meanwhile, as by a computer that is too busy.

`python -m tests.helpers.frozen_output rtmixer|callback` prints one line of JSON: what the output
counted.
"""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np

from engine.audio.provider import SystemDevices
from engine.core.timebase import MonotonicClock

_FROZEN_S = 0.5
_TONE_S = 1.5


def main() -> int:
    """Do it."""
    devices = SystemDevices(MonotonicClock(), use_rtmixer=sys.argv[1] == "rtmixer")
    output = devices.open_output("default")
    try:
        output.start()
        phase = 2 * np.pi * 440 * np.arange(round(_TONE_S * output.sample_rate))
        tone = (0.3 * np.sin(phase / output.sample_rate)).astype(np.float32)
        tone = tone[output.write(tone) :]
        time.sleep(0.2)
        thaw = f"sleep {_FROZEN_S}; kill -CONT {os.getpid()}"
        with subprocess.Popen(["sh", "-c", thaw]):
            os.kill(os.getpid(), signal.SIGSTOP)
        while len(tone):
            tone = tone[output.write(tone) :]
            time.sleep(0.01)
        output.end_of_stream()
        while output.num_buffered():
            time.sleep(0.01)
        time.sleep(0.2)
        counts = {
            "num_underflows": output.num_underflows,
            "num_device_underflows": output.num_device_underflows,
        }
    finally:
        output.close()
    sys.stdout.write(json.dumps(counts) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
