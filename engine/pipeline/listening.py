"""One stretch of recorded audio on its way to the loudspeaker: playing, held, ended."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from engine.audio.device import OutputStream
from engine.core.errors import CancelledError, DeviceError, EngineError
from engine.core.events import Event, PlayChanged, PlayState
from engine.core.sync import CancelToken
from engine.core.timebase import samples
from engine.pipeline.feed import OutputFeed
from engine.pipeline.lost_output import LostOutput
from engine.pipeline.loudspeaker import Loudspeaker
from engine.pipeline.own_voice import OwnVoiceGate
from engine.pipeline.recorded_audio import RecordedAudio, Stretch
from engine.pipeline.speech_control import SpeechControl
from engine.pipeline.utterance import wait_for_event

_MAX_LATENCY_S = 1.0


@dataclass(frozen=True, slots=True)
class ListenHooks:
    """What the listening lane needs from its session. Thread: called on the listening lane.

    Args:
        post: publishes an event.
        gate: the recording's own-voice gate, or None while nothing is recorded or it is off.
        now_s: host time.
        wait: blocks until an event is set or a time is over (None: however long it takes).
    """

    post: Callable[[Event], None]
    gate: Callable[[], OwnVoiceGate | None]
    now_s: Callable[[], float]
    wait: Callable[[threading.Event, float | None], None] = wait_for_event


@dataclass(slots=True)
class PlayRequest:
    """What somebody wants to hear.

    Args:
        open_audio: opens the recording; raises EngineError if it has no audio.
        start: first sample.
        end: one past the last; None for as far as there is any.
    """

    open_audio: Callable[[], RecordedAudio]
    start: int
    end: int | None
    cancel: CancelToken = field(default_factory=CancelToken)


@dataclass(frozen=True, slots=True)
class Heard:
    """Where the sound was at a moment.

    Args:
        position: sample that was heard; before the beginning while the sound is still on its way.
        at_s: when, host time.
        until: one past the last sample that will be heard if nothing more is given.
        sample_rate: of the recording, Hz.
    """

    position: int
    at_s: float
    until: int
    sample_rate: int

    def now(self, now_s: float) -> int:
        """Return the sample that is heard now."""
        passed = samples(max(0.0, now_s - self.at_s), self.sample_rate)
        return min(self.position + passed, max(self.position, self.until))


class Listening:
    """Plays a stretch of recorded audio. Thread: the listening lane, which holds the loudspeaker.

    Args:
        request: what to play.
        stretch: the audio.
        loudspeaker: where to.
        control: what people ask meanwhile.
        hooks: see `ListenHooks`.
        on_heard: told where the sound is.
    """

    def __init__(
        self,
        request: PlayRequest,
        stretch: Stretch,
        loudspeaker: Loudspeaker,
        control: SpeechControl,
        hooks: ListenHooks,
        on_heard: Callable[[Heard], None],
    ) -> None:
        self._request = request
        self._stretch = stretch
        self._loudspeaker = loudspeaker
        self._control = control
        self._hooks = hooks
        self._on_heard = on_heard
        self._position = stretch.begin
        self._output: OutputStream | None = None
        self._feed: OutputFeed | None = None
        self._gate: OwnVoiceGate | None = None
        self._state: PlayState | None = None
        self._lost = LostOutput(hooks.now_s, hooks.post)

    def run(self) -> None:
        """Play to the end, or until it is cancelled; tells all but the end.

        Raises:
            EngineError: the audio failed, or there is no loudspeaker to begin with.
        """
        try:
            while not self._step():
                pass
        except CancelledError:
            pass
        finally:
            self._leave()
            self._loudspeaker.count()

    def _step(self) -> bool:
        """Do what is due, wait a little, and return whether everything was heard."""
        self._control.wake.clear()
        self._request.cancel.check()
        if self._control.take_output_change() or self._loudspeaker.is_stale:
            self._leave()
            self._loudspeaker.close()
            self._lost.hurry()
        if self._control.is_paused:
            self._leave()
            self._tell(PlayState.PAUSED)
            self._hooks.wait(self._control.wake, None)
            return False
        if self._lost.is_lost:
            self._get_back()
            return False
        try:
            return self._feed_on(*self._begin())
        except DeviceError as error:
            if self._state is None:
                raise  # there is no loudspeaker to begin with
            self._recover(error)
            return False

    def _feed_on(self, output: OutputStream, feed: OutputFeed) -> bool:
        """Give the loudspeaker what it needs, and return whether everything was heard."""
        feed.write()
        self._tell_heard(output, feed.position, feed.read_at)
        if feed.num_written:
            self._tell(PlayState.PLAYING)
        if feed.num_heard:
            self._lost.take_heard()
        if feed.is_drained:
            self._hooks.wait(self._control.wake, min(output.latency_s, _MAX_LATENCY_S))
            return not self._control.is_paused
        self._hooks.wait(self._control.wake, feed.wait_s)
        return False

    def _begin(self) -> tuple[OutputStream, OutputFeed]:
        """Return what feeds the loudspeaker, beginning where it was left."""
        if self._output is None or self._feed is None:
            self._output = self._loudspeaker.open(self._request.cancel)
            self._feed = OutputFeed(
                self._stretch, self._output, self._position, is_faded_in=True, is_faded_out=True
            )
        # Held back before the first sample can be heard, never after.
        gate = self._hooks.gate()
        if gate is not None and gate is not self._gate:
            self._gate = gate
            gate.begin()
        return self._output, self._feed

    def _leave(self) -> None:
        """Fade out and remember how far it was heard."""
        output, feed = self._output, self._feed
        if output is not None and feed is not None:
            self._position = feed.stop()
            self._tell_heard(output, self._position, self._position)
            self._silence()
        self._output = self._feed = None

    def _recover(self, error: DeviceError) -> None:
        """Remember what was really heard: it goes on there once a loudspeaker can be opened."""
        output, feed = self._output, self._feed
        if output is not None and feed is not None:
            self._position, _ = feed.rewound(min(output.latency_s, _MAX_LATENCY_S))
            self._silence()
            rate = self._stretch.sample_rate
            self._on_heard(Heard(self._position, self._hooks.now_s(), self._position, rate))
        self._output = self._feed = None
        self._loudspeaker.close()
        if self._lost.lose(error):
            self._tell(PlayState.PAUSED)

    def _get_back(self) -> None:
        """Open the loudspeaker again, if it is time to try."""
        if self._lost.wait_s > 0:
            self._hooks.wait(self._control.wake, self._lost.wait_s)
            return
        try:
            self._loudspeaker.open(self._request.cancel)
        except CancelledError:
            raise
        except EngineError as error:
            if self._lost.fail(error):
                self._tell(PlayState.PAUSED)
        else:
            self._lost.take_opened(self._loudspeaker.open().name)

    def _silence(self) -> None:
        output, (gate, self._gate) = self._output, (self._gate, None)
        if gate is not None and output is not None:
            gate.end(output.latency_s + output.num_buffered() / output.sample_rate)

    def _tell_heard(self, output: OutputStream, position: int, until: int) -> None:
        """Tell where the sound is.

        Args:
            output: the loudspeaker.
            position: sample up to which it has taken the sound.
            until: one past the last that it can take by itself.
        """
        rate = self._stretch.sample_rate
        late = samples(min(output.latency_s, _MAX_LATENCY_S), rate)
        self._on_heard(Heard(position - late, self._hooks.now_s(), until, rate))

    def _tell(self, state: PlayState) -> None:
        if state is not self._state:
            self._state = state
            message = self._lost.message if state is PlayState.PAUSED else ""
            self._hooks.post(PlayChanged(state, self._request.start, self._stretch.end, message))
