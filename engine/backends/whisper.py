"""The recognizer `whisper`: any CTranslate2 Whisper folder, made live (see `whisper_stream`)."""

from pathlib import Path

from engine.backends.protocols import BackendContext, BackendSpec, ProgressCallback
from engine.backends.whisper_policy import LivePolicy
from engine.backends.whisper_reader import Decoder
from engine.backends.whisper_stream import SpeechDetector, WhisperStream
from engine.core.errors import BackendError, ConfigError, ModelFileError, reason_of
from engine.core.files import expanded
from engine.core.sync import CancelToken
from engine.core.types import BackendKind, as_pcm

_MODEL = "whisper-tiny.en"
_SAMPLE_RATE = 16_000


class WhisperRecognizer:
    """Holds the weights; its streams hold everything else.

    Args:
        context: where the embedded model is, threads, clock; the option "language" fixes the
            language of a multilingual model, "pace" "file" trades delay for fewer errors.
        folder: another CTranslate2 Whisper folder, or None for the embedded model.
    """

    def __init__(self, context: BackendContext, folder: Path | None = None) -> None:
        self._context = context
        self._folder = folder
        # A second thread shortens a decode by less than it costs.
        hop_per_cost = 1.2 if context.num_threads <= 1 else 2.0
        options = dict(context.options)
        is_file = options.get("pace") == "file"
        self._policy = LivePolicy.for_files() if is_file else LivePolicy(hop_per_cost=hop_per_cost)
        self._decoder: Decoder | None = None
        self._detector: SpeechDetector | None = None
        self._language = options.get("language") or None
        self._languages: tuple[str, ...] = ("en",) if folder is None else ()

    @property
    def spec(self) -> BackendSpec:
        """What it is; `load` fills in the languages of a folder of the user's own."""
        is_embedded = self._folder is None
        return BackendSpec(
            id="whisper",
            title="Whisper tiny.en" if is_embedded else f"Whisper ({self._folder_name})",
            kinds=(BackendKind.RECOGNIZER,),
            sample_rate=_SAMPLE_RATE,
            block_size=1600,
            latency=self._policy.latency,
            languages=self._languages,
            capabilities=("partial", "word-times", "probability"),
            licence="MIT" if is_embedded else "see the model's card",
            models=(_MODEL,) if is_embedded else (),
        )

    @property
    def _folder_name(self) -> str:
        return self._folder.name if self._folder else ""

    def load(self, progress: ProgressCallback, cancel: CancelToken) -> None:
        """Read weights and decode one second of silence.

        Raises:
            ModelMissingError, ModelFileError, ModelLoadError: with the file and what to do.
            ConfigError: the model does not know the chosen language.
            CancelledError: cancel was set.
        """
        from engine.models.voice_activity import VoiceActivity
        from engine.models.whisper_decoder import WhisperDecoder

        cancel.check()
        progress(0.0, "Reading the speech recognizer")
        folder = self._folder or self._context.model_path(_MODEL)
        decoder = WhisperDecoder(folder, num_threads=self._context.num_threads)
        if self._language is not None and self._language not in decoder.languages:
            raise ConfigError(
                f"This Whisper model does not know the language {self._language!r}.",
                advice=f"Choose one of: {', '.join(decoder.languages)}.",
            )
        cancel.check()
        progress(0.7, "Warming the speech recognizer up")
        detector = VoiceActivity()
        try:
            decoder.decode(as_pcm([0.0] * _SAMPLE_RATE), num_frames=self._policy.min_frames)
        except (ValueError, RuntimeError) as error:
            # Files that fit each other decode silence: the vocabulary is another model's.
            raise ModelFileError(
                f"The Whisper model in {folder} cannot be used: {reason_of(error)}.",
                advice="Fetch the model again, or choose another folder.",
            ) from error
        cancel.check()
        self._detector = detector
        self._languages = decoder.languages
        self._decoder = decoder
        progress(1.0, "")

    def open_stream(self) -> WhisperStream:
        """Return a new stream.

        Raises:
            BackendError: not loaded.
        """
        if self._decoder is None or self._detector is None:
            raise BackendError("The recognizer whisper is not loaded.", advice="Load it first.")
        return WhisperStream(
            self._decoder,
            self._detector,
            policy=self._policy,
            now_s=self._context.now_s,
            language=self._language,
        )

    def close(self) -> None:
        """Give the weights back; idempotent."""
        self._decoder = None
        self._detector = None


def create(context: BackendContext, argument: str = "") -> WhisperRecognizer:
    """Return the recognizer, not loaded.

    Args:
        context: see `WhisperRecognizer`.
        argument: path of another CTranslate2 Whisper folder; empty for the embedded model.
    """
    return WhisperRecognizer(context, expanded(argument) if argument else None)
