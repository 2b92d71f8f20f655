"""What the engine tells: frozen events, in order, the same for window, command line and tests.

Recognizer and diarizer streams return the first four, in samples of their own rate, counted from
where the stream began; the session publishes them again in samples of the session clock.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from engine.core.types import MAX_SPEAKERS, BackendKind, SpanKind, SpeakerId, Word

SCHEMA_VERSION = 1
"""Version of the JSON form of these events (docs/events.md)."""


@dataclass(frozen=True, slots=True)
class PartialWords:
    """The words that may still change; they replace all partial words told before.

    Args:
        words: in order of time; empty when nothing is pending.
        heard_until: sample up to which audio went into them.
    """

    words: tuple[Word, ...]
    heard_until: int = 0


@dataclass(frozen=True, slots=True)
class FinalWords:
    """Words that never change by themselves.

    They follow the final words told before, but for those that fill a stretch which was marked as
    untranscribed.
    """

    words: tuple[Word, ...]


@dataclass(frozen=True, slots=True, eq=False)
class ActivityRevised:
    """Speaker probabilities that replace those told before for the same frames.

    Args:
        first_frame: index of the first row; frame i covers [i, i + 1) * frame_ms.
        frame_ms: length of a frame in milliseconds.
        probabilities: (T, S) float32, 0 to 1, one column a speaker slot, S at most
            `MAX_SPEAKERS`; speakers overlap freely.
        final_until: frames before it are final; it never decreases within an epoch.
        epoch: see `engine.core.types.SpeakerId`.
        is_settled: whether a slower, better model has replaced live rows.
    """

    first_frame: int
    frame_ms: int
    probabilities: NDArray[np.float32]
    final_until: int
    epoch: int = 0
    is_settled: bool = False

    def __post_init__(self) -> None:
        shape = self.probabilities.shape
        if len(shape) != 2 or shape[1] > MAX_SPEAKERS:
            raise ValueError(f"probabilities must be (T, S <= {MAX_SPEAKERS}), got {shape}")


@dataclass(frozen=True, slots=True)
class StreamNotice:
    """Something a stream did by itself that people should know; a session makes it a `Notice`."""

    message: str


class SessionState(StrEnum):
    """Where a session is in its life."""

    IDLE = "idle"
    STARTING = "starting"  # the device is opening; the first block has not come yet
    RECORDING = "recording"
    PAUSED = "paused"
    STOPPING = "stopping"  # the lanes are catching up with what was recorded
    CLOSED = "closed"


@dataclass(frozen=True, slots=True)
class StateChanged:
    """The session entered a state; `detail` is a short text for people."""

    state: SessionState
    detail: str = ""


@dataclass(frozen=True, slots=True)
class RecordingStarted:
    """The first block of a recording arrived.

    Args:
        recording_id: name of the recording in the library.
        sample_rate: of the session clock, Hz.
        started_at: local wall time, ISO 8601 with offset.
        device: the input's name.
        is_kept: whether anything of it stays on disk.
    """

    recording_id: str
    sample_rate: int
    started_at: str
    device: str
    is_kept: bool


@dataclass(frozen=True, slots=True)
class RecordingStopped:
    """A recording is complete: every word of it has been told."""

    recording_id: str
    num_samples: int


@dataclass(frozen=True, slots=True)
class SpanMarked:
    """A stretch that is not ordinary transcribed audio; the same mark_id replaces the old one.

    An untranscribed stretch shrinks as it is filled in; once it is empty it is none any more.
    """

    mark_id: int
    kind: SpanKind
    start: int
    end: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class SpeakerRenamed:
    """The user named a speaker; an empty name gives the letter back."""

    epoch: int
    slot: int
    name: str


@dataclass(frozen=True, slots=True)
class SpeakerMerged:
    """The user said that two speakers are one person.

    Args:
        speaker: shown as `target` from now on, in what was told before as well.
        target: whose lines they become; the speaker itself parts them again.
    """

    speaker: SpeakerId
    target: SpeakerId


@dataclass(frozen=True, slots=True)
class SpeakerColored:
    """The user gave a speaker one of the eight colours; -1 gives the usual one back."""

    speaker: SpeakerId
    color: int


@dataclass(frozen=True, slots=True)
class WordsAssigned:
    """The user said who spoke; no diarizer changes these words again.

    Args:
        word_ids: see `engine.text.document.DocumentWord`.
        speakers: the likeliest first; empty to give the words back to the diarizer.
    """

    word_ids: tuple[int, ...]
    speakers: tuple[SpeakerId, ...]


@dataclass(frozen=True, slots=True)
class WordsEdited:
    """The user corrected words; times and who said them stay.

    Args:
        word_ids: see `engine.text.document.DocumentWord`.
        texts: what each says now, with its leading blank; empty where it is gone.
    """

    word_ids: tuple[int, ...]
    texts: tuple[str, ...]

    def __post_init__(self) -> None:
        if len(self.word_ids) != len(self.texts):
            raise ValueError(f"{len(self.word_ids)} words cannot have {len(self.texts)} texts")


EditEvent: TypeAlias = SpeakerRenamed | SpeakerMerged | SpeakerColored | WordsAssigned | WordsEdited
"""What the user changes in a transcript."""


class BackendState(StrEnum):
    """Readiness of a backend."""

    LOADING = "loading"
    READY = "ready"
    FAILED = "failed"
    OFF = "off"


@dataclass(frozen=True, slots=True)
class BackendChanged:
    """A backend is loading, ready, or cannot be had.

    Args:
        kind: what it does.
        backend_id: its registry id.
        state: its readiness.
        title: its name for people.
        device: where it runs, "CPU" or the GPU's name.
        progress: 0 to 1 while loading, -1 where unknown.
        message: what went wrong and what to do, or what is being loaded.
        is_trained: False for random weights; shown as a banner and kept in exports.
    """

    kind: BackendKind
    backend_id: str
    state: BackendState
    title: str = ""
    device: str = ""
    progress: float = -1.0
    message: str = ""
    is_trained: bool = True


class UtteranceState(StrEnum):
    """Where a text to be spoken is."""

    QUEUED = "queued"
    RENDERING = "rendering"  # nothing is heard yet, or not any more, for want of speech
    SPEAKING = "speaking"
    PAUSED = "paused"
    DONE = "done"
    CANCELLED = "cancelled"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class UtteranceChanged:
    """Progress of one text being spoken.

    Args:
        utterance_id: counts the texts of this session.
        state: where it is.
        text_start: first character of the sentence being heard.
        text_end: one past its last character.
        heard_samples: samples that really left the loudspeaker so far.
        sample_rate: of heard_samples, Hz.
        message: what went wrong and what to do.
        progress: 0 to 1 while a voice slower than speech must be waited for; else -1.
    """

    utterance_id: int
    state: UtteranceState
    text_start: int = 0
    text_end: int = 0
    heard_samples: int = 0
    sample_rate: int = 0
    message: str = ""
    progress: float = -1.0


class PlayState(StrEnum):
    """Where the hearing of recorded audio is."""

    PLAYING = "playing"
    PAUSED = "paused"
    ENDED = "ended"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class PlayChanged:
    """Recorded audio is being heard, or not any more.

    Args:
        state: where it is.
        start: first sample asked for, on the recording's clock.
        end: one past the last.
        message: what went wrong and what to do.
    """

    state: PlayState
    start: int
    end: int
    message: str = ""


class Severity(StrEnum):
    """How much a notice matters."""

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Notice:
    """Something the user should know: what happened and why, and what to do.

    Args:
        severity: how much it matters.
        message: what happened and why.
        advice: what to do.
        topic: what it is about, for programs: what is told later about the same takes its place;
            a `BackendKind` where one cannot be had. "" stands by itself.
        ends_with_recording: it says nothing any more once the recording has ended.
    """

    severity: Severity
    message: str
    advice: str = ""
    topic: str = ""
    ends_with_recording: bool = False


StreamEvent: TypeAlias = PartialWords | FinalWords | ActivityRevised | StreamNotice
"""What recognizer and diarizer streams return."""

Event: TypeAlias = (
    PartialWords
    | FinalWords
    | ActivityRevised
    | StateChanged
    | RecordingStarted
    | RecordingStopped
    | SpanMarked
    | EditEvent
    | BackendChanged
    | UtteranceChanged
    | PlayChanged
    | Notice
)
"""What a session publishes."""
