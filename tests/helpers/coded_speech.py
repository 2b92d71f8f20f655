"""Audio in which every word says its own number, and a recognizer and a diarizer that read it.

What is told can be held against what was said, however audio was cut, left out and filled in.
"""

import re
from collections.abc import Callable, Sequence

import numpy as np

from engine.backends.protocols import BackendSpec, ProgressCallback
from engine.core.events import ActivityRevised, Event, FinalWords, PartialWords, StreamEvent
from engine.core.sync import CancelToken
from engine.core.types import BackendKind, Pcm, Word

RATE = 16_000
WORD_SAMPLES = 6400
VOICED_SAMPLES = 4800
FRAME_SAMPLES = 1600
_FLOOR, _STEP = 0.05, 1 / 4096
_TURN_WORDS = 8

OnPush = Callable[[int, Pcm], None]
"""Called with the first sample of a push, on the clock of its stream, and the block; may sleep or
raise."""


def coded_pcm(num_words: int, first: int = 0) -> Pcm:
    """Return words `first` and following, 0.4 s each, of which the last 0.1 s is silent."""
    cells = np.zeros((num_words, WORD_SAMPLES), np.float32)
    cells[:, :VOICED_SAMPLES] = _FLOOR + _STEP * np.arange(first, first + num_words)[:, None]
    return cells.reshape(-1)


def words_in(pcm: Pcm) -> list[tuple[int, int, int]]:
    """Return (number, start, end) of the words that have a part in `pcm`."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0.0], pcm, [0.0]]) != 0))
    found = []
    for start, end in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        level = float(np.median(pcm[start:end]))
        if level > _FLOOR / 2:
            found.append((round((level - _FLOOR) / _STEP), start, end))
    return found


def numbers_told(events: Sequence[Event]) -> list[int]:
    """Return the numbers of the final words in order of their telling."""
    texts = (w.text for e in events if isinstance(e, FinalWords) for w in e.words)
    return [int(found[0]) for text in texts if (found := re.findall(r"\d+", text))]


class _Coded:
    """What both have in common."""

    def __init__(self, spec: BackendSpec, on_push: OnPush | None = None) -> None:
        self.spec = spec
        self.on_push: OnPush = on_push or (lambda _start, _block: None)

    def load(self, progress: ProgressCallback, cancel: CancelToken) -> None:
        cancel.check()
        progress(1.0, "")

    def close(self) -> None:
        pass


class CodedRecognizer(_Coded):
    """Tells every word when the silence behind it was heard."""

    def __init__(self, on_push: OnPush | None = None, device: str = "CPU") -> None:
        super().__init__(
            BackendSpec("coded", "Coded", (BackendKind.RECOGNIZER,), RATE, device=device), on_push
        )

    def open_stream(self) -> "_WordStream":
        return _WordStream(self)


class _WordStream:
    def __init__(self, backend: CodedRecognizer) -> None:
        self._backend = backend
        self._at = 0
        self._held = np.zeros(0, np.float32)

    def push(self, block: Pcm) -> Sequence[StreamEvent]:
        self._backend.on_push(self._at + len(self._held), block)
        self._held = np.concatenate([self._held, block])
        silent = np.flatnonzero(self._held == 0)
        return self._tell(int(silent[-1]) + 1 if len(silent) else 0)

    def flush(self) -> Sequence[StreamEvent]:
        return self._tell(len(self._held))

    def reset(self) -> None:
        self._at, self._held = 0, self._held[:0]

    def close(self) -> None:
        pass

    def _tell(self, num_samples: int) -> list[StreamEvent]:
        words = tuple(
            Word(f" {number}", self._at + start, self._at + end)
            for number, start, end in words_in(self._held[:num_samples])
        )
        self._at += num_samples
        self._held = self._held[num_samples:]
        events: list[StreamEvent] = [FinalWords(words)] if words else []
        return [*events, PartialWords((), self._at + len(self._held))]


class CodedDiarizer(_Coded):
    """Tells two voices, which change every eight words; whom it hears first has slot 0."""

    def __init__(self, on_push: OnPush | None = None, device: str = "CPU") -> None:
        super().__init__(
            BackendSpec(
                "coded", "Coded", (BackendKind.DIARIZER,), RATE, frame_ms=100, device=device
            ),
            on_push,
        )

    def open_stream(self) -> "_RowStream":
        return _RowStream(self)


class _RowStream:
    def __init__(self, backend: CodedDiarizer) -> None:
        self._backend = backend
        self._voices: list[int] = []
        self._told = 0
        self._held = np.zeros(0, np.float32)

    def push(self, block: Pcm) -> Sequence[StreamEvent]:
        self._backend.on_push(self._told * FRAME_SAMPLES + len(self._held), block)
        self._held = np.concatenate([self._held, block])
        return self._tell(len(self._held) // FRAME_SAMPLES)

    def flush(self) -> Sequence[StreamEvent]:
        return self._tell(-(-len(self._held) // FRAME_SAMPLES))

    def reset(self) -> None:
        self._voices, self._told, self._held = [], 0, self._held[:0]

    def close(self) -> None:
        pass

    def _tell(self, num_rows: int) -> list[StreamEvent]:
        if not num_rows:
            return []
        rows = np.zeros((num_rows, 2), np.float32)
        for i in range(num_rows):
            frame = self._held[i * FRAME_SAMPLES : (i + 1) * FRAME_SAMPLES]
            for number, start, end in words_in(frame):
                voice = number // _TURN_WORDS % 2
                if voice not in self._voices:
                    self._voices.append(voice)
                if end - start > FRAME_SAMPLES // 2:
                    rows[i, self._voices.index(voice)] = 0.95
        first, self._told = self._told, self._told + num_rows
        self._held = self._held[num_rows * FRAME_SAMPLES :]
        return [ActivityRevised(first, 100, rows, self._told)]
