"""A diarizer that listens to nothing: voices take turns as a script tells, some of them overlap.

It behaves as a real one does: a new turn is first credited to the voice before, then corrected;
the last seconds are tentative, older ones final.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.backends.protocols import BackendContext, BackendSpec, ProgressCallback
from engine.core.errors import BackendError, EngineError
from engine.core.events import ActivityRevised, StreamEvent
from engine.core.sync import CancelToken
from engine.core.types import MAX_SPEAKERS, BackendKind, Pcm

SAMPLE_RATE = 16_000
FRAME_MS = 100
_FRAME_SAMPLES = SAMPLE_RATE * FRAME_MS // 1000
_QUIET, _UNSURE, _SURE = 0.02, 0.7, 0.95
_CYCLE, _OVERLAP, _PAUSE = 28, 4, 4
"""Of endless turns, in frames: from one to the next, and how they meet."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One voice speaks in the frames [start, end)."""

    slot: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class DiarizerScript:
    """Who speaks when, and what goes wrong; frames of `FRAME_MS` from the start of a stream.

    Args:
        turns: in order of their starts; None lets the voices take turns without end, every
            third turn beginning 0.4 s before the one before it is over.
        num_speakers: columns of the rows, 1 to `MAX_SPEAKERS`.
        step_frames: rows are told this many at a time.
        tentative_frames: rows younger than this may still change.
        late_frames: for so long a new turn is credited to the voice before.
        fail_at: raise once, from the push that reaches this sample; None never does.
        is_recoverable: whether the stream works on after that; if not, it fails for ever.
        load_error: raised by `load`.
        cost_s: seconds that one second of audio takes.
    """

    turns: tuple[Turn, ...] | None = None
    num_speakers: int = 2
    step_frames: int = 5
    tentative_frames: int = 20
    late_frames: int = 5
    fail_at: int | None = None
    is_recoverable: bool = True
    load_error: EngineError | None = None
    cost_s: float = 0.0

    def __post_init__(self) -> None:
        if not 1 <= self.num_speakers <= MAX_SPEAKERS:
            raise ValueError(f"num_speakers must be 1 to {MAX_SPEAKERS}, got {self.num_speakers}")
        if self.step_frames < 1 or self.tentative_frames < 0 or self.late_frames < 0:
            raise ValueError("step_frames must be at least 1, the other lengths at least 0")
        for turn in self.turns or ():
            if not (0 <= turn.slot < self.num_speakers and 0 <= turn.start < turn.end):
                raise ValueError(f"a turn needs a slot below num_speakers and a length, got {turn}")

    def turns_between(self, start: int, end: int) -> list[Turn]:
        """Return the turns that touch the frames [start, end)."""
        if self.turns is not None:
            return [turn for turn in self.turns if turn.start < end and turn.end > start]
        turns = []
        for i in range(max(0, start // _CYCLE - 1), end // _CYCLE + 1):
            early = _OVERLAP if i % 3 == 2 else -_PAUSE
            first = max(0, i * _CYCLE - early)
            turns.append(Turn(i % self.num_speakers, first, i * _CYCLE + _CYCLE))
        return [turn for turn in turns if turn.start < end and turn.end > start]


class FakeDiarizer:
    """The diarizer "fake".

    Args:
        script: what every stream of it tells.
        sleep: lets the scripted cost pass; tests give a virtual clock's.
    """

    def __init__(
        self, script: DiarizerScript | None = None, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self._script = script or DiarizerScript()
        self._sleep = sleep
        self._is_loaded = False

    @property
    def spec(self) -> BackendSpec:
        """What it is."""
        return BackendSpec(
            id="fake",
            title="Test diarizer",
            kinds=(BackendKind.DIARIZER,),
            sample_rate=SAMPLE_RATE,
            block_size=_FRAME_SAMPLES,
            latency=self._script.step_frames * _FRAME_SAMPLES,
            frame_ms=FRAME_MS,
            capabilities=("overlap", "revisions", "test"),
            licence="Apache-2.0",
            is_trained=False,
        )

    def load(self, progress: ProgressCallback, cancel: CancelToken) -> None:
        """Be ready at once, or fail as scripted."""
        cancel.check()
        if self._script.load_error is not None:
            raise self._script.load_error
        self._is_loaded = True
        progress(1.0, "")

    def open_stream(self) -> "FakeDiarizerStream":
        """Return a stream that begins the script."""
        if not self._is_loaded:
            raise BackendError("The test diarizer is not loaded.", advice="Load it first.")
        return FakeDiarizerStream(self._script, self._sleep)

    def close(self) -> None:
        """Forget that it was loaded."""
        self._is_loaded = False


@dataclass(slots=True)
class _State:
    """Where a stream is in its script.

    Args:
        position: samples heard.
        told_until: the frame before which rows were told.
        final_until: the frame before which they are final.
        has_failed: whether the scripted fault has come.
    """

    position: int = 0
    told_until: int = 0
    final_until: int = 0
    has_failed: bool = False


class FakeDiarizerStream:
    """A stream that follows its script. Cuts of the audio change nothing but when it is told."""

    def __init__(self, script: DiarizerScript, sleep: Callable[[float], None]) -> None:
        self._script = script
        self._sleep = sleep
        self._state = _State()

    def push(self, block: Pcm) -> Sequence[StreamEvent]:
        """Advance by the block's length; its samples are not looked at.

        Raises:
            BackendError: the script says so. The block counts as heard.
        """
        state, script = self._state, self._script
        if script.cost_s and len(block):
            self._sleep(script.cost_s * len(block) / SAMPLE_RATE)
        state.position += len(block)
        has_reached = script.fail_at is not None and state.position >= script.fail_at
        if has_reached and not (state.has_failed and script.is_recoverable):
            state.has_failed = True
            raise BackendError(
                "The test diarizer failed, as its script says.",
                advice="Nothing needs to be done.",
                recoverable=script.is_recoverable,
            )
        step = script.step_frames
        heard = state.position // _FRAME_SAMPLES
        return [
            self._tell(now, max(state.final_until, now - script.tentative_frames))
            for now in range((state.told_until // step + 1) * step, heard + 1, step)
        ]

    def flush(self) -> Sequence[StreamEvent]:
        """Tell every whole frame and make all rows final."""
        heard = self._state.position // _FRAME_SAMPLES
        return [self._tell(heard, heard)] if heard > self._state.final_until else []

    def reset(self) -> None:
        """Begin the script again, its fault included."""
        self._state = _State()

    def close(self) -> None:
        """Do nothing: there is nothing to release."""

    def _tell(self, now: int, final_until: int) -> ActivityRevised:
        """Return all rows that were not final, as they look from frame `now`."""
        state = self._state
        first = state.final_until
        rows = _rows(self._script, first, now, final_until)
        state.told_until, state.final_until = now, final_until
        return ActivityRevised(first, FRAME_MS, rows, final_until)


def _rows(script: DiarizerScript, first: int, now: int, final_until: int) -> NDArray[np.float32]:
    rows = np.full((now - first, script.num_speakers), _QUIET, dtype=np.float32)
    for turn in script.turns_between(first, now):
        start, end = max(turn.start, first), min(turn.end, now)
        final_end = max(start, min(end, final_until))
        rows[start - first : final_end - first, turn.slot] = _SURE
        # The voice of a turn is known only once some of it was heard.
        is_known = now - turn.start > script.late_frames or script.num_speakers == 1
        slot = turn.slot if is_known else (turn.slot - 1) % script.num_speakers
        tentative = rows[final_end - first : end - first, slot]
        np.maximum(tentative, np.float32(_UNSURE), out=tentative)
    return rows


def turns_from_seconds(*turns: tuple[int, float, float]) -> tuple[Turn, ...]:
    """Return turns given as (slot, start, end) in seconds, rounded to frames."""
    per_second = 1000 / FRAME_MS
    return tuple(
        Turn(slot, round(start * per_second), round(end * per_second)) for slot, start, end in turns
    )


def create(context: BackendContext, argument: str) -> FakeDiarizer:
    """Return the test diarizer; an argument is the number of voices.

    Raises:
        BackendError: the argument is no number from 1 to `MAX_SPEAKERS`.
    """
    del context
    if not argument:
        return FakeDiarizer()
    if argument not in {str(n) for n in range(1, MAX_SPEAKERS + 1)}:
        raise BackendError(
            f'The test diarizer cannot have "{argument}" voices.',
            advice=f"Give a number from 1 to {MAX_SPEAKERS}.",
        )
    return FakeDiarizer(DiarizerScript(num_speakers=int(argument)))
