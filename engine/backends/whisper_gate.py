"""Where speech begins and ends, from the speech detector's probabilities."""

from dataclasses import dataclass, field

from engine.models.voice_activity import SAMPLE_RATE, WINDOW_SAMPLES

_ONSET_PROBABILITY = 0.5
_SPEECH_PROBABILITY = 0.35  # once speech is on
_FAINT_PROBABILITY = 0.15  # too little to begin, but worth a look where audio ends
_KEPT_WINDOWS = 40 * SAMPLE_RATE // WINDOW_SAMPLES


@dataclass(slots=True)
class GateState:
    """What one stream remembers of its speech; bounded.

    Args:
        is_open: whether an utterance is on.
        onset: first sample of the window that opened it.
        speech_end: one past the last sample taken as speech.
        num_speech_windows: how many windows of the utterance were speech.
        marks: (end sample, probability) of the last windows, oldest first.
    """

    is_open: bool = False
    onset: int = 0
    speech_end: int = 0
    num_speech_windows: int = 0
    marks: list[tuple[int, float]] = field(default_factory=list)

    def step(self, end: int, probability: float) -> None:
        """Take the window of audio that ends at sample `end`."""
        if len(self.marks) >= _KEPT_WINDOWS:
            del self.marks[: _KEPT_WINDOWS // 4]
        self.marks.append((end, probability))
        if not self.is_open and probability >= _ONSET_PROBABILITY:
            self.open(max(0, end - WINDOW_SAMPLES), end)
        if self.is_open and probability >= _SPEECH_PROBABILITY:
            self.speech_end = end
            self.num_speech_windows += 1

    def open(self, onset: int, speech_end: int) -> None:
        """Begin an utterance."""
        self.is_open = True
        self.onset, self.speech_end = onset, speech_end
        self.num_speech_windows = 0

    def close(self) -> None:
        """End the utterance."""
        self.is_open = False

    def is_faint_since(self, start: int) -> bool:
        """Return whether anything after `start` might have been the beginning of speech."""
        return any(end > start and p >= _FAINT_PROBABILITY for end, p in self.marks)

    def speech_within(self, start: int, end: int) -> tuple[int, int]:
        """Return the part of [start, end) from its first to its last speech.

        Word times from attention reach into the pauses around a word. Where nothing in the
        range is speech, it is returned as it is.
        """
        speech = [
            mark
            for mark, p in self.marks
            if p >= _SPEECH_PROBABILITY and start < mark < end + WINDOW_SAMPLES
        ]
        if not speech:
            return start, end
        return max(start, speech[0] - WINDOW_SAMPLES), min(end, speech[-1])
