"""Stands in for a session in tests of the window: it does nothing but what it is told."""

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from engine.audio.level_track import LevelTrack
from engine.audio.levels import Levels
from engine.backends import registry
from engine.backends.protocols import BackendContext, BackendSpec, SynthesizerStream
from engine.core.config import Settings
from engine.core.errors import EngineError
from engine.core.events import (
    BackendChanged,
    BackendState,
    EditEvent,
    Event,
    SessionState,
    StateChanged,
)
from engine.core.sync import CancelToken
from engine.core.types import BackendKind, SpeechPlace
from engine.session.health import Health
from engine.session.session import Session

BACKENDS = (
    BackendChanged(
        BackendKind.RECOGNIZER, "whisper", BackendState.READY, "Whisper tiny.en", "CPU", 1.0
    ),
    BackendChanged(
        BackendKind.DIARIZER, "cluster", BackendState.READY, "Voice clusters", "CPU", 1.0
    ),
    BackendChanged(BackendKind.SYNTHESIZER, "piper", BackendState.READY, "Piper joe", "CPU", 1.0),
)


@dataclass
class ScriptedSession:
    """Notes every command and publishes what `post` is given, on the calling thread."""

    settings: Settings = field(default_factory=Settings)
    calls: list[str] = field(default_factory=list)
    devices: tuple[object, ...] = ()
    device_error: EngineError | None = None
    speak_error: EngineError | None = None
    reading: Levels | None = None
    length_s: float = 0.0
    input_used: tuple[str, bool] = ("", False)
    place: SpeechPlace | None = None
    is_playing: bool = False
    heard: int | None = None
    track: LevelTrack | None = None
    close_blocks: Callable[[], None] = lambda: None
    _subscribers: list[Callable[[Event], None]] = field(default_factory=list)

    def as_session(self) -> Session:
        """Return it as what the app takes it for."""
        return cast("Session", self)

    def post(self, *events: Event) -> None:
        """Publish events."""
        for event in events:
            for subscriber in list(self._subscribers):
                subscriber(event)

    def enter(self, state: SessionState, detail: str = "") -> None:
        """Publish a state."""
        self.post(StateChanged(state, detail))

    def subscribe(self, subscriber: Callable[[Event], None]) -> Callable[[], None]:
        self._subscribers.append(subscriber)
        return lambda: self._subscribers.remove(subscriber)

    def load(self) -> None:
        self.calls.append("load")

    def list_devices(self) -> tuple[object, ...]:
        if self.device_error is not None:
            raise self.device_error
        return self.devices

    def start(self, input_name: str | None = None) -> "Future[None]":
        return self._done(f"start {input_name} keep={self.settings.keep}")

    def pause(self) -> "Future[None]":
        return self._done("pause")

    def resume(self) -> "Future[None]":
        return self._done("resume")

    def stop(self, *, discard_backlog: bool = False) -> "Future[None]":
        return self._done(f"stop discard={discard_backlog}")

    def change_settings(self, settings: Settings) -> None:
        self.settings = settings

    def speak(self, text: str) -> int:
        if self.speak_error is not None:
            raise self.speak_error
        self.calls.append(f"speak {text}")
        return 1

    def open_voice(self, cancel: CancelToken) -> tuple[BackendSpec, SynthesizerStream]:
        cancel.check()
        context = BackendContext(model_path=lambda _: Path())
        voice = registry.create(BackendKind.SYNTHESIZER, "fake", context)
        voice.load(lambda _fraction, _text: None, cancel)
        return voice.spec, voice.open_stream()

    def stop_speaking(self) -> None:
        self.calls.append("stop speaking")

    def pause_speaking(self) -> None:
        self.calls.append("pause speaking")

    def resume_speaking(self) -> None:
        self.calls.append("resume speaking")

    def replay_speech(self) -> None:
        self.calls.append("replay")

    def seek_speech(self, position_s: float) -> None:
        self.calls.append(f"seek {position_s:.1f}")

    def speech_place(self) -> SpeechPlace | None:
        return self.place

    def play(self, start: int, end: int | None = None, stored_id: str = "") -> None:
        self.is_playing = True
        self.calls.append(f"play {start} {end} {stored_id}".strip())

    def pause_playing(self) -> None:
        self.calls.append("pause playing")

    def resume_playing(self) -> None:
        self.calls.append("resume playing")

    def stop_playing(self) -> None:
        self.is_playing = False
        self.calls.append("stop playing")

    def playing_at(self) -> int | None:
        return self.heard

    def level_track(self) -> LevelTrack | None:
        return self.track

    def edit(self, events: Sequence[EditEvent]) -> None:
        self.calls.append(f"edit {' '.join(type(event).__name__ for event in events)}")
        self.post(*events)

    def levels(self) -> Levels | None:
        return self.reading

    def input_in_use(self) -> tuple[str, bool]:
        return self.input_used

    def recorded_s(self) -> float:
        return self.length_s

    def health(self) -> Health:
        return Health(
            recorded_s=self.length_s,
            partial_delay_s=0.8,
            final_delay_s=1.7,
            speaker_delay_s=2.1,
            recognizer_backlog_s=0.4,
        )

    def close(self) -> None:
        self.close_blocks()
        self.calls.append("close")

    def _done(self, call: str) -> "Future[None]":
        self.calls.append(call)
        future: Future[None] = Future()
        future.set_result(None)
        return future
