"""One stretch of audio going through the tower live."""

from collections.abc import Iterable, Sequence

import numpy as np
import torch

from engine.backends.protocols import EncodedAudio
from engine.backends.tower_clip import as_array, check_finite, encoded_audio
from engine.backends.tower_load import torch_threads
from engine.core.events import ActivityRevised, StreamEvent
from engine.core.types import Pcm, as_pcm
from engine.models.gpu import gpu_errors
from engine.models.tower_stream import EncodedWindow, LiveTower

_FRAME_MS = 80


class TowerStream:
    """Settled activity and, if wanted, embeddings, a window at a time. Thread: one at a time.

    Rows lie on a grid of 80 ms that flushes do not shift: the frame that a flush cut short is
    final, and what is pushed of it afterwards is left out.
    """

    def __init__(self, live: LiveTower, num_threads: int) -> None:
        self._live = live
        self._num_threads = num_threads
        config = live.featurizer.config
        self._frame_samples = config.hop_length * live.speaker_branch.subsampling_factor
        self._state = live.init_state()
        self._encoded: list[EncodedAudio] = []
        self._num_samples = 0
        self._num_to_skip = 0
        self._base = 0
        self._next_frame = 0

    def push(self, block: Pcm) -> Sequence[StreamEvent]:
        """Take samples; return the activity of the windows they complete.

        Args:
            block: (n,) float32.

        Raises:
            BackendError: a sample is NaN or infinite.
        """
        pcm = as_pcm(block)
        check_finite(pcm)
        self._num_samples += len(pcm)
        skipped = min(self._num_to_skip, len(pcm))
        self._num_to_skip -= skipped
        return self._push(pcm[skipped:])

    def flush(self) -> Sequence[StreamEvent]:
        """Tell the rest; time goes on from here."""
        with torch_threads(self._num_threads), gpu_errors(self._live.speaker_branch):
            self._state, windows = self._live.flush(self._state)
        events = self._told(windows)
        self._base = self._next_frame
        ahead = self._base * self._frame_samples - self._num_samples
        self._num_to_skip = max(0, ahead)
        if ahead < 0:
            # Samples too few for a feature, which were told nothing of: silence keeps their place.
            self._push(np.zeros(-ahead, np.float32))
        return events

    def take_encoded(self) -> Sequence[EncodedAudio]:
        """Return the windows encoded since the last call."""
        encoded, self._encoded = self._encoded, []
        return encoded

    def reset(self) -> None:
        """Forget everything; time starts at 0 again."""
        self._state = self._live.init_state()
        self._encoded = []
        self._num_samples = self._num_to_skip = 0
        self._base = self._next_frame = 0

    def close(self) -> None:
        """Release the memory of speakers; idempotent."""
        self.reset()

    def _push(self, pcm: Pcm) -> list[StreamEvent]:
        with torch_threads(self._num_threads), gpu_errors(self._live.speaker_branch):
            audio = torch.from_numpy(pcm.copy())[None]
            self._state, windows = self._live.push(audio, self._state)
        return self._told(windows)

    def _told(self, windows: Iterable[EncodedWindow]) -> list[StreamEvent]:
        events: list[StreamEvent] = []
        for window in windows:
            rows = as_array(window.speaker_probs)
            first = self._base + window.first_frame
            self._next_frame = first + len(rows)
            events.append(
                ActivityRevised(first, _FRAME_MS, rows, self._next_frame, is_settled=True)
            )
            if window.embeddings is not None:
                self._encoded.append(encoded_audio(window, self._base))
        return events
