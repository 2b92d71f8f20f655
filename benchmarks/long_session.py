"""A long made-up session with many speakers who talk over each other, as events."""

from collections.abc import Iterator

import numpy as np

from engine.core.events import (
    ActivityRevised,
    Event,
    FinalWords,
    PartialWords,
    RecordingStarted,
    SpanMarked,
)
from engine.core.types import MAX_SPEAKERS, SpanKind, Word

RATE = 16_000
FRAME_MS = 80
STEP_S = 1.6
"""Every step tells a phrase and the rows of its time, as live lanes do."""
_WORDS_A_STEP = 4.45  # 40 000 words in four hours
_TEXT = (
    "we should ship the small one first and see who complains about it then write down what they "
    "said because nobody remembers numbers from last spring without looking them up again"
)


def opening() -> RecordingStarted:
    """Return the event that begins it."""
    return RecordingStarted("2026-01-02_03-04-05", RATE, "2026-01-02T03:04:05", "Microphone", False)


def steps(duration_s: float, seed: int = 3) -> Iterator[tuple[Event, ...]]:
    """Yield what is told of each `STEP_S` of a session, in order.

    Half of all frames have two speakers or more. A step tells final words, the words that may
    still change, and rows of which the newest second is tentative; now and then a loss.
    """
    rng, vocabulary = np.random.default_rng(seed), _TEXT.split()
    per_step = round(STEP_S * 1000 / FRAME_MS)
    speaker = 0
    for number in range(int(duration_s / STEP_S)):
        begin_s = number * STEP_S
        if rng.random() < 0.3:
            speaker = int(rng.integers(MAX_SPEAKERS))
        rows = 0.1 * rng.random((per_step, MAX_SPEAKERS), dtype=np.float32)
        rows[:, speaker] = 0.9
        if rng.random() < 0.5:
            rows[: rng.integers(per_step // 2, per_step), int(rng.integers(MAX_SPEAKERS))] = 0.8
        end_frame = (number + 1) * per_step
        count = int(_WORDS_A_STEP + rng.random())
        text = [vocabulary[int(i)] for i in rng.integers(len(vocabulary), size=count)]
        if rng.random() < 0.4:
            text[-1] += "."
        events: list[Event] = [
            ActivityRevised(number * per_step, FRAME_MS, rows, max(0, end_frame - 12)),
            FinalWords(_spread(text, begin_s, rng)),
            PartialWords(_spread(text[::-1], begin_s + STEP_S, rng)),
        ]
        if number % 300 == 299:
            start = round(begin_s * RATE)
            events.append(SpanMarked(number, SpanKind.GAP, start, start + RATE // 2, "late"))
        yield tuple(events)


def _spread(text: list[str], begin_s: float, rng: np.random.Generator) -> tuple[Word, ...]:
    each = STEP_S / len(text)
    return tuple(
        Word(
            f" {word}",
            round((begin_s + i * each) * RATE),
            round((begin_s + (i + 0.9) * each) * RATE),
            0.3 + 0.7 * float(rng.random()),
        )
        for i, word in enumerate(text)
    )
