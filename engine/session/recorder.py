"""Starts, pauses and stops recordings, one at a time. Thread: the session's control thread."""

import logging
import threading
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from engine.audio.device import DeviceProvider, InputStream
from engine.audio.provider import FILE_PREFIX
from engine.core.config import KeepPolicy, Settings
from engine.core.errors import CancelledError, EngineError
from engine.core.events import (
    Notice,
    RecordingStarted,
    SessionState,
    Severity,
    StateChanged,
)
from engine.core.timebase import Clock
from engine.core.unexpected import told
from engine.pipeline.bus import EventBus
from engine.session.keeping import Keeper
from engine.session.pool import BackendPool
from engine.session.recorded_audio import RecordingAudio
from engine.session.recording import Recording, RecordingParts
from engine.store.header import new_session_id

logger = logging.getLogger(__name__)

_DRAIN_S = 10.0
_SHORT_DRAIN_S = 0.3
_TELL_S = 1.0
"""How long whoever waits for a stop also waits for subscribers, so that they know of it."""


class Recorder:
    """The life of recordings: idle, starting, recording, paused, stopping, idle.

    Args:
        devices: opens inputs.
        clock: host time.
        pool: the backends.
        keeper: makes and closes journals.
        bus: carries events.
        on_end: asks for a stop because the source has ended. Thread: capture.
        slept_s: seconds that the computer has slept in all.
    """

    def __init__(
        self,
        devices: DeviceProvider,
        clock: Clock,
        pool: BackendPool,
        keeper: Keeper,
        bus: EventBus,
        on_end: Callable[[], None],
        slept_s: Callable[[], float],
    ) -> None:
        self._devices = devices
        self._clock = clock
        self._pool = pool
        self._keeper = keeper
        self._bus = bus
        self._post = bus.post
        self._on_end = on_end
        self._slept_s = slept_s
        # NB: all are written by the control thread (and `state` by the capture thread when the
        # first block comes), read by any; one reference assignment each.
        self.state = SessionState.IDLE
        self.recording: Recording | None = None
        self.audio: RecordingAudio | None = None  # of the running recording, or the one before
        # Held while a state is entered and told, as the capture thread enters one, too.
        self._state_lock = threading.Lock()
        self._end_lock = threading.Lock()
        # NB: set by the thread that closes the session, read by the control thread.
        self._is_broken_off = False
        self._idle = threading.Event()
        self._idle.set()

    def wait_until_idle(self, timeout_s: float | None = None) -> bool:
        """Block until no recording runs; False on timeout."""
        return self._idle.wait(timeout_s)

    def start(self, input_name: str, settings: Settings) -> None:
        """Open the input and begin.

        Raises:
            EngineError: a recording runs already, or the input or the journal cannot be opened.
        """
        if self.recording is not None:
            raise EngineError("A recording is running already.", advice="Stop it first.")
        self._idle.clear()
        self._enter(SessionState.STARTING, f"opening {input_name}")
        stream: InputStream | None = None
        audio_before = self.audio
        try:
            stream = self._devices.open_input(input_name)
            if self._is_broken_off:
                raise CancelledError("The session was closed while the input was opened.")
            started = self._describe(stream, settings)
            kept = self._keeper.begin(
                started, settings, _title(input_name), is_patient=not stream.is_live
            )
            recording = Recording(
                started,
                stream,
                kept,
                RecordingParts(
                    clock=self._clock,
                    pool=self._pool,
                    post=self._post,
                    input_name=input_name,
                    open_input=self._devices.open_input,
                    slept_s=self._slept_s,
                    on_started=self._on_first_block,
                    on_end=self._on_end,
                ),
            )
            self.recording = recording
            # Before the first block: whoever hears of the recording finds its audio.
            self.audio = RecordingAudio(
                recording.timeline,
                recording.level_track,
                kept,
                settings.keep_policy,
            )
            recording.start()
        except Exception as error:
            self.audio = audio_before
            self._abandon(stream, error)
            if isinstance(error, EngineError):
                raise
            # What is told once is not told again by whoever gave the order.
            raise told(error) from error

    def change_input(self, name: str) -> None:
        """Let a running recording go on from another input; nothing happens to one of a file."""
        recording = self.recording
        if recording is not None:
            recording.change_input(name)

    def pause(self) -> None:
        """Hold the recording."""
        if self.recording is not None and self.state is SessionState.RECORDING:
            self.recording.capture.pause()
            self._enter(SessionState.PAUSED)

    def resume(self) -> None:
        """Go on."""
        if self.recording is not None and self.state is SessionState.PAUSED:
            self.recording.capture.resume()
            self._enter(SessionState.RECORDING)

    def stop(self) -> None:
        """Stop capturing, let the lanes finish, close the journal; nothing to do while idle."""
        recording = self.recording
        if recording is None:
            return
        self._enter(SessionState.STOPPING, "finishing the text")
        recording.stop(
            lambda left_s: self._enter(
                SessionState.STOPPING, f"finishing the text, {left_s:.1f} s left"
            )
        )
        self._complete(recording, drain_s=_DRAIN_S)
        self._bus.drain(_TELL_S)

    @property
    def is_discarding(self) -> bool:
        """Whether a running `stop` waits no longer than it must."""
        recording = self.recording
        return self._keeper.is_hurried if recording is None else recording.is_discarding

    def discard_backlog(self) -> None:
        """Make a running `stop` give up what is not done by lanes, or then by the disk."""
        recording = self.recording
        if recording is not None:
            recording.discard_backlog()
        elif self.state is SessionState.STOPPING:
            self._keeper.hurry()

    def break_off(self) -> None:
        """End at once, whatever does not return; what was recorded is kept. Thread: any."""
        self._is_broken_off = True
        self._keeper.hurry()
        recording = self.recording
        if recording is not None:
            recording.break_off()
            self._complete(recording, drain_s=_SHORT_DRAIN_S)
        self._idle.set()

    def _complete(self, recording: Recording, *, drain_s: float) -> None:
        """Close the journal of a recording that has ended; once."""
        is_whole = self._bus.drain_owner(drain_s)
        with self._end_lock:
            if self.recording is not recording:
                return
            self.recording = None
        if self.audio is not None:
            self.audio.end()
        try:
            if recording.has_begun:
                self._keeper.end(
                    is_trained=recording.is_trained,
                    is_whole=is_whole,
                    on_wait=lambda: self._enter(SessionState.STOPPING, "waiting for the disk"),
                )
            else:
                self._keeper.abandon()
        except EngineError as error:
            self._post(Notice(Severity.ERROR, error.message, error.advice))
        finally:
            self._enter(SessionState.IDLE)
            self._idle.set()

    def _on_first_block(self) -> None:
        self._enter(SessionState.RECORDING, only_from=SessionState.STARTING)

    def _enter(
        self, state: SessionState, detail: str = "", *, only_from: SessionState | None = None
    ) -> None:
        with self._state_lock:
            if only_from in (None, self.state):
                self.state = state
                self._post(StateChanged(state, detail))

    def _abandon(self, stream: InputStream | None, error: Exception) -> None:
        if stream is not None:
            stream.close()
        self.recording = None
        self._keeper.abandon()
        if isinstance(error, EngineError):
            self._post(Notice(Severity.ERROR, error.message, error.advice))
        else:
            text = f"Recording could not start: {told(error).text}"
            self._post(Notice(Severity.ERROR, text, "Try again, or choose another input."))
        self._enter(SessionState.IDLE)
        self._idle.set()

    def _describe(self, stream: InputStream, settings: Settings) -> RecordingStarted:
        now = datetime.now().astimezone()
        return RecordingStarted(
            recording_id=new_session_id(now),
            sample_rate=stream.sample_rate,
            started_at=now.isoformat(timespec="seconds"),
            device=stream.name,
            is_kept=settings.keep_policy is not KeepPolicy.NOTHING,
        )


def _title(input_name: str) -> str:
    """Return what a recording from an input is called; "" for one that only its time names."""
    is_file = input_name.startswith(FILE_PREFIX)
    return Path(input_name.removeprefix(FILE_PREFIX)).stem if is_file else ""
