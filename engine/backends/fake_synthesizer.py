"""A synthesizer that hums: a soft tone for each letter, sentence by sentence.

It needs no model and no package, so playback, cancelling and saving can be tried anywhere.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from engine.backends.protocols import (
    BackendContext,
    BackendSpec,
    ProgressCallback,
    SpeechChunk,
)
from engine.core.errors import BackendError, EngineError
from engine.core.sync import CancelToken
from engine.core.types import BackendKind, Pcm
from engine.text.segmenter import Piece, segment

SAMPLE_RATE = 22_050
CHUNK_SAMPLES = 2205
_AMPLITUDE = 0.1  # -23 dBFS for a sine
_LETTER_SAMPLES = 1323
_PAUSE_SAMPLES = 4410


@dataclass(frozen=True, slots=True)
class SynthesizerScript:
    """What goes slow or wrong.

    Args:
        cost_s: seconds that one second of speech takes.
        fail_at_piece: raise in place of the piece of this number, counted from 0 in each text;
            None never does.
        is_recoverable: what the raised error says of itself.
        load_error: raised by `load`.
    """

    cost_s: float = 0.0
    fail_at_piece: int | None = None
    is_recoverable: bool = True
    load_error: EngineError | None = None


class FakeSynthesizer:
    """The synthesizer "fake".

    Args:
        script: what goes slow or wrong.
        sleep: lets the scripted cost pass; tests give a virtual clock's.
    """

    def __init__(
        self, script: SynthesizerScript | None = None, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self._script = script or SynthesizerScript()
        self._sleep = sleep
        self._is_loaded = False

    @property
    def spec(self) -> BackendSpec:
        """What it is."""
        return BackendSpec(
            id="fake",
            title="Test voice (hums)",
            kinds=(BackendKind.SYNTHESIZER,),
            sample_rate=SAMPLE_RATE,
            block_size=CHUNK_SAMPLES,
            capabilities=("test",),
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

    def open_stream(self) -> "FakeSynthesizerStream":
        """Return a new stream."""
        if not self._is_loaded:
            raise BackendError("The test voice is not loaded.", advice="Load it first.")
        return FakeSynthesizerStream(self._script, self._sleep)

    def close(self) -> None:
        """Forget that it was loaded."""
        self._is_loaded = False


class FakeSynthesizerStream:
    """A humming voice."""

    def __init__(self, script: SynthesizerScript, sleep: Callable[[float], None]) -> None:
        self._script = script
        self._sleep = sleep
        # NB: replaced by the speaking thread, set by any.
        self._cancel = CancelToken()

    def speak(self, text: str) -> Iterator[SpeechChunk]:
        """Yield 100 ms at a time.

        Raises:
            BackendError: there is nothing to say, or the script says so.
        """
        self._cancel = CancelToken()
        return self._render(text, self._cancel)

    def cancel(self) -> None:
        """End the running `speak` before its next chunk."""
        self._cancel.cancel()

    def close(self) -> None:
        """End the running `speak`; idempotent."""
        self._cancel.cancel()

    def _render(self, text: str, cancel: CancelToken) -> Iterator[SpeechChunk]:
        is_silent = True
        for i, piece in enumerate(segment(text)):
            is_silent = False
            if i == self._script.fail_at_piece:
                raise BackendError(
                    "The test voice failed, as its script says.",
                    advice="Nothing needs to be done.",
                    recoverable=self._script.is_recoverable,
                )
            pcm = _hum(piece)
            for start in range(0, len(pcm), CHUNK_SAMPLES):
                chunk = pcm[start : start + CHUNK_SAMPLES]
                if self._script.cost_s:
                    self._sleep(self._script.cost_s * len(chunk) / SAMPLE_RATE)
                if cancel.is_cancelled:
                    return
                yield SpeechChunk(chunk, piece.sentence_start, piece.sentence_end)
        if is_silent:
            raise BackendError(
                "There is nothing to say in this text.", advice="Write some words to be spoken."
            )


def _hum(piece: Piece) -> Pcm:
    """Return a tone a letter, its pitch by the letter, silence for what is none, and a pause."""
    pcm = np.zeros(len(piece.text) * _LETTER_SAMPLES + _PAUSE_SAMPLES, dtype=np.float32)
    time_s = np.arange(_LETTER_SAMPLES) / SAMPLE_RATE
    swell = _AMPLITUDE * np.sin(np.pi * np.arange(_LETTER_SAMPLES) / _LETTER_SAMPLES)
    for i, char in enumerate(piece.text):
        if char.isalnum():
            pitch_hz = 220.0 * 2 ** (ord(char) % 24 / 12)
            start = i * _LETTER_SAMPLES
            pcm[start : start + _LETTER_SAMPLES] = swell * np.sin(2 * np.pi * pitch_hz * time_s)
    return pcm


def create(context: BackendContext, argument: str) -> FakeSynthesizer:
    """Return the test voice.

    Raises:
        BackendError: an argument was given; it takes none.
    """
    del context
    if argument:
        raise BackendError(
            f'The test voice takes no argument, got "{argument}".', advice='Use "fake" alone.'
        )
    return FakeSynthesizer()
