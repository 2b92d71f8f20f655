"""Objects from any thread reach the main thread in order."""

import threading
from collections.abc import Sequence
from pathlib import Path

import pytest
from PySide6.QtCore import QObject, Qt, Signal
from pytestqt.qtbot import QtBot

from app.bridge import QtEventBridge
from app.jobs import Jobs
from engine.core.errors import CancelledError, EngineError, StoreError
from engine.core.unexpected import UnexpectedError

pytestmark = pytest.mark.gui


class _Emitter(QObject):
    told = Signal(bool, Qt.ConnectionType)


def test_a_signal_with_bool_and_enum_survives_five_thousand_emits(qtbot: QtBot) -> None:
    # PySide6 6.12.0 lost a reference of True at each emit and aborted after some hundred.
    emitter, seen = _Emitter(), []
    emitter.told.connect(lambda is_on, kind: seen.append((is_on, kind)))
    for _ in range(5000):
        emitter.told.emit(True, Qt.ConnectionType.QueuedConnection)
    assert seen == [(True, Qt.ConnectionType.QueuedConnection)] * 5000
    assert qtbot is not None


def test_objects_of_several_threads_arrive_in_each_threads_order(qtbot: QtBot) -> None:
    taken: list[tuple[int, int]] = []
    where: set[int] = set()

    def deliver(batch: Sequence[tuple[int, int]]) -> None:
        where.add(threading.get_ident())
        taken.extend(batch)

    bridge = QtEventBridge(deliver)

    def post(worker: int) -> None:
        for number in range(2000):
            bridge.post((worker, number))

    threads = [threading.Thread(target=post, args=(worker,)) for worker in range(3)]
    for thread in threads:
        thread.start()
    qtbot.waitUntil(lambda: len(taken) == 6000, timeout=10_000)
    for thread in threads:
        thread.join()
    assert where == {threading.get_ident()}
    for worker in range(3):
        assert [number for who, number in taken if who == worker] == list(range(2000))


def test_a_burst_costs_one_delivery(qtbot: QtBot) -> None:
    batches: list[int] = []
    bridge = QtEventBridge(lambda batch: batches.append(len(batch)))
    for number in range(500):
        bridge.post(number)
    qtbot.waitUntil(lambda: bool(batches))
    assert batches == [500]


def test_an_object_posted_while_a_batch_is_delivered_comes_with_the_next(qtbot: QtBot) -> None:
    batches: list[list[object]] = []

    def deliver(batch: Sequence[object]) -> None:
        batches.append(list(batch))
        if len(batches) == 1:
            bridge.post("second")

    bridge = QtEventBridge(deliver)
    bridge.post("first")
    qtbot.waitUntil(lambda: len(batches) == 2)
    assert batches == [["first"], ["second"]]


def test_a_job_runs_elsewhere_and_its_result_comes_back(qtbot: QtBot) -> None:
    jobs, seen = Jobs(lambda _: None), []
    jobs.run(threading.get_ident, lambda ident: seen.append((ident, threading.get_ident())))
    qtbot.waitUntil(lambda: bool(seen))
    worker, main = seen[0]
    assert main == threading.get_ident() != worker
    jobs.close()


def test_a_failed_job_is_told_as_an_error_and_a_cancelled_one_not_at_all(
    qtbot: QtBot, caplog: pytest.LogCaptureFixture
) -> None:
    errors: list[EngineError] = []
    jobs = Jobs(errors.append, log=Path("the.log"))

    def fail(error: Exception) -> None:
        raise error

    jobs.run(lambda: fail(CancelledError("cancelled")))
    jobs.run(lambda: fail(StoreError("The disk is full.", advice="Free some.")))
    jobs.run(lambda: fail(ZeroDivisionError("oops")))
    qtbot.waitUntil(lambda: len(errors) == 2)
    unforeseen, foreseen = sorted(errors, key=lambda error: isinstance(error, StoreError))
    assert foreseen.text == "The disk is full. Free some."
    assert isinstance(unforeseen, UnexpectedError)
    assert "It is not your fault." in unforeseen.text
    assert "the.log" in unforeseen.text
    assert "oops" not in unforeseen.text
    assert "a background job failed" in caplog.text
    jobs.close()
    jobs.run(lambda: fail(StoreError("too late")))
