"""How the session is doing, in numbers that people and benchmarks read."""

from collections import deque
from dataclasses import dataclass

from engine.core.events import ActivityRevised, Event, FinalWords, PartialWords

_NUM_RECENT = 40
"""Measurements that a shown delay is the median of."""


@dataclass(frozen=True, slots=True)
class Health:
    """A snapshot. Delays are medians of the newest words, in seconds of captured audio.

    Args:
        recorded_s: length of the running recording.
        partial_delay_s: from the end of a word to its being shown; None before any.
        final_delay_s: from the end of a word to its being final.
        speaker_delay_s: from a moment to the first speaker row for it.
        recognizer_backlog_s: audio that waits for the recognizer.
        diarizer_backlog_s: audio that waits for the diarizer.
        recognizer_load: share of the recorded time the recognizer was computing.
        diarizer_load: likewise.
        num_overflows: times the microphone lost samples.
        lost_s: audio lost, in all.
        num_underflows: times the loudspeaker ran dry while speaking.
        first_sound_delay_s: from asking to hearing, of the newest text spoken.
        rss_bytes: resident memory of the process.
    """

    recorded_s: float = 0.0
    partial_delay_s: float | None = None
    final_delay_s: float | None = None
    speaker_delay_s: float | None = None
    recognizer_backlog_s: float = 0.0
    diarizer_backlog_s: float = 0.0
    recognizer_load: float = 0.0
    diarizer_load: float = 0.0
    num_overflows: int = 0
    lost_s: float = 0.0
    num_underflows: int = 0
    first_sound_delay_s: float = 0.0
    rss_bytes: int = 0


class DelayMeter:
    """Measures delays from the events of one recording. Thread: the one that delivers events."""

    def __init__(self, sample_rate: int) -> None:
        self._rate = sample_rate
        self._partial: deque[float] = deque(maxlen=_NUM_RECENT)
        self._final: deque[float] = deque(maxlen=_NUM_RECENT)
        self._speaker: deque[float] = deque(maxlen=_NUM_RECENT)
        self._shown_until = 0
        self._active_until = 0

    def take(self, event: Event, captured: int) -> None:
        """Take an event in.

        Args:
            event: on the session clock.
            captured: samples captured when it was published.
        """
        match event:
            case PartialWords(words=words):
                # Only words that were not shown before, so that a waiting tail counts once.
                fresh = [word.end for word in words if word.end > self._shown_until]
                self._partial.extend((captured - end) / self._rate for end in fresh)
                self._shown_until = max([self._shown_until, *fresh])
            case FinalWords(words=words):
                self._final.extend((captured - word.end) / self._rate for word in words)
            case ActivityRevised():
                end_frame = event.first_frame + len(event.probabilities)
                until = end_frame * event.frame_ms * self._rate // 1000
                if until > self._active_until:
                    self._active_until = until
                    self._speaker.append((captured - until) / self._rate)
            case _:
                pass

    @property
    def partial_delay_s(self) -> float | None:
        """Median of the newest; None before any."""
        return _median(self._partial)

    @property
    def final_delay_s(self) -> float | None:
        """Median of the newest; None before any."""
        return _median(self._final)

    @property
    def speaker_delay_s(self) -> float | None:
        """Median of the newest; None before any."""
        return _median(self._speaker)


def _median(values: deque[float]) -> float | None:
    # A copy first: the deque may grow on another thread while it is sorted.
    ordered = sorted(values.copy())
    return ordered[len(ordered) // 2] if ordered else None
