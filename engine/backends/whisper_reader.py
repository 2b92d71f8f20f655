"""Reads one window with the decoder and judges what came out: silence, loops, or words."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from engine.backends.whisper_policy import LivePolicy
from engine.core.types import Pcm
from engine.models.whisper_decoder import MAX_FRAMES, DecodedWord, Hypothesis
from engine.models.whisper_mel import HOP_SAMPLES
from engine.text.repetition import loop_start

_RETRY_BEAM_SIZE = 5


class Decoder(Protocol):
    """What reads: `engine.models.whisper_decoder.WhisperDecoder`, or a fake."""

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
        """Return what follows `prefix` in the window."""
        ...


@dataclass(frozen=True, slots=True)
class Reading:
    """What a window says.

    Args:
        words: behind the prefix, at samples from the window's start.
        language: the code it was read as.
        is_trusted: False where the decoder kept looping; `words` end before the second round.
    """

    words: tuple[DecodedWord, ...]
    language: str
    is_trusted: bool = True


class WindowReader:
    """A decoder with the policy's padding and guards. No state."""

    def __init__(self, decoder: Decoder, policy: LivePolicy) -> None:
        self._decoder = decoder
        self._policy = policy

    def read(
        self,
        pcm: Pcm,
        *,
        prefix: Sequence[DecodedWord],
        context: Sequence[int],
        language: str | None,
        beam_size: int,
    ) -> Reading:
        """Return what is said behind `prefix`; its words are at samples of `pcm`."""
        policy = self._policy
        audio = np.concatenate([np.zeros(policy.lead, dtype=np.float32), pcm])
        given = [moved(word, policy.lead) for word in prefix]
        quantum = policy.frame_quantum * HOP_SAMPLES
        num_quanta = -(-(len(audio) + policy.padding) // quantum)
        hypothesis = self._decoder.decode(
            audio,
            num_frames=max(policy.min_frames, num_quanta * policy.frame_quantum),
            prefix=given,
            context=context,
            language=language,
            beam_size=beam_size,
        )
        is_trusted = True
        if _has_loop(given, hypothesis.words):
            # More silence behind the speech, and no earlier text to go on with, free it mostly.
            hypothesis = self._decoder.decode(
                audio,
                num_frames=MAX_FRAMES,
                prefix=given,
                language=language,
                beam_size=_RETRY_BEAM_SIZE,
            )
            is_trusted = not _has_loop(given, hypothesis.words)
            if not is_trusted:
                hypothesis = replace(hypothesis, words=_before_loop(given, hypothesis.words))
        if self._is_nothing(hypothesis, has_prefix=bool(prefix)):
            return Reading((), hypothesis.language, is_trusted)
        words = tuple(moved(word, -policy.lead) for word in hypothesis.words)
        return Reading(words, hypothesis.language, is_trusted)

    def _is_nothing(self, hypothesis: Hypothesis, *, has_prefix: bool) -> bool:
        policy = self._policy
        sureness = hypothesis.mean_log_probability
        if hypothesis.no_speech_probability > policy.no_speech_probability:
            return sureness < policy.fair_log_probability
        return not has_prefix and sureness < policy.min_log_probability


def moved(word: DecodedWord, by: int) -> DecodedWord:
    """Return the word `by` samples later, not before sample 0."""
    return replace(word, start=max(0, word.start + by), end=max(0, word.end + by))


def _tokens(words: Sequence[DecodedWord]) -> list[str]:
    return [str(token) for word in words for token in word.tokens]


def _has_loop(prefix: Sequence[DecodedWord], words: Sequence[DecodedWord]) -> bool:
    # Tokens, not words: loops also happen inside what looks like one word.
    return loop_start(_tokens([*prefix, *words])) is not None


def _before_loop(
    prefix: Sequence[DecodedWord], words: Sequence[DecodedWord]
) -> tuple[DecodedWord, ...]:
    start = loop_start(_tokens([*prefix, *words]))
    if start is None:
        return ()
    kept: list[DecodedWord] = []
    end = len(_tokens(prefix))
    for word in words:
        end += len(word.tokens)
        if end > start:
            break
        kept.append(word)
    return tuple(kept)
