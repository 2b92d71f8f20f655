"""From segments, voice windows and known voices to rows of speaker probabilities."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from engine.backends.cluster_speech import SpeechState, VoiceWindow
from engine.backends.cluster_voices import VoiceMemory
from engine.core.types import MAX_SPEAKERS
from engine.models import voice_activity

FRAME_MS = 80
FRAME_SAMPLES = 1280
_SOFTNESS = 0.05
"""Difference in cosine that makes one voice e times as likely as another."""
_BRIDGED_ROWS = 4
"""Pauses up to 320 ms do not interrupt a speaker."""
_SPEECH_FLOOR = 0.6
_SILENCE_CEILING = 0.45
_MIN_SURE_SAMPLES = 9600
_FULL_SAMPLES = 25_000
_SURE_COSINE = 0.75
"""Own speech of 0.8 s lies above 0.8 from a voice's centre; the first words of a new one below."""
_UNKNOWN_SHARE = 0.45
"""Speech whose voice is not known yet shows as a shade of the last speaker, below decision."""
_ABOVE_DECISION = 0.51
_BELOW_DECISION = 0.49
"""One voice at a time: windows of mixed voices show which one they change to, not both."""

Rows = NDArray[np.float32]


def speech_levels(
    first_row: int, num_rows: int, state: SpeechState
) -> tuple[Rows, NDArray[np.bool_]]:
    """Return how surely there is speech in each row, and whether that decides for speech.

    Returns:
        level: (T,) float32, mean speech probability of the row, held above or below the decision
            according to the segments, so that both agree.
        is_speech: (T,) bool.
    """
    starts = (first_row + np.arange(num_rows)) * FRAME_SAMPLES
    size = voice_activity.WINDOW_SAMPLES
    known = state.first_probability + len(state.probabilities)
    total = np.concatenate([[0.0], np.cumsum(state.probabilities, dtype=np.float64)])
    edges = np.stack([starts, starts + FRAME_SAMPLES]) / size
    edges = np.clip(edges, state.first_probability, known) - state.first_probability
    area = np.diff(np.interp(edges, np.arange(len(total)), total), axis=0)[0]
    width = np.diff(edges, axis=0)[0]
    mean = np.where(width > 0, area / np.maximum(width, 1e-9), 0.0)
    covered = np.zeros(num_rows)
    for segment in state.segments:
        overlap = np.minimum(starts + FRAME_SAMPLES, segment.end)
        overlap -= np.maximum(starts, segment.start)
        covered += np.maximum(0, overlap)
    is_speech = covered * 2 >= FRAME_SAMPLES
    level = np.where(
        is_speech,
        _SPEECH_FLOOR + (1.0 - _SPEECH_FLOOR) * mean,
        np.minimum(mean, _SILENCE_CEILING),
    )
    return level.astype(np.float32), is_speech


def voice_shares(window: VoiceWindow, memory: VoiceMemory) -> Rows:
    """Return how likely each slot is the window's voice, (8,) float32, sum 1 (0: none known)."""
    if not memory.is_present.any():
        return np.zeros(MAX_SPEAKERS, dtype=np.float32)
    cosine = memory.centroids @ window.embedding
    score = np.where(memory.is_present, np.exp((cosine - 1.0) / _SOFTNESS), 0.0)
    shares: Rows = (score / score.sum()).astype(np.float32)
    return shares


def _is_sure(window: VoiceWindow, memory: VoiceMemory) -> bool:
    """Return whether a window tells its speaker while the turn it belongs to goes on."""
    if window.num_samples >= _FULL_SAMPLES:
        return True
    likeness = (memory.centroids @ window.embedding)[memory.is_present].max(initial=0.0)
    return window.num_samples >= _MIN_SURE_SAMPLES and bool(likeness >= _SURE_COSINE)


def render(
    first_row: int,
    num_rows: int,
    state: SpeechState,
    windows: Sequence[VoiceWindow],
    memory: VoiceMemory,
) -> Rows:
    """Return the rows as they look from what is known now.

    Each row's speakers are those of the windows around it, the nearest counting most.

    Args:
        first_row: row i covers [i, i + 1) * 80 ms.
        num_rows: T.
        state: speech probabilities and segments that cover the rows.
        windows: the voice windows that touch them.
        memory: the voices known.

    Returns:
        (T, 8) float32.
    """
    level, is_speech = speech_levels(first_row, num_rows, state)
    if not windows:
        return np.zeros((num_rows, MAX_SPEAKERS), dtype=np.float32)
    centres = (first_row + np.arange(num_rows) + 0.5)[:, np.newaxis] * FRAME_SAMPLES
    starts = np.array([window.start for window in windows])
    ends = np.array([window.end for window in windows])
    distance = np.abs(centres - (starts + ends) / 2)
    weight = np.maximum(0.0, 1.0 - distance / ((ends - starts) / 2 + FRAME_SAMPLES))
    is_heard = weight.any(axis=1)
    weight[~is_heard] = np.eye(len(windows))[distance[~is_heard].argmin(axis=1)]
    shares = np.stack([voice_shares(window, memory) for window in windows])
    mixed = weight @ shares / weight.sum(axis=1, keepdims=True)
    is_sure = np.array([_is_sure(window, memory) for window in windows])
    is_unknown = ~(weight[:, is_sure].any(axis=1) & is_heard) & (centres[:, 0] > _open_since(state))
    level = np.where(is_unknown, level * _UNKNOWN_SHARE, level)
    is_decided = is_speech & ~is_unknown & memory.is_present.any()
    probabilities = np.minimum(mixed * level[:, np.newaxis], _BELOW_DECISION)
    rows = np.arange(num_rows)
    top = mixed.argmax(axis=1)
    is_decided |= _between_same(is_decided, top)
    floor = np.where(is_decided, _ABOVE_DECISION, 0.0)
    probabilities[rows, top] = np.maximum(mixed[rows, top] * level, floor)
    result: Rows = probabilities.astype(np.float32)
    return result


def _between_same(is_decided: NDArray[np.bool_], top: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return the rows of short pauses with the same speaker on both sides."""
    inside = np.zeros(len(is_decided), dtype=bool)
    decided = np.flatnonzero(is_decided)
    for before, after in pairwise(decided):
        if 1 < after - before <= _BRIDGED_ROWS + 1 and top[before] == top[after]:
            inside[before:after] = True
    return inside


def _open_since(state: SpeechState) -> float:
    """Return where the open segment began, infinity if there is none."""
    is_open = bool(state.segments) and state.segments[-1].is_open
    return state.segments[-1].start if is_open else np.inf
