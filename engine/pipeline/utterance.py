"""A text to be spoken, and what speaking needs from the session."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from engine.audio.device import OutputStream
from engine.backends.protocols import BackendSpec, SynthesizerStream
from engine.core.events import Event
from engine.core.sync import CancelToken
from engine.pipeline.kept_speech import KeptSpeech
from engine.pipeline.own_voice import OwnVoiceGate


def wait_for_event(event: threading.Event, timeout_s: float | None) -> None:
    """Block until an event is set, at most `timeout_s`."""
    event.wait(timeout_s)


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
        wait: blocks until an event is set or a time is over (None: however long it takes).
    """

    wait_for_voice: Callable[[CancelToken], tuple[BackendSpec, SynthesizerStream]]
    open_output: Callable[[], OutputStream]
    post: Callable[[Event], None]
    gate: Callable[[], OwnVoiceGate | None]
    now_s: Callable[[], float]
    wait: Callable[[threading.Event, float | None], None] = wait_for_event


@dataclass(slots=True)
class Utterance:
    """A text to be spoken, or to be heard again.

    Args:
        id: its number.
        text: what to say.
        asked_at_s: host time.
        speech: of a text that was rendered before; None for a new one.
        begin_s: where to begin in it.
    """

    id: int
    text: str
    asked_at_s: float
    speech: KeptSpeech | None = None
    begin_s: float = 0.0
    cancel: CancelToken = field(default_factory=CancelToken)
