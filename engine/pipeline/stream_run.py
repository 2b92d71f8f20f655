"""One backend stream from where it began: resampling in, session time out."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from engine.audio.resample import StreamResampler
from engine.backends.protocols import BackendSpec, PacedStream, Stream
from engine.core.events import (
    ActivityRevised,
    Event,
    FinalWords,
    Notice,
    PartialWords,
    Severity,
    StreamEvent,
    StreamNotice,
)
from engine.core.timebase import rescale, samples
from engine.core.types import Pcm, Word

_UNSURE_S = 0.3
"""A word that ends this close to where audio is left out may be cut."""


@dataclass(frozen=True, slots=True)
class LaneBackend:
    """A loaded backend as a lane sees it."""

    spec: BackendSpec
    open_stream: Callable[[], Stream]


class StreamRun:
    """A stream on the session clock. Thread: its lane's.

    Args:
        backend: opens the stream.
        session_rate: Hz.
        origin: sample of the session that is the stream's first; see `grid_start`.
        epoch: of the stream's speakers.
        is_paced: whether the stream is told how far behind it is.
    """

    def __init__(
        self,
        backend: LaneBackend,
        session_rate: int,
        origin: int,
        epoch: int = 0,
        *,
        is_paced: bool = True,
    ) -> None:
        self.spec = backend.spec
        self._stream = backend.open_stream()
        self._rate = session_rate
        self._origin = origin
        self._epoch = epoch
        self._is_paced = is_paced
        self._resampler = StreamResampler(session_rate, self.spec.sample_rate)
        self._num_streamed = 0  # samples the stream was given before the resampler began
        self.certain_until = origin

    def push(self, pcm: Pcm, backlog: int) -> tuple[Event, ...]:
        """Take the next samples of the session and return what became known.

        Args:
            pcm: at the session's rate.
            backlog: samples that wait behind them.
        """
        if self._is_paced and isinstance(self._stream, PacedStream):
            self._stream.set_backlog(rescale(backlog, self._rate, self.spec.sample_rate))
        return self._map(self._stream.push(self._resampler.push(pcm)))

    def flush(self) -> tuple[Event, ...]:
        """Return what is still held back: the audio ends here."""
        tail = self._resampler.flush()
        events = [*self._stream.push(tail)] if len(tail) else []
        return self._map([*events, *self._stream.flush()])

    def hold(self, position: int) -> tuple[Event, ...]:
        """Return what is still held back; what follows is pushed later, maybe much later.

        Args:
            position: sample of the session up to which all was pushed.
        """
        events = self.flush()
        # The filter begins anew, without the fraction of a sample it was ahead or behind.
        self._num_streamed += self._resampler.num_returned
        self._resampler.reset()
        self._origin = position - rescale(self._num_streamed, self.spec.sample_rate, self._rate)
        return events

    def break_off(self, position: int) -> tuple[tuple[Event, ...], int]:
        """Return what is held back before samples are left out, and from where on it is not known.

        A word that ends near there may be cut in two: it is left out as well.

        Args:
            position: sample of the session from which on they are left out.
        """
        unsure_from = position - samples(_UNSURE_S, self._rate)
        known: list[Event] = []
        for event in self._map(self._stream.flush()):
            if isinstance(event, FinalWords):
                sure = tuple(word for word in event.words if word.end <= unsure_from)
                position = min([position, *(word.start for word in event.words[len(sure) :])])
                event = FinalWords(sure)
            known.append(event)
        return tuple(known), position

    def leave_out(self, num_samples: int) -> None:
        """Go on without the next samples of the session; the stream keeps what it has learnt.

        Args:
            num_samples: a whole number of `grid_ms` for a stream of speaker activity.
        """
        self._origin += num_samples
        self.certain_until = max(self.certain_until, self._origin)

    def close(self) -> None:
        """Release the stream; idempotent."""
        self._stream.close()

    def _map(self, events: Sequence[StreamEvent]) -> tuple[Event, ...]:
        return tuple(self._on_session_clock(event) for event in events)

    def _on_session_clock(self, event: StreamEvent) -> Event:
        match event:
            case PartialWords():
                heard_until = self._session_sample(event.heard_until)
                return PartialWords(self._words(event.words), heard_until)
            case FinalWords():
                words = self._words(event.words)
                self.certain_until = max([self.certain_until, *(word.end for word in words)])
                return FinalWords(words)
            case ActivityRevised():
                first = round(self._origin * 1000 / (self._rate * event.frame_ms))
                frame_samples = event.frame_ms * self._rate // 1000
                self.certain_until = max(
                    self.certain_until, (first + event.final_until) * frame_samples
                )
                return replace(
                    event,
                    first_frame=event.first_frame + first,
                    final_until=event.final_until + first,
                    epoch=event.epoch + self._epoch,
                    probabilities=np.asarray(event.probabilities, dtype=np.float32),
                )
            case StreamNotice():
                return Notice(Severity.INFO, event.message)

    def _words(self, words: Sequence[Word]) -> tuple[Word, ...]:
        return tuple(
            replace(
                word,
                start=self._session_sample(word.start),
                end=self._session_sample(word.end),
            )
            for word in words
        )

    def _session_sample(self, sample: int) -> int:
        return self._origin + rescale(sample, self.spec.sample_rate, self._rate)


def grid_ms(spec: BackendSpec) -> int:
    """Return the length of the cells on whose borders a stream may begin.

    Rows of activity lie on one grid over the whole session. It is of two rows, as one is no whole
    number of samples at rates like 22.05 kHz.
    """
    return 2 * spec.frame_ms or 1000


def grid_start(spec: BackendSpec, position: int, rate: int) -> int:
    """Return the first sample from `position` on at which a stream may begin.

    Args:
        spec: of the stream.
        position: sample of the session.
        rate: of the session, Hz.
    """
    cell_ms = grid_ms(spec)
    cells = -(-position * 1000 // (cell_ms * rate))
    return rescale(cells * cell_ms, 1000, rate) if position > 0 else 0
