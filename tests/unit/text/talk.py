"""Small talks for tests of transcripts: two people, a word every half second."""

import numpy as np

from engine.core.events import ActivityRevised, FinalWords, RecordingStarted
from engine.core.types import SpeakerId, Word
from engine.text.document import TranscriptDocument

RATE = 1000
A, B, C = (SpeakerId(0, slot) for slot in range(3))
NEW = SpeakerId(-1, 0)


def started() -> RecordingStarted:
    return RecordingStarted("id", RATE, "2026-01-01T00:00:00+00:00", "microphone", True)


def said(text: str, start_s: float = 0.0) -> FinalWords:
    """Return words half a second apart; what a text joins without a blank stays one word."""
    times = [round((start_s + 0.5 * i) * RATE) for i in range(len(text.split()) + 1)]
    return FinalWords(
        tuple(
            Word(f" {each}", times[i], times[i] + 400, 0.9) for i, each in enumerate(text.split())
        )
    )


def rows(*slots: int | None, first_frame: int = 0) -> ActivityRevised:
    """Return final rows of 500 ms in which one slot, or nobody, is active."""
    table = np.zeros((len(slots), 8), np.float32)
    for i, slot in enumerate(slots):
        if slot is not None:
            table[i, slot] = 0.9
    return ActivityRevised(first_frame, 500, table, first_frame + len(slots))


def talk() -> TranscriptDocument:
    """Return "one two three." of A, "four five." of B, "six seven" of A."""
    document = TranscriptDocument()
    for event in (
        started(),
        rows(0, 0, 0, 1, 1, 0, 0),
        said("one two three. four five. six seven"),
    ):
        document.apply(event)
    return document


def lines(document: TranscriptDocument) -> list[tuple[SpeakerId | None, str]]:
    return [(line.speaker, document.line_text(line)) for line in document.lines]
