"""The speak lane: texts to speech to the loudspeaker, one after the other."""

import logging
import queue
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from engine.audio.device import OutputStream
from engine.backends.protocols import BackendSpec, SynthesizerStream
from engine.core.errors import CancelledError, EngineError
from engine.core.events import Event, UtteranceChanged, UtteranceState
from engine.core.sync import CancelToken
from engine.core.timebase import samples
from engine.pipeline.own_voice import OwnVoiceGate
from engine.pipeline.render import Render, RenderedChunk

logger = logging.getLogger(__name__)

PREBUFFER_S = 0.3
"""Speech ready before the first sample is played, so that the next piece comes in time."""
AHEAD_S = 0.4
"""Speech in the device's ring at most, so that Stop has little to throw away."""
POLL_S = 0.01


@dataclass(frozen=True, slots=True)
class PlaybackHooks:
    """What the speak lane needs from its session. Thread: called on the speak lane.

    Args:
        wait_for_voice: blocks until the synthesizer is ready and returns (spec, opened stream);
            raises BackendError if there is none.
        open_output: opens and starts the chosen loudspeaker.
        post: publishes an event.
        gate: the recording's own-voice gate, or None while nothing is recorded or it is off.
        now_s: host time, for delays.
    """

    wait_for_voice: Callable[[CancelToken], tuple[BackendSpec, SynthesizerStream]]
    open_output: Callable[[], OutputStream]
    post: Callable[[Event], None]
    gate: Callable[[], OwnVoiceGate | None]
    now_s: Callable[[], float]


@dataclass(slots=True)
class _Utterance:
    id: int
    text: str
    asked_at_s: float
    cancel: CancelToken = field(default_factory=CancelToken)


class SpeakLane:
    """Speaks queued texts through one output stream that stays open between them.

    Thread: commands from any; one speak thread, and one render thread a text.
    """

    def __init__(self, hooks: PlaybackHooks) -> None:
        self._hooks = hooks
        self._queue: queue.SimpleQueue[_Utterance | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._pending: deque[_Utterance] = deque()
        self._next_id = 0
        self._output: OutputStream | None = None
        self._wants_new_output = False
        # NB: written by the speak thread alone, read by any.
        self.first_sound_delay_s = 0.0
        self.num_underflows = 0
        self._thread = threading.Thread(target=self._run, name="vivavoce-speak", daemon=True)
        self._thread.start()

    @property
    def is_speaking(self) -> bool:
        """Whether a text is queued or being spoken."""
        return bool(self._pending)

    def speak(self, text: str) -> int:
        """Queue a text and return its number."""
        with self._lock:
            utterance = _Utterance(self._next_id, text, self._hooks.now_s())
            self._next_id += 1
            self._pending.append(utterance)
        self._tell(utterance, UtteranceState.QUEUED)
        self._queue.put(utterance)
        return utterance.id

    def stop(self) -> None:
        """Silence the loudspeaker and drop every queued text."""
        with self._lock:
            for utterance in self._pending:
                utterance.cancel.cancel()

    def change_output(self) -> None:
        """Open the loudspeaker anew before the next text."""
        self._wants_new_output = True

    def close(self) -> None:
        """Stop, release the device and end the threads; idempotent."""
        self.stop()
        self._queue.put(None)
        self._thread.join(timeout=10.0)

    def _run(self) -> None:
        while (utterance := self._queue.get()) is not None:
            try:
                self._speak(utterance)
            except CancelledError:
                self._tell(utterance, UtteranceState.CANCELLED)
            except EngineError as error:
                self._tell(utterance, UtteranceState.FAILED, message=str(error))
            except Exception as error:
                logger.exception("speaking failed")
                self._tell(utterance, UtteranceState.FAILED, message=f"Speaking failed: {error}")
            with self._lock:
                self._pending.remove(utterance)
        self._close_output()

    def _speak(self, utterance: _Utterance) -> None:
        utterance.cancel.check()
        self._tell(utterance, UtteranceState.RENDERING)
        spec, stream = self._hooks.wait_for_voice(utterance.cancel)
        output = self._open_output()
        render = Render(stream, spec.sample_rate, output.sample_rate, utterance.text)
        try:
            _Playing(utterance, render, output, self._hooks, self).run()
        except CancelledError:
            raise
        except EngineError:
            self._close_output()
            raise
        finally:
            render.close()

    def _open_output(self) -> OutputStream:
        if self._wants_new_output:
            self._wants_new_output = False
            self._close_output()
        if self._output is None:
            self._output = self._hooks.open_output()
        return self._output

    def _close_output(self) -> None:
        output, self._output = self._output, None
        if output is not None:
            output.close()

    def _tell(self, utterance: _Utterance, state: UtteranceState, message: str = "") -> None:
        self._hooks.post(UtteranceChanged(utterance.id, state, message=message))


class _Playing:
    """One text on its way to the loudspeaker. Thread: the speak thread."""

    def __init__(
        self,
        utterance: _Utterance,
        render: Render,
        output: OutputStream,
        hooks: PlaybackHooks,
        lane: SpeakLane,
    ) -> None:
        self._utterance = utterance
        self._render = render
        self._output = output
        self._hooks = hooks
        self._lane = lane
        self._gate: OwnVoiceGate | None = None
        self._base = output.num_played
        self._underflows_before = output.num_underflows
        self._written = 0
        self._starts: deque[tuple[int, int, int]] = deque()  # (sample, text_start, text_end)
        self._told: tuple[int, int] | None = None

    def run(self) -> None:
        try:
            self._prebuffer()
            # Held back before the first sample can be heard, never after.
            self._gate = self._hooks.gate()
            if self._gate is not None:
                self._gate.begin()
            self._play()
            self._tell(UtteranceState.DONE)
        except CancelledError:
            self._output.stop_now()
            self._tell(UtteranceState.CANCELLED)
        finally:
            self._lane.num_underflows += self._output.num_underflows - self._underflows_before
            if self._gate is not None:
                self._gate.end(self._output.latency_s)

    def _prebuffer(self) -> None:
        wanted = samples(PREBUFFER_S, self._output.sample_rate)
        while not self._render.is_ready(wanted):
            self._utterance.cancel.check()
            self._render.wait(POLL_S)

    def _play(self) -> None:
        while (chunk := self._next_chunk()) is not None:
            self._starts.append((self._written, chunk.text_start, chunk.text_end))
            self._write(chunk)
        self._output.end_of_stream()
        while self._output.num_buffered():
            self._pause()
        self._follow()

    def _next_chunk(self) -> RenderedChunk | None:
        while True:
            self._utterance.cancel.check()
            chunk = self._render.take(POLL_S)
            if chunk is not None or self._render.is_drained:
                return chunk
            self._follow()

    def _write(self, chunk: RenderedChunk) -> None:
        ahead = samples(AHEAD_S, self._output.sample_rate)
        pcm = chunk.pcm
        while len(pcm):
            room = max(0, ahead - self._output.num_buffered())
            count = self._output.write(pcm[:room]) if room else 0
            if count and self._written == 0:
                self._lane.first_sound_delay_s = (
                    self._hooks.now_s() - self._utterance.asked_at_s + self._output.latency_s
                )
            self._written += count
            pcm = pcm[count:]
            if len(pcm):
                self._pause()

    def _pause(self) -> None:
        self._follow()
        if self._utterance.cancel.wait(POLL_S):
            self._utterance.cancel.check()

    def _follow(self) -> None:
        """Tell which sentence is being heard when it changes."""
        heard = self._output.num_played - self._base
        while len(self._starts) > 1 and self._starts[1][0] <= heard:
            self._starts.popleft()
        if not self._starts or heard <= self._starts[0][0]:
            return
        sentence = self._starts[0][1:]
        if sentence != self._told:
            self._told = sentence
            self._tell(UtteranceState.SPEAKING)

    def _tell(self, state: UtteranceState) -> None:
        start, end = self._told or (0, 0)
        self._hooks.post(
            UtteranceChanged(
                self._utterance.id,
                state,
                start,
                end,
                self._output.num_played - self._base,
                self._output.sample_rate,
            )
        )
