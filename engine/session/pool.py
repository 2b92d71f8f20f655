"""The backends of a session: chosen by id, loaded in the background, waited for by the lanes."""

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from engine.backends.protocols import ON_CPU, Backend, BackendContext, GpuBackend
from engine.core.errors import BackendError, CancelledError, EngineError, reason_of
from engine.core.events import BackendChanged, BackendState, Event, Notice, Severity
from engine.core.sync import CancelToken
from engine.core.types import BackendKind
from engine.core.unexpected import told

logger = logging.getLogger(__name__)

NO_BACKEND = "none"
"""The id that turns a kind off."""
LOAD_ORDER = (
    BackendKind.RECOGNIZER,
    BackendKind.DIARIZER,
    BackendKind.SYNTHESIZER,
    BackendKind.ENCODER,
)
"""One after the other, so that text comes first."""

CreateBackend = Callable[[BackendKind, str, BackendContext], Backend]


@dataclass(slots=True)
class _Slot:
    backend_id: str
    state: BackendState = BackendState.OFF
    backend: Backend | None = None
    error: EngineError | None = None
    is_wanted: bool = False
    done: threading.Event = field(default_factory=threading.Event)


class BackendPool:
    """Holds one backend of each kind.

    Thread: any may select and wait; one loader thread loads.

    Args:
        ids: the chosen backend of each kind.
        create: makes a backend, cheaply.
        context: the context of a backend of a kind.
        post: publishes an event.
    """

    def __init__(
        self,
        ids: dict[BackendKind, str],
        create: CreateBackend,
        context: Callable[[BackendKind], BackendContext],
        post: Callable[[Event], None],
    ) -> None:
        self._create = create
        self._context = context
        self._post = post
        self._lock = threading.Lock()
        self._slots = {kind: _Slot(backend_id) for kind, backend_id in ids.items()}
        self._without_gpu: set[BackendKind] = set()
        self._cancel = CancelToken()
        self._wake = threading.Event()
        self._thread = threading.Thread(target=self._run, name="vivavoce-load", daemon=True)
        self._thread.start()

    def backend_id(self, kind: BackendKind) -> str:
        """Return the chosen id."""
        return self._slots[kind].backend_id

    def select(self, kind: BackendKind, backend_id: str) -> None:
        """Choose another backend; the old one is closed. No stream of it may be open."""
        with self._lock:
            old = self._slots[kind]
            if old.backend_id == backend_id:
                return
            slot = self._slots[kind] = _Slot(backend_id)
        if old.backend is not None:
            old.backend.close()
        if old.is_wanted:
            self.load((kind,))
        else:
            self._tell(kind, slot)

    def load(self, kinds: tuple[BackendKind, ...] = LOAD_ORDER) -> None:
        """Load backends in the background; a failed one is tried again."""
        with self._lock:
            for kind in kinds:
                slot = self._slots[kind]
                slot.is_wanted = True
                if slot.state is BackendState.FAILED:
                    slot.state = BackendState.OFF
                    slot.error = None
                    slot.done.clear()
        self._wake.set()

    def wait(self, kind: BackendKind, cancel: CancelToken) -> Backend | None:
        """Return the backend once it is ready, or None if it is off.

        Raises:
            EngineError: it could not be loaded.
            CancelledError: cancel was set first.
        """
        self.load((kind,))
        while True:
            slot = self._slots[kind]
            if slot.backend_id == NO_BACKEND:
                return None
            if slot.done.wait(0.05):
                if slot.error is not None:
                    raise slot.error
                return slot.backend
            cancel.check()
            self._cancel.check()

    def move_to_cpu(self, kind: BackendKind, cancel: CancelToken) -> Backend | None:
        """Load a backend anew without its GPU, and return it once it is ready; None if it is off.

        The kind stays off the GPU for the life of the pool. No stream of it may be open.

        Raises:
            EngineError: it cannot be loaded there.
            CancelledError: cancel was set first.
        """
        self._without_gpu.add(kind)
        old = self._renew(kind)
        if old.backend is not None:
            old.backend.close()
        return self.wait(kind, cancel)

    def forget(self, kind: BackendKind) -> None:
        """Leave a backend to a thread that does not return from it; another is loaded when needed.

        It is not closed: it is at work.
        """
        self._renew(kind)

    def _renew(self, kind: BackendKind) -> _Slot:
        """Begin anew with a kind and return what was there."""
        with self._lock:
            old = self._slots[kind]
            self._slots[kind] = _Slot(old.backend_id)
        return old

    def gpu_bytes(self) -> int | None:
        """Return the GPU memory of the process; None if no backend runs there."""
        backends: list[object] = [slot.backend for slot in self._slots.values()]
        held = [found.gpu_bytes() for found in backends if isinstance(found, GpuBackend)]
        return max(held, default=0) or None

    def cancel(self) -> None:
        """Load no more; whoever waits for a backend is told so."""
        self._cancel.cancel()
        self._wake.set()

    def close(self, timeout_s: float = 3.0) -> None:
        """Cancel loading and close every backend; idempotent.

        A load that does not return is left to its daemon thread.
        """
        self.cancel()
        self._thread.join(timeout_s)
        if self._thread.is_alive():
            logger.warning("a model is still loading; it is abandoned")
            return
        for slot in self._slots.values():
            backend, slot.backend = slot.backend, None
            if backend is not None:
                backend.close()

    def _run(self) -> None:
        while not self._cancel.is_cancelled:
            self._wake.wait()
            self._wake.clear()
            while (found := self._next_to_load()) is not None and not self._cancel.is_cancelled:
                try:
                    self._load(*found)
                except Exception as error:
                    # Whoever waits for it must not wait for ever.
                    logger.exception("the loader failed")
                    kind, slot = found
                    slot.state = BackendState.FAILED
                    slot.error = BackendError(
                        f"The {kind} could not be loaded: {told(error).text}",
                        advice="Choose another one, or start the program again.",
                    )
                    slot.done.set()

    def _next_to_load(self) -> tuple[BackendKind, _Slot] | None:
        with self._lock:
            for kind in sorted(self._slots, key=_load_rank):
                slot = self._slots[kind]
                if slot.is_wanted and slot.state is BackendState.OFF and not slot.done.is_set():
                    if slot.backend_id == NO_BACKEND:
                        slot.done.set()
                        continue
                    slot.state = BackendState.LOADING
                    return kind, slot
        return None

    def _load(self, kind: BackendKind, slot: _Slot) -> None:
        backend: Backend | None = None

        def progress(fraction: float, text: str) -> None:
            self._tell(kind, slot, backend, progress=fraction, message=text)

        self._tell(kind, slot, message="loading")
        try:
            context = self._context(kind)
            if kind in self._without_gpu:
                context = replace(context, options=(*context.options, ON_CPU))
            backend = self._create(kind, slot.backend_id, context)
            backend.load(progress, self._cancel)
        except CancelledError:
            return
        except EngineError as error:
            slot.error = error
        except Exception as error:
            logger.exception("loading %s %s failed", kind, slot.backend_id)
            slot.error = BackendError(
                f"The {kind} {slot.backend_id} could not be loaded: {reason_of(error)}.",
                advice="Choose another one, or install the program again; its log has the details.",
                command="vivavoce doctor",
            )
        if self._slots[kind] is not slot:
            # Another one was chosen while this one was loading.
            if backend is not None:
                backend.close()
            slot.done.set()
            return
        slot.state = BackendState.FAILED if slot.error else BackendState.READY
        slot.backend = None if slot.error else backend
        self._tell(kind, slot, backend, message=slot.error.text if slot.error else "")
        if slot.backend is not None and slot.backend.spec.note:
            self._post(Notice(Severity.WARNING, slot.backend.spec.note))
        slot.done.set()

    def _tell(
        self,
        kind: BackendKind,
        slot: _Slot,
        backend: Backend | None = None,
        *,
        progress: float = -1.0,
        message: str = "",
    ) -> None:
        spec: Any = backend.spec if backend is not None else None
        self._post(
            BackendChanged(
                kind,
                slot.backend_id,
                slot.state,
                title=spec.title if spec else slot.backend_id,
                device=spec.device if spec else "",
                progress=1.0 if slot.state is BackendState.READY else progress,
                message=message,
                is_trained=spec.is_trained if spec else True,
            )
        )


def _load_rank(kind: BackendKind) -> int:
    return LOAD_ORDER.index(kind) if kind in LOAD_ORDER else len(LOAD_ORDER)
