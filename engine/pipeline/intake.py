"""From what a device brings to what is recorded: resampled, with what is missing told."""

from dataclasses import replace

import numpy as np

from engine.audio.device import InputBlock, InputStream
from engine.audio.resample import StreamResampler
from engine.core.timebase import rescale
from engine.core.types import Pcm
from engine.pipeline.captured import EMPTY, Captured
from engine.pipeline.holes import Holes
from engine.pipeline.input_notices import InputNotices
from engine.pipeline.resumption import Resumption

BUSY_REASON = "the computer was too busy to take the microphone's samples"


class Intake:
    """Takes the blocks of one device after the other. Thread: the capture thread.

    Args:
        stream: the first.
        rate: of the session, Hz.
        holes: what is missing.
        notices: told when a device is back.
        is_device: whether it is a device, and no file, which never loses samples.
    """

    def __init__(
        self,
        stream: InputStream,
        rate: int,
        holes: Holes,
        notices: InputNotices,
        *,
        is_device: bool,
    ) -> None:
        self._rate = rate
        self._holes = holes
        self._notices = notices
        self._is_device = is_device
        self._device_rate = stream.sample_rate
        self._resampler = StreamResampler(self._device_rate, rate)
        self._resumption: Resumption | None = None

    def begin(self, stream: InputStream, opened_s: float) -> None:
        """Take from another stream.

        Args:
            stream: it.
            opened_s: world time before which its first sample cannot have been taken.
        """
        self._device_rate = stream.sample_rate
        self._resampler = StreamResampler(self._device_rate, self._rate)
        self._resumption = Resumption(self._device_rate, opened_s)

    def resume(self, now_s: float) -> None:
        """The same stream is started again; what it brings may end a hole."""
        if self._holes.is_lost:
            self._resumption = Resumption(self._device_rate, now_s)

    def take(
        self, block: InputBlock, title: str, now_s: float, *, is_last: bool = False
    ) -> list[Captured]:
        """Return what is known by now of the samples that have come, in order.

        Args:
            block: they, and what the driver knows to be missing before them.
            title: the device's name.
            now_s: world time.
            is_last: whether none will follow for now, so that nothing is held back.
        """
        if not self._is_device:
            return [self._told(block)]
        if not self._holes.is_lost:
            self._notices.now(title)
        is_late = self._resumption is None and self._holes.is_late(now_s)
        # A driver that tells its losses needs no second opinion.
        if is_late and len(block.pcm) and not block.lost_samples:
            self._resumption = Resumption.after_silence(self._device_rate)
        if self._resumption is not None:
            return self._resume_after_hole(self._resumption, block, title, now_s, is_last=is_last)
        if len(block.pcm) or block.lost_samples:
            self._holes.fill(now_s)
        return [self._told(block)]

    def leave(self, now_s: float) -> Captured:
        """Return what is left of a stream that is lost."""
        held, self._resumption = self._resumption, None
        if held is None:
            return Captured(self.flush())
        if self._holes.is_lost or not held.has_samples:
            return Captured(EMPTY)  # they belong to the hole, which lasts
        captured = self._settle(held, now_s)
        return replace(captured, pcm=np.concatenate((captured.pcm, self.flush())))

    def flush(self) -> Pcm:
        """Return the end of what was resampled."""
        return self._resampler.flush()

    def _told(self, block: InputBlock) -> Captured:
        pcm = self._resampler.push(block.pcm) if len(block.pcm) else EMPTY
        if block.is_end:
            pcm = np.concatenate((pcm, self.flush()))
        lost = rescale(block.lost_samples, self._device_rate, self._rate)
        reason = BUSY_REASON if lost else ""
        return Captured(pcm, lost, reason, is_end=block.is_end, is_truncated=block.is_truncated)

    def _resume_after_hole(
        self, resumption: Resumption, block: InputBlock, title: str, now_s: float, *, is_last: bool
    ) -> list[Captured]:
        """Hold the first samples back until it is known when they were taken."""
        if block.lost_samples and resumption.has_samples:
            # What is held was taken before what the driver lost, and this block after it.
            resumption.count(block.lost_samples + len(block.pcm), now_s)
            self._resumption = None
            return [self._settle(resumption, now_s, title), self._told(block)]
        resumption.push(block.pcm, now_s)
        is_settled = resumption.is_settled(self._holes.filled_s, now_s)
        if not (is_settled or is_last or block.is_end):
            return [Captured(EMPTY)]
        self._resumption = None
        if resumption.has_samples:
            captured = self._settle(resumption, now_s, title)
        else:
            captured = self._holes.grow(now_s, 0.0)
        return [replace(captured, is_end=block.is_end)]

    def _settle(self, resumption: Resumption, now_s: float, title: str = "") -> Captured:
        pcm, hole_s = resumption.settle(self._holes.filled_s)
        if self._holes.is_lost:
            filled_s = self._holes.filled_s
            end_s = now_s if filled_s is None else filled_s + hole_s
            self._notices.back(title, self._holes.lost_s(end_s))
        return self._holes.end(self._resampler.push(pcm), hole_s, now_s, resumption.reason)
