"""How the session is doing, in numbers that people and benchmarks read."""

from collections import deque
from dataclasses import dataclass

from engine.core.events import ActivityRevised, Event, FinalWords, PartialWords

LOAD_SPAN_S = 10.0
"""Audio that a real-time factor is measured over."""
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
        encoder_backlog_s: audio that waits for the encoder; None if there is none.
        left_out_s: audio that a lane left out to keep up, and that is still to be filled in.
        recognizer_load: real-time factor of the recognizer over the last seconds: time spent
            computing for each second of audio; at 1 it is as slow as speech.
        diarizer_load: likewise.
        encoder_load: likewise; None if there is none.
        num_overflows: times the microphone lost samples.
        lost_s: audio lost, in all.
        num_underflows: times speech or a recording did not come in time for the loudspeaker.
        num_device_underflows: times the sound system ran dry itself, though sound was there.
        first_sound_delay_s: from asking to hearing, of the newest text spoken; None before any.
        rss_bytes: resident memory of the process.
        gpu_bytes: memory of the process on the GPU; None if no backend runs there.
    """

    recorded_s: float = 0.0
    partial_delay_s: float | None = None
    final_delay_s: float | None = None
    speaker_delay_s: float | None = None
    recognizer_backlog_s: float = 0.0
    diarizer_backlog_s: float = 0.0
    encoder_backlog_s: float | None = None
    left_out_s: float = 0.0
    recognizer_load: float = 0.0
    diarizer_load: float = 0.0
    encoder_load: float | None = None
    num_overflows: int = 0
    lost_s: float = 0.0
    num_underflows: int = 0
    num_device_underflows: int = 0
    first_sound_delay_s: float | None = None
    rss_bytes: int = 0
    gpu_bytes: int | None = None


class DelayMeter:
    """Measures delays from the events of one recording. Thread: the one that delivers events."""

    def __init__(self, sample_rate: int) -> None:
        self._rate = sample_rate
        self._partial: deque[float] = deque(maxlen=_NUM_RECENT)
        self._final: deque[float] = deque(maxlen=_NUM_RECENT)
        self._speaker: deque[float] = deque(maxlen=_NUM_RECENT)
        self._shown_until = 0
        self._final_until = 0
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
                # Words that fill in what was left out are late by design.
                newest = [word.end for word in words if word.end > self._final_until]
                self._final.extend((captured - end) / self._rate for end in newest)
                self._final_until = max([self._final_until, *newest])
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


class LoadMeter:
    """Measures the real-time factor of a lane over the last seconds. Thread: any, one at a time.

    Args:
        span_s: audio it is measured over.
    """

    def __init__(self, span_s: float = LOAD_SPAN_S) -> None:
        self._span_s = span_s
        self._points: deque[tuple[float, float]] = deque([(0.0, 0.0)])

    def take(self, worked_s: float, busy_s: float) -> float:
        """Return the time spent computing for each second of audio.

        Args:
            worked_s: audio worked through so far.
            busy_s: time spent computing so far.
        """
        points = self._points
        if worked_s > points[-1][0]:
            points.append((worked_s, busy_s))
        while len(points) > 2 and points[1][0] <= worked_s - self._span_s:
            points.popleft()
        first_s, first_busy_s = points[0]
        # So that the first moments, which hold warming up, do not look like being too slow.
        return (points[-1][1] - first_busy_s) / max(points[-1][0] - first_s, 1.0)


def _median(values: deque[float]) -> float | None:
    # A copy first: the deque may grow on another thread while it is sorted.
    ordered = sorted(values.copy())
    return ordered[len(ordered) // 2] if ordered else None
