"""The process that records until it is killed, and tells all the while what it has done."""

import os
import struct
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TypeAlias

import numpy as np

from engine.audio.device import DeviceInfo, InputBlock, InputStream, OutputStream
from engine.audio.virtual import NullInput
from engine.audio.virtual_output import NullOutput
from engine.backends.fake_diarizer import FakeDiarizer
from engine.backends.fake_recognizer import FakeRecognizer
from engine.backends.fake_synthesizer import FakeSynthesizer
from engine.backends.protocols import Backend, BackendContext
from engine.core.config import KeepPolicy, Settings
from engine.core.events import Event, FinalWords, RecordingStarted, WordsEdited
from engine.core.timebase import MonotonicClock
from engine.core.types import BackendKind, Pcm
from engine.session.services import Services
from engine.session.session import Session

Tell: TypeAlias = Callable[[bytes, int], None]

RATE = 16_000
PERIOD = 60_007
"""After so many samples the signal begins again; no whole number of blocks or seconds."""
RECORD = struct.Struct("<cq")
"""What is told: a letter and a count."""
ASKED, STARTED, SAMPLES, LINES, EDITS, STOPPING, CLOSED = (
    b"?", b"s", b"a", b"w", b"e", b"p", b"c",
)  # fmt: skip
STOP_AFTER_S = 0.6


class Mode(StrEnum):
    """What a process is doing when it is killed."""

    LIVE = "recording"
    FAST = "reading fast"
    EDITS = "being edited"
    TEXT = "text only"
    PAUSE = "paused"
    START = "starting"
    STOP = "stopping"


@dataclass(frozen=True, slots=True)
class Plan:
    """One process.

    Args:
        mode: what it is doing.
        sessions_dir: where it records.
    """

    mode: Mode
    sessions_dir: Path


def signal(start: int, end: int) -> Pcm:
    """Return samples that each tell where they belong."""
    return as_stored(start, end).astype(np.float32) / np.float32(32767.0)


def as_stored(start: int, end: int) -> np.ndarray:
    """Return the same samples as a 16-bit file has them."""
    return (np.arange(start, end) % PERIOD - PERIOD // 2).astype(np.int16)


def record(plan: Plan, pipe: Connection) -> None:
    """Record until killed, or until a stop is over where that is the plan."""

    def tell(what: bytes, count: int) -> None:
        # Short enough to be written in one piece, whichever thread tells.
        os.write(pipe.fileno(), RECORD.pack(what, count))

    session, clock = make_session(plan, tell), MonotonicClock()
    tell(ASKED, 0)
    session.start().result()
    if plan.mode is Mode.PAUSE:
        clock.sleep(STOP_AFTER_S)
        session.pause().result()
    if plan.mode is not Mode.STOP:
        session.wait_until_stopped()
    clock.sleep(STOP_AFTER_S)
    tell(STOPPING, 0)
    session.stop().result()
    session.close()
    tell(CLOSED, 0)
    pipe.close()


def make_session(plan: Plan, tell: Tell) -> Session:
    """Return a session on the counting input, which tells all that happens."""
    clock = MonotonicClock()
    makers = {
        BackendKind.RECOGNIZER: FakeRecognizer,
        BackendKind.DIARIZER: FakeDiarizer,
        BackendKind.SYNTHESIZER: FakeSynthesizer,
    }

    def create(kind: BackendKind, _id: str, _context: BackendContext) -> Backend:
        backend: Backend = makers[kind]()
        return backend

    keep = KeepPolicy.TEXT if plan.mode is Mode.TEXT else KeepPolicy.AUDIO_AND_TEXT
    session = Session(
        Settings(recognizer="fake", diarizer="fake", synthesizer="fake", keep=str(keep)),
        Services(
            devices=_Devices(plan, tell, clock),
            create_backend=create,
            model_path=lambda _: plan.sessions_dir,
            sessions_dir=plan.sessions_dir,
            clock=clock,
        ),
    )
    session.subscribe(_Listener(plan, session, tell))
    return session


class _CountingInput(NullInput):
    """Tells what it has captured before anybody else has seen it."""

    def __init__(self, plan: Plan, tell: Tell, clock: MonotonicClock) -> None:
        super().__init__(clock, RATE, signal, is_live=plan.mode is not Mode.FAST)
        self._tell = tell
        self._num_captured = 0

    def read(self) -> InputBlock:
        block = super().read()
        if len(block.pcm):
            self._num_captured += len(block.pcm)
            self._tell(SAMPLES, self._num_captured)
        return block


class _Devices:
    def __init__(self, plan: Plan, tell: Tell, clock: MonotonicClock) -> None:
        self._plan = plan
        self._tell = tell
        self._clock = clock

    def list_devices(self) -> tuple[DeviceInfo, ...]:
        return ()

    def open_input(self, name: str) -> InputStream:
        return _CountingInput(self._plan, self._tell, self._clock)

    def open_output(self, name: str) -> OutputStream:
        return NullOutput(self._clock, RATE)


class _Listener:
    """Tells what was published, as a user would have seen it; edits what it hears if planned."""

    def __init__(self, plan: Plan, session: Session, tell: Tell) -> None:
        self._plan = plan
        self._session = session
        self._tell = tell
        self._num_lines = 0
        self._num_words = 0
        self._num_edits = 0

    def __call__(self, event: Event) -> None:
        match event:
            case RecordingStarted():
                self._tell(STARTED, 0)
            case FinalWords():
                self._num_lines += 1
                self._tell(LINES, self._num_lines)
                if self._plan.mode is Mode.EDITS:
                    ids = tuple(range(self._num_words, self._num_words + len(event.words)))
                    texts = tuple(f" edited{number}" for number in ids)
                    self._session.edit((WordsEdited(ids, texts),))
                self._num_words += len(event.words)
            case WordsEdited():
                self._num_edits += 1
                self._tell(EDITS, self._num_edits)
            case _:
                pass
