"""Work that would block the main thread, and its results brought back."""

import logging
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from PySide6.QtCore import QObject

from app.bridge import QtEventBridge
from app.unexpected import report, unexpected
from engine.core.errors import CancelledError, EngineError
from engine.core.workers import Workers

logger = logging.getLogger(__name__)
T = TypeVar("T")


class Jobs(QObject):
    """Runs functions on worker threads. Thread: main.

    Args:
        on_error: shows an error nobody else takes. Thread: main.
        parent: owns it.
        log: has the details of what nobody foresaw.
    """

    def __init__(
        self,
        on_error: Callable[[EngineError], None],
        parent: QObject | None = None,
        *,
        log: Path | None = None,
    ) -> None:
        super().__init__(parent)
        self._on_error = on_error
        self.log = log
        self._bridge = QtEventBridge(self._call_all, self)
        self._pool = Workers(3, "vivavoce-job")
        self._ordered = Workers(1, "vivavoce-order")
        self._is_closed = False

    def run(
        self,
        work: Callable[[], T],
        on_done: Callable[[T], None] | None = None,
        on_error: Callable[[EngineError], None] | None = None,
    ) -> None:
        """Call `work` on a worker thread, then one of the others on the main thread.

        A cancelled job ends silently.
        """
        if not self._is_closed:
            self._pool.submit(partial(self._run, work, on_done, on_error or self._on_error))

    def run_in_order(
        self,
        work: Callable[[], T],
        on_done: Callable[[T], None] | None = None,
        on_error: Callable[[EngineError], None] | None = None,
    ) -> None:
        """As `run`, but one after the other: for commands that build upon each other."""
        if not self._is_closed:
            self._ordered.submit(partial(self._run, work, on_done, on_error or self._on_error))

    def call_soon(self, function: Callable[[], None]) -> None:
        """Call a function on the main thread. Thread: any."""
        self._bridge.post(function)

    def close(self) -> None:
        """Take no more jobs; running ones end by themselves and nobody is told; idempotent."""
        self._is_closed = True
        for pool in (self._pool, self._ordered):
            pool.close(is_dropping=True)

    def _run(
        self,
        work: Callable[[], Any],
        on_done: Callable[[Any], None] | None,
        on_error: Callable[[EngineError], None],
    ) -> None:
        try:
            result = work()
        except CancelledError:
            return
        except EngineError as caught:
            error = caught
            self.call_soon(lambda: on_error(error))
        except Exception:
            logger.exception("a background job failed")
            self.call_soon(lambda: on_error(unexpected(self.log)))
        else:
            if on_done is not None:
                self.call_soon(lambda: on_done(result))

    def _call_all(self, functions: Sequence[Callable[[], None]]) -> None:
        for function in functions:
            # Views may be gone by then.
            if self._is_closed:
                return
            try:
                function()
            except Exception as error:  # noqa: BLE001 - those behind it come from other jobs
                report(error)
