"""Captured audio by sample index: the newest in memory, the rest where it is kept on disk."""

import threading
from bisect import bisect_left
from collections.abc import Callable

import numpy as np

from engine.core.types import Pcm

DiskReader = Callable[[int, int], Pcm]
"""Returns the samples [start, end) from disk; may return fewer, never more."""


class AudioTimeline:
    """The session clock's audio. One thread appends; any number read through cursors.

    Memory: `capacity` float32 samples, allocated once. Samples that fell out of memory are read
    through `disk`, or are gone.
    """

    def __init__(self, sample_rate: int, capacity: int, disk: DiskReader | None = None) -> None:
        if sample_rate <= 0 or capacity <= 0:
            raise ValueError(f"rate and capacity must be positive, got {sample_rate}, {capacity}")
        self.sample_rate = sample_rate
        self._capacity = capacity
        self._disk = disk
        self._memory = np.zeros(capacity, dtype=np.float32)
        self._end = 0
        self._is_closed = False
        self._cursors: set[TimelineCursor] = set()
        # NB: appended to by the capture thread, read by any.
        self._holds: list[int] = []
        self._changed = threading.Condition()

    @property
    def start(self) -> int:
        """First sample that can still be read."""
        return 0 if self._disk is not None else max(0, self._end - self._capacity)

    @property
    def end(self) -> int:
        """Samples appended so far."""
        return self._end

    @property
    def is_closed(self) -> bool:
        """Whether no more samples will come."""
        return self._is_closed

    def append(self, pcm: Pcm) -> None:
        """Add samples at the end and wake the readers. Thread: the capture thread."""
        with self._changed:
            for offset in range(0, len(pcm), self._capacity):
                self._store(pcm[offset : offset + self._capacity])
            self._changed.notify_all()

    def hold(self) -> None:
        """Say that what follows may come much later: what was said so far is complete.

        Thread: the capture thread.
        """
        with self._changed:
            if self._holds[-1:] != [self._end]:
                self._holds.append(self._end)
            self._changed.notify_all()

    def close(self) -> None:
        """Say that no more will come; readers see the rest and then the end."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()

    def forget_disk(self) -> None:
        """Read no more from disk: what is kept there ends."""
        self._disk = None

    def open_cursor(self, position: int = 0, *, stops_at_holds: bool = False) -> "TimelineCursor":
        """Return a cursor at a sample index; it counts for `wait_for_readers`.

        Args:
            position: the first sample it will read.
            stops_at_holds: whether it reads on past a `hold` only after `take_hold`.
        """
        cursor = TimelineCursor(self, position, stops_at_holds=stops_at_holds)
        with self._changed:
            self._cursors.add(cursor)
        return cursor

    def read(self, start: int, end: int) -> tuple[int, Pcm]:
        """Return (index of the first sample, samples) of what is left of [start, end).

        The first index is later than `start` where samples are gone for good.
        """
        with self._changed:
            end = min(end, self._end)
            oldest = max(0, self._end - self._capacity)
            if start >= oldest:
                return start, self._copy(start, end)
        disk = self._disk
        if disk is None:
            with self._changed:
                first = max(start, self._end - self._capacity)
                return first, self._copy(first, max(first, end))
        # One read never straddles disk and memory: the next one continues.
        pcm = disk(start, min(end, oldest))
        if len(pcm) or end <= start:
            return start, pcm
        # What never reached the disk is gone: whoever waits for it would wait for ever.
        with self._changed:
            first = max(start, self._end - self._capacity)
            return first, self._copy(first, max(first, end))

    def wait_for_readers(self, max_backlog: int, timeout_s: float) -> bool:
        """Block until no cursor is more than `max_backlog` samples behind; False on timeout.

        For sources that bring samples as fast as they are read.
        """
        with self._changed:
            return self._changed.wait_for(
                lambda: all(self._end - c.position <= max_backlog for c in self._cursors),
                timeout_s,
            )

    def _store(self, pcm: Pcm) -> None:
        at = self._end % self._capacity
        head = min(len(pcm), self._capacity - at)
        self._memory[at : at + head] = pcm[:head]
        self._memory[: len(pcm) - head] = pcm[head:]
        self._end += len(pcm)

    def _copy(self, start: int, end: int) -> Pcm:
        out = np.empty(max(0, end - start), dtype=np.float32)
        at = start % self._capacity
        head = min(len(out), self._capacity - at)
        out[:head] = self._memory[at : at + head]
        out[head:] = self._memory[: len(out) - head]
        return out

    def _wait_past(self, position: int, timeout_s: float) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self._end > position or self._is_closed, timeout_s)

    def _next_hold(self, position: int) -> int | None:
        """Return the first hold at or behind a sample."""
        with self._changed:
            at = bisect_left(self._holds, position)
            return self._holds[at] if at < len(self._holds) else None

    def _moved(self) -> None:
        with self._changed:
            self._changed.notify_all()

    def _drop(self, cursor: "TimelineCursor") -> None:
        with self._changed:
            self._cursors.discard(cursor)
            self._changed.notify_all()


class TimelineCursor:
    """A reader's place on a timeline. Thread: the reader's, except `position` and `backlog`."""

    def __init__(
        self, timeline: AudioTimeline, position: int, *, stops_at_holds: bool = False
    ) -> None:
        self._timeline = timeline
        self._stops_at_holds = stops_at_holds
        self._taken_until = 0  # holds before it were taken
        # NB: written by the reader alone, read by any thread; one int assignment.
        self._position = position

    @property
    def position(self) -> int:
        """The next sample it will read."""
        return self._position

    @property
    def backlog(self) -> int:
        """Samples that wait to be read."""
        return max(0, self._timeline.end - self._position)

    @property
    def is_at_end(self) -> bool:
        """Whether everything was read and no more will come."""
        return self._timeline.is_closed and self._position >= self._timeline.end

    def read(self, max_samples: int, timeout_s: float) -> tuple[int, Pcm]:
        """Wait for samples and take at most `max_samples`.

        Returns:
            (index of the first sample, samples); none on timeout, at the end, or at a hold. The
            index is later than the position where samples are gone for good.
        """
        self._timeline._wait_past(self._position, timeout_s)
        start, pcm = self._timeline.read(self._position, self._position + max_samples)
        # Asked for afterwards: whatever lies behind a hold came after it.
        hold = self._coming_hold()
        if hold is not None and start <= hold < start + len(pcm):
            pcm = pcm[: hold - start]
        self._position = start + len(pcm)
        if len(pcm):
            self._timeline._moved()
        return start, pcm

    def take_hold(self) -> bool:
        """Return whether it stands at a hold, and let it read on; each is told once."""
        is_held = self._coming_hold() == self._position
        if is_held:
            self._taken_until = self._position + 1
        return is_held

    def skip(self, num_samples: int) -> None:
        """Go on without the next samples, at most to where the audio ends now."""
        self._position = min(self._position + num_samples, self._timeline.end)
        self._timeline._moved()

    def go_back(self, position: int) -> None:
        """Read again from an earlier sample on, or from the first that is still there."""
        self._position = min(self._position, max(position, self._timeline.start, 0))
        self._taken_until = min(self._taken_until, self._position)

    def _coming_hold(self) -> int | None:
        if not self._stops_at_holds:
            return None
        return self._timeline._next_hold(max(self._position, self._taken_until))

    def close(self) -> None:
        """Stop counting for `wait_for_readers`; idempotent."""
        self._timeline._drop(self)
