"""One text on its way to the loudspeaker: waiting, playing, held, moved, ended."""

from engine.core.errors import CancelledError, DeviceError, EngineError
from engine.core.events import UtteranceChanged, UtteranceState
from engine.core.timebase import rescale, samples
from engine.pipeline.feed import OutputFeed
from engine.pipeline.kept_speech import MAX_AHEAD_S, KeptSpeech
from engine.pipeline.lost_output import LostOutput
from engine.pipeline.loudspeaker import Loudspeaker
from engine.pipeline.own_voice import OwnVoiceGate
from engine.pipeline.pacing import Pacing, estimate_total_s
from engine.pipeline.render import Render
from engine.pipeline.speech_control import SpeechControl
from engine.pipeline.utterance import PlaybackHooks, Utterance

_TELL_S = 0.25
"""Between two reports of progress."""
_PATIENCE_S = 0.5
"""Waiting that is not worth a report."""
_MAX_LATENCY_S = 0.5
_FULL = 0.9
"""Share of what can be kept that is enough to begin with, however slow the voice."""


class Playing:
    """Plays speech while it is being rendered. Thread: the speak thread.

    Args:
        utterance: what it is.
        speech: its speech.
        render: what renders it; None if that is over.
        loudspeaker: where to.
        control: what people ask meanwhile.
        hooks: see `PlaybackHooks`.
        pacing: learns from it.
    """

    def __init__(
        self,
        utterance: Utterance,
        speech: KeptSpeech,
        render: Render | None,
        loudspeaker: Loudspeaker,
        control: SpeechControl,
        hooks: PlaybackHooks,
        pacing: Pacing,
    ) -> None:
        self._utterance = utterance
        self._speech = speech
        self._render = render
        self._loudspeaker = loudspeaker
        self._control = control
        self._hooks = hooks
        self._pacing = pacing
        self._output = loudspeaker.open(utterance.cancel)
        self._rate = self._output.sample_rate
        self._position = self._clamped(utterance.begin_s)
        speech.set_position(self._position)
        self._feed: OutputFeed | None = None
        self._gate: OwnVoiceGate | None = None
        self._is_dry = False  # the feed waits for speech
        self._lost = LostOutput(hooks.now_s, hooks.post)
        self._is_cut = False  # the next sound begins in the middle
        self._is_held = False
        self._heard_before = 0
        self._sentence: tuple[int, int] | None = None
        self._waiting_since_s: float | None = None
        self._told_at_s = 0.0
        self.first_sound_delay_s: float | None = None

    def run(self) -> None:
        """Play to the end, or until it is cancelled; tells either.

        Raises:
            EngineError: the voice or the loudspeaker failed.
        """
        try:
            while not self._step():
                pass
            self._tell(UtteranceState.DONE)
        except CancelledError:
            self._leave()
            self._tell(UtteranceState.CANCELLED)
        finally:
            self._silence()
            self._loudspeaker.count()
            if self._render is not None and self._speech.is_finished:
                self._pacing.learn(self._render.pace)

    def _step(self) -> bool:
        """Do what is due, wait a little, and return whether everything was heard."""
        self._control.wake.clear()
        self._utterance.cancel.check()
        self._obey()
        if self._control.is_paused:
            self._hold()
            return False
        self._is_held = False
        if self._lost.is_lost:
            self._get_back()
            return False
        if (self._feed is None or self._is_dry) and not self._is_ready():
            self._hooks.wait(self._control.wake, _TELL_S)
            return False
        self._waiting_since_s = None
        self._is_dry = False
        try:
            return self._play(self._begin())
        except DeviceError as error:
            self._recover(error)
            return False

    def _obey(self) -> None:
        if self._control.take_output_change() or self._loudspeaker.is_stale:
            self._leave()
            self._loudspeaker.close()
            self._lost.hurry()
        seek_s = self._control.take_seek()
        if seek_s is not None:
            self._leave()
            self._is_cut = True
            self._position = self._clamped(seek_s)
            self._speech.set_position(self._position)

    def _hold(self) -> None:
        self._leave()
        if not self._is_held:
            self._is_held = True
            self._tell(UtteranceState.PAUSED)
            self._sentence = None
        self._hooks.wait(self._control.wake, None)

    def _is_ready(self) -> bool:
        read_at = self._position if self._feed is None else self._feed.read_at
        ready_s = (self._speech.end - read_at) / self._speech.sample_rate
        if self._render is None or self._speech.is_finished:
            if ready_s == 0 and self._render is not None:
                self._render.check()
            return True
        pace = self._render.pace
        text_done = self._speech.newest_sentence[0]
        total_s = estimate_total_s(pace, text_done, len(self._utterance.text))
        most_s = _FULL * self._speech.max_kept / self._speech.sample_rate
        needed_s = min(self._pacing.needed_s(pace, total_s), most_s)
        self._speech.set_ahead(max(MAX_AHEAD_S, needed_s / _FULL))
        if ready_s >= needed_s:
            self._speech.set_ahead(MAX_AHEAD_S)
            return True
        if pace.audio_s:
            self._tell_waiting(ready_s / needed_s)
        return False

    def _tell_waiting(self, progress: float) -> None:
        now_s = self._hooks.now_s()
        if self._waiting_since_s is None:
            self._waiting_since_s = now_s
        is_long = now_s - self._waiting_since_s >= _PATIENCE_S
        if is_long and now_s - self._told_at_s >= _TELL_S:
            self._told_at_s = now_s
            self._sentence = None
            self._tell(UtteranceState.RENDERING, progress)

    def _begin(self) -> OutputFeed:
        """Return what feeds the loudspeaker, beginning where it was left."""
        if self._feed is None:
            self._open()
            self._feed = OutputFeed(
                self._speech, self._output, self._position, is_faded_in=self._is_cut
            )
        # Held back before the first sample can be heard, never after.
        gate = self._hooks.gate()
        if gate is not None and gate is not self._gate:
            self._gate = gate
            gate.begin()
        return self._feed

    def _open(self) -> None:
        rate, self._output = self._rate, self._loudspeaker.open(self._utterance.cancel)
        self._rate = self._output.sample_rate
        self._heard_before = rescale(self._heard_before, rate, self._rate)

    def _play(self, feed: OutputFeed) -> bool:
        feed.write()
        if self.first_sound_delay_s is None and feed.num_written:
            delay_s = self._hooks.now_s() - self._utterance.asked_at_s
            self.first_sound_delay_s = delay_s + self._output.latency_s
        self._follow(feed)
        if feed.is_drained:
            if self._render is not None:
                self._render.check()
            return True
        if feed.is_starving:
            self._loudspeaker.count(feed.bridge())
            self._is_dry = True
            self._silence()
            return False
        self._hooks.wait(self._control.wake, feed.wait_s)
        return False

    def _follow(self, feed: OutputFeed) -> None:
        """Tell which sentence is being heard when it changes."""
        if feed.num_heard == 0:
            return
        self._lost.take_heard()
        self._position = feed.position
        self._speech.set_position(self._position)
        sentence = self._speech.sentence_at(self._position)
        if sentence != self._sentence:
            self._sentence = sentence
            self._tell(UtteranceState.SPEAKING)

    def _leave(self) -> None:
        """Fade out and remember how far it was heard."""
        feed = self._feed
        if feed is not None:
            position = feed.stop()
            self._part_from(feed, position, feed.num_heard)

    def _part_from(self, feed: OutputFeed, position: int, num_heard: int) -> None:
        self._position = position
        self._heard_before += num_heard
        self._is_cut = self._is_cut or feed.num_written > 0
        self._feed = None
        self._is_dry = False
        self._speech.set_position(position)
        self._silence()

    def _recover(self, error: DeviceError) -> None:
        """Remember what was really heard: speech goes on there once a loudspeaker can be opened."""
        if self._feed is not None:
            latency_s = min(self._output.latency_s, _MAX_LATENCY_S)
            self._part_from(self._feed, *self._feed.rewound(latency_s))
        self._loudspeaker.close()
        if self._lost.lose(error):
            self._tell_lost()

    def _get_back(self) -> None:
        """Open the loudspeaker again, if it is time to try."""
        if self._lost.wait_s > 0:
            self._hooks.wait(self._control.wake, self._lost.wait_s)
            return
        try:
            self._open()
        except CancelledError:
            raise
        except EngineError as error:
            if self._lost.fail(error):
                self._tell_lost()
        else:
            self._lost.take_opened(self._output.name)

    def _tell_lost(self) -> None:
        self._sentence = None
        self._tell(UtteranceState.PAUSED)

    def _silence(self) -> None:
        gate, self._gate = self._gate, None
        if gate is not None:
            gate.end(self._output.latency_s + self._output.num_buffered() / self._rate)

    def _clamped(self, position_s: float) -> int:
        position = samples(max(0.0, position_s), self._speech.sample_rate)
        return max(self._speech.start, min(position, self._speech.end))

    def _tell(self, state: UtteranceState, progress: float = -1.0) -> None:
        start, end = self._sentence or (0, 0)
        heard = self._heard_before + (self._feed.num_heard if self._feed is not None else 0)
        self._hooks.post(
            UtteranceChanged(
                self._utterance.id,
                state,
                start,
                end,
                heard,
                self._rate,
                message=self._lost.message if state is UtteranceState.PAUSED else "",
                progress=progress,
            )
        )
