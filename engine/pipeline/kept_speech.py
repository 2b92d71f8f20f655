"""The speech of one text: written by the voice, read by the player, kept for replay, bounded."""

import threading
from bisect import bisect_right

import numpy as np

from engine.core.timebase import samples
from engine.core.types import Pcm

MAX_KEPT_S = 300.0
"""Speech kept at most; then the oldest that was played is dropped."""
MAX_AHEAD_S = 60.0
"""Speech rendered ahead at most while it is being played; then the voice waits."""


class KeptSpeech:
    """Samples at the voice's rate, by index from the beginning of the text.

    Thread: one writes (`put`, `finish`), one plays (`read`, `set_position`), any asks.

    Args:
        sample_rate: Hz.
        max_kept_s: see `MAX_KEPT_S`.
        max_ahead_s: see `MAX_AHEAD_S`.
    """

    def __init__(
        self,
        sample_rate: int,
        *,
        max_kept_s: float = MAX_KEPT_S,
        max_ahead_s: float = MAX_AHEAD_S,
    ) -> None:
        self.sample_rate = sample_rate
        self._max_kept = samples(max_kept_s, sample_rate)
        self._max_ahead = samples(max_ahead_s, sample_rate)
        self._changed = threading.Condition()
        self._blocks: list[Pcm] = []
        self._starts: list[int] = []  # of the blocks
        self._sentences: list[tuple[int, int]] = []
        self._sentence_starts: list[int] = []  # samples
        self._end = 0
        self._position = 0
        self._is_finished = False
        self._is_abandoned = False

    @property
    def start(self) -> int:
        """First sample that is still kept."""
        with self._changed:
            return self._starts[0] if self._starts else self._end

    @property
    def end(self) -> int:
        """One past the newest sample."""
        with self._changed:
            return self._end

    @property
    def position(self) -> int:
        """Where it is being heard."""
        with self._changed:
            return self._position

    @property
    def is_finished(self) -> bool:
        """Whether nothing will be added."""
        with self._changed:
            return self._is_finished

    @property
    def max_kept(self) -> int:
        """Samples kept at most."""
        return self._max_kept

    @property
    def newest_sentence(self) -> tuple[int, int]:
        """(text_start, text_end) of the sentence that is being rendered."""
        with self._changed:
            return self._sentences[-1] if self._sentences else (0, 0)

    def set_position(self, position: int) -> None:
        """Say where it is being heard: what is far behind may be dropped."""
        with self._changed:
            self._position = position
            self._trim()
            self._changed.notify_all()

    def set_ahead(self, max_ahead_s: float) -> None:
        """Let the voice work further ahead, or less far."""
        with self._changed:
            self._max_ahead = min(samples(max_ahead_s, self.sample_rate), self._max_kept)
            self._changed.notify_all()

    def put(self, pcm: Pcm, text_start: int, text_end: int) -> bool:
        """Add speech, once there is room; False when it is not wanted any more.

        Args:
            pcm: the next samples.
            text_start: first character of their sentence.
            text_end: one past its last.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._is_abandoned or self._has_room())
            if self._is_abandoned:
                return False
            if len(pcm) == 0:
                return True
            if not self._sentences or self._sentences[-1] != (text_start, text_end):
                self._sentences.append((text_start, text_end))
                self._sentence_starts.append(self._end)
            self._blocks.append(np.ascontiguousarray(pcm, dtype=np.float32))
            self._starts.append(self._end)
            self._end += len(pcm)
            self._trim()
            return True

    def finish(self) -> None:
        """Say that nothing will be added; idempotent."""
        with self._changed:
            self._is_finished = True

    def abandon(self) -> None:
        """Let the writer go: nothing more is wanted."""
        with self._changed:
            self._is_abandoned = True
            self._changed.notify_all()

    def read(self, start: int, num_samples: int) -> Pcm:
        """Return up to `num_samples` from `start` on, which must be kept; fewer if not there."""
        with self._changed:
            parts, at, left = [], start, num_samples
            index = bisect_right(self._starts, start) - 1
            while left > 0 and 0 <= index < len(self._blocks):
                offset = at - self._starts[index]
                part = self._blocks[index][offset : offset + left]
                parts.append(part)
                at, left, index = at + len(part), left - len(part), index + 1
            return np.concatenate(parts) if parts else np.zeros(0, dtype=np.float32)

    def sentence_at(self, position: int) -> tuple[int, int]:
        """Return (text_start, text_end) of the sentence that a sample belongs to."""
        with self._changed:
            index = bisect_right(self._sentence_starts, position) - 1
            return self._sentences[max(0, index)] if self._sentences else (0, 0)

    def _has_room(self) -> bool:
        return self._end - self._position < self._max_ahead

    def _trim(self) -> None:
        start = self._end - self._max_kept
        num_old = 0
        for block, at in zip(self._blocks, self._starts, strict=True):
            block_end = at + len(block)
            if block_end > start or block_end > self._position:
                break
            num_old += 1
        if num_old:
            del self._blocks[:num_old]
            del self._starts[:num_old]
            num_gone = bisect_right(self._sentence_starts, self._starts[0] if self._starts else 0)
            del self._sentences[: max(0, num_gone - 1)]
            del self._sentence_starts[: max(0, num_gone - 1)]
