"""The end of a session: everything in order, and within five seconds."""

import logging
from concurrent.futures import Future, wait

from engine.core.events import SessionState, StateChanged
from engine.core.workers import Workers
from engine.pipeline.bus import EventBus
from engine.session.keeping import Keeper
from engine.session.pool import BackendPool
from engine.session.recorder import Recorder
from engine.session.sound_out import SoundOut

logger = logging.getLogger(__name__)

FINISH_S = 2.0
"""What a running recording may take until every word is told."""
DISCARD_S = 0.9
"""What it may take once the rest is given up."""
_SOUND_S = 0.4
_THREAD_S = 0.15


class Closing:
    """Ends the parts of a session. What does not return in time is left to its daemon thread.

    Thread: whichever closes the session.
    """

    def __init__(
        self,
        recorder: Recorder,
        keeper: Keeper,
        sound: SoundOut,
        pool: BackendPool,
        control: Workers,
        bus: EventBus,
    ) -> None:
        self._recorder = recorder
        self._keeper = keeper
        self._sound = sound
        self._pool = pool
        self._control = control
        self._bus = bus

    def run(self) -> None:
        """End everything: first what is recorded, on disk; then the sound, the models, the rest."""
        self._sound.stop()
        try:
            has_stopped = self._end_recording(self._control.submit(self._recorder.stop))
        finally:
            is_silent = self._sound.close(_SOUND_S)
            self._control.close(_THREAD_S)
            self._pool.close(_THREAD_S)
            is_kept = self._keeper.close(_THREAD_S)
        left = [
            name
            for name, has_ended in (
                ("recording", has_stopped),
                ("loudspeaker", is_silent),
                ("disk", is_kept),
            )
            if not has_ended
        ]
        if left:
            logger.warning("the session is closed, but the %s did not return", " and ".join(left))
        detail = f"the {' and the '.join(left)} did not return" if left else ""
        self._bus.post(StateChanged(SessionState.CLOSED, detail))
        self._bus.close(_THREAD_S)

    def _end_recording(self, stopped: Future[None]) -> bool:
        """Return whether the recording, if there is one, has ended by itself."""
        recording = self._recorder.recording
        is_discarding = self._recorder.is_discarding
        if not _is_done(stopped, 0.0 if is_discarding else FINISH_S):
            if recording is not None:
                recording.discard_backlog()
            self._pool.cancel()
            self._keeper.hurry()
            if not _is_done(stopped, DISCARD_S):
                self._recorder.break_off()
                return False
        stopped.result()
        return True


def _is_done(future: Future[None], timeout_s: float) -> bool:
    return bool(wait((future,), timeout_s).done)
