"""One soak at the virtual clock: a session, a world with faults, and what is told meanwhile."""

import heapq
import itertools
import queue
import threading
from array import array
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from random import Random

from benchmarks.soak_backends import Trouble, TroubledBackend
from benchmarks.soak_clock import SoakClock
from benchmarks.soak_edits import random_edits
from benchmarks.soak_faults import FAULTS
from benchmarks.soak_memory import MemoryWatch
from benchmarks.soak_sound import MICROPHONES, Heard, SoakDevices, SoundWorld
from engine.backends.protocols import Backend, BackendContext
from engine.core.config import Settings
from engine.core.events import Event, FinalWords, Notice, RecordingStarted, SpanMarked
from engine.core.types import BackendKind, SpanKind
from engine.session.pool import CreateBackend
from engine.session.services import Services
from engine.session.session import Session
from engine.text.document import TranscriptDocument

LOOK_S = 0.1
"""Virtual time between two looks at whether everybody keeps step."""
_MAX_BACKLOG_S = 0.4
_DRAIN_S = 0.5
MEMORY_S = 120.0
"""Virtual time between two measurements of memory."""
_PATIENCE_S = 60.0


class Soak:
    """A session on which faults come down. Thread: the one that directs, but where it says.

    Args:
        folder: for the recording.
        heard: what the microphones hear.
        create_backend: makes the backends that do the work.
        model_path: where models are.
        settings: of the session; names the backends.
    """

    def __init__(
        self,
        folder: Path,
        heard: Heard,
        create_backend: CreateBackend,
        model_path: Callable[[str], Path],
        settings: Settings,
    ) -> None:
        self.clock = SoakClock()
        self.world = SoundWorld(self.clock, heard)
        self.devices = SoakDevices(self.world)
        self.troubles = {kind: Trouble() for kind in BackendKind}
        self.kinds_on_gpu = {BackendKind.RECOGNIZER, BackendKind.DIARIZER}
        self.edits: queue.SimpleQueue[int] = queue.SimpleQueue()
        self.told: Counter[str] = Counter()
        self.notices: Counter[str] = Counter()
        self.words = array("q")  # (start, end, hash of the text) of each, in turn
        self.memory = MemoryWatch()
        self._document = TranscriptDocument()
        self.num_faults: Counter[str] = Counter()
        self._create = create_backend
        self._actions: list[tuple[float, int, Callable[[], None]]] = []
        self._number = itertools.count()
        self._stacks: list[ExitStack] = []
        self._next_look_s = self._next_drain_s = self._next_memory_s = 0.0
        self._has_paused = threading.Event()
        self.session = Session(
            settings,
            Services(
                devices=self.devices,
                create_backend=self._make,
                model_path=model_path,
                sessions_dir=folder,
                clock=self.clock,
                slept_s=lambda: self.world.slept_s,
            ),
        )
        self.session.subscribe(self._take)

    def run(self, seconds: float, faults: list[tuple[float, str]], seed: int) -> None:
        """Record for so long of virtual time, and stop; every fault is over by then."""
        rng = Random(seed)
        self.session.load()
        for kind in (BackendKind.RECOGNIZER, BackendKind.DIARIZER, BackendKind.SYNTHESIZER):
            self.session.wait_until_loaded(kind)
        self.clock.is_in_step = self._keep_step
        for at_s, name in faults:
            self._at(at_s, self._fault(name, rng))
        self.session.start(MICROPHONES[0]).result(_PATIENCE_S)
        try:
            while self._actions and self._actions[0][0] < seconds:
                at_s, _, action = heapq.heappop(self._actions)
                self.clock.meet(at_s)
                action()
            self.clock.meet(seconds)
            # What was to be over later is over now.
            while self._actions:
                heapq.heappop(self._actions)[2]()
        finally:
            self.clock.open_up()
            for stack in self._stacks:
                stack.close()
        self.session.stop().result(_PATIENCE_S)
        self.session.drain_events()

    def after(self, seconds: float, action: Callable[[], None]) -> None:
        """Do something so much later."""
        self._at(self.clock.now_s() + seconds, action)

    def enter_context(self, manager: AbstractContextManager[None]) -> ExitStack:
        """Enter a context that is left at the end of the soak, if not before."""
        stack = ExitStack()
        stack.enter_context(manager)
        self._stacks.append(stack)
        return stack

    def pause_for(self, seconds: float) -> None:
        """Pause the recording and let so much time go by."""
        self._has_paused.clear()
        self.session.pause().result(_PATIENCE_S)
        self.clock.let_run()
        if not self._has_paused.wait(_PATIENCE_S):
            raise TimeoutError("the recording does not pause")
        self.clock.advance(seconds)
        self.session.resume().result(_PATIENCE_S)

    def _at(self, at_s: float, action: Callable[[], None]) -> None:
        heapq.heappush(self._actions, (at_s, next(self._number), action))

    def _fault(self, name: str, rng: Random) -> Callable[[], None]:
        def act() -> None:
            self.num_faults[name] += 1
            FAULTS[name](self, rng)

        return act

    def _make(self, kind: BackendKind, backend_id: str, context: BackendContext) -> Backend:
        inner = self._create(kind, backend_id, context)
        if kind is BackendKind.SYNTHESIZER:
            return inner
        return TroubledBackend(inner, self.troubles[kind], self.clock, context)

    def _keep_step(self) -> bool:
        """Whether everybody has done what there was to do. Thread: capture."""
        output = self.devices.output
        if output is not None and output.is_hungry and self.world.is_loudspeaker_there:
            return False
        now_s = self.clock.now_s()
        if now_s < self._next_look_s:
            return True
        health = self.session.health()
        for kind, backlog_s in (
            (BackendKind.RECOGNIZER, health.recognizer_backlog_s),
            (BackendKind.DIARIZER, health.diarizer_backlog_s),
        ):
            if backlog_s > _MAX_BACKLOG_S and not self.troubles[kind].is_waiting:
                return False
        self._next_look_s = now_s + LOOK_S
        if now_s >= self._next_drain_s:
            self._next_drain_s = now_s + _DRAIN_S
            self.session.drain_events(_PATIENCE_S)
        if now_s >= self._next_memory_s:
            self._next_memory_s = now_s + MEMORY_S
            self.memory.measure(now_s / 3600)
        return True

    def _take(self, event: Event) -> None:
        """Count what is told, and edit. Thread: events."""
        self.told[type(event).__name__] += 1
        if isinstance(event, RecordingStarted):
            self._document = TranscriptDocument()
        self._document.apply(event)
        match event:
            case FinalWords(words=words):
                for word in words:
                    self.words.extend((word.start, word.end, hash(word.text)))
            case SpanMarked(kind=SpanKind.PAUSE):
                self._has_paused.set()
            case Notice(severity=severity, message=message):
                shape = "".join("#" if char.isdigit() else char for char in message)
                self.notices[f"{severity}: {shape}"] += 1
        while not self.edits.empty():
            self.session.edit(random_edits(self._document, Random(self.edits.get())))
