"""An input that outlives its device: it is opened again when it is lost, moved or slept through."""

import logging
from dataclasses import replace

import numpy as np

from engine.audio.device import InputBlock, InputStream
from engine.audio.provider import FILE_PREFIX
from engine.audio.resample import StreamResampler
from engine.core.attempt import Attempt
from engine.core.errors import DeviceError
from engine.core.timebase import Clock, format_time, rescale, samples
from engine.pipeline.captured import Captured, InputHooks
from engine.pipeline.input_change import InputChange
from engine.pipeline.input_notices import InputNotices
from engine.pipeline.reopening import OFFER_S, Opened, Reopening
from engine.pipeline.resumption import Resumption
from engine.pipeline.world_time import WorldTime

logger = logging.getLogger(__name__)

GROW_S = 1.0
"""A hole is told in steps of so much while it lasts."""
HOLE_S = 0.4
"""A device that was silent for so long may have lost samples without a word."""
MAX_SLEEP_GAP_S = 3600.0
"""A longer sleep is drawn as long as this: silence takes room on disk and time to read."""
BUSY_REASON = "the computer was too busy to take the microphone's samples"
_EMPTY = np.zeros(0, dtype=np.float32)


class SteadyInput:
    """Brings the samples of whichever device there is, and tells what is missing between them.

    A hole is as long as the world says: from when samples came last to when those that follow
    were taken. Devices are opened on other threads, so that one that hangs delays nothing.

    Thread: the capture thread; `change` from any, the first `start` from the one that opened it.

    Args:
        stream: opened and not started.
        name: what it was opened as.
        rate: of the session, Hz.
        clock: host time.
        hooks: see `InputHooks`.
    """

    def __init__(
        self, stream: InputStream, name: str, rate: int, clock: Clock, hooks: InputHooks
    ) -> None:
        self._stream: InputStream | None = stream
        self._is_live = stream.is_live
        # A file stands still while the computer sleeps, and begins anew when it is opened again.
        self._is_device = stream.is_live and not name.startswith(FILE_PREFIX)
        self._rate = rate
        self._clock = clock
        self._hooks = hooks
        self._resampler = StreamResampler(stream.sample_rate, rate)
        # NB: written by the capture thread, read by any.
        self.num_past_overflows = 0
        self._notices = InputNotices(stream.name, hooks.post)
        self._name = name
        self._world = WorldTime(clock, hooks.slept_s)
        self._now_s = self._world.now_s()
        # World time up to which samples or holes were told; None until the first sample came.
        self._filled_s: float | None = None
        self._lost_since_s: float | None = None
        self._reason = ""
        self._is_gap_told = False
        self._has_offered = False
        self._resumption: Resumption | None = None
        self._reopening = Reopening(hooks.open_input, self._world.now_s)
        self._change = InputChange(hooks.open_input, self._world.now_s, self._notices)

    @property
    def title(self) -> str:
        """The device's name."""
        return self._notices.title

    @property
    def num_overflows(self) -> int:
        """How often samples were lost since it was opened."""
        stream = self._stream
        return self.num_past_overflows + (stream.num_overflows if stream is not None else 0)

    @property
    def is_live(self) -> bool:
        """Whether it brings samples at its own pace."""
        return self._is_live

    def start(self) -> None:
        """Start the device.

        Raises:
            DeviceError: it does not start.
        """
        assert self._stream is not None
        self._stream.start()

    def change(self, name: str) -> None:
        """Go over to another input as soon as it is open; the old one stays if it cannot be."""
        self._change.ask(name)

    def read(self) -> Captured:
        """Return what has come since the last read; waits for devices, a fifth of a second at most.

        Raises:
            EngineError: a source that is no device has failed.
        """
        self._now_s = self._world.now_s()
        last = self._take_change()
        if last is not None:
            return last
        slept_s = self._world.take_sleep()
        if slept_s and self._is_device:
            return self._wake(slept_s)
        if self._stream is None:
            return self._get_back()
        try:
            block = self._stream.read()
        except DeviceError as error:
            return self._lose(error)
        return self._take(block)

    def pause(self) -> Captured:
        """Stop the device and return what it still held."""
        self._now_s = self._world.now_s()
        self._reopening.give_up()
        if self._stream is None:
            return self._grow(0.0)
        try:
            self._stream.pause()
            return self._take(self._stream.read(), is_last=True)
        except DeviceError as error:
            logger.info("the input could not be paused: %s", error)
            return self._drop()

    def resume(self) -> None:
        """Go on after a pause; the time between is no hole."""
        slept_s = self._world.take_sleep()
        self._now_s = self._world.now_s()
        self._filled_s, self._is_gap_told = None, False
        if self._stream is None:
            self._reopening.begin(self._name)
        elif slept_s and self._is_device:
            self._drop()
        else:
            self._start_again(self._stream)

    def finish(self, *, is_paused: bool) -> Captured:
        """Return what is still to come, or missing, and the end of what was resampled."""
        captured = Captured(_EMPTY) if is_paused else self.pause()
        if self._stream is None:
            return captured
        return replace(captured, pcm=np.concatenate((captured.pcm, self._resampler.flush())))

    def close(self) -> None:
        """Release the device; idempotent."""
        self._reopening.give_up()
        self._change.give_up()
        if self._stream is not None:
            self._stream.close()

    def _start_again(self, stream: InputStream) -> None:
        try:
            stream.start()
        except DeviceError as error:
            self._lose(error)
            return
        if self._lost_since_s is not None:
            self._resumption = Resumption(stream.sample_rate, self._now_s)

    # --- while it delivers ---

    def _take(self, block: InputBlock, *, is_last: bool = False) -> Captured:
        assert self._stream is not None
        n = len(block.pcm)
        if self._is_device:
            if self._lost_since_s is None:
                self._notices.now(self._stream.name)
            is_late = self._filled_s is not None and self._now_s - self._filled_s > HOLE_S
            # A driver that tells its losses needs no second opinion.
            if n and is_late and self._resumption is None and not block.lost_samples:
                self._resumption = Resumption.after_silence(self._stream.sample_rate)
            if self._resumption is not None:
                return self._resume_after_hole(block, is_last=is_last)
            if n:
                self._filled_s = self._now_s
        pcm = self._resampler.push(block.pcm) if n else _EMPTY
        if block.is_end:
            pcm = np.concatenate((pcm, self._resampler.flush()))
        lost = rescale(block.lost_samples, self._stream.sample_rate, self._rate)
        reason = BUSY_REASON if lost else ""
        return Captured(pcm, lost, reason, is_end=block.is_end, is_truncated=block.is_truncated)

    def _resume_after_hole(self, block: InputBlock, *, is_last: bool) -> Captured:
        """Hold the first samples back until it is known when they were taken."""
        resumption = self._resumption
        assert resumption is not None
        assert self._stream is not None
        resumption.push(block.pcm, self._now_s)
        is_settled = resumption.is_settled(self._filled_s, self._now_s)
        if not (is_settled or is_last or block.is_end):
            return Captured(_EMPTY)
        self._resumption = None
        if not resumption.has_samples:
            return self._grow(0.0)
        pcm, hole_s = resumption.settle(self._filled_s)
        lost = samples(hole_s, self._rate)
        reason = self._reason if self._lost_since_s is not None else resumption.reason
        is_same_gap, self._is_gap_told = self._is_gap_told, False
        if self._lost_since_s is not None:
            end_s = self._now_s if self._filled_s is None else self._filled_s + hole_s
            self._notices.back(self._stream.name, end_s - self._lost_since_s)
            self._lost_since_s = None
        self._filled_s = self._now_s
        return Captured(
            self._resampler.push(pcm), lost, reason, is_same_gap=is_same_gap, is_end=block.is_end
        )

    # --- while it is lost ---

    def _lose(self, error: DeviceError) -> Captured:
        if self._lost_since_s is None:
            self._notices.lost(error)
            self._reason = f"the microphone {self._notices.title} was lost"
        return self._drop()

    def _wake(self, slept_s: float) -> Captured:
        self._now_s = self._world.now_s()
        self._notices.woke(slept_s)
        if self._filled_s is not None:
            self._filled_s = max(self._filled_s, self._now_s - MAX_SLEEP_GAP_S)
        if self._stream is None:
            return Captured(_EMPTY)
        self._reason = "the computer slept"
        if slept_s > MAX_SLEEP_GAP_S:
            self._reason += f" for {format_time(slept_s)}"
        return self._drop()

    def _drop(self) -> Captured:
        """Let the stream go and begin to open it again."""
        stream, self._stream = self._stream, None
        assert stream is not None
        self.num_past_overflows += stream.num_overflows
        held, self._resumption = self._resumption, None
        if self._lost_since_s is None:
            self._lost_since_s = self._now_s if self._filled_s is None else self._filled_s
            self._has_offered = False
        self._reopening.begin(self._name, stream)
        if held is not None:
            return Captured(_EMPTY)  # no sample of it was told yet
        return Captured(self._resampler.flush())

    def _get_back(self) -> Captured:
        assert self._lost_since_s is not None
        opened = self._reopening.take()
        if opened is not None:
            self._open(opened)
        if self._stream is not None or self._reopening.is_trying:
            return Captured(_EMPTY)  # samples may be coming already
        lost_s = self._now_s - self._lost_since_s
        if lost_s >= OFFER_S and not self._has_offered and self._reopening.error is not None:
            self._has_offered = True
            self._notices.still_lost(self._reopening.error)
        return self._grow(GROW_S)

    def _grow(self, least_s: float) -> Captured:
        """Tell the hole as far as it goes by now, if that is enough."""
        if self._filled_s is None or self._lost_since_s is None:
            return Captured(_EMPTY)
        hole_s = self._now_s - self._filled_s
        if hole_s <= least_s:
            return Captured(_EMPTY)
        self._filled_s = self._now_s
        is_same_gap, self._is_gap_told = self._is_gap_told, True
        return Captured(_EMPTY, samples(hole_s, self._rate), self._reason, is_same_gap=is_same_gap)

    def _open(self, opened: Opened) -> None:
        self._stream = opened.stream
        self._resampler = StreamResampler(opened.stream.sample_rate, self._rate)
        self._resumption = Resumption(opened.stream.sample_rate, opened.at_s)

    # --- while another is chosen ---

    def _take_change(self) -> Captured | None:
        """Do what `change` asked for; return the last of the old input once it is left."""
        wanted = self._change.take_wanted(self._name)
        if wanted is not None and self._stream is None:
            self._name = wanted
            self._reopening.begin(wanted)
        elif wanted is not None:
            self._change.begin(wanted)
        changed = self._change.take()
        if changed is None:
            return None
        self._now_s = self._world.now_s()
        self._name, opened = changed
        last = self._leave_old()
        self._open(opened)
        return last

    def _leave_old(self) -> Captured:
        """Take what the input that is left still holds, so that nothing is missing between."""
        old = self._stream
        if old is None:
            self._reopening.give_up()
            return Captured(_EMPTY)
        try:
            last = self._take(old.read(), is_last=True)
        except DeviceError:
            last = Captured(_EMPTY)
        self.num_past_overflows += old.num_overflows
        Attempt(old.close)
        return replace(last, pcm=np.concatenate((last.pcm, self._resampler.flush())))
