"""Who speaks when, by clustering voices: silero VAD, GE2E embeddings, spectral clustering.

Runs on one CPU core at a few per cent of real time. Rows appear within 0.6 s of the audio, with a
known voice within about a second of its first word; they are tentative for 15 s, while new
clusterings may still move them, and final from then on.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from engine.backends.cluster_rows import FRAME_MS, FRAME_SAMPLES, Rows, render
from engine.backends.cluster_speech import (
    SAMPLE_RATE,
    STEP_SAMPLES,
    SpeechState,
    VoiceListener,
    VoiceWindow,
)
from engine.backends.cluster_voices import VoiceClusterer, VoiceMemory
from engine.backends.protocols import BackendContext, BackendSpec, ProgressCallback
from engine.core.errors import BackendError
from engine.core.events import ActivityRevised, StreamEvent
from engine.core.sync import CancelToken
from engine.core.types import MAX_SPEAKERS, BackendKind, Pcm, as_pcm
from engine.models import voice_activity
from engine.models.ge2e import WINDOW_FRAMES, SpeakerEncoder
from engine.models.ge2e_features import NUM_MELS
from engine.models.voice_activity import VoiceActivity

MODEL_ID = "ge2e-speaker-encoder"
TENTATIVE_ROWS = 188
"""15 s: how far back a new clustering may still change what was told."""
_MIN_CLUSTERED_SAMPLES = 12_800
"""Shorter windows are given the voice they are nearest to, but do not shape the voices."""
_PATIENCE_SAMPLES = 2 * SAMPLE_RATE
_EAGER_POINTS = 32
_NEW_WINDOWS_PER_CLUSTERING = 4
"""Once so many points are known, so many new ones are awaited: a clustering costs 30 ms."""
_CHANGE = 0.05
_DECISION = 0.5
_REACH_SAMPLES = 4 * STEP_SAMPLES
"""How far before the first tentative row windows still count for it."""


@dataclass(slots=True)
class DiarizerState:
    """What one stream remembers; less than 400 kB, whatever the length of the audio.

    Args:
        speech: segments and what listening needs.
        memory: the voices known.
        windows: voice windows that touch tentative rows, in order.
        pending: samples that do not fill a step yet.
        shown: (N, 8) float32, the tentative rows as they were last told.
        final_until: index of the first of `shown`; rows before it are final.
    """

    speech: SpeechState = field(default_factory=SpeechState)
    memory: VoiceMemory = field(default_factory=VoiceMemory)
    windows: list[VoiceWindow] = field(default_factory=list)
    pending: Pcm = field(default_factory=lambda: np.zeros(0, dtype=np.float32))
    shown: Rows = field(default_factory=lambda: np.zeros((0, MAX_SPEAKERS), dtype=np.float32))
    final_until: int = 0

    @property
    def next_row(self) -> int:
        """Index of the first row that was not told yet."""
        return self.final_until + len(self.shown)


class ClusterDiarizer:
    """The backend "cluster"."""

    def __init__(self, context: BackendContext) -> None:
        self._context = context
        self._listener: VoiceListener | None = None
        self._clusterer: VoiceClusterer | None = None

    @property
    def spec(self) -> BackendSpec:
        """What it is."""
        return BackendSpec(
            id="cluster",
            title="Voice clustering (GE2E)",
            kinds=(BackendKind.DIARIZER,),
            sample_rate=SAMPLE_RATE,
            block_size=STEP_SAMPLES,
            latency=STEP_SAMPLES + FRAME_SAMPLES + voice_activity.WINDOW_SAMPLES,
            frame_ms=FRAME_MS,
            capabilities=("revisions",),
            licence="Apache-2.0",
            models=(MODEL_ID,),
        )

    def load(self, progress: ProgressCallback, cancel: CancelToken) -> None:
        """Read the weights and warm up.

        Raises:
            ModelMissingError, ModelFileError, ModelLoadError: with what to do.
            CancelledError: cancel was set.
        """
        weights = self._context.model_path(MODEL_ID) / "pretrained.pt"
        progress(0.0, "Loading the speech detector")
        vad = VoiceActivity()
        cancel.check()
        progress(0.2, "Loading the speaker encoder")
        encoder = SpeakerEncoder(weights)
        cancel.check()
        progress(0.7, "Warming up the clustering")
        encoder.embed(np.full((WINDOW_FRAMES, NUM_MELS), 1e-3, dtype=np.float32))
        clusterer = VoiceClusterer()
        clusterer.warm_up()
        cancel.check()
        self._listener = VoiceListener(vad, encoder)
        self._clusterer = clusterer
        progress(1.0, "Ready")

    def open_stream(self) -> "ClusterDiarizerStream":
        """Return a new stream at time 0.

        Raises:
            BackendError: not loaded.
        """
        if self._listener is None or self._clusterer is None:
            raise BackendError(
                "The voice clustering diarizer is not loaded yet.", advice="Load it first."
            )
        return ClusterDiarizerStream(self._listener, self._clusterer)

    def close(self) -> None:
        """Give memory back; idempotent."""
        self._listener = None
        self._clusterer = None


class ClusterDiarizerStream:
    """One stretch of audio being diarized. Thread: one at a time."""

    def __init__(self, listener: VoiceListener, clusterer: VoiceClusterer) -> None:
        self._listener = listener
        self._clusterer = clusterer
        self._state = DiarizerState()

    def push(self, block: Pcm) -> Sequence[StreamEvent]:
        """Take samples; return new rows, and told ones that changed.

        Audio is taken in steps of 0.4 s, counted from the start or the last flush, so that
        results do not depend on how it is cut into blocks.

        Args:
            block: (n,) float32 at 16 kHz.
        """
        state = self._state
        audio = np.concatenate([state.pending, as_pcm(block)])
        events: list[StreamEvent] = []
        num_steps = len(audio) // STEP_SAMPLES
        for i in range(num_steps):
            self._hear(audio[i * STEP_SAMPLES : (i + 1) * STEP_SAMPLES])
            known = state.speech.num_samples // voice_activity.WINDOW_SAMPLES
            next_row = known * voice_activity.WINDOW_SAMPLES // FRAME_SAMPLES
            events += _tell(state, next_row, next_row - TENTATIVE_ROWS)
        state.pending = audio[num_steps * STEP_SAMPLES :].copy()
        return events

    def flush(self) -> Sequence[StreamEvent]:
        """Tell the rest and make every row final; time goes on from here."""
        state = self._state
        self._hear(state.pending)
        state.pending = state.pending[:0]
        self._remember(self._listener.flush(state.speech))
        self._adopt_short(state.speech.num_samples)
        self._clusterer.cluster(state.memory)
        next_row = -(-state.speech.num_samples // FRAME_SAMPLES)
        return _tell(state, next_row, next_row)

    def reset(self) -> None:
        """Forget everything; time starts at 0 again."""
        self._state = DiarizerState()

    def close(self) -> None:
        """Release nothing beyond the memory of voices; idempotent."""
        self._state = DiarizerState()

    def _hear(self, pcm: Pcm) -> None:
        state = self._state
        self._remember(self._listener.step(pcm, state.speech))
        self._adopt_short(state.speech.num_samples - _PATIENCE_SAMPLES)
        memory = state.memory
        is_eager = len(memory.points) <= _EAGER_POINTS
        if memory.num_new >= (1 if is_eager else _NEW_WINDOWS_PER_CLUSTERING):
            self._clusterer.cluster(memory)

    def _remember(self, windows: Sequence[VoiceWindow]) -> None:
        state = self._state
        state.windows += windows
        for window in windows:
            if window.num_samples >= _MIN_CLUSTERED_SAMPLES:
                self._clusterer.add(window.embedding, state.memory)

    def _adopt_short(self, before: int) -> None:
        """Take short windows as the first voices, where no longer one has come by then."""
        memory = self._state.memory
        if len(memory.points) == 0:
            for window in self._state.windows:
                if window.end <= before:
                    self._clusterer.add(window.embedding, memory)


def _tell(state: DiarizerState, next_row: int, final_until: int) -> list[StreamEvent]:
    """Render the rows that are not final, and return those that are new or changed.

    Args:
        state: changed in place: `shown` and `final_until` move on, what is too old is forgotten.
        next_row: rows before it are told now; never less than the rows told before count.
        final_until: rows before it become final.
    """
    next_row = max(next_row, state.next_row)
    final_until = max(final_until, state.final_until)
    first, num_shown = state.final_until, len(state.shown)
    rows = render(first, next_row - first, state.speech, state.windows, state.memory)
    events: list[StreamEvent] = []
    changed = np.flatnonzero(_is_changed(rows[:num_shown], state.shown))
    if len(changed):
        begin, end = int(changed[0]), int(changed[-1]) + 1
        events.append(ActivityRevised(first + begin, FRAME_MS, rows[begin:end], first))
        state.shown[begin:end] = rows[begin:end]
    shown = np.concatenate([state.shown, rows[num_shown:]])
    if len(shown) > num_shown or (final_until > first and len(shown)):
        # A row told before goes along where there is no new one, to carry the new border.
        begin = min(num_shown, len(shown) - 1)
        events.append(ActivityRevised(first + begin, FRAME_MS, shown[begin:].copy(), final_until))
    state.shown = shown[final_until - first :].copy()
    state.final_until = final_until
    oldest = final_until * FRAME_SAMPLES - _REACH_SAMPLES
    state.speech.forget(oldest)
    state.windows = [w for w in state.windows if w.end > oldest]
    return events


def _is_changed(rows: Rows, shown: Rows) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
    """Return which rows differ visibly or decide differently from what was told."""
    is_visible = np.abs(rows - shown) > _CHANGE
    is_decided = (rows >= _DECISION) != (shown >= _DECISION)
    changed: np.ndarray[tuple[int], np.dtype[np.bool_]] = (is_visible | is_decided).any(axis=1)
    return changed


def create(context: BackendContext, argument: str = "") -> ClusterDiarizer:
    """Return the backend, not loaded; it takes no argument.

    Raises:
        BackendError: an argument was given.
    """
    if argument:
        raise BackendError(
            f"The diarizer 'cluster' takes no argument, got {argument!r}.",
            advice="Use the id 'cluster' alone.",
        )
    return ClusterDiarizer(context)
