"""Recordings on disks that are full, read-only, or taken away."""

import os
import shutil
import threading
import wave
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from engine.audio.virtual import NullInput
from engine.core.errors import StoreError
from engine.core.events import Notice, RecordingStopped, SessionState, Severity
from engine.core.timebase import MonotonicClock
from engine.session.disk import RESERVE_BYTES
from engine.store.library import SessionLibrary
from tests.helpers.full_disk import SmallDisk
from tests.helpers.session import RATE, ScriptedDevices, SessionBench

pytestmark = pytest.mark.expects_log

DISK_MB = 48


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[SmallDisk]:
    folder = tmp_path / "disk"
    folder.mkdir()
    small = SmallDisk(folder, DISK_MB)
    if not small.is_there:
        pytest.skip("disks can be mounted by an administrator alone")
    yield small
    small.take_away()


@pytest.fixture
def make() -> Iterator[Callable[[Path], SessionBench]]:
    benches: list[SessionBench] = []

    def build(folder: Path) -> SessionBench:
        clock = MonotonicClock()
        # As live as a microphone, so that it can be stopped at any time.
        bench = SessionBench(folder, ScriptedDevices([NullInput(clock, RATE)]))
        benches.append(bench)
        return bench

    yield build
    for bench in benches:
        bench.session.close()
    assert [t.name for t in threading.enumerate() if t.name.startswith("vivavoce")] == []


def _until(condition: Callable[[], bool], timeout_s: float = 60.0) -> None:
    clock = MonotonicClock()
    end_s = clock.now_s() + timeout_s
    while not condition():
        assert clock.now_s() < end_s, "it did not happen in time"
        clock.sleep(0.01)


def _told(bench: SessionBench, text: str) -> bool:
    return any(text in event.message for event in bench.told(Notice))


def _record(bench: SessionBench, seconds: float) -> None:
    begin_s = bench.session.recorded_s()
    _until(lambda: bench.session.recorded_s() >= begin_s + seconds)


def _num_frames(root: Path) -> int:
    stored = SessionLibrary(root).open("last")
    assert stored.audio_path is not None
    with wave.open(str(stored.audio_path)) as file:
        return file.getnframes()


def test_recording_when_the_disk_runs_full_then_stops_by_itself_with_all_kept(disk, make):
    root = disk.folder / "sessions"
    bench = make(root)
    bench.session.start().result(20)
    _record(bench, 0.5)
    disk.fill(RESERVE_BYTES // 2)
    assert bench.session.wait_until_stopped(60)
    bench.session.drain_events()

    errors = [event for event in bench.told(Notice) if event.severity is Severity.ERROR]
    assert len(errors) == 1
    assert "Everything up to here is kept" in errors[0].message
    assert bench.session.state is SessionState.IDLE
    (info,) = SessionLibrary(root).list()
    assert info.is_closed
    assert _num_frames(root) == bench.told(RecordingStopped)[0].num_samples


def test_recording_when_the_disk_is_full_for_a_while_then_no_sample_is_lost(
    disk, make, monkeypatch
):
    # As if another program had taken the room between two looks at it.
    monkeypatch.setattr("engine.session.disk.shutil.disk_usage", lambda _: _Plenty)
    root = disk.folder / "sessions"
    bench = make(root)
    bench.session.start().result(20)
    _record(bench, 0.5)
    disk.fill()
    _until(lambda: _told(bench, "No space left"))
    _record(bench, 1.5)
    disk.empty()
    _until(lambda: _told(bench, "no sound was lost"))
    bench.session.stop().result(20)

    (info,) = SessionLibrary(root).list()
    assert info.is_closed
    assert _num_frames(root) == bench.told(RecordingStopped)[0].num_samples
    text = SessionLibrary(root).open("last").document().text()
    assert text == bench.session.document.text()


def test_recording_when_the_disk_stays_full_then_what_it_took_can_be_recovered(
    disk, make, monkeypatch
):
    monkeypatch.setattr("engine.session.disk.shutil.disk_usage", lambda _: _Plenty)
    root = disk.folder / "sessions"
    bench = make(root)
    bench.session.start().result(20)
    _record(bench, 1.0)
    disk.fill()
    _until(lambda: _told(bench, "No space left"))
    bench.session.stop().result(20)
    bench.session.drain_events()

    assert _told(bench, "s of its sound may not be on the disk")
    (info,) = SessionLibrary(root).list()
    assert info.is_broken_off
    disk.empty()
    report = SessionLibrary(root).recover("last")
    assert report.duration_s >= 1.0
    assert _num_frames(root) >= RATE


def test_start_when_the_disk_is_read_only_or_full_then_says_so_and_leaves_nothing(disk, make):
    root = disk.folder / "sessions"
    bench = make(root)
    disk.fill(RESERVE_BYTES // 2)
    with pytest.raises(StoreError, match="too little for a recording"):
        bench.session.start().result(20)
    disk.empty()
    root.mkdir()
    disk.make_read_only()
    again = make(root)
    with pytest.raises(StoreError, match="Read-only file system"):
        again.session.start().result(20)
    again.session.drain_events()
    assert _told(again, "Read-only")
    assert again.session.state is SessionState.IDLE
    assert list(root.iterdir()) == []


@pytest.mark.skipif(os.name == "nt", reason="open files cannot be deleted there")
@pytest.mark.parametrize("is_disk", [False, True])
def test_recording_when_its_folder_vanishes_then_told_and_the_transcript_goes_on(
    tmp_path, make, request, is_disk
):
    place = request.getfixturevalue("disk").folder if is_disk else tmp_path
    root = place / "sessions"
    bench = make(root)
    bench.session.start().result(20)
    _record(bench, 0.5)
    if is_disk:
        request.getfixturevalue("disk").take_away()
    else:
        shutil.rmtree(root)
    _until(lambda: _told(bench, "moved or deleted, or its disk is not there"))
    num_words = len(bench.session.document.words)
    _until(lambda: len(bench.session.document.words) > num_words + 1)
    bench.session.stop().result(20)
    bench.session.drain_events()
    assert bench.session.state is SessionState.IDLE
    assert bench.told(Notice)[-1].severity is Severity.ERROR


class _Plenty:
    free = 10**12
