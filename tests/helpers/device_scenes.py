"""What happens to devices on a real sound server, and what a recording makes of it."""

import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import soundfile

from engine.audio.device import DeviceInfo, InputStream, OutputStream
from engine.audio.provider import SystemDevices
from engine.backends.fake_diarizer import FakeDiarizer
from engine.backends.fake_recognizer import FakeRecognizer
from engine.backends.fake_synthesizer import FakeSynthesizer
from engine.core.config import Settings
from engine.core.events import Event, Notice, SpanMarked
from engine.core.timebase import MonotonicClock
from engine.core.types import BackendKind, SpanKind
from engine.session.services import Services
from engine.session.session import Session
from tests.helpers.pulse import RATE, VirtualSound
from tests.helpers.timecode import WINDOW_S, is_silent, read_timecode, write_timecode

_PATIENCE_S = 20.0
_MAKERS = {
    BackendKind.RECOGNIZER: FakeRecognizer,
    BackendKind.DIARIZER: FakeDiarizer,
    BackendKind.SYNTHESIZER: FakeSynthesizer,
}


def until(condition: Callable[[], bool], timeout_s: float = _PATIENCE_S) -> None:
    """Wait for something to become true."""
    end_s = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < end_s, "it did not happen in time"
        time.sleep(0.01)


class CountingDevices:
    """The machine's devices, and how often they were opened."""

    def __init__(self) -> None:
        self._devices = SystemDevices(MonotonicClock())
        self.num_inputs = 0
        self.outputs: list[OutputStream] = []

    def list_devices(self) -> tuple[DeviceInfo, ...]:
        return self._devices.list_devices()

    def open_input(self, name: str) -> InputStream:
        self.num_inputs += 1
        return self._devices.open_input(name)

    def open_output(self, name: str) -> OutputStream:
        self.outputs.append(self._devices.open_output(name))
        return self.outputs[-1]


@dataclass
class Sleeper:
    """A computer that sleeps when told to."""

    seconds: float = 0.0

    def __call__(self) -> float:
        return self.seconds


class Scene:
    """A session on a real sound server whose microphone hears a timecode.

    Args:
        sound: the server; the environment must lead to it.
        folder: for the recording.
        input_name: chosen microphone.
        output_name: chosen loudspeaker.
    """

    def __init__(
        self,
        sound: VirtualSound,
        folder: Path,
        input_name: str = "default",
        output_name: str = "default",
    ) -> None:
        self.sound = sound
        self.devices = CountingDevices()
        self.sleeper = Sleeper()
        self.events: list[Event] = []
        self._folder = folder
        self._is_heard = False
        self._heard_at_s = 0.0
        self.session = Session(
            Settings(
                input=input_name,
                output=output_name,
                recognizer="fake",
                diarizer="fake",
                synthesizer="fake",
                keep="audio-and-text",
            ),
            Services(
                devices=self.devices,
                create_backend=lambda kind, _id, _context: _MAKERS[kind](),
                model_path=lambda _id: folder,
                sessions_dir=folder / "sessions",
                clock=MonotonicClock(),
                slept_s=self.sleeper,
            ),
        )
        self.session.subscribe(self.events.append)
        self.session.load()
        for kind in _MAKERS:
            self.session.wait_until_loaded(kind)

    @contextmanager
    def hearing(self, seconds: float = 35.0) -> Iterator[None]:
        """Play the timecode into the microphone meanwhile."""
        wav = self._folder / "timecode.wav"
        if not wav.exists():
            write_timecode(wav, seconds, RATE)
        with self.sound.playing_to_microphone(wav):
            self._is_heard = True
            yield

    def record(self) -> None:
        """Begin a recording and wait until it brings samples."""
        self.session.start().result(_PATIENCE_S)
        if self._is_heard:
            until(lambda: (levels := self.session.levels()) is not None and levels.peak_db > -20)
        begun_s = self.session.recorded_s()
        until(lambda: self.session.recorded_s() > begun_s + 0.4)
        self._heard_at_s = self.session.recorded_s() - 0.2

    def choose_input(self, name: str) -> None:
        """Choose another microphone in the settings."""
        self.session.change_settings(replace(self.session.settings, input=name))

    def notices(self) -> list[str]:
        """Return what was told, messages alone."""
        return [event.message for event in self.events if isinstance(event, Notice)]

    def num_told(self, part: str) -> int:
        """Return how many notices with these words came."""
        return sum(part in message for message in self.notices())

    def has_told(self, part: str) -> bool:
        """Whether a notice with these words came."""
        return self.num_told(part) > 0

    def gaps(self) -> list[SpanMarked]:
        """Return the gaps as they were told last."""
        marks = {e.mark_id: e for e in self.events if isinstance(e, SpanMarked)}
        return [mark for mark in marks.values() if mark.kind is SpanKind.GAP]

    def stop(self) -> float:
        """End the recording and return how long that took."""
        began_s = time.monotonic()
        self.session.stop().result(_PATIENCE_S)
        self.session.drain_events()
        return time.monotonic() - began_s

    def recorded(self) -> tuple[np.ndarray, int]:
        """Return the newest recording's samples and their rate."""
        path = max((self._folder / "sessions").rglob("audio.wav"), key=lambda p: p.stat().st_mtime)
        return soundfile.read(path, dtype="float32")

    def clock_error_s(self) -> float:
        """Return by how much the end of the recording is late, by the timecode in it.

        Raises:
            AssertionError: there is no sound at its beginning or its end.
        """
        pcm, rate = self.recorded()
        offsets = []
        for at in (round(self._heard_at_s * rate), len(pcm) - round(0.4 * rate)):
            window = pcm[at : at + round(WINDOW_S * rate)]
            assert not is_silent(window), "nothing was heard"
            offsets.append(at / rate - read_timecode(window, rate))
        return offsets[1] - offsets[0]

    def close(self) -> None:
        """End the session."""
        self.session.close()
        until(lambda: not any(t.name.startswith("vivavoce") for t in threading.enumerate()))


@contextmanager
def scene(sound: VirtualSound, **names: str) -> Iterator[Scene]:
    """A session for a while, in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        made = Scene(sound, Path(folder), **names)
        try:
            yield made
        finally:
            made.close()
