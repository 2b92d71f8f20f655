"""Whisper on CTranslate2, one window at a time: encode, generate behind a prefix, align.

Unlike a whole-file transcriber it encodes only as many frames as the window needs, which is what
makes frequent decodes affordable.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import numpy as np

from engine.core.errors import ModelFileError, ModelLoadError, reason_of
from engine.core.types import Pcm
from engine.models.whisper_folder import check_folder
from engine.models.whisper_mel import HOP_SAMPLES, SAMPLE_RATE, WhisperMel

MAX_FRAMES = 3000
"""Mel frames that the encoder's positions reach: 30 s."""
_ALIGNMENT_SAMPLES = 320  # one step of the encoder's output
_MAX_CONTEXT_TOKENS = 96
_TOKENS_PER_S = 12  # the fastest speech; more is a loop
_SPARE_TOKENS = 12
_UNSPACED_LANGUAGES = frozenset({"zh", "ja", "th", "lo", "my", "yue"})


@dataclass(frozen=True, slots=True)
class DecodedWord:
    """A word of one hypothesis.

    Args:
        text: with its leading space, where the language writes one, and its punctuation.
        tokens: what the model wrote it with.
        start: first sample, from the window's start.
        end: one past its last sample.
        probability: mean of its tokens', 0 to 1.
    """

    text: str
    tokens: tuple[int, ...]
    start: int
    end: int
    probability: float


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """What the model reads in one window.

    Args:
        words: what follows the prefix, in order.
        language: the code it was read as.
        no_speech_probability: the model's own, 0 to 1.
        mean_log_probability: natural log, a token, of `words`.
    """

    words: tuple[DecodedWord, ...]
    language: str = "en"
    no_speech_probability: float = 0.0
    mean_log_probability: float = 0.0


class WhisperDecoder:
    """The weights and the tokenizer of a CTranslate2 Whisper folder. No state between calls.

    Args:
        folder: holds model.bin, config.json, tokenizer.json and a vocabulary.
        num_threads: compute threads of one decode.

    Raises:
        ModelMissingError: the folder or a file is not there.
        ModelFileError: a file is damaged, or the folder holds another kind of model.
        ModelLoadError: CTranslate2 refused it.
    """

    def __init__(self, folder: Path, *, num_threads: int = 1) -> None:
        check_folder(folder)
        import ctranslate2

        self._tokens = _Tokens(folder / "tokenizer.json")
        self._to_storage: Any = ctranslate2.StorageView.from_array
        try:
            self._model: Any = ctranslate2.models.Whisper(
                str(folder), device="cpu", compute_type="int8", intra_threads=num_threads
            )
        except (RuntimeError, ValueError) as error:
            raise ModelLoadError(
                f"The Whisper model {folder / 'model.bin'} cannot be loaded: {reason_of(error)}.",
                advice="Fetch the model again, or choose another folder.",
            ) from error
        self._mel = WhisperMel(self._model.n_mels)
        self._is_multilingual = bool(self._model.is_multilingual)

    @property
    def languages(self) -> tuple[str, ...]:
        """BCP 47 codes that it can be told to read, in the model's own order."""
        return self._tokens.languages() if self._is_multilingual else ("en",)

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
        """Write what follows `prefix` in a window, and place it in time.

        Args:
            pcm: (n,) float32 at 16 kHz.
            num_frames: mel frames given to the encoder, 100 a second, at most 3000: the audio
                and silence behind it. With less than about a second of silence the model tends
                to repeat itself.
            prefix: words already known at the window's start; they steer what follows.
            context: tokens of the text before the window; they are not in it.
            language: None to let a multilingual model detect it.
            beam_size: 1 is greedy.
        """
        frames = min(num_frames, MAX_FRAMES)
        mel = self._mel(pcm, frames)[np.newaxis]
        encoded = self._model.encode(self._to_storage(np.ascontiguousarray(mel)))
        language = self._language(encoded, language)
        sot = self._tokens.start_sequence(language if self._is_multilingual else None)
        given = [token for word in prefix for token in word.tokens]
        before = [self._tokens.previous, *context[-_MAX_CONTEXT_TOKENS:]] if context else []
        prompt = [*before, *sot, self._tokens.no_timestamps, *given]
        budget = _SPARE_TOKENS + len(pcm) * _TOKENS_PER_S // SAMPLE_RATE
        result = self._model.generate(
            encoded,
            [prompt],
            beam_size=beam_size,
            max_length=len(before) + len(sot) + 1 + max(budget, len(given) + _SPARE_TOKENS),
            return_scores=True,
            return_no_speech_prob=True,
        )[0]
        sequence = result.sequences_ids[0]
        tokens = [token for token in sequence if token < self._tokens.end]
        num_audio_frames = max(2, min(-(-len(pcm) // HOP_SAMPLES), frames))
        words = self._align(encoded, sot, tokens, num_audio_frames, language)
        # The score is a mean over the whole sequence, prefix included, of what was generated.
        total = result.scores[0] * len(sequence)
        return Hypothesis(
            _after(words, len(given)),
            language,
            float(result.no_speech_prob),
            float(total) / max(1, len(tokens) - len(given) + 1),
        )

    def _language(self, encoded: Any, chosen: str | None) -> str:
        if not self._is_multilingual:
            return "en"
        if chosen is not None:
            return chosen
        name, _ = self._model.detect_language(encoded)[0][0]
        return str(name).strip("<|>")

    def _align(
        self, encoded: Any, sot: list[int], tokens: list[int], num_frames: int, language: str
    ) -> list[DecodedWord]:
        if not tokens:
            return []
        result = self._model.align(encoded, sot, [tokens], num_frames)[0]
        first_step = np.zeros(len(tokens) + 1, dtype=np.int64)
        steps = np.asarray(result.alignments, dtype=np.int64).reshape(-1, 2)
        seen, first_rows = np.unique(steps[:, 0], return_index=True)
        first_step[seen] = steps[first_rows, 1]
        groups = self._tokens.words(tokens, is_spaced=language not in _UNSPACED_LANGUAGES)
        bounds = list(accumulate((len(group) for _, group in groups), initial=0))
        return [
            DecodedWord(
                text,
                tuple(group),
                int(first_step[i]) * _ALIGNMENT_SAMPLES,
                int(first_step[j]) * _ALIGNMENT_SAMPLES,
                float(np.mean(result.text_token_probs[i:j])),
            )
            for (text, group), (i, j) in zip(groups, pairwise(bounds), strict=True)
        ]


def _after(words: list[DecodedWord], num_tokens: int) -> tuple[DecodedWord, ...]:
    """Return the words behind the first `num_tokens` tokens, a word cut by that place whole."""
    bounds = accumulate(len(word.tokens) for word in words)
    return tuple(word for word, end in zip(words, bounds, strict=True) if end > num_tokens)


class _Tokens:
    """Whisper's tokenizer: special tokens, and the way from tokens to words."""

    def __init__(self, path: Path) -> None:
        import tokenizers

        try:
            self._tokenizer: Any = tokenizers.Tokenizer.from_file(str(path))
        except Exception as error:
            raise ModelFileError(
                f"The tokenizer {path} cannot be read: {reason_of(error)}.",
                advice="Fetch the model again, or choose another folder.",
            ) from error
        names = ("startoftranscript", "startofprev", "notimestamps", "endoftext", "transcribe")
        ids = [self._id(name) for name in names]
        missing = [name for name, token in zip(names, ids, strict=True) if token < 0]
        if missing:
            raise ModelFileError(
                f"The tokenizer {path} is not Whisper's: it lacks <|{missing[0]}|>.",
                advice="Choose a folder with a Whisper model converted for CTranslate2.",
            )
        self._start, self.previous, self.no_timestamps, self.end, self._transcribe = ids

    def _id(self, name: str) -> int:
        token = self._tokenizer.token_to_id(f"<|{name}|>")
        return -1 if token is None else int(token)

    def languages(self) -> tuple[str, ...]:
        """Codes of the language tokens, which stand between the start and the task tokens."""
        translate = self._id("translate")
        last = self._transcribe if translate < 0 else min(self._transcribe, translate)
        names = [self._tokenizer.id_to_token(i) for i in range(self._start + 1, last)]
        return tuple(name.strip("<|>") for name in names if name)

    def start_sequence(self, language: str | None) -> list[int]:
        """Return what every transcript begins with."""
        if language is None:
            return [self._start]
        return [self._start, self._id(language), self._transcribe]

    def words(self, tokens: list[int], *, is_spaced: bool) -> list[tuple[str, list[int]]]:
        """Group tokens into words: at blanks, or where a whole character ends."""
        groups: list[tuple[str, list[int]]] = []
        pending: list[int] = []
        for token in tokens:
            pending.append(token)
            text = self._tokenizer.decode(pending)
            if text.endswith("\ufffd"):
                continue  # the token ends inside a character
            is_new = text.startswith(" ") if is_spaced else any(c.isalnum() for c in text)
            if is_new or not groups:
                groups.append((text, pending))
            else:
                groups[-1] = (groups[-1][0] + text, groups[-1][1] + pending)
            pending = []
        if pending:
            groups.append((self._tokenizer.decode(pending), pending))
        return groups
