"""Piper voices: neural speech on the CPU, a clause at a time.

The package piper-tts is under the GPL and therefore optional; nothing of it is imported before
`load`. Texts are turned into phonemes by the espeak-ng inside it, numbers and signs included.
"""

import logging
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from importlib.util import find_spec
from itertools import chain, pairwise
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from engine.backends.piper_files import (
    is_path,
    languages,
    load_voice,
    only_voice,
    read_settings,
)
from engine.backends.protocols import (
    BackendContext,
    BackendSpec,
    ProgressCallback,
    SpeechChunk,
)
from engine.core.errors import BackendError, ModelLoadError, ModelMissingError
from engine.core.files import expanded
from engine.core.sync import CancelToken
from engine.core.types import BackendKind, Pcm
from engine.text.segmenter import Break, Piece, is_speakable, segment

_log = logging.getLogger(__name__)

DEFAULT_MODEL = "piper-en_US-joe-medium"
CHUNK_S = 0.15
MAX_CHARS = 120
"""One run of the model: about 8 s of speech, half a second of one slow core."""

PAUSE_S: Final[Mapping[Break, float]] = MappingProxyType(
    {Break.WORD: 0.0, Break.CLAUSE: 0.1, Break.SENTENCE: 0.2, Break.PARAGRAPH: 0.5}
)
"""Silence after a piece, beside the `_MARGIN_S` left of the voice's own at both its ends."""

_GAIN = 1.4
"""Brings voices, which speak at about -25 dBFS, to -22; peaks stay below `_PEAK`."""
_PEAK = 0.95
_MARGIN_S = 0.03
_FADE_S = 0.005
_SILENCE_DB = -46.0
"""Beside the peak of a piece; what is softer at its ends is not speech."""


class PiperSynthesizer:
    """The synthesizer "piper".

    Args:
        context: finds the model and says how many threads may compute.
        argument: a model id of the manifest, a voice's .onnx file with its .onnx.json beside it,
            or a folder with those two; empty for the embedded voice.

    Raises:
        BackendError: the package piper-tts is not installed.
    """

    def __init__(self, context: BackendContext, argument: str = "") -> None:
        if find_spec("piper") is None:
            raise BackendError(
                "Piper voices need the package piper-tts, which is not installed.",
                advice="Run: pip install 'vivavoce[piper]'",
            )
        self._context = context
        self._argument = argument
        self._session: Any = None
        self._config: Any = None
        is_default = argument in ("", DEFAULT_MODEL)
        self._spec = BackendSpec(
            id="piper",
            title="Piper" if is_default else f"Piper ({Path(argument).stem})",
            kinds=(BackendKind.SYNTHESIZER,),
            sample_rate=22_050,
            block_size=round(CHUNK_S * 22_050),
            languages=("en-US",) if is_default else (),
            capabilities=("gpl",),
            licence="CC0 data, see the model card" if is_default else "see the model card",
            models=() if is_path(argument) else (argument or DEFAULT_MODEL,),
        )

    @property
    def spec(self) -> BackendSpec:
        """What it is; rate and language are the voice's own once it is loaded."""
        return self._spec

    def load(self, progress: ProgressCallback, cancel: CancelToken) -> None:
        """Read the voice and speak one word, unheard, so that the first real one is quick.

        Raises:
            ModelMissingError, ModelFileError, ModelLoadError: with what to do.
            CancelledError: cancel was set.
        """
        cancel.check()
        progress(0.0, "Reading the voice")
        onnx_path = self._find_voice()
        settings = read_settings(onnx_path)
        cancel.check()
        config, session = load_voice(onnx_path, settings, self._context.num_threads)
        cancel.check()
        progress(0.8, "Warming up the voice")
        self._config, self._session = config, session
        rate = int(config.sample_rate)
        self._spec = replace(
            self._spec,
            sample_rate=rate,
            block_size=round(CHUNK_S * rate),
            languages=languages(settings),
        )
        try:
            for _ in self.open_stream().speak("one" if config.phoneme_type == "espeak" else "a"):
                pass
        except BackendError as error:
            self.close()
            raise ModelLoadError(
                f'The voice "{onnx_path.name}" was read, but cannot speak: {error.message}',
                advice="Choose another voice.",
            ) from error
        progress(1.0, "")

    def open_stream(self) -> "PiperStream":
        """Return a new stream; streams share the weights.

        Raises:
            BackendError: not loaded.
        """
        if self._session is None:
            raise BackendError("The piper voice is not loaded.", advice="Load it first.")
        return PiperStream(self._config, self._session)

    def close(self) -> None:
        """Give the weights back; idempotent."""
        self._session = self._config = None

    def _find_voice(self) -> Path:
        if not is_path(self._argument):
            return only_voice(self._context.model_path(self._argument or DEFAULT_MODEL))
        path = expanded(self._argument)
        if path.is_dir():
            return only_voice(path)
        if not path.is_file():
            raise ModelMissingError(
                f"There is no voice at {path}.", advice="Give a file that ends in .onnx."
            )
        return path


@dataclass(frozen=True, slots=True)
class _Utterance:
    """One call of `speak`.

    NB: cancelled from any thread, seen by the speaking one; `run_options` also ends a run of the
    model between two of its operators.
    """

    cancel: CancelToken
    run_options: Any


class _CancellableSession:
    """What piper takes for an onnxruntime session, with options that can end a run."""

    def __init__(self, session: Any, run_options: Any) -> None:
        self._session = session
        self._run_options = run_options

    def run(self, outputs: Any, inputs: Any) -> Any:
        return self._session.run(outputs, inputs, self._run_options)


class PiperStream:
    """A piper voice at work. State: the phonemizer of its language, no audio."""

    def __init__(self, config: Any, session: Any) -> None:
        from piper import PiperVoice

        self._session = session
        self._voice = PiperVoice(config=config, session=session)
        self._rate = int(config.sample_rate)
        self._utterance: _Utterance | None = None

    def speak(self, text: str) -> Iterator[SpeechChunk]:
        """Yield speech in chunks of at most `CHUNK_S`, the first after one clause was made.

        Raises:
            BackendError: nothing in the text can be spoken, or the model failed.
        """
        import onnxruntime

        utterance = _Utterance(CancelToken(), onnxruntime.RunOptions())
        self._utterance = utterance
        self._voice.session = _CancellableSession(self._session, utterance.run_options)
        return self._chunks(text, utterance)

    def cancel(self) -> None:
        """End the running `speak` at once; nothing more is yielded."""
        utterance = self._utterance
        if utterance is not None:
            utterance.cancel.cancel()
            utterance.run_options.terminate = True

    def close(self) -> None:
        """End the running `speak`; idempotent."""
        self.cancel()

    def _chunks(self, text: str, utterance: _Utterance) -> Iterator[SpeechChunk]:
        size = round(CHUNK_S * self._rate)
        is_silent = True
        following: Piece | None
        for piece, following in pairwise(chain(segment(text, max_chars=MAX_CHARS), [None])):
            assert piece is not None, "only the end is None"
            pcm = self._render(piece, utterance)
            if len(pcm) and following is not None:
                pause = np.zeros(round(PAUSE_S[piece.break_after] * self._rate), dtype=np.float32)
                pcm = np.concatenate([pcm, pause])
            for start in range(0, len(pcm), size):
                if utterance.cancel.is_cancelled:
                    return
                is_silent = False
                chunk = pcm[start : start + size]
                yield SpeechChunk(chunk, piece.sentence_start, piece.sentence_end)
        if is_silent and not utterance.cancel.is_cancelled:
            raise BackendError(
                "There is nothing in this text that the voice can say.",
                advice="Write some words to be spoken."
                if not is_speakable(text)
                else "Choose a voice of the text's language.",
            )

    def _render(self, piece: Piece, utterance: _Utterance) -> Pcm:
        """Return a piece as speech; nothing where it was cancelled or has no sound."""
        from piper import SynthesisConfig

        if utterance.cancel.is_cancelled:
            return np.zeros(0, dtype=np.float32)
        try:
            made = self._voice.synthesize(
                _readable(piece.text), SynthesisConfig(normalize_audio=False)
            )
            parts = [np.atleast_1d(chunk.audio_float_array) for chunk in made]
        except Exception as error:
            if utterance.cancel.is_cancelled:
                return np.zeros(0, dtype=np.float32)
            _log.debug("piper failed", exc_info=True)
            raise BackendError(
                "The piper voice could not say this text.",
                advice="Try again, or choose another voice.",
            ) from error
        return _finish(np.concatenate(parts), self._rate) if parts else np.zeros(0, np.float32)


def _readable(text: str) -> str:
    """Return text without what espeak-ng cannot take, or would not take as text."""
    is_control = (unicodedata.category(char) in ("Cc", "Cs") for char in text)
    clean = "".join(" " if bad else char for bad, char in zip(is_control, text, strict=True))
    return clean.replace("[[", "[ [")  # two brackets enclose phonemes


def _finish(speech: Pcm, rate: int) -> Pcm:
    """Cut silence off both ends, set the level, fade in and out."""
    peak = float(np.abs(speech).max(initial=0.0))
    if not np.isfinite(peak) or peak < 1e-4:
        return np.zeros(0, dtype=np.float32)
    loud = np.flatnonzero(np.abs(speech) > peak * 10 ** (_SILENCE_DB / 20))
    margin, fade = round(_MARGIN_S * rate), round(_FADE_S * rate)
    out = speech[max(0, loud[0] - margin) : loud[-1] + 1 + margin] * min(_GAIN, _PEAK / peak)
    ramp = np.linspace(0, 1, min(fade, len(out)), dtype=np.float32)
    out[: len(ramp)] *= ramp
    out[len(out) - len(ramp) :] *= ramp[::-1]
    return np.ascontiguousarray(out, dtype=np.float32)


def create(context: BackendContext, argument: str) -> PiperSynthesizer:
    """Return a piper voice, not loaded."""
    return PiperSynthesizer(context, argument)
