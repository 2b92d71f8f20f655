"""An input that outlives its device: it is opened again when it is lost, moved or slept through."""

import logging
from collections import deque

from engine.audio.device import InputStream
from engine.audio.provider import FILE_PREFIX
from engine.core.attempt import Attempt
from engine.core.errors import DeviceError, EngineError
from engine.core.timebase import Clock, format_time
from engine.core.unexpected import told
from engine.pipeline.captured import EMPTY, Captured, InputHooks
from engine.pipeline.holes import GROW_S, MAX_SLEEP_GAP_S, Holes
from engine.pipeline.input_change import InputChange
from engine.pipeline.input_notices import InputNotices
from engine.pipeline.intake import Intake
from engine.pipeline.reopening import OFFER_S, WAIT_S, Opened, Reopening
from engine.pipeline.world_time import WorldTime

logger = logging.getLogger(__name__)

SLEPT_REASON = "the computer slept"
_MAX_LAST_READS = 3
"""What came before a loss, the loss, and what came meanwhile."""


class SteadyInput:
    """Brings the samples of whichever device there is, and tells what is missing between them.

    A hole is as long as the world says: from when samples came last to when those that follow
    were taken. Devices are opened, and started again, on other threads, so that one that hangs
    delays nothing.

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
        self._name = name
        # NB: written by the capture thread, read by any.
        self.num_past_overflows = 0
        self._notices = InputNotices(stream.name, hooks.post)
        self._holes = Holes(rate)
        self._intake = Intake(stream, rate, self._holes, self._notices, is_device=self._is_device)
        self._world = WorldTime(clock, hooks.slept_s)
        self._now_s = self._world.now_s()
        self._due: deque[Captured] = deque()  # what has come and was not returned yet
        self._starting: Attempt[None] | None = None  # of the stream, after a pause
        self._has_offered = False
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
        if not self._due:
            self._due.extend(self._take_change() or self._read_device())
        return self._due.popleft() if self._due else Captured(EMPTY)

    def pause(self) -> list[Captured]:
        """Stop the device and return what it still held; nothing is opened until `resume`."""
        self._now_s = self._world.now_s()
        self._reopening.give_up()
        self._change.hold()
        captured = [*self._due]
        self._due.clear()
        if self._stream is None:
            captured.append(self._holes.grow(self._now_s, 0.0))
        elif self._starting is not None and not self._starting.wait(WAIT_S):
            captured.append(self._put_away())
        else:
            captured += self._halt(self._stream)
        self._starting = None
        self._holes.pause(self._now_s)
        return captured

    def resume(self) -> None:
        """Go on after a pause; the time between is no hole."""
        slept_s = self._world.take_sleep()
        self._now_s = self._world.now_s()
        self._holes.resume(self._now_s)
        if self._stream is None:
            self._reopening.begin(self._name)
        elif slept_s and self._is_device:
            self._drop(SLEPT_REASON)
        elif not self._is_device:
            self._stream.start()
        else:
            self._intake.resume(self._now_s)
            self._starting = Attempt(self._stream.start, name="vivavoce-resume")

    def finish(self, *, is_paused: bool) -> list[Captured]:
        """Return what is still to come, or missing, and the end of what was resampled."""
        captured = [] if is_paused else self.pause()
        if self._stream is not None:
            captured.append(Captured(self._intake.flush()))
        return captured

    def close(self) -> None:
        """Release the device; idempotent."""
        self._reopening.give_up()
        self._change.give_up()
        if self._stream is not None:
            self._stream.close()

    # --- while there is a device ---

    def _read_device(self) -> list[Captured]:
        slept_s = self._world.take_sleep()
        if slept_s and self._is_device:
            return [self._wake(slept_s)]
        stream = self._stream
        if stream is None:
            return [self._get_back()]
        try:
            if self._starting is not None:
                if not self._starting.wait(WAIT_S):
                    return []
                starting, self._starting = self._starting, None
                starting.result()
            block = stream.read()
        except Exception as error:  # noqa: BLE001 - whatever a library says, the device is lost
            return [self._lose(self._fault(error))]
        return self._intake.take(block, stream.name, self._now_s)

    def _halt(self, stream: InputStream) -> list[Captured]:
        try:
            stream.pause()
        except Exception as error:  # noqa: BLE001 - as above
            fault = self._fault(error)
            logger.info("the input could not be paused: %s", fault)
            return [*self._read_rest(stream), self._put_away()]
        return self._read_rest(stream)

    def _read_rest(self, stream: InputStream) -> list[Captured]:
        """Take what a stream that is left still holds, so that nothing is missing between."""
        captured: list[Captured] = []
        for i in range(_MAX_LAST_READS):
            try:
                block = stream.read()
            except Exception as error:  # noqa: BLE001 - as above
                fault = self._fault(error)
                logger.info("the rest of the input could not be read: %s", fault)
                break
            is_last = not (len(block.pcm) or block.lost_samples) or i + 1 == _MAX_LAST_READS
            captured += self._intake.take(block, stream.name, self._now_s, is_last=is_last)
            if is_last or block.is_end:
                break
        return captured

    # --- while it is lost ---

    @property
    def _lost_reason(self) -> str:
        return f"the microphone {self._notices.title} was lost"

    def _fault(self, error: Exception) -> EngineError:
        """Return what to tell of a device's error; raise what is none."""
        if isinstance(error, DeviceError):
            return error
        if isinstance(error, EngineError) or not self._is_device:
            raise error
        logger.error("the input %s failed", self._notices.title, exc_info=error)
        return told(error)

    def _lose(self, error: EngineError) -> Captured:
        if not self._holes.is_lost:
            self._notices.lost(error)
        return self._drop(self._lost_reason)

    def _wake(self, slept_s: float) -> Captured:
        self._now_s = self._world.now_s()
        self._notices.woke(slept_s)
        self._holes.limit_sleep(self._now_s)
        if self._stream is None:
            return Captured(EMPTY)
        is_cut = slept_s > MAX_SLEEP_GAP_S
        return self._drop(f"{SLEPT_REASON} for {format_time(slept_s)}" if is_cut else SLEPT_REASON)

    def _drop(self, reason: str) -> Captured:
        """Let the stream go and begin to open it again."""
        stream, self._stream = self._stream, None
        assert stream is not None
        self._starting = None
        self.num_past_overflows += stream.num_overflows
        last = self._intake.leave(self._now_s)
        if not self._holes.is_lost:
            self._has_offered = False
        self._holes.lose(reason, self._now_s)
        self._reopening.begin(self._name, stream)
        return last

    def _put_away(self) -> Captured:
        """Let a stream go that cannot be paused; what may hang is closed on another thread."""
        last = self._drop(self._lost_reason)
        self._reopening.give_up()
        return last

    def _get_back(self) -> Captured:
        opened = self._reopening.take()
        if opened is not None:
            self._open(opened)
        if self._stream is not None or self._reopening.is_trying:
            return Captured(EMPTY)  # samples may be coming already
        is_long = self._holes.lost_s(self._now_s) >= OFFER_S
        if is_long and not self._has_offered and self._reopening.error is not None:
            self._has_offered = True
            self._notices.still_lost(self._reopening.error)
        return self._holes.grow(self._now_s, GROW_S)

    def _open(self, opened: Opened) -> None:
        self._stream = opened.stream
        self._intake.begin(opened.stream, opened.at_s)

    # --- while another is chosen ---

    def _take_change(self) -> list[Captured]:
        """Do what `change` asked for; return the last of the old input once it is left."""
        wanted = self._change.take_wanted(self._name)
        if wanted is not None and self._stream is None:
            self._name = wanted
            self._reopening.begin(wanted)
        elif wanted is not None:
            self._change.begin(wanted)
        changed = self._change.take()
        if changed is None:
            return []
        self._now_s = self._world.now_s()
        self._name, opened = changed
        last = self._leave_old()
        self._open(opened)
        return last

    def _leave_old(self) -> list[Captured]:
        old, self._stream = self._stream, None
        self._starting = None
        if old is None:
            self._reopening.give_up()
            return [Captured(EMPTY)]
        last = self._read_rest(old)
        self.num_past_overflows += old.num_overflows
        Attempt(old.close)
        return [*last, Captured(self._intake.flush())]
