"""The session: the one object that window, command line and tests hold."""

import logging
from collections.abc import Callable, Sequence
from concurrent.futures import Future

import psutil

from engine.audio.device import DeviceInfo
from engine.audio.level_track import LevelTrack
from engine.audio.levels import Levels
from engine.backends.protocols import BackendContext, BackendSpec, SynthesizerStream
from engine.core.config import Settings
from engine.core.errors import EngineError
from engine.core.events import (
    ActivityRevised,
    EditEvent,
    Event,
    Notice,
    RecordingStarted,
    RecordingStopped,
    SessionState,
    Severity,
)
from engine.core.sync import CancelToken
from engine.core.types import BackendKind, SpeechPlace
from engine.core.unexpected import ADVICE, MESSAGE, UnexpectedError
from engine.core.workers import Workers
from engine.pipeline.bus import EventBus, Subscriber
from engine.pipeline.own_voice import OwnVoiceGate
from engine.session.closing import Closing
from engine.session.health import Health
from engine.session.keeping import Keeper
from engine.session.pool import LOAD_ORDER, BackendPool
from engine.session.recorded_audio import find_audio
from engine.session.recorder import Recorder
from engine.session.recording import Recording
from engine.session.services import Services, backend_context, chosen_backends
from engine.session.sound_out import SoundOut, open_voice
from engine.text.document import TranscriptDocument
from engine.text.settling import SlotSettler

logger = logging.getLogger(__name__)

_WRITE_S = 0.5
"""What a disk that is well takes at most to write what was just said."""


class Session:
    """Listens, understands and speaks.

    Commands that touch devices run one after the other on a control thread and return a future
    that raises what went wrong; the window ignores it and reads the events, the command line
    waits for it. Every event reaches every subscriber in the same order, on the event thread.

    Args:
        settings: see `engine.core.config.Settings`.
        services: see `Services`.
    """

    def __init__(self, settings: Settings, services: Services) -> None:
        self._settings = settings
        self._services = services
        self.document = TranscriptDocument()
        """Replica of the running or last recording, ahead of subscribers; any thread may read it
        once it is complete."""
        self._settler = SlotSettler()
        self._told: Recording | None = None  # that events are of
        self._bus = EventBus(self._prepare, self._take_event)
        self._keeper = Keeper(services.sessions_dir, self._bus.post, self._stop_soon)
        self._pool = BackendPool(
            chosen_backends(settings), services.create_backend, self._context, self._bus.post
        )
        self._recorder = Recorder(
            services.devices,
            services.clock,
            self._pool,
            self._keeper,
            self._bus,
            on_end=self._stop_soon,
            slept_s=services.slept_s,
        )
        self._sound = SoundOut(
            services,
            self._pool,
            self._bus.post,
            gate=self._gate,
            output_name=lambda: self._settings.output,
        )
        self._control = Workers(1, "vivavoce-session")
        self._is_closed = False

    @property
    def state(self) -> SessionState:
        """Where the session is in its life."""
        return SessionState.CLOSED if self._is_closed else self._recorder.state

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        return self._settings

    @property
    def is_speaking(self) -> bool:
        """Whether a text is queued or being spoken."""
        return self._sound.speech.is_speaking

    def subscribe(self, subscriber: Subscriber) -> Callable[[], None]:
        """Deliver later events; returns a function that ends it. Thread: the event thread."""
        return self._bus.subscribe(subscriber)

    def change_settings(self, settings: Settings) -> None:
        """Put settings in force at once; what is recorded or heard goes over to other devices.

        Raises:
            EngineError: the change needs other models and they are at work.
        """
        chosen = chosen_backends(settings)
        changed = [kind for kind in chosen if self._pool.backend_id(kind) != chosen[kind]]
        if self._recorder.recording is not None and set(changed) - {BackendKind.SYNTHESIZER}:
            raise EngineError(
                "The models cannot be changed while recording.", advice="Stop the recording first."
            )
        if BackendKind.SYNTHESIZER in changed and self._sound.speech.is_speaking:
            raise EngineError(
                "The voice cannot be changed while it speaks.", advice="Stop it first."
            )
        before, self._settings = self._settings, settings
        if settings.output != before.output:
            self._sound.change_output()
        if settings.input != before.input:
            self._recorder.change_input(settings.input)
        for kind in changed:
            self._pool.select(kind, chosen[kind])

    def load(self, kinds: tuple[BackendKind, ...] = LOAD_ORDER) -> None:
        """Load the chosen backends in the background; `BackendChanged` tells how it goes."""
        self._pool.load(kinds)

    def wait_until_loaded(self, kind: BackendKind, cancel: CancelToken | None = None) -> None:
        """Block until a backend is ready or off.

        Raises:
            EngineError: it cannot be loaded.
            CancelledError: cancel was set first.
        """
        self._pool.wait(kind, cancel or CancelToken())

    def list_devices(self) -> tuple[DeviceInfo, ...]:
        """Return the devices there are now. Blocks for about a second.

        Raises:
            DeviceError: there is no sound system.
        """
        return self._services.devices.list_devices()

    def start(self, input_name: str | None = None) -> Future[None]:
        """Begin a recording from an input ("default", a name, "null", "file:PATH")."""
        name = input_name or self._settings.input
        return self._order(lambda: self._recorder.start(name, self._settings))

    def pause(self) -> Future[None]:
        """Hold the recording; the session clock stands still."""
        return self._order(self._recorder.pause)

    def resume(self) -> Future[None]:
        """Go on with a paused recording."""
        return self._order(self._recorder.resume)

    def stop(self, *, discard_backlog: bool = False) -> Future[None]:
        """End the recording once every word captured has been told.

        Args:
            discard_backlog: give up what is not worked through; may be asked while a stop runs.
        """
        if discard_backlog:
            self._recorder.discard_backlog()
        return self._order(self._recorder.stop)

    def wait_until_stopped(self, timeout_s: float | None = None) -> bool:
        """Block until a recording that was started has ended; False on timeout."""
        return self._recorder.wait_until_idle(timeout_s)

    def speak(self, text: str) -> int:
        """Queue a text for the loudspeaker and return the number of the utterance."""
        return self._sound.speak(text)

    def stop_speaking(self) -> None:
        """Silence the loudspeaker and drop every queued text."""
        self._sound.speech.stop()

    def pause_speaking(self) -> None:
        """Be silent until `resume_speaking`; nothing happens while nothing is spoken."""
        self._sound.speech.pause()

    def resume_speaking(self) -> None:
        """Go on with what was paused, from where it was heard last."""
        self._sound.speech.resume()

    def seek_speech(self, position_s: float) -> None:
        """Go to a place in the text that is, or was last, spoken; see `speech_place`."""
        self._sound.seek(position_s)

    def replay_speech(self) -> None:
        """Speak the newest text again from its beginning, without rendering it again."""
        self._sound.replay()

    def speech_place(self) -> SpeechPlace | None:
        """Return where in the newest text the loudspeaker is; None before any."""
        return self._sound.speech.place()

    @property
    def is_playing(self) -> bool:
        """Whether recorded audio is about to be played, being played, or paused."""
        return self._sound.playing.is_playing

    def play(self, start: int, end: int | None = None, stored_id: str = "") -> None:
        """Play recorded audio instead of what is played or spoken; `PlayChanged` tells how it goes.

        Args:
            start: first sample, on the recording's clock.
            end: one past the last; None for as far as there is any by then.
            stored_id: of a kept session; else the running recording, or the one before.
        """
        newest, root = self._recorder.audio, self._services.sessions_dir
        self._sound.play(lambda: find_audio(newest, root, stored_id), start, end)

    def pause_playing(self) -> None:
        """Be silent until `resume_playing`; nothing happens while nothing is played."""
        self._sound.playing.pause()

    def resume_playing(self) -> None:
        """Go on with what was paused, from where it was heard last."""
        self._sound.playing.resume()

    def stop_playing(self) -> None:
        """Play no more."""
        self._sound.playing.stop()

    def playing_at(self) -> int | None:
        """Return the sample that is being heard; None while nothing is played."""
        return self._sound.playing.playing_at()

    def level_track(self) -> LevelTrack | None:
        """Return the levels of the running recording, or the one before; None before any."""
        audio = self._recorder.audio
        return audio.levels if audio is not None else None

    def open_voice(self, cancel: CancelToken) -> tuple[BackendSpec, SynthesizerStream]:
        """Return the chosen voice for rendering into a file; the caller closes the stream.

        Raises:
            EngineError: there is none, or it cannot be loaded.
            CancelledError: cancel was set first.
        """
        return open_voice(self._pool, cancel)

    def edit(self, events: Sequence[EditEvent]) -> None:
        """Publish the user's changes of the running or last recording; kept if it is kept."""
        for event in events:
            self._bus.post(event)

    def levels(self) -> Levels | None:
        """Return the newest input levels, None while not recording."""
        recording = self._recorder.recording
        return recording.levels if recording is not None else None

    def input_in_use(self) -> tuple[str, bool]:
        """Return whose sound is recorded, and whether another input can be chosen meanwhile.

        The name changes when a recording goes over to another device; it is empty without one.
        """
        recording = self._recorder.recording
        return (
            (recording.capture.input_name, recording.can_change_input) if recording else ("", False)
        )

    def recorded_s(self) -> float:
        """Return the length of the running recording."""
        recording = self._recorder.recording
        return recording.timeline.end / recording.timeline.sample_rate if recording else 0.0

    def health(self) -> Health:
        """Return a snapshot of delays, backlogs and losses."""
        base = Health(
            num_underflows=self._sound.num_underflows,
            num_device_underflows=self._sound.num_device_underflows,
            first_sound_delay_s=self._sound.speech.first_sound_delay_s or None,
            rss_bytes=psutil.Process().memory_info().rss,
            gpu_bytes=self._pool.gpu_bytes(),
        )
        recording = self._recorder.recording
        return base if recording is None else recording.add_health(base)

    def drain_events(self, timeout_s: float = 10.0) -> bool:
        """Block until every subscriber has had every event so far; False on timeout.

        By then they are also written to the journal, unless the disk does not answer.
        """
        is_told = self._bus.drain(timeout_s)
        self._keeper.drain(min(timeout_s, _WRITE_S))
        # What the disk had to say of it is an event, too.
        return is_told and self._bus.drain(timeout_s)

    def close(self) -> None:
        """Stop everything in order and join the threads; idempotent.

        It takes five seconds at most: a recording is given two of them to be worked through, and
        what does not return then is left alone. What was recorded is closed on disk first; who
        wants every word, waits for `stop` before.
        """
        if self._is_closed:
            return
        self._is_closed = True
        Closing(
            self._recorder, self._keeper, self._sound, self._pool, self._control, self._bus
        ).run()

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _prepare(self, event: Event) -> Sequence[Event]:
        if isinstance(event, ActivityRevised) and event.is_settled:
            return self._settler.settle(event, self.document.activity)
        return (event,)

    def _take_event(self, event: Event) -> None:
        if isinstance(event, RecordingStarted):
            self.document, self._settler = TranscriptDocument(), SlotSettler()
            self._told = self._recorder.recording
        self.document.apply(event)
        if self._told is not None:
            self._told.delays.take(event, self._told.timeline.end)
        if isinstance(event, RecordingStopped):
            self._told = None
        self._keeper.take(event, self.document)

    def _order(self, work: Callable[[], None]) -> Future[None]:
        """Run a command on the control thread."""
        if not self._is_closed:
            ordered = self._control.submit(work)
            ordered.add_done_callback(self._tell_unexpected)
            return ordered
        refused: Future[None] = Future()
        refused.set_exception(EngineError("The session is closed.", advice="Open a new one."))
        return refused

    def _stop_soon(self) -> None:
        if not self._is_closed:
            self._order(self._recorder.stop)

    def _tell_unexpected(self, ended: "Future[None]") -> None:
        """Tell of a fault that nobody foresaw: whoever gave the order may not wait for it."""
        error = None if ended.cancelled() else ended.exception()
        if isinstance(error, UnexpectedError) or not isinstance(error, EngineError | None):
            logger.error("an order was not carried out", exc_info=error)
        if not isinstance(error, EngineError | None):
            self._bus.post(Notice(Severity.ERROR, MESSAGE, ADVICE))

    def _context(self, kind: BackendKind) -> BackendContext:
        return backend_context(kind, self._settings, self._services)

    def _gate(self) -> OwnVoiceGate | None:
        recording = self._recorder.recording
        if recording is None or not self._settings.hold_back_own_voice:
            return None
        return recording.gate
