"""Marked stretches of a document, by kind, so that a plot finds those in view at once."""

import numpy as np
from numpy.typing import NDArray

from engine.core.events import SpanMarked
from engine.core.types import SpanKind
from engine.text.document import TranscriptDocument


class SpanIndex:
    """Where the marked stretches of one document are."""

    def __init__(self, document: TranscriptDocument) -> None:
        self._document = document
        self._all: tuple[SpanMarked, ...] = ()
        self._spans: dict[SpanKind, list[SpanMarked]] = {}
        self._bounds: dict[SpanKind, tuple[NDArray[np.int64], NDArray[np.int64]]] = {}
        self.update()

    def update(self) -> int | None:
        """Take note of all spans and return the sample from which on they are others, if any is."""
        before, self._all = self._all, self._document.spans
        first = next(
            (
                at
                for at, pair in enumerate(zip(before, self._all, strict=False))
                if pair[0] != pair[1]
            ),
            min(len(before), len(self._all)),
        )
        changed = (*before[first:], *self._all[first:])
        self._spans = {kind: [] for kind in SpanKind}
        for span in self._all:
            self._spans[span.kind].append(span)
        self._bounds = {
            kind: (
                np.array([span.start for span in spans], np.int64),
                np.maximum.accumulate(np.array([span.end for span in spans], np.int64))
                if spans
                else np.zeros(0, np.int64),
            )
            for kind, spans in self._spans.items()
        }
        return min((span.start for span in changed), default=None)

    @property
    def has_own_voice(self) -> bool:
        """Whether the program itself ever spoke."""
        return bool(self._spans[SpanKind.OWN_VOICE])

    @property
    def is_speaking(self) -> bool:
        """Whether the program speaks at the newest moment: its last span has no end yet."""
        own = self._spans[SpanKind.OWN_VOICE]
        return bool(own) and own[-1].end <= own[-1].start

    def touching(self, kind: SpanKind, start: int, end: int) -> list[SpanMarked]:
        """Return the spans of a kind that touch [start, end], in order of start."""
        starts, latest = self._bounds[kind]
        low = int(np.searchsorted(latest, start))
        high = int(np.searchsorted(starts, end, side="right"))
        if kind is SpanKind.OWN_VOICE and self.is_speaking and high == len(starts):
            low = min(low, high - 1)
        return self._spans[kind][low:high]
