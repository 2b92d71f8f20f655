"""A speak lane in virtual time: a scripted voice, outputs that remember what they played."""

import threading
import weakref
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from engine.backends.protocols import BackendSpec, SpeechChunk
from engine.core.events import UtteranceChanged, UtteranceState
from engine.core.sync import CancelToken
from engine.core.timebase import VirtualClock
from engine.core.types import BackendKind, Pcm
from engine.pipeline.loudspeaker import Loudspeaker as OutputHolder
from engine.pipeline.playback import PlaybackHooks, SpeakLane
from tests.helpers.output_bench import OutputBench

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


class LaneBench(OutputBench[UtteranceChanged]):
    """A speak lane, its voice, and the list of what it told.

    Args:
        speech: the frames of a text; or one signal for every text.
        rates: see `OutputBench`.
        lost_at: see `OutputBench`.
        keeps: see `OutputBench`.
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
        super().__init__(UtteranceChanged, ENDS, rates=rates, lost_at=lost_at, keeps=keeps)
        frames = speech if callable(speech) else lambda _text: frames_of(speech)
        self.voice = Voice(frames, self.clock, **voice)  # type: ignore[arg-type]
        self.slept_s = 0.0
        spec = BackendSpec("voice", "Voice", (BackendKind.SYNTHESIZER,), RATE)
        self.lane = SpeakLane(
            PlaybackHooks(
                wait_for_voice=lambda _cancel: (spec, self.voice),
                open_output=self.open,
                post=self.post,
                gate=lambda: self.gate,
                now_s=self.clock.now_s,
                wait=self._wait,
            ),
            OutputHolder(self.open, lambda: self.slept_s),
        )

    def speak(self, text: str = "Text.") -> None:
        self.lane.speak(text)

    def close(self) -> None:
        self.lane.close()

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
        self.act()


def frames_of(pcm: Pcm) -> Iterator[Pcm]:
    """Yield a signal in frames."""
    for start in range(0, len(pcm), FRAME):
        yield pcm[start : start + FRAME].copy()


def largest_step(pcm: Pcm) -> float:
    """Return the largest difference of neighbours, silence before and behind included."""
    return float(np.abs(np.diff(pcm, prepend=0.0, append=0.0)).max())
