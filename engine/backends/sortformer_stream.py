"""One stretch of audio in the speaker model: samples in, rows of 80 ms out.

A step makes the rows of its chunk final, and tells those of its look-ahead as tentative. Rows lie
on a grid from the first sample: after a flush in the middle of a row, what is left of that row is
passed over, as it was answered for already.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from engine.backends.sortformer_load import torch_threads
from engine.backends.sortformer_pace import FRAME_MS, Pacer, latency_s
from engine.core.errors import BackendError, reason_of
from engine.core.events import ActivityRevised, StreamEvent, StreamNotice
from engine.core.types import Pcm, as_pcm
from engine.models.gpu import gpu_errors
from engine.models.sortformer import SpeakerActivity
from engine.models.sortformer_stream import SpeakerModel, SpeakerStreamState
from engine.models.stream_profiles import PROFILES, StreamProfile

_FINE_PER_ROW = 8


@dataclass(slots=True)
class _Progress:
    """What one stream remembers.

    Args:
        model: features that wait, and the speakers.
        heard: samples taken.
        final_until: rows told for good.
    """

    model: SpeakerStreamState
    heard: int = 0
    final_until: int = 0


class FixedStream:
    """A stream that stays in one profile. Thread: one at a time.

    Memory: about 1.5 MB, whatever the length of the audio.
    """

    def __init__(self, model: SpeakerModel, profile: str, num_threads: int) -> None:
        self._model = model
        self._profile_name = profile
        self._num_threads = num_threads
        self._state = _Progress(model.init_state())

    @property
    def profile(self) -> StreamProfile:
        """The profile in force."""
        return PROFILES[self._profile_name]

    def push(self, block: Pcm) -> Sequence[StreamEvent]:
        """Take samples; return the rows of the steps they complete.

        Args:
            block: (n,) float32 at the model's rate.

        Raises:
            BackendError: a sample is NaN or infinite, or the model failed; nothing was taken.
        """
        pcm, state = as_pcm(block), self._state
        if not np.isfinite(pcm).all():
            raise BackendError(
                "The audio holds samples that are no numbers.", advice="Check where it comes from."
            )
        answered = state.final_until * self._model.samples_per_frame
        news = pcm[max(0, answered - state.heard) :]
        steps: tuple[SpeakerActivity, ...] = ()
        if len(news):
            with self._computing():
                audio = torch.from_numpy(news).unsqueeze(0)
                state.model, steps = self._model.push(audio, state.model, self.profile)
        state.heard += len(pcm)
        return [self._tell(step) for step in steps]

    def flush(self) -> Sequence[StreamEvent]:
        """Tell the rest and make every row final; time goes on from here."""
        with self._computing():
            self._state.model, last = self._model.flush(self._state.model, self.profile)
        return [] if last is None else [self._tell(last)]

    def reset(self) -> None:
        """Forget everything; time starts at 0 again."""
        self._state = _Progress(self._model.init_state())

    def close(self) -> None:
        """Release the memory of speakers; idempotent."""
        self.reset()

    @contextmanager
    def _computing(self) -> Iterator[None]:
        with torch_threads(self._num_threads):
            try:
                with gpu_errors(self._model):
                    yield
            except RuntimeError as error:
                raise BackendError(
                    f"The speaker model failed: {reason_of(error)}.",
                    advice="Choose another diarizer.",
                ) from error

    def _tell(self, step: SpeakerActivity) -> ActivityRevised:
        chunk, ahead = _rows(step.fine), _rows(step.ahead)
        first = self._state.final_until
        self._state.final_until += len(chunk)
        return ActivityRevised(
            first, FRAME_MS, np.concatenate([chunk, ahead]), final_until=self._state.final_until
        )


class PacingStream(FixedStream):
    """A stream that moves to a slower profile while it is behind. Thread: one at a time."""

    def __init__(self, model: SpeakerModel, profile: str, num_threads: int) -> None:
        super().__init__(model, profile, num_threads)
        self._pacer = Pacer(profile)
        self._paced_until = 0
        self._notices: list[StreamNotice] = []

    @property
    def profile(self) -> StreamProfile:
        """The profile in force; cache and speakers stay when it changes."""
        return self._pacer.profile

    def set_backlog(self, num_samples: int) -> None:
        """Tell how many samples wait to be pushed after the next block."""
        rate, heard, before = self._model.sample_rate, self._state.heard, self.profile
        passed, self._paced_until = heard - self._paced_until, heard
        if self._pacer.follow(num_samples / rate, passed / rate):
            self._notices.append(_notice(before, self.profile))

    def push(self, block: Pcm) -> Sequence[StreamEvent]:
        """Take samples; return the rows of the steps they complete, and any change of profile."""
        return [*self._take_notices(), *super().push(block)]

    def flush(self) -> Sequence[StreamEvent]:
        """Tell the rest and make every row final; time goes on from here."""
        return [*self._take_notices(), *super().flush()]

    def reset(self) -> None:
        """Forget everything; time starts at 0 again, in the fastest profile."""
        super().reset()
        self._pacer = Pacer(self._profile_name)
        self._paced_until = 0
        self._notices = []

    def _take_notices(self) -> Sequence[StreamNotice]:
        told, self._notices = self._notices, []
        return told


def _rows(fine: torch.Tensor) -> NDArray[np.float32]:
    """Return (T, S) float32 means over 80 ms of (1, 8 T, S) rows of 10 ms; the last may be short.

    Clipped, as the mean of ones may round to more.
    """
    rows = fine[0].float().cpu().numpy()
    if len(rows) == 0:
        return np.zeros((0, rows.shape[1]), dtype=np.float32)
    starts = np.arange(0, len(rows), _FINE_PER_ROW)
    counts = np.minimum(_FINE_PER_ROW, len(rows) - starts)[:, np.newaxis]
    means = np.add.reduceat(rows, starts, axis=0) / counts
    clipped: NDArray[np.float32] = np.clip(means, 0.0, 1.0).astype(np.float32)
    return clipped


def _notice(before: StreamProfile, after: StreamProfile) -> StreamNotice:
    if after.latency_frames > before.latency_frames:
        why = "Telling speakers apart was falling behind"
    else:
        why = "Telling speakers apart has caught up"
    return StreamNotice(
        f"{why}: it now answers {latency_s(after):.1f} s after the sound"
        f" (profile {after.name}, before {before.name}). The speakers stay the same."
    )
