"""A recognizer that listens to nothing and says what a script tells it, at the scripted times.

It shows how the engine behaves without a model: in tests, in benchmarks, and on machines that
have none. Costs and faults can be scripted too.
"""

import time
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from engine.backends.protocols import BackendContext, BackendSpec, ProgressCallback
from engine.core.errors import BackendError, EngineError
from engine.core.events import FinalWords, PartialWords, StreamEvent
from engine.core.sync import CancelToken
from engine.core.timebase import samples
from engine.core.types import BackendKind, Pcm, Word

SAMPLE_RATE = 16_000
_WORD_SAMPLES = 6400
_VOICED_SAMPLES = 4800
_VOCABULARY = ("seven", "small", "birds", "sing", "near", "an", "old", "bridge", "until", "evening")


@dataclass(frozen=True, slots=True)
class RecognizerScript:
    """What the recognizer will do; times in samples at 16 kHz from the start of its stream.

    Args:
        words: what is said, in order of time; None says a word every 400 ms without end.
        seed: chooses the words where none are given.
        partial_delay: samples from a word's end to its first showing.
        final_delay: samples from a word's end to its being final, at least `partial_delay`.
        fail_at: raise once, from the push that reaches this sample; None never does.
        is_recoverable: whether the stream works on after that; if not, it fails for ever.
        load_error: raised by `load`.
        load_s: seconds that `load` takes, in steps that notice a cancel.
        cost_s: seconds that one second of audio takes.
    """

    words: tuple[Word, ...] | None = None
    seed: int = 0
    partial_delay: int = 3200
    final_delay: int = 16_000
    fail_at: int | None = None
    is_recoverable: bool = True
    load_error: EngineError | None = None
    load_s: float = 0.0
    cost_s: float = 0.0

    def __post_init__(self) -> None:
        if not 0 <= self.partial_delay <= self.final_delay:
            raise ValueError(
                f"0 <= partial_delay <= final_delay, got {self.partial_delay}, {self.final_delay}"
            )

    def word(self, index: int) -> Word | None:
        """Return word number `index`, None after the last."""
        if self.words is not None:
            return self.words[index] if index < len(self.words) else None
        text = _VOCABULARY[zlib.crc32(f"{self.seed}/{index}".encode()) % len(_VOCABULARY)]
        start = index * _WORD_SAMPLES
        return Word(f" {text}", start, start + _VOICED_SAMPLES, 0.9)


def words_from_text(text: str, *, start_s: float = 0.0, word_s: float = 0.4) -> tuple[Word, ...]:
    """Return the words of a text, one each `word_s` seconds, each sounding for 3/4 of that."""
    starts = (start_s + i * word_s for i in range(len(text.split())))
    return tuple(
        Word(f" {word}", samples(at, SAMPLE_RATE), samples(at + 0.75 * word_s, SAMPLE_RATE), 0.9)
        for at, word in zip(starts, text.split(), strict=True)
    )


class FakeRecognizer:
    """The recognizer "fake".

    Args:
        script: what every stream of it says.
        sleep: lets the scripted costs pass; tests give a virtual clock's.
    """

    def __init__(
        self, script: RecognizerScript | None = None, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self._script = script or RecognizerScript()
        self._sleep = sleep
        self._is_loaded = False

    @property
    def spec(self) -> BackendSpec:
        """What it is."""
        return BackendSpec(
            id="fake",
            title="Test recognizer",
            kinds=(BackendKind.RECOGNIZER,),
            sample_rate=SAMPLE_RATE,
            block_size=1600,
            latency=self._script.partial_delay,
            capabilities=("partial", "word-times", "test"),
            licence="Apache-2.0",
            is_trained=False,
        )

    def load(self, progress: ProgressCallback, cancel: CancelToken) -> None:
        """Take the scripted time, then be ready or fail."""
        for step in range(10):
            cancel.check()
            progress(step / 10, "Loading the test recognizer")
            if self._script.load_s:
                self._sleep(self._script.load_s / 10)
        cancel.check()
        if self._script.load_error is not None:
            raise self._script.load_error
        self._is_loaded = True
        progress(1.0, "")

    def open_stream(self) -> "FakeRecognizerStream":
        """Return a stream that begins the script."""
        if not self._is_loaded:
            raise BackendError("The test recognizer is not loaded.", advice="Load it first.")
        return FakeRecognizerStream(self._script, self._sleep)

    def close(self) -> None:
        """Forget that it was loaded."""
        self._is_loaded = False


@dataclass(slots=True)
class _State:
    """Where a stream is in its script; constant but for the words shown and not final.

    Args:
        position: samples heard.
        next_word: the first word of the script that was not shown.
        shown: words shown and not final.
        has_failed: whether the scripted fault has come.
        due: events of a push that failed, told by the next one.
    """

    position: int = 0
    next_word: int = 0
    shown: list[Word] = field(default_factory=list)
    has_failed: bool = False
    due: list[StreamEvent] = field(default_factory=list)


class FakeRecognizerStream:
    """A stream that follows its script. Cuts of the audio change nothing but when it is told."""

    def __init__(self, script: RecognizerScript, sleep: Callable[[float], None]) -> None:
        self._script = script
        self._sleep = sleep
        self._state = _State()

    def push(self, block: Pcm) -> Sequence[StreamEvent]:
        """Advance by the block's length; its samples are not looked at.

        Raises:
            BackendError: the script says so. The block counts as heard.
        """
        state = self._state
        if self._script.cost_s and len(block):
            self._sleep(self._script.cost_s * len(block) / SAMPLE_RATE)
        state.position += len(block)
        state.due += self._events_until(state.position)
        fail_at = self._script.fail_at
        has_reached = fail_at is not None and state.position >= fail_at
        if has_reached and not (state.has_failed and self._script.is_recoverable):
            state.has_failed = True
            raise BackendError(
                "The test recognizer failed, as its script says.",
                advice="Nothing needs to be done.",
                recoverable=self._script.is_recoverable,
            )
        events, state.due = state.due, []
        return events

    def flush(self) -> Sequence[StreamEvent]:
        """Make final every word that ended; one that has not ended is told when it has."""
        state = self._state
        events, state.due = state.due, []
        tail = tuple(state.shown)
        while (word := self._script.word(state.next_word)) and word.end <= state.position:
            tail += (word,)
            state.next_word += 1
        if tail:
            events.append(FinalWords(tail))
        if state.shown:
            events.append(PartialWords((), state.position))
        state.shown = []
        return events

    def reset(self) -> None:
        """Begin the script again, its fault included."""
        self._state = _State()

    def close(self) -> None:
        """Do nothing: there is nothing to release."""

    def _events_until(self, position: int) -> list[StreamEvent]:
        """Return what becomes known up to `position`, in order of time."""
        state, script = self._state, self._script
        events: list[StreamEvent] = []
        while True:
            coming = script.word(state.next_word)
            shown_at = coming.end + script.partial_delay if coming else position + 1
            final_at = state.shown[0].end + script.final_delay if state.shown else position + 1
            moment = min(shown_at, final_at)
            if moment > position:
                return events
            if final_at <= shown_at:
                events.append(FinalWords((state.shown.pop(0),)))
            elif coming is not None:
                state.shown.append(coming)
                state.next_word += 1
            events.append(PartialWords(_tentative(state.shown), moment))


def _tentative(words: Sequence[Word]) -> tuple[Word, ...]:
    """Return words as a recognizer shows them at first: unsure, the newest not yet whole."""
    if not words:
        return ()
    newest = words[-1]
    text = newest.text[: len(newest.text) // 2 + 1]
    sure = tuple(Word(word.text, word.start, word.end, 0.6) for word in words[:-1])
    return (*sure, Word(text, newest.start, newest.end, 0.4))


def create(context: BackendContext, argument: str) -> FakeRecognizer:
    """Return the test recognizer; an argument is the text it says once."""
    del context
    return FakeRecognizer(RecognizerScript(words_from_text(argument) if argument else None))
