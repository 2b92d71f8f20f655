"""Threads that take jobs in order and never keep the process from ending."""

import logging
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

logger = logging.getLogger(__name__)
T = TypeVar("T")


class Workers:
    """A pool of daemon threads.

    The executor of the standard library has its threads joined when the interpreter ends: one job
    that hangs in a device would keep the whole program.

    Args:
        num_threads: at most so many jobs run at once.
        name: of the threads.
    """

    def __init__(self, num_threads: int, name: str) -> None:
        self._num_threads = num_threads
        self._name = name
        self._queue: queue.SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None]
        self._queue = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._lock = threading.Lock()
        self._num_free = threading.Semaphore(0)
        self._is_closed = False

    def submit(self, work: Callable[[], T]) -> Future[T]:
        """Run a job after those before it; one that comes after `close` is cancelled."""
        future: Future[T] = Future()
        with self._lock:
            if self._is_closed:
                future.cancel()
                return future
            self._queue.put((future, work))
            if not self._num_free.acquire(blocking=False) and (
                len(self._threads) < self._num_threads
            ):
                number = len(self._threads)
                thread = threading.Thread(
                    target=self._run, name=f"{self._name}_{number}", daemon=True
                )
                self._threads.append(thread)
                thread.start()
        return future

    def close(self, timeout_s: float = 0.0, *, is_dropping: bool = False) -> bool:
        """Take no more jobs and end the threads once what was given is done; idempotent.

        Args:
            timeout_s: how long to wait for them, in all.
            is_dropping: cancel the jobs that have not begun.

        Returns:
            Whether they have ended.
        """
        with self._lock:
            self._is_closed = True
            if is_dropping:
                self._drop()
            for _ in self._threads:
                self._queue.put(None)
        each_s = timeout_s / max(1, len(self._threads))
        for thread in self._threads:
            if thread is not threading.current_thread():
                thread.join(each_s)
        return not any(thread.is_alive() for thread in self._threads)

    def _drop(self) -> None:
        try:
            while True:
                item = self._queue.get_nowait()
                if item is not None:
                    item[0].cancel()
        except queue.Empty:
            pass

    def _run(self) -> None:
        while (item := self._queue.get()) is not None:
            future, work = item
            if future.set_running_or_notify_cancel():
                try:
                    result = work()
                except Exception as error:
                    logger.debug("a job failed", exc_info=True)
                    future.set_exception(error)
                else:
                    future.set_result(result)
                    del result
            # So that what the job held does not live on until the next one comes.
            del item, future, work
            self._num_free.release()
