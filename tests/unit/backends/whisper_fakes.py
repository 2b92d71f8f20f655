"""A decoder and a speech detector that follow a script instead of the sound."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from engine.core.types import Pcm
from engine.models.voice_activity import VadState
from engine.models.whisper_decoder import DecodedWord, Hypothesis

RATE = 16_000


@dataclass
class Spoken:
    """A word and where it is in the stream, in seconds."""

    text: str
    start_s: float
    end_s: float


def script(text: str, *, start_s: float = 1.0, word_s: float = 0.4) -> list[Spoken]:
    """Return the words of `text` one after the other."""
    words = text.split()
    return [
        Spoken(f" {word}", start_s + i * word_s, start_s + (i + 1) * word_s)
        for i, word in enumerate(words)
    ]


def audio_for(words: Sequence[Spoken], length_s: float) -> Pcm:
    """Return audio whose samples say which word is on: 0.1 + 0.001 * index, silence elsewhere."""
    pcm = np.zeros(round(length_s * RATE), dtype=np.float32)
    for i, word in enumerate(words):
        pcm[round(word.start_s * RATE) : round(word.end_s * RATE)] = 0.1 + 0.001 * i
    return pcm


class LevelDetector:
    """Takes everything louder than silence for speech."""

    def step(self, pcm: Pcm, state: VadState) -> NDArray[np.float32]:
        loud = (np.abs(pcm.reshape(-1, 512)) > 0.05).mean(axis=1)
        return loud.astype(np.float32)


@dataclass
class Call:
    """What one decode was asked."""

    num_samples: int
    num_frames: int
    prefix: tuple[str, ...]
    context: tuple[int, ...]
    language: str | None
    beam_size: int


@dataclass
class ScriptDecoder:
    """Reads audio made by `audio_for`: every word at least half of which is in the window.

    Args:
        words: the script.
        changes: what it takes a word for while less than 0.75 s follow it, by index.
        no_speech_probability: told with every hypothesis.
        mean_log_probability: told with every hypothesis.
        language: what it detects.
    """

    words: Sequence[Spoken]
    changes: dict[int, str] = field(default_factory=dict)
    no_speech_probability: float = 0.0
    mean_log_probability: float = -0.1
    language: str = "en"
    calls: list[Call] = field(default_factory=list)

    def decode(
        self,
        pcm: Pcm,
        *,
        num_frames: int,
        prefix: Sequence[DecodedWord] = (),
        context: Sequence[int] = (),
        language: str | None = None,
        beam_size: int = 1,
    ) -> Hypothesis:
        told = tuple(word.text for word in prefix)
        self.calls.append(Call(len(pcm), num_frames, told, tuple(context), language, beam_size))
        last = max((token for word in prefix for token in word.tokens), default=-1)
        words: list[DecodedWord] = []
        for i, word in enumerate(self.words):
            at = np.flatnonzero(np.abs(pcm - (0.1 + 0.001 * i)) < 1e-5)
            if i <= last or len(at) < 0.5 * (word.end_s - word.start_s) * RATE:
                continue
            start, end = int(at[0]), int(at[-1]) + 1
            is_early = len(pcm) - end < 0.75 * RATE
            text = self.changes.get(i, word.text) if is_early else word.text
            words.append(DecodedWord(text, (i,), start, end, 0.9))
        return Hypothesis(
            tuple(words),
            language or self.language,
            self.no_speech_probability,
            self.mean_log_probability,
        )
