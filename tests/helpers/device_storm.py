"""A microphone that comes and goes again and again while it is recorded, on a server of its own.

`python -m tests.helpers.device_storm` prints one line of JSON: how often it was opened, in how many
seconds, and how far the session clock is off. In a process of its own: a sound library may hang for
good in a device that goes while it is started, and nobody can take that thread out of it again.
"""

import json
import os
import sys
import time
from contextlib import ExitStack

from tests.helpers.device_scenes import scene, until
from tests.helpers.pulse import SPARE_MICROPHONE, VirtualSound

_NUM_TIMES = 10


def main() -> None:
    """Do it."""
    stack = ExitStack()
    sound = stack.enter_context(VirtualSound())
    os.environ.update(sound.env())
    made = stack.enter_context(scene(sound, input_name=SPARE_MICROPHONE))
    stack.enter_context(made.hearing())
    made.record()
    began_s = time.monotonic()
    for _ in range(_NUM_TIMES):
        sound.unload("source_name=spare_microphone")
        sound.plug_microphone("spare_microphone", SPARE_MICROPHONE)
        time.sleep(0.2)
    num_opened, passed_s = made.devices.num_inputs, time.monotonic() - began_s
    time.sleep(1.0)
    until(lambda: made.num_told("was lost") == made.num_told("is back"))
    time.sleep(1.0)
    made.stop()
    told = {
        "num_opened": num_opened,
        "passed_s": passed_s,
        "clock_error_s": made.clock_error_s(),
    }
    sys.stdout.write(json.dumps(told) + "\n")
    sys.stdout.flush()
    began_s = time.monotonic()
    made.session.close()
    sys.stderr.write(f"closed in {time.monotonic() - began_s:.1f} s\n")
    sound.__exit__()
    os._exit(0)


if __name__ == "__main__":
    main()
