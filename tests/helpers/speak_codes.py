"""Speaks a file of codes by small random weights, and saves what the loudspeaker should play.

`python -m tests.helpers.speak_codes CODES DECODER LOUDSPEAKER PCM` prints the last state, the
samples heard, their rate and the underflows.
"""

import sys
import threading
import time
from dataclasses import replace

import numpy as np

from engine.audio.device import OutputStream
from engine.audio.provider import SystemDevices
from engine.backends import nanocodec_weights
from engine.backends.nanocodec_file import create
from engine.backends.protocols import BackendContext
from engine.core.events import Event, UtteranceChanged
from engine.core.sync import CancelToken
from engine.core.timebase import MonotonicClock
from engine.models.nanocodec.config import RELEASED
from engine.pipeline.playback import PlaybackHooks, SpeakLane
from tests.helpers.backends import no_models
from tests.helpers.speech import ENDS

_UNDER_WAY_S = 0.5


def main() -> int:
    """Do it."""
    codes, decoder, loudspeaker, pcm_path = sys.argv[1:]
    nanocodec_weights.RELEASED = {
        name: replace(config, base_channels=32, encoder_channels=2)
        for name, config in RELEASED.items()
    }
    # Recordings have 16 bits: louder than is allowed, so that a step is seen in them.
    nanocodec_weights.UNTRAINED_LEVEL = 0.1
    backend = create(BackendContext(model_path=no_models, allow_untrained=True), decoder)
    backend.load(lambda _fraction, _text: None, CancelToken())
    clock, ended, told = MonotonicClock(), threading.Event(), []

    def post(event: Event) -> None:
        if isinstance(event, UtteranceChanged):
            told.append(event)
            if event.state in ENDS:
                ended.set()

    def open_output() -> OutputStream:
        output = SystemDevices(clock).open_output(loudspeaker)
        output.start()
        return output

    lane = SpeakLane(
        PlaybackHooks(
            wait_for_voice=lambda _cancel: (backend.spec, backend.open_stream()),
            open_output=open_output,
            post=post,
            gate=lambda: None,
            now_s=clock.now_s,
        )
    )
    lane.speak(codes)
    ended.wait(60)
    time.sleep(_UNDER_WAY_S)
    lane.close()
    np.save(pcm_path, np.concatenate([c.pcm for c in backend.open_stream().speak(codes)]))
    last = told[-1]
    figures = (last.state, last.heard_samples, last.sample_rate, lane.num_underflows)
    sys.stdout.write(f"{' '.join(map(str, figures))} {last.message}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
