"""Sessions on scripted devices and backends."""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from engine.audio.device import DeviceInfo, InputBlock, InputStream, OutputStream
from engine.audio.virtual import ArrayInput
from engine.audio.virtual_output import NullOutput
from engine.backends.fake_diarizer import DiarizerScript, FakeDiarizer
from engine.backends.fake_recognizer import FakeRecognizer, RecognizerScript
from engine.backends.fake_synthesizer import FakeSynthesizer, SynthesizerScript
from engine.backends.protocols import Backend
from engine.core.config import KeepPolicy, Settings
from engine.core.errors import DeviceError
from engine.core.events import Event
from engine.core.timebase import Clock, MonotonicClock
from engine.core.types import BackendKind, Pcm
from engine.session.services import Services
from engine.session.session import Session

RATE = 16_000


class ScriptedInput:
    """A live input that brings given blocks, one a read; an exception in their place is raised."""

    def __init__(self, blocks: Sequence[InputBlock | Exception], rate: int = RATE) -> None:
        self._blocks = deque(blocks)
        self.name = "scripted microphone"
        self.sample_rate = rate
        self.is_live = True
        self.num_overflows = 0
        self.is_closed = False
        self.is_running = False

    def start(self) -> None:
        self.is_running = True

    def read(self) -> InputBlock:
        if not self._blocks:
            return InputBlock(np.zeros(0, np.float32))
        item = self._blocks.popleft()
        if isinstance(item, Exception):
            raise item
        self.num_overflows += bool(item.lost_samples)
        return item

    def pause(self) -> None:
        self.is_running = False

    def close(self) -> None:
        self.is_closed = True


class ScriptedDevices:
    """Opens what it is given, in order; "missing" is never there."""

    def __init__(
        self,
        inputs: Sequence[InputStream | Exception] = (),
        open_output: Callable[[], OutputStream] | None = None,
        clock: Clock | None = None,
    ) -> None:
        self._inputs = deque(inputs)
        self._clock = clock or MonotonicClock()
        self._open_output = open_output or (lambda: NullOutput(self._clock, 16_000))
        self.outputs: list[OutputStream] = []

    def list_devices(self) -> tuple[DeviceInfo, ...]:
        return (DeviceInfo("scripted microphone", 1, 0, RATE, is_default_input=True),)

    def open_input(self, name: str) -> InputStream:
        if name == "missing" or not self._inputs:
            raise DeviceError(f'There is no input "{name}".', advice="Plug one in.")
        item = self._inputs.popleft()
        if isinstance(item, Exception):
            raise item
        return item

    def open_output(self, name: str) -> OutputStream:
        self.outputs.append(self._open_output())
        return self.outputs[-1]


def array_input(seconds: float, clock: Clock | None = None, *, is_live: bool = False) -> ArrayInput:
    """Return noise of a length, read as fast as it can be unless it is live."""
    rng = np.random.default_rng(7)
    pcm = (0.1 * rng.standard_normal(round(seconds * RATE))).astype(np.float32)
    return ArrayInput(pcm, RATE, clock or MonotonicClock(), is_live=is_live)


def block(pcm: Pcm | int, lost: int = 0) -> InputBlock:
    """Return a block of samples, or of that many samples at half scale."""
    if isinstance(pcm, int):
        pcm = np.full(pcm, 0.5, np.float32)
    return InputBlock(pcm, lost)


class SessionBench:
    """A session on fakes, and the list of what it told."""

    def __init__(
        self,
        sessions_dir: Path,
        devices: ScriptedDevices,
        *,
        recognizer: RecognizerScript | None = None,
        diarizer: DiarizerScript | None = None,
        synthesizer: SynthesizerScript | None = None,
        encoder: Backend | None = None,
        makers: Mapping[BackendKind, Callable[[], Backend]] | None = None,
        has_diarizer: bool = True,
        keep: KeepPolicy = KeepPolicy.AUDIO_AND_TEXT,
        clock: Clock | None = None,
        **settings: object,
    ) -> None:
        used = {
            BackendKind.RECOGNIZER: lambda: FakeRecognizer(recognizer),
            BackendKind.DIARIZER: lambda: FakeDiarizer(diarizer),
            BackendKind.SYNTHESIZER: lambda: FakeSynthesizer(synthesizer),
            BackendKind.ENCODER: lambda: encoder,
            **(makers or {}),
        }
        values = {
            "recognizer": "fake",
            "diarizer": "fake" if has_diarizer else "none",
            "synthesizer": "fake",
            "encoder": "scripted" if encoder else "none",
            "keep": str(keep),
            **settings,
        }
        self.events: list[Event] = []
        self.devices = devices
        self.session = Session(
            Settings(**values),  # type: ignore[arg-type]
            Services(
                devices=devices,
                create_backend=lambda kind, _id, _context: used[kind](),
                model_path=lambda _id: sessions_dir,
                sessions_dir=sessions_dir,
                clock=clock or MonotonicClock(),
            ),
        )
        self.session.subscribe(self.events.append)

    def run(self, timeout_s: float = 20.0) -> None:
        """Record until the input ends by itself."""
        self.session.start().result(timeout_s)
        if not self.session.wait_until_stopped(timeout_s):
            raise TimeoutError("the recording did not end")
        self.session.drain_events()

    def told(self, kind: type) -> list:
        """Return the events of a type."""
        return [event for event in self.events if isinstance(event, kind)]
