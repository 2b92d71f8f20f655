"""Cyclic garbage dies on the main thread, whatever thread made it."""

import gc
import threading
import weakref

import pytest
from pytestqt.qtbot import QtBot

from app.garbage import GarbageCollector

pytestmark = pytest.mark.gui


class Node:
    def __init__(self, died_on: list[str]) -> None:
        self.me = self
        weakref.finalize(self, lambda: died_on.append(threading.current_thread().name))


def test_cycles_when_made_on_a_worker_then_they_die_on_the_main_thread(qtbot: QtBot) -> None:
    died_on: list[str] = []
    collector = GarbageCollector()
    collector.start()
    try:

        def make() -> None:
            for _ in range(20_000):
                Node(died_on)

        worker = threading.Thread(target=make, name="worker")
        worker.start()
        worker.join()
        assert died_on == []
        qtbot.waitUntil(lambda: len(died_on) > 0, timeout=5000)
    finally:
        collector.stop()

    assert set(died_on) == {threading.main_thread().name}
    assert gc.isenabled()
