"""Domain types shared by every layer: spans of samples, words and speakers.

All times are integer sample indices on a named clock (see `engine.core.timebase`). Seconds
exist only where people read them.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NewType, TypeAlias

import numpy as np
from numpy.typing import NDArray

SampleIndex = NewType("SampleIndex", int)
"""A position on a sample clock: how many samples a channel came before it."""

Pcm: TypeAlias = NDArray[np.float32]
"""Mono audio, (num_samples,) float32, full scale -1 to 1."""

MAX_SPEAKERS = 8
"""Speakers told apart at once: the number of columns an activity row may have."""

USER_EPOCH = -1
"""Epoch of the speakers that the user made, not a diarizer."""

_LETTERS = "ABCDEFGH"
_USER_LETTERS = "IJKLMNOP"


@dataclass(frozen=True, slots=True, order=True)
class SpeakerId:
    """One voice as a diarizer tells it apart.

    Args:
        epoch: counts restarts of the diarizer that lost its memory of voices; identities of
            different epochs are never the same person. `USER_EPOCH` for whom the user made.
        slot: column of the activity rows, 0 to `MAX_SPEAKERS` - 1.
    """

    epoch: int
    slot: int

    @property
    def letter(self) -> str:
        """Short label: A to H, with the epoch behind it after the first (A2); I to P: user-made."""
        if self.epoch == USER_EPOCH:
            return _USER_LETTERS[self.slot]
        suffix = "" if self.epoch == 0 else str(self.epoch + 1)
        return f"{_LETTERS[self.slot]}{suffix}"


@dataclass(frozen=True, slots=True)
class Word:
    """A recognized word with its place in time.

    Args:
        text: as written, with the leading space where the language writes one, so that texts
            join without a separator.
        start: first sample.
        end: one past the last sample.
        probability: the recognizer's own, 0 to 1.
    """

    text: str
    start: int
    end: int
    probability: float = 1.0


@dataclass(frozen=True, slots=True)
class SpeechPlace:
    """Where in a spoken text the loudspeaker is.

    Args:
        utterance_id: the text's number.
        start_s: the earliest that is still kept, from the beginning of its speech.
        position_s: what is being heard, or was heard last.
        end_s: the latest that is rendered.
        is_complete: whether nothing more will be rendered.
    """

    utterance_id: int
    start_s: float
    position_s: float
    end_s: float
    is_complete: bool


class SpanKind(StrEnum):
    """Why a stretch of the timeline is not ordinary transcribed audio."""

    GAP = "gap"  # audio that was lost before it reached the program
    UNTRANSCRIBED = "untranscribed"  # audio kept, but skipped by a lane to keep up
    OWN_VOICE = "own_voice"  # the program itself was speaking
    PAUSE = "pause"  # zero length: recording was paused here


class BackendKind(StrEnum):
    """What a backend does."""

    RECOGNIZER = "recognizer"
    DIARIZER = "diarizer"
    SYNTHESIZER = "synthesizer"
    ENCODER = "encoder"
    CODEC = "codec"


def join_words(words: Iterable[Word]) -> str:
    """Return the text of words in order, without outer blanks."""
    return "".join(word.text for word in words).strip()


def as_pcm(samples: Any) -> Pcm:
    """Return samples as contiguous mono float32.

    Raises:
        ValueError: samples are not one-dimensional.
    """
    array = np.ascontiguousarray(samples, dtype=np.float32)
    if array.ndim != 1:
        raise ValueError(f"mono audio must have one dimension, got shape {array.shape}")
    return array
