"""The contracts that speech backends keep, by kind.

A backend is made cheaply by its module's `create(context, argument)`, takes its weights in `load`,
and opens any number of streams, each with a state of its own. Streams live on one thread each.
Nothing heavy (torch, onnxruntime, ctranslate2) is imported before `load`.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from engine.core.config import Statistics
from engine.core.events import StreamEvent
from engine.core.sync import CancelToken
from engine.core.types import BackendKind, Pcm

ProgressCallback = Callable[[float, str], None]
"""Called with a fraction from 0 to 1 (-1 where unknown) and a short text."""


ON_CPU = ("device", "cpu")
"""Option of a context: the GPU is not to be used, as it has failed."""


@dataclass(frozen=True, slots=True)
class BackendSpec:
    """What a backend is, known before it is loaded.

    Args:
        id: its name in the registry.
        title: its name for people.
        kinds: what it does.
        sample_rate: of the audio it takes, or gives (synthesizers), Hz.
        block_size: samples it likes to be given at a time; any other number works too.
        latency: algorithmic latency in samples: output for time t is there once audio up to
            t + latency was pushed.
        frame_ms: length of an activity row (diarizers), 0 elsewhere.
        languages: BCP 47 codes; empty where it does not matter.
        capabilities: words such as "partial", "word-times", "overlap", "gpl".
        licence: SPDX id of the weights, or a short text.
        models: ids of the model manifest that `load` needs.
        is_trained: False for random weights.
        device: where it will run, "CPU" or a GPU's name.
        note: what people should know of how it runs here, a sentence; empty where all is well.
    """

    id: str
    title: str
    kinds: tuple[BackendKind, ...]
    sample_rate: int
    block_size: int = 0
    latency: int = 0
    frame_ms: int = 0
    languages: tuple[str, ...] = ()
    capabilities: tuple[str, ...] = ()
    licence: str = ""
    models: tuple[str, ...] = ()
    is_trained: bool = True
    device: str = "CPU"
    note: str = ""


@dataclass(frozen=True, slots=True)
class BackendContext:
    """What the composition root gives a backend.

    Args:
        model_path: returns the verified folder of a model of the manifest; raises
            ModelMissingError with the command that fetches it.
        num_threads: compute threads this backend may use.
        now_s: a clock for measuring its own cost; tests pass a constant one.
        options: backend-specific settings, already validated.
        allow_untrained: whether a backend whose weights are missing may use random ones; its
            spec then has `is_trained` False.
    """

    model_path: Callable[[str], Path]
    num_threads: int = 1
    now_s: Callable[[], float] = field(default=lambda: 0.0)
    options: tuple[tuple[str, str], ...] = ()
    allow_untrained: bool = False


class Backend(Protocol):
    """Common to every kind."""

    @property
    def spec(self) -> BackendSpec:
        """What it is; may be refined by `load` (the device really used)."""
        ...

    def load(self, progress: ProgressCallback, cancel: CancelToken) -> None:
        """Read weights and warm up. Thread: any, once.

        Raises:
            ModelMissingError, ModelFileError, ModelLoadError: with what to do.
            CancelledError: cancel was set.
        """
        ...

    def close(self) -> None:
        """Give memory back; idempotent. No stream may be open."""
        ...


@runtime_checkable
class GpuBackend(Protocol):
    """A backend that may run on a GPU."""

    def gpu_bytes(self) -> int:
        """Return the GPU memory of the whole process; 0 while this backend is on the CPU."""
        ...


class Stream(Protocol):
    """A recognizer or diarizer at work on one stretch of audio. Thread: one at a time."""

    def push(self, block: Pcm) -> Sequence[StreamEvent]:
        """Take the next samples and return what became known, in order.

        Results do not depend on how audio is cut into blocks.

        Args:
            block: (n,) float32 at the spec's sample rate; n may be 0.

        Raises:
            ComputeDeviceError: the GPU failed; the stream is not used again.
            BackendError: it failed; a new stream is opened if that is recoverable.
        """
        ...

    def flush(self) -> Sequence[StreamEvent]:
        """Say everything that is still held back: audio ends here.

        Afterwards there is no partial word and every activity row is final. The stream may be
        pushed again; time goes on.
        """
        ...

    def reset(self) -> None:
        """Forget everything; time starts at 0 again."""
        ...

    def close(self) -> None:
        """Release what the stream holds; idempotent."""
        ...


@runtime_checkable
class PacedStream(Protocol):
    """A stream that trades delay for cost when told how far behind it is."""

    def set_backlog(self, num_samples: int) -> None:
        """Tell how many samples, at the stream's rate, wait to be pushed after the next block."""
        ...


class Recognizer(Backend, Protocol):
    """Audio to words."""

    def open_stream(self) -> Stream:
        """Return a new stream at time 0.

        Raises:
            BackendError: not loaded.
        """
        ...


class Diarizer(Backend, Protocol):
    """Audio to speaker activity."""

    def open_stream(self) -> Stream:
        """Return a new stream at time 0; its columns are the slots of one epoch.

        Raises:
            BackendError: not loaded.
        """
        ...


@dataclass(frozen=True, slots=True, eq=False)
class SpeechChunk:
    """A piece of synthesized speech.

    Args:
        pcm: (n,) float32 at the spec's sample rate.
        text_start: first character of the sentence it belongs to.
        text_end: one past that sentence's last character.
        fraction: of the whole speech that is done with this piece; -1 where it is not known.
    """

    pcm: Pcm
    text_start: int
    text_end: int
    fraction: float = -1.0


class SynthesizerStream(Protocol):
    """One voice at work. Thread: one at a time, but `cancel` may come from any."""

    def speak(self, text: str) -> Iterator[SpeechChunk]:
        """Yield speech as it is made, the first as early as possible.

        Raises:
            BackendError: the text cannot be spoken (nothing but signs it does not know, say).
        """
        ...

    def cancel(self) -> None:
        """Make the running `speak` end at its next frame, without an error."""
        ...

    def close(self) -> None:
        """Release what the stream holds; idempotent."""
        ...


class Synthesizer(Backend, Protocol):
    """Text to audio."""

    def open_stream(self) -> SynthesizerStream:
        """Return a new stream.

        Raises:
            BackendError: not loaded.
        """
        ...


@dataclass(frozen=True, slots=True, eq=False)
class EncodedAudio:
    """What an encoder makes of a stretch of audio of T frames.

    Args:
        first_frame: index of the first row; frames are as long as the spec's frame_ms.
        embeddings: (T, D) float32, for a language model.
        speaker_probs: (T, S) float32, 0 to 1.
        fine_speaker_probs: (M, S) float32, 0 to 1, rows of fine_frame_ms.
        fine_frame_ms: length of a fine row.
    """

    first_frame: int
    embeddings: NDArray[np.float32]
    speaker_probs: NDArray[np.float32]
    fine_speaker_probs: NDArray[np.float32]
    fine_frame_ms: int


class EncoderStream(Stream, Protocol):
    """An encoder at work: its events are settled speaker activity, a window at a time."""

    def take_encoded(self) -> Sequence[EncodedAudio]:
        """Return the windows encoded since the last call, in order.

        Empty for a stream without embeddings; one with them holds every window until it is taken.
        """
        ...


class Encoder(Backend, Protocol):
    """Audio to embeddings, and to speaker activity that is slow and good."""

    def open_stream(self, *, with_embeddings: bool = False) -> EncoderStream:
        """Return a new stream at time 0.

        Args:
            with_embeddings: encode for `take_encoded`, too; without it a stream costs less.

        Raises:
            BackendError: not loaded, or it cannot make embeddings.
        """
        ...

    def encode(
        self,
        pcm: Pcm,
        statistics: Statistics,
        progress: ProgressCallback,
        cancel: CancelToken,
    ) -> EncodedAudio:
        """Encode a whole clip. Thread: any, one at a time.

        Args:
            pcm: (n,) float32 at the spec's sample rate.
            statistics: what features are normalised by.
            progress: told how far it is.
            cancel: checked at every window.

        Raises:
            BackendError: not loaded, or the audio cannot be encoded.
            ModelLoadError: the checkpoint cannot make embeddings.
            CancelledError: cancel was set.
        """
        ...
