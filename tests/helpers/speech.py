"""A speak lane in virtual time: a scripted voice, outputs that remember what they played."""

import threading
import weakref
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from engine.audio.virtual_output import NullOutput
from engine.backends.protocols import BackendSpec, SpeechChunk
from engine.core.errors import DeviceError
from engine.core.events import Event, UtteranceChanged, UtteranceState
from engine.core.sync import CancelToken
from engine.core.timebase import Clock, VirtualClock
from engine.core.types import BackendKind, Pcm
from engine.pipeline.loudspeaker import Loudspeaker as OutputHolder
from engine.pipeline.own_voice import OwnVoiceGate
from engine.pipeline.playback import PlaybackHooks, SpeakLane

RATE = 22_050
FRAME = 1024
ENDS = (UtteranceState.DONE, UtteranceState.CANCELLED, UtteranceState.FAILED)
_PATIENCE_S = 20.0


def tone(num_samples: int, rate: int = RATE) -> Pcm:
    """Return a loud tone whose steps are small beside its size."""
    return (0.5 * np.sin(2 * np.pi * 220.0 * np.arange(num_samples) / rate)).astype(np.float32)


class Voice:
    """Says given speech for any text, frame by frame, at a speed; may be held at a frame.

    Args:
        speech: returns the frames of a text.
        hold_at: frames before which it waits for `release`.
        cost: virtual seconds that a second of speech takes.
        clock: whose time that is.
    """

    def __init__(
        self,
        speech: Callable[[str], Iterator[Pcm]],
        clock: VirtualClock,
        *,
        hold_at: Sequence[int] = (),
        cost: float = 0.0,
        error: Exception | None = None,
    ) -> None:
        self._speech = speech
        self._clock = clock
        self._hold_at = set(hold_at)
        self._cost = cost
        self._error = error
        self._changed = threading.Condition()
        self._is_idle = True
        self._is_released = False
        self._due_s: float | None = None
        self._cancel = CancelToken()
        self.num_made = 0
        self.num_texts = 0
        self.made: list[weakref.ref[Pcm]] = []

    def speak(self, text: str) -> Iterator[SpeechChunk]:
        self.num_texts += 1
        self._cancel = CancelToken()
        with self._changed:
            self._is_idle = False
        try:
            for index, pcm in enumerate(self._speech(text)):
                self._wait_at(index, len(pcm))
                if self._cancel.is_cancelled:
                    return
                self.made.append(weakref.ref(pcm))
                with self._changed:
                    self.num_made += len(pcm)
                    self._changed.notify_all()
                yield SpeechChunk(pcm, 0, len(text))
            if self._error is not None:
                raise self._error
        finally:
            with self._changed:
                self._is_idle = True
                self._changed.notify_all()

    def cancel(self) -> None:
        self._cancel.cancel()
        with self._changed:
            self._changed.notify_all()

    def close(self) -> None:
        self.cancel()

    def release(self) -> None:
        """Go on after the frame it is held at."""
        with self._changed:
            self._is_released = True
            self._is_idle = False
            self._changed.notify_all()

    def settle(self, num_played: int) -> float | None:
        """Wait until the voice can do no more now; return the time at which it can, if known."""
        with self._changed:
            is_settled = self._changed.wait_for(
                lambda: self._is_idle or self._due_s or self.num_made > num_played + RATE,
                _PATIENCE_S,
            )
            assert is_settled, "the voice is stuck"
            return self._due_s

    def tell_time(self) -> None:
        """Say that virtual time has passed."""
        with self._changed:
            if self._due_s is not None and self._clock.now_s() >= self._due_s:
                self._due_s = None
            self._changed.notify_all()

    def _wait_at(self, index: int, num_samples: int) -> None:
        with self._changed:
            if self._cost:
                self._due_s = self._clock.now_s() + self._cost * num_samples / RATE
                self._changed.notify_all()
                self._changed.wait_for(
                    lambda: self._due_s is None or self._cancel.is_cancelled, _PATIENCE_S
                )
                self._due_s = None
            if index in self._hold_at:
                self._is_idle, self._is_released = True, False
                self._changed.notify_all()
                self._changed.wait_for(
                    lambda: self._is_released or self._cancel.is_cancelled, _PATIENCE_S
                )
                self._is_idle = False


class Loudspeaker(NullOutput):
    """An output that remembers; it can be lost at a sample."""

    def __init__(
        self,
        clock: Clock,
        rate: int = RATE,
        lost_at: int | None = None,
        *,
        keeps: bool = True,
    ) -> None:
        super().__init__(clock, rate)
        self._lost_at = lost_at
        self._keeps = keeps
        self.played: list[Pcm] = []
        self.is_closed = False

    @property
    def sound(self) -> Pcm:
        return np.concatenate([np.zeros(0, np.float32), *self.played])

    def write(self, pcm: Pcm) -> int:
        if self._lost_at is not None and self.num_played >= self._lost_at:
            raise DeviceError("The output is gone.", advice="Plug it in again.")
        return super().write(pcm)

    def close(self) -> None:
        super().close()
        self.is_closed = True

    def _play(self, pcm: Pcm) -> None:
        super()._play(pcm)
        if self._keeps:
            self.played.append(pcm.copy())


class LaneBench:
    """A lane, its voice, and the list of what it told.

    Args:
        speech: the frames of a text; or one signal for every text.
        outputs: opened in order; the last again and again.
    """

    def __init__(
        self,
        speech: Callable[[str], Iterator[Pcm]] | Pcm,
        *,
        rates: Sequence[int] = (RATE,),
        lost_at: Sequence[int | None] = (),
        keeps: bool = True,
        **voice: object,
    ) -> None:
        self.clock = VirtualClock(1.0)
        frames = speech if callable(speech) else lambda _text: frames_of(speech)
        self.voice = Voice(frames, self.clock, **voice)  # type: ignore[arg-type]
        self.outputs: list[Loudspeaker] = []
        self.events: list[Event] = []
        self.slept_s = 0.0
        self.open_output: Callable[[], None] = lambda: None
        """Called before an output is opened; may raise, or block."""
        self._rates = list(rates)
        self._lost_at = list(lost_at)
        self._keeps = keeps
        self._actions: list[tuple[int, Callable[[], None]]] = []
        self._listeners: list[Callable[[Event], None]] = []
        self._ended = threading.Semaphore(0)
        marks = iter(range(10_000))
        self.gate = OwnVoiceGate(
            16_000,
            lambda: round(self.clock.now_s() * 16_000),
            self._post,
            lambda: next(marks),
        )
        spec = BackendSpec("voice", "Voice", (BackendKind.SYNTHESIZER,), RATE)
        self.lane = SpeakLane(
            PlaybackHooks(
                wait_for_voice=lambda _cancel: (spec, self.voice),
                open_output=self._open,
                post=self._post,
                gate=lambda: self.gate,
                now_s=self.clock.now_s,
                wait=self._wait,
            ),
            OutputHolder(self._open, lambda: self.slept_s),
        )

    def at(self, num_played: int, action: Callable[[], None]) -> None:
        """Do something once so many samples were played, over all outputs."""
        self._actions.append((num_played, action))

    def when_told(self, state: UtteranceState, action: Callable[[], None]) -> None:
        """Do something whenever a text is told to be in a state."""

        def take(event: Event) -> None:
            if isinstance(event, UtteranceChanged) and event.state is state:
                action()

        self._listeners.append(take)

    def speak(self, text: str = "Text.") -> None:
        self.lane.speak(text)

    def wait_for_end(self, num_texts: int = 1) -> UtteranceChanged:
        """Wait until texts ended and return the last end."""
        for _ in range(num_texts):
            assert self._ended.acquire(timeout=60.0), "the text did not end"
        return [e for e in self.told() if e.state in ENDS][-1]

    def told(self) -> list[UtteranceChanged]:
        return [event for event in self.events if isinstance(event, UtteranceChanged)]

    @property
    def num_played(self) -> int:
        return sum(output.num_played for output in self.outputs)

    @property
    def sound(self) -> Pcm:
        return np.concatenate([output.sound for output in self.outputs])

    def close(self) -> None:
        self.lane.close()

    def _open(self) -> Loudspeaker:
        self.open_output()
        rate = self._rates[min(len(self.outputs), len(self._rates) - 1)]
        index = len(self.outputs)
        lost_at = self._lost_at[index] if index < len(self._lost_at) else None
        output = Loudspeaker(self.clock, rate, lost_at, keeps=self._keeps)
        output.start()
        self.outputs.append(output)
        return output

    def _post(self, event: Event) -> None:
        self.events.append(event)
        for listener in self._listeners:
            listener(event)
        if isinstance(event, UtteranceChanged) and event.state in ENDS:
            self._ended.release()

    def _wait(self, event: threading.Event, timeout_s: float | None) -> None:
        if timeout_s is None:
            assert event.wait(_PATIENCE_S), "nobody woke it"
            return
        end_s = self.clock.now_s() + timeout_s
        while self.clock.now_s() < end_s:
            due_s = self.voice.settle(self.num_played)
            if event.is_set() and due_s is None:
                break
            until_s = end_s if due_s is None else min(end_s, due_s)
            self.clock.advance(max(0.0, until_s - self.clock.now_s()))
            self.voice.tell_time()
        while self._actions and self.num_played >= self._actions[0][0]:
            self._actions.pop(0)[1]()


def frames_of(pcm: Pcm) -> Iterator[Pcm]:
    """Yield a signal in frames."""
    for start in range(0, len(pcm), FRAME):
        yield pcm[start : start + FRAME].copy()


def largest_step(pcm: Pcm) -> float:
    """Return the largest difference of neighbours, silence before and behind included."""
    return float(np.abs(np.diff(pcm, prepend=0.0, append=0.0)).max())
