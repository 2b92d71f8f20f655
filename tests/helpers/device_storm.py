"""A microphone that comes and goes again and again while it is recorded, on a server of its own.

`python -m tests.helpers.device_storm` prints one line of JSON: how often it was opened, in how many
seconds, how far the session clock is off, and how long closing took. In a process of its own: a
sound library may hang for good in a device that goes while it is started, and nobody can take that
thread out of it again.
"""

import json
import os
import sys
import tempfile
import time
from pathlib import Path

from tests.helpers.device_scenes import Scene, until
from tests.helpers.pulse import SPARE_MICROPHONE, VirtualSound

_NUM_TIMES = 10


def main() -> int:
    """Do it."""
    with VirtualSound() as sound, tempfile.TemporaryDirectory() as folder:
        os.environ.update(sound.env())
        made = Scene(sound, Path(folder), input_name=SPARE_MICROPHONE)
        with made.hearing():
            made.record()
            began_s = time.monotonic()
            for _ in range(_NUM_TIMES):
                sound.unload("source_name=spare_microphone")
                sound.plug_microphone("spare_microphone", SPARE_MICROPHONE)
                time.sleep(0.2)
            told = {
                "num_opened": made.devices.num_inputs,
                "passed_s": time.monotonic() - began_s,
            }
            time.sleep(1.0)
            until(lambda: made.num_told("was lost") == made.num_told("is back"))
            time.sleep(1.0)
            made.stop()
        told["clock_error_s"] = made.clock_error_s()
        began_s = time.monotonic()
        made.session.close()
        told["close_s"] = time.monotonic() - began_s
    sys.stdout.write(json.dumps(told) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
