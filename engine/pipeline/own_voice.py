"""Which stretches of the microphone hold the program's own voice."""

import threading
from collections.abc import Callable

from engine.core.events import Event, SpanMarked
from engine.core.timebase import samples
from engine.core.types import Pcm, SpanKind

_NUM_KEPT = 1000
"""Stretches remembered: lanes may hear audio again long afterwards."""
HANGOVER_S = 0.3
"""Time after the last sample was heard in which the room still rings."""


class OwnVoiceGate:
    """Silences own-voice stretches for the models and marks them on the timeline.

    Thread: `begin` and `end` from whoever holds the loudspeaker, `silence` from the lanes, `close`
    from the one that ends the recording.
    """

    def __init__(
        self,
        sample_rate: int,
        now: Callable[[], int],
        post: Callable[[Event], None],
        next_mark_id: Callable[[], int],
    ) -> None:
        self._rate = sample_rate
        self._now = now
        self._post = post
        self._next_mark_id = next_mark_id
        self._lock = threading.Lock()
        self._spans: list[tuple[int, int | None, int]] = []  # (start, end, mark_id)
        self._is_closed = False

    @property
    def is_open(self) -> bool:
        """Whether the program is speaking now."""
        with self._lock:
            return bool(self._spans) and self._spans[-1][1] is None

    def begin(self) -> None:
        """The program is about to speak: hold back from here. Idempotent while open."""
        with self._lock:
            if self._is_closed or (self._spans and self._spans[-1][1] is None):
                return
            start, mark_id = self._now(), self._next_mark_id()
            self._spans.append((start, None, mark_id))
            del self._spans[:-_NUM_KEPT]
        self._post(SpanMarked(mark_id, SpanKind.OWN_VOICE, start, start))

    def end(self, latency_s: float) -> None:
        """The last sample left the program `latency_s` before it is heard."""
        with self._lock:
            if not self._spans or self._spans[-1][1] is not None:
                return
            start, _, mark_id = self._spans[-1]
            end = self._now() + samples(latency_s + HANGOVER_S, self._rate)
            self._spans[-1] = (start, end, mark_id)
        self._post(SpanMarked(mark_id, SpanKind.OWN_VOICE, start, end))

    def close(self) -> None:
        """The recording takes in no more: what is being held back ends, and nothing begins."""
        with self._lock:
            self._is_closed = True
            if not self._spans or self._spans[-1][1] is not None:
                return
            start, _, mark_id = self._spans[-1]
            end = self._now()
            self._spans[-1] = (start, end, mark_id)
        self._post(SpanMarked(mark_id, SpanKind.OWN_VOICE, start, end))

    def silence(self, start: int, pcm: Pcm) -> Pcm:
        """Return `pcm`, which begins at sample `start`, with own-voice stretches zeroed."""
        with self._lock:
            touched = [
                (a, b)
                for a, b, _ in self._spans
                if a < start + len(pcm) and (b is None or b > start)
            ]
        if not touched:
            return pcm
        held = pcm.copy()
        for a, b in touched:
            held[max(0, a - start) : None if b is None else max(0, b - start)] = 0.0
        return held
