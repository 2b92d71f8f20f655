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


def test_words_of_a_long_session_when_they_survived_once_then_they_are_set_aside(
    qtbot: QtBot,
) -> None:
    del qtbot
    collector = GarbageCollector()
    collector.start()
    try:
        kept = [[number] for number in range(50_000)]
        gc.collect(0)
        gc.collect(1)
        before = gc.get_freeze_count()
        for _ in range(1000):
            kept += [[number] for number in range(1000)]
            collector.collect()
            if gc.get_freeze_count() > before:
                break
        assert gc.get_freeze_count() > 50_000
    finally:
        collector.stop()
    assert gc.get_freeze_count() == 0


def test_collect_all_when_what_was_set_aside_died_then_it_goes(qtbot: QtBot) -> None:
    del qtbot
    died_on: list[str] = []
    collector = GarbageCollector()
    collector.start()
    try:
        node = Node(died_on)
        collector.collect_all()
        del node
        gc.collect()
        assert died_on == []
        collector.collect_all()
        assert len(died_on) == 1
    finally:
        collector.stop()
