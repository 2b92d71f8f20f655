"""Where there is speech, and what voice each stretch of it has: the ears of the cluster diarizer.

Silero VAD cuts the audio into segments of speech; the GE2E encoder turns windows of at most 1.6 s
into embeddings. A window never reaches over the edge of a segment, so that it seldom holds two
voices; short turns are heard through shorter windows, and a second one over the end of each
long window follows changes of voice without a pause.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from engine.core.types import Pcm
from engine.models import voice_activity
from engine.models.ge2e import WINDOW_FRAMES, SpeakerEncoder
from engine.models.ge2e_features import HOP_SAMPLES, NUM_MELS, MelFrames, MelState, loudness_gain
from engine.models.voice_activity import VadState, VoiceActivity

SAMPLE_RATE = voice_activity.SAMPLE_RATE
STEP_SAMPLES = 6400
"""Audio taken at a time: 0.4 s, the distance between windows of running speech."""
_ONSET = 0.5
_OFFSET = 0.35
_HANGOVER_WINDOWS = 3
"""Pauses of up to 96 ms belong to the segment around them."""
_MIN_WINDOW_FRAMES = 40
_MIN_SEGMENT_FRAMES = 16
"""Shortest turn that is heard at all, once it has ended."""
_TAIL_FRAMES = 64
"""Length of the second, short window that tells more surely when the voice changes."""
_MIN_FRESH_FRAMES = 10
"""A segment's last window must bring at least this much that the one before had not."""
_KEPT_FRAMES = WINDOW_FRAMES + 2 * STEP_SAMPLES // HOP_SAMPLES


@dataclass(slots=True)
class Segment:
    """A stretch of speech without a pause.

    Args:
        start: first sample.
        end: one past the last sample heard as speech so far.
        is_open: whether it may still grow.
        embedded_until: end of its newest window, in mel frames.
    """

    start: int
    end: int
    is_open: bool = True
    embedded_until: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class VoiceWindow:
    """A stretch of one segment and its voice.

    Args:
        start: first sample.
        end: one past the last sample.
        embedding: (256,) float32, length 1.
    """

    start: int
    end: int
    embedding: NDArray[np.float32]

    @property
    def num_samples(self) -> int:
        """Length in samples."""
        return self.end - self.start


@dataclass(slots=True)
class SpeechState:
    """What one stream's ears remember: 2.4 s of mel frames and the segments of late.

    Args:
        num_samples: audio taken so far.
        vad: the detector's state.
        mel: the mel frames' state.
        frames: (T, 40) float32, the newest mel frames.
        mean_square: (T,) float32, see `MelFrames.step`.
        first_frame: index of the first of `frames`.
        probabilities: (N,) float32, the newest speech probabilities.
        first_probability: index of the first of `probabilities`.
        segments: those of late, in order; only the last may be open.
        num_quiet: windows below the offset threshold since the open segment's end.
    """

    num_samples: int = 0
    vad: VadState = field(default_factory=VadState)
    mel: MelState = field(default_factory=MelState)
    frames: NDArray[np.float32] = field(
        default_factory=lambda: np.zeros((0, NUM_MELS), dtype=np.float32)
    )
    mean_square: NDArray[np.float32] = field(default_factory=lambda: np.zeros(0, np.float32))
    first_frame: int = 0
    probabilities: NDArray[np.float32] = field(default_factory=lambda: np.zeros(0, np.float32))
    first_probability: int = 0
    segments: list[Segment] = field(default_factory=list)
    num_quiet: int = 0

    def forget(self, before: int) -> None:
        """Drop probabilities and closed segments that lie wholly before this sample."""
        num_old = max(0, before // voice_activity.WINDOW_SAMPLES - self.first_probability)
        num_old = min(num_old, len(self.probabilities))
        self.probabilities = self.probabilities[num_old:].copy()
        self.first_probability += num_old
        self.segments = [s for s in self.segments if s.is_open or s.end > before]


class VoiceListener:
    """Turns audio into segments and voice windows. Weights only; streams may share it."""

    def __init__(self, vad: VoiceActivity, encoder: SpeakerEncoder) -> None:
        self._vad = vad
        self._mel = MelFrames()
        self._encoder = encoder

    def step(self, pcm: Pcm, state: SpeechState) -> list[VoiceWindow]:
        """Advance `state` by `pcm` and return the voice windows it completed.

        Args:
            pcm: (n,) float32 at 16 kHz; `STEP_SAMPLES` at a time, except before a flush.
            state: changed in place.
        """
        probabilities = self._vad.step(pcm, state.vad)
        first = state.first_probability + len(state.probabilities)
        state.probabilities = np.concatenate([state.probabilities, probabilities])
        state.num_samples += len(pcm)
        mel, mean_square = self._mel.step(pcm, state.mel)
        state.frames = np.concatenate([state.frames, mel])
        state.mean_square = np.concatenate([state.mean_square, mean_square])
        touched = [s for s in state.segments if s.is_open]
        for i, probability in enumerate(probabilities):
            started = _follow_speech(float(probability), first + i, state)
            if started is not None:
                touched.append(started)
        windows = [w for s in touched for w in self._listen(s, state)]
        num_old = max(0, len(state.frames) - _KEPT_FRAMES)
        state.frames = state.frames[num_old:].copy()
        state.mean_square = state.mean_square[num_old:].copy()
        state.first_frame += num_old
        return windows

    def flush(self, state: SpeechState) -> list[VoiceWindow]:
        """Close the open segment where it is and return its last window, if there is one."""
        windows: list[VoiceWindow] = []
        if state.segments and state.segments[-1].is_open:
            segment = state.segments[-1]
            segment.is_open = False
            state.num_quiet = 0
            windows = self._listen(segment, state)
        return windows

    def _listen(self, segment: Segment, state: SpeechState) -> list[VoiceWindow]:
        """Embed the segment's newest stretch, if it is long enough and brings something new.

        A long stretch tells voices apart best, its end alone tells best where one begins.
        """
        available = state.first_frame + len(state.frames)
        end = min(segment.end // HOP_SAMPLES, available)
        start = max(-(-segment.start // HOP_SAMPLES), end - WINDOW_FRAMES, state.first_frame)
        is_stale = end - segment.embedded_until < _MIN_FRESH_FRAMES and segment.embedded_until > 0
        shortest = _MIN_WINDOW_FRAMES if segment.is_open else _MIN_SEGMENT_FRAMES
        if end - start < shortest or is_stale:
            return []
        segment.embedded_until = end
        windows = [self._embed(start, end, state)]
        if end - start >= _TAIL_FRAMES * 3 // 2:
            windows.append(self._embed(end - _TAIL_FRAMES, end, state))
        return windows

    def _embed(self, start: int, end: int, state: SpeechState) -> VoiceWindow:
        rows = slice(start - state.first_frame, end - state.first_frame)
        gain = loudness_gain(float(np.mean(state.mean_square[rows], dtype=np.float64)))
        embedding = self._encoder.embed(state.frames[rows] * np.float32(gain * gain))
        return VoiceWindow(start * HOP_SAMPLES, end * HOP_SAMPLES, embedding)


def _follow_speech(probability: float, index: int, state: SpeechState) -> Segment | None:
    """Grow, close or open a segment by one speech probability; return one that was opened."""
    start = index * voice_activity.WINDOW_SAMPLES
    end = start + voice_activity.WINDOW_SAMPLES
    segment = state.segments[-1] if state.segments and state.segments[-1].is_open else None
    if segment is None:
        if probability < _ONSET:
            return None
        opened = Segment(start, end)
        state.segments.append(opened)
        state.num_quiet = 0
        return opened
    if probability >= _OFFSET:
        segment.end = end
        state.num_quiet = 0
    else:
        state.num_quiet += 1
        if state.num_quiet > _HANGOVER_WINDOWS:
            segment.is_open = False
    return None
