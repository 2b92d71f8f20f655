"""The listening lane: recorded audio to the loudspeaker, one stretch at a time."""

import logging
import queue
import threading
from collections import deque
from collections.abc import Callable

from engine.core.errors import CancelledError, DeviceError, EngineError
from engine.core.events import PlayChanged, PlayState
from engine.core.unexpected import told
from engine.pipeline.listening import Heard, ListenHooks, Listening, PlayRequest
from engine.pipeline.loudspeaker import Loudspeaker
from engine.pipeline.recorded_audio import RecordedAudio, Stretch
from engine.pipeline.speech_control import SpeechControl

logger = logging.getLogger(__name__)

__all__ = ["ListenHooks", "ListenLane"]


class ListenLane:
    """Plays what was asked for last; what played before fades out and ends.

    Every stretch asked for ends with a `PlayChanged` that says ENDED or FAILED.

    Thread: commands from any; one listening thread.

    Args:
        hooks: see `ListenHooks`.
        loudspeaker: may be shared with others.
    """

    def __init__(self, hooks: ListenHooks, loudspeaker: Loudspeaker) -> None:
        self._hooks = hooks
        self._loudspeaker = loudspeaker
        self._queue: queue.SimpleQueue[PlayRequest | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._pending: deque[PlayRequest] = deque()
        self._control = SpeechControl()
        # Guarded by the lock.
        self._heard: Heard | None = None
        self._shown = 0
        self._thread = threading.Thread(target=self._run, name="vivavoce-listen", daemon=True)
        self._thread.start()

    @property
    def is_playing(self) -> bool:
        """Whether a stretch is about to be played, being played, or paused."""
        return bool(self._pending)

    def play(self, open_audio: Callable[[], RecordedAudio], start: int, end: int | None) -> None:
        """Play a stretch instead of what is played now.

        Args:
            open_audio: opens the recording, on the listening thread; raises EngineError if it has
                no audio.
            start: first sample, on the recording's clock.
            end: one past the last; None for as far as there is any.
        """
        request = PlayRequest(open_audio, start, end)
        with self._lock:
            self._cancel()
            self._pending.append(request)
        self._queue.put(request)

    def pause(self) -> None:
        """Fade out and wait; nothing happens while nothing is played."""
        with self._lock:
            if self._pending:
                self._control.pause()

    def resume(self) -> None:
        """Go on with what was paused, from where it was heard last."""
        self._control.resume()

    def stop(self) -> None:
        """Fade out and end."""
        with self._lock:
            self._cancel()

    def playing_at(self) -> int | None:
        """Return the sample that is heard now, None while nothing is played; it never goes back."""
        with self._lock:
            if self._heard is None:
                return None
            self._shown = max(self._shown, self._heard.now(self._hooks.now_s()))
            return self._shown

    def change_output(self) -> None:
        """Open the loudspeaker anew: what was not heard goes on there."""
        self._control.change_output()

    def close(self, timeout_s: float = 10.0) -> bool:
        """Stop and end the thread; idempotent. The loudspeaker stays as it is.

        Returns:
            Whether it has ended: a device that does not return is not waited for.
        """
        self.stop()
        self._queue.put(None)
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def _cancel(self) -> None:
        self._heard = None
        for request in self._pending:
            request.cancel.cancel()
        self._control.resume()

    def _run(self) -> None:
        while (request := self._queue.get()) is not None:
            ending = self._play(request)
            with self._lock:
                self._heard = None
                self._pending.remove(request)
                if not self._pending:
                    self._control.resume()
            self._hooks.post(ending)

    def _play(self, request: PlayRequest) -> PlayChanged:
        """Play a stretch to its end, well or not, and return what to tell of it."""
        start, end = request.start, request.end
        end = start if end is None else end
        message = ""
        try:
            end = self._listen(request)
        except CancelledError:
            pass
        except EngineError as error:
            message = error.text
        except Exception as error:
            logger.exception("playing failed")
            message = f"Playing stopped: {told(error).text}"
        state = PlayState.FAILED if message else PlayState.ENDED
        return PlayChanged(state, start, end, message)

    def _listen(self, request: PlayRequest) -> int:
        request.cancel.check()
        audio = request.open_audio()
        try:
            stretch = Stretch(audio, request.start, request.end)
            with self._lock:
                self._shown = stretch.begin
            if stretch.begin < stretch.end:
                with self._loudspeaker.held:
                    self._hear(request, stretch)
            return stretch.end
        finally:
            audio.close()

    def _hear(self, request: PlayRequest, stretch: Stretch) -> None:
        def take_heard(heard: Heard) -> None:
            with self._lock:
                # What fades out is not what was asked for last.
                if not request.cancel.is_cancelled:
                    self._heard = heard

        listening = Listening(
            request, stretch, self._loudspeaker, self._control, self._hooks, take_heard
        )
        try:
            listening.run()
        except DeviceError:
            self._loudspeaker.close()
            raise
