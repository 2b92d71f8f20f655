"""What is heard from the one loudspeaker: spoken texts, or recorded audio."""

import threading
from collections.abc import Callable
from typing import cast

from engine.audio.device import OutputStream
from engine.backends.protocols import BackendSpec, Synthesizer, SynthesizerStream
from engine.core.errors import BackendError
from engine.core.events import Event
from engine.core.sync import CancelToken
from engine.core.types import BackendKind
from engine.pipeline.listen_back import ListenHooks, ListenLane
from engine.pipeline.loudspeaker import Loudspeaker
from engine.pipeline.own_voice import OwnVoiceGate
from engine.pipeline.playback import PlaybackHooks, SpeakLane
from engine.pipeline.recorded_audio import RecordedAudio
from engine.session.pool import BackendPool
from engine.session.services import Services


class SoundOut:
    """Speaks and plays, never both: what was asked for last is heard.

    Thread: any.

    Args:
        services: devices and clock.
        pool: has the voice.
        post: publishes an event.
        gate: the recording's own-voice gate, or None while nothing is recorded or it is off.
        output_name: the output chosen now.
    """

    def __init__(
        self,
        services: Services,
        pool: BackendPool,
        post: Callable[[Event], None],
        gate: Callable[[], OwnVoiceGate | None],
        output_name: Callable[[], str],
    ) -> None:
        def open_output() -> OutputStream:
            output = services.devices.open_output(output_name())
            try:
                output.start()
            except Exception:
                output.close()
                raise
            return output

        now_s = services.clock.now_s
        self._loudspeaker = Loudspeaker(open_output, services.slept_s)
        self.speech = SpeakLane(
            PlaybackHooks(lambda cancel: open_voice(pool, cancel), open_output, post, gate, now_s),
            self._loudspeaker,
        )
        """To be asked directly for all but what makes a sound."""
        self.playing = ListenLane(ListenHooks(post, gate, now_s), self._loudspeaker)
        """To be asked directly for all but what makes a sound."""
        # Held while one gives way to the other, so that two who ask at once do not mix.
        self._lock = threading.Lock()

    @property
    def num_underflows(self) -> int:
        """Times sound did not come in time, bridged or not."""
        return self._loudspeaker.num_underflows

    @property
    def num_device_underflows(self) -> int:
        """Times the sound system ran dry though sound was there."""
        return self._loudspeaker.num_device_underflows

    def speak(self, text: str) -> int:
        """Speak a text after those that wait, and end what is played; return its number."""
        with self._lock:
            self.playing.stop()
            return self.speech.speak(text)

    def replay(self) -> None:
        """Speak the newest text, if there is one, again, and end what is played."""
        with self._lock:
            if self.speech.place() is not None:
                self.playing.stop()
                self.speech.replay()

    def seek(self, position_s: float) -> None:
        """Go to a place in the newest text, if there is one, and end what is played."""
        with self._lock:
            if self.speech.place() is not None:
                self.playing.stop()
                self.speech.seek(position_s)

    def play(self, open_audio: Callable[[], RecordedAudio], start: int, end: int | None) -> None:
        """Play a stretch of recorded audio, and end what is spoken; see `ListenLane.play`."""
        with self._lock:
            self.speech.stop()
            self.playing.play(open_audio, start, end)

    def change_output(self) -> None:
        """Open the loudspeaker anew: what was not heard goes on there."""
        self.speech.change_output()
        self.playing.change_output()

    def stop(self) -> None:
        """Be silent."""
        self.playing.stop()
        self.speech.stop()

    def close(self, timeout_s: float = 10.0) -> bool:
        """Be silent, release the device and end the threads; idempotent.

        Returns:
            Whether they have ended: a device that does not return is not waited for.
        """
        has_played = self.playing.close(timeout_s / 2)
        return self.speech.close(timeout_s / 2) and has_played


def open_voice(pool: BackendPool, cancel: CancelToken) -> tuple[BackendSpec, SynthesizerStream]:
    """Return the chosen voice once it is ready; the caller closes the stream.

    Raises:
        EngineError: there is none, or it cannot be loaded.
        CancelledError: cancel was set first.
    """
    backend = pool.wait(BackendKind.SYNTHESIZER, cancel)
    if backend is None:
        raise BackendError("No voice is chosen.", advice="Choose one in the settings.")
    voice = cast("Synthesizer", backend)
    return voice.spec, voice.open_stream()
