"""The speak lane: texts to speech to the loudspeaker, one after the other."""

import logging
import queue
import threading
from collections import deque

from engine.core.errors import CancelledError, DeviceError, EngineError
from engine.core.events import UtteranceChanged, UtteranceState
from engine.core.types import SpeechPlace
from engine.core.unexpected import told
from engine.pipeline.kept_speech import KeptSpeech
from engine.pipeline.loudspeaker import Loudspeaker
from engine.pipeline.pacing import Pacing
from engine.pipeline.playing import Playing
from engine.pipeline.render import Render
from engine.pipeline.speech_control import SpeechControl
from engine.pipeline.utterance import PlaybackHooks, Utterance

logger = logging.getLogger(__name__)

__all__ = ["PlaybackHooks", "SpeakLane"]


class SpeakLane:
    """Speaks queued texts through one output stream that stays open between them.

    The speech of the newest text is kept, so that it can be heard again.

    Thread: commands from any; one speak thread, and one render thread a text.

    Args:
        hooks: see `PlaybackHooks`.
        loudspeaker: shared with others; one of its own if not given.
    """

    def __init__(self, hooks: PlaybackHooks, loudspeaker: Loudspeaker | None = None) -> None:
        self._hooks = hooks
        self._queue: queue.SimpleQueue[Utterance | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._pending: deque[Utterance] = deque()
        self._next_id = 0
        self._control = SpeechControl()
        self._loudspeaker = loudspeaker or Loudspeaker(hooks.open_output)
        self._pacing = Pacing()
        # NB: replaced by the speak thread, read by any.
        self._newest: tuple[Utterance, KeptSpeech] | None = None
        self.first_sound_delay_s = 0.0
        self._thread = threading.Thread(target=self._run, name="vivavoce-speak", daemon=True)
        self._thread.start()

    @property
    def is_speaking(self) -> bool:
        """Whether a text is queued, being spoken, or paused."""
        return bool(self._pending)

    @property
    def is_paused(self) -> bool:
        """Whether the text being spoken is paused."""
        return self._control.is_paused

    @property
    def num_underflows(self) -> int:
        """Times speech did not come in time, bridged or not."""
        return self._loudspeaker.num_underflows

    def place(self) -> SpeechPlace | None:
        """Return where in the newest text the loudspeaker is; None before any."""
        newest = self._newest
        if newest is None:
            return None
        utterance, speech = newest
        rate = speech.sample_rate
        return SpeechPlace(
            utterance.id,
            speech.start / rate,
            speech.position / rate,
            speech.end / rate,
            speech.is_finished,
        )

    def speak(self, text: str) -> int:
        """Queue a text and return its number."""
        with self._lock:
            utterance = Utterance(self._next_id, text, self._hooks.now_s())
            self._next_id += 1
            self._enqueue(utterance)
        return utterance.id

    def pause(self) -> None:
        """Fade out and wait; nothing happens while nothing is spoken."""
        with self._lock:
            if self._pending:
                self._control.pause()

    def resume(self) -> None:
        """Go on with what was paused, from where it was heard last."""
        self._control.resume()

    def seek(self, position_s: float) -> None:
        """Go to a place in the newest text, as far as it is rendered and kept; paused stays paused.

        Args:
            position_s: from the beginning of its speech.
        """
        with self._lock:
            if self._pending:
                self._control.seek(position_s)
            elif self._newest is not None:
                said, speech = self._newest
                self._enqueue(
                    Utterance(said.id, said.text, self._hooks.now_s(), speech, position_s)
                )

    def replay(self) -> None:
        """Play the newest text again from its beginning, or the earliest that is kept."""
        self._control.resume()
        self.seek(0.0)

    def stop(self) -> None:
        """Silence the loudspeaker and drop every queued text."""
        with self._lock:
            for utterance in self._pending:
                utterance.cancel.cancel()
            self._control.resume()

    def change_output(self) -> None:
        """Open the loudspeaker anew: what was not heard goes on there."""
        self._control.change_output()

    def close(self, timeout_s: float = 10.0) -> bool:
        """Stop, release the device and end the threads; idempotent.

        Returns:
            Whether they have ended: a device that does not return is not waited for.
        """
        self.stop()
        self._queue.put(None)
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def _enqueue(self, utterance: Utterance) -> None:
        self._pending.append(utterance)
        # In the lock, so that a text is told to be queued before it is told to be anything else.
        self._tell(utterance, UtteranceState.QUEUED)
        self._queue.put(utterance)

    def _run(self) -> None:
        while (utterance := self._queue.get()) is not None:
            try:
                self._speak(utterance)
            except CancelledError:
                self._tell(utterance, UtteranceState.CANCELLED)
            except EngineError as error:
                if isinstance(error, DeviceError):
                    self._close_loudspeaker()
                self._tell(utterance, UtteranceState.FAILED, message=error.text)
            except Exception as error:
                logger.exception("speaking failed")
                self._tell(
                    utterance,
                    UtteranceState.FAILED,
                    message=f"Speaking stopped: {told(error).text}",
                )
            with self._lock:
                self._pending.remove(utterance)
                if not self._pending:
                    self._control.resume()
        self._close_loudspeaker()

    def _close_loudspeaker(self) -> None:
        with self._loudspeaker.held:
            self._loudspeaker.close()

    def _speak(self, utterance: Utterance) -> None:
        utterance.cancel.check()
        self._control.take_seek()
        if self._control.take_output_change():
            self._close_loudspeaker()
        self._tell(utterance, UtteranceState.RENDERING)
        if utterance.speech is not None:
            self._play(utterance, utterance.speech, None)
            return
        spec, stream = self._hooks.wait_for_voice(utterance.cancel)
        try:
            with self._loudspeaker.held:
                self._loudspeaker.open(utterance.cancel)
        except EngineError:
            stream.close()
            raise
        speech = KeptSpeech(spec.sample_rate)
        self._newest = utterance, speech
        render = Render(stream, speech, utterance.text, self._hooks.now_s, self._control.wake.set)
        try:
            self._play(utterance, speech, render)
        finally:
            render.close()

    def _play(self, utterance: Utterance, speech: KeptSpeech, render: Render | None) -> None:
        with self._loudspeaker.held:
            playing = Playing(
                utterance,
                speech,
                render,
                self._loudspeaker,
                self._control,
                self._hooks,
                self._pacing,
            )
            try:
                playing.run()
            finally:
                if render is not None and playing.first_sound_delay_s is not None:
                    self.first_sound_delay_s = playing.first_sound_delay_s

    def _tell(self, utterance: Utterance, state: UtteranceState, message: str = "") -> None:
        self._hooks.post(UtteranceChanged(utterance.id, state, message=message))
