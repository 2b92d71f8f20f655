"""Room on the disk, and a disk that refuses while a recording runs."""

import errno
import os
import threading
import wave
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from engine.core.config import KeepPolicy, Settings
from engine.core.errors import StoreError
from engine.core.events import (
    Event,
    FinalWords,
    Notice,
    RecordingStarted,
    RecordingStopped,
    Severity,
)
from engine.core.types import Word
from engine.session.disk import (
    RESERVE_BYTES,
    WARN_BYTES,
    DiskHooks,
    DiskWatch,
    require_room,
)
from engine.session.keeping import Keeper
from engine.session.kept_audio import MAX_HELD_S, KeptAudio
from engine.session.kept_text import KeptText
from engine.store.header import SessionHeader
from engine.store.journal import Journal
from engine.store.journal_files import AudioJournal
from engine.store.library import SessionLibrary
from engine.text.document import TranscriptDocument

pytestmark = pytest.mark.unit

RATE = 1000
HEADER = SessionHeader("talk", "2026-11-30T14:00:00+01:00", RATE)
WORDS = FinalWords((Word(" hello", 0, 500),))


class _Disk:
    """An fsync that fails while `error` is set."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.error: OSError | None = None
        self.num_syncs = 0
        self.was_synced = threading.Event()
        self._fsync = os.fsync
        monkeypatch.setattr(os, "fsync", self._sync)

    def _sync(self, descriptor: int) -> None:
        if self.error is not None:
            raise self.error
        self._fsync(descriptor)
        self.num_syncs += 1
        self.was_synced.set()


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> _Disk:
    return _Disk(monkeypatch)


def _io_error() -> OSError:
    return OSError(errno.EIO, os.strerror(errno.EIO))


def _watch(free: Callable[[Path], int]) -> tuple[DiskWatch, list[Event], list[str]]:
    told: list[Event] = []
    asked: list[str] = []
    hooks = DiskHooks(told.append, lambda: asked.append("stop"))
    return DiskWatch(Path("/recordings"), 32_000, hooks, free), told, asked


def test_watch_when_the_disk_fills_then_warns_once_and_stops_once() -> None:
    free = [WARN_BYTES, WARN_BYTES - 1, RESERVE_BYTES, RESERVE_BYTES - 1, 0]
    watch, told, asked = _watch(lambda _: free[0])
    counts = []
    for _ in range(len(free)):
        watch.check()
        counts.append((len(told), len(asked)))
        free.pop(0)
    assert counts == [(0, 0), (1, 0), (1, 0), (2, 1), (2, 1)]
    warning, stopped = told
    assert isinstance(warning, Notice)
    assert isinstance(stopped, Notice)
    assert (warning.severity, stopped.severity) == (Severity.WARNING, Severity.ERROR)
    assert "200.0 MB are free, enough for about 93 minutes" in warning.message
    assert "20.0 MB" in warning.advice
    assert "Everything up to here is kept" in stopped.message


def test_watch_when_the_folder_is_gone_then_leaves_it_to_those_who_write() -> None:
    def gone(_folder: Path) -> int:
        raise FileNotFoundError

    watch, told, asked = _watch(gone)
    watch.check()
    assert (told, asked) == ([], [])


def test_room_when_there_is_too_little_then_no_recording_begins(tmp_path: Path) -> None:
    folder = tmp_path / "not" / "made" / "yet"
    seen: list[Path] = []

    def free(place: Path) -> int:
        seen.append(place)
        return RESERVE_BYTES - 1

    with pytest.raises(StoreError, match=r"20\.0 MB are free.*too little"):
        require_room(folder, free)
    assert seen == [tmp_path]
    require_room(folder, lambda _: RESERVE_BYTES)


def _kept_audio(tmp_path: Path, *, stays: bool = True) -> tuple[KeptAudio, AudioJournal, list]:
    told: list[Notice] = []
    audio = AudioJournal(tmp_path / "audio.wav", RATE)
    return KeptAudio(audio, told.append, stays=stays), audio, told


def _num_frames(path: Path) -> int:
    with wave.open(str(path)) as file:
        return file.getnframes()


@pytest.mark.expects_log
def test_audio_when_the_disk_fails_for_a_while_then_told_twice_and_nothing_is_lost(
    tmp_path: Path, disk: _Disk
) -> None:
    kept, audio, told = _kept_audio(tmp_path)
    for second in range(10):
        disk.error = _io_error() if 2 <= second < 7 else None
        kept.append(np.full(RATE, 0.1 * second, np.float32))
        kept.write()
        assert kept.sync() == (disk.error is None)
    assert [notice.severity for notice in told] == [Severity.ERROR, Severity.INFO]
    assert "Input/output error" in told[0].message
    assert "held in memory for 5 minutes" in told[0].message
    assert "another disk" in told[0].advice
    assert _num_frames(audio.path) == 10 * RATE
    np.testing.assert_allclose(kept.read_audio(5 * RATE, 5 * RATE + 1), 0.5, atol=1e-3)
    kept.close()
    audio.close()


@pytest.mark.expects_log
def test_audio_when_the_disk_stays_broken_then_given_up_where_it_stopped(
    tmp_path: Path, disk: _Disk
) -> None:
    kept, audio, told = _kept_audio(tmp_path)
    kept.append(np.zeros(RATE, np.float32))
    assert kept.sync()
    disk.error = _io_error()
    for _ in range(int(MAX_HELD_S) + 3):
        kept.append(np.zeros(RATE, np.float32))
        kept.sync()
    assert len(told) == 2
    assert "is kept up to 00:00:01, and no further" in told[1].message
    assert "transcript goes on" in told[1].message
    assert audio.held_s == 0.0
    kept.append(np.zeros(RATE, np.float32))
    disk.error = None
    kept.close()
    audio.close()
    assert _num_frames(audio.path) == RATE


def test_audio_when_it_does_not_stay_anyway_then_a_refusal_is_not_told(
    tmp_path: Path, disk: _Disk
) -> None:
    kept, audio, told = _kept_audio(tmp_path, stays=False)
    disk.error = _io_error()
    kept.append(np.zeros(RATE, np.float32))
    kept.sync()
    kept.append(np.zeros(RATE, np.float32))
    assert not kept.sync()
    assert told == []
    assert audio.held_s == 0.0
    kept.close()
    audio.close(is_kept=False)


@pytest.mark.expects_log
def test_audio_when_its_file_is_deleted_then_told_once_and_recording_goes_on(
    tmp_path: Path,
) -> None:
    kept, audio, told = _kept_audio(tmp_path)
    kept.append(np.zeros(RATE, np.float32))
    audio.path.unlink()
    for _ in range(3):
        kept.append(np.zeros(RATE, np.float32))
        kept.sync()
    assert len(told) == 1
    assert "moved or deleted, or its disk is not there" in told[0].message
    assert len(kept.read_audio(0, 10)) == 0
    kept.close()
    with pytest.raises(StoreError, match="moved or deleted"):
        audio.close()


def test_audio_when_closed_then_late_samples_are_left(tmp_path: Path) -> None:
    kept, audio, _ = _kept_audio(tmp_path)
    kept.append(np.zeros(RATE, np.float32))
    kept.close()
    audio.close()
    kept.append(np.zeros(RATE, np.float32))
    assert not kept.read_audio(RATE, 2 * RATE).size
    assert _num_frames(audio.path) == RATE


def test_audio_when_it_is_not_written_yet_then_it_can_be_heard_all_the_same(
    tmp_path: Path, disk: _Disk
) -> None:
    kept, audio, _ = _kept_audio(tmp_path)
    for second in range(3):
        kept.append(np.full(RATE, 0.1 * second, np.float32))
        if second == 0:
            kept.sync()
    # The first second from the disk, what is only held from memory, and nothing behind it.
    assert _num_frames(audio.path) == RATE
    assert kept.held_until == 3 * RATE
    assert len(kept.read_audio(0, RATE)) == RATE
    np.testing.assert_allclose(kept.read_audio(2 * RATE - 1, 2 * RATE + 1), (0.1, 0.2), atol=1e-3)
    assert len(kept.read_audio(3 * RATE - 5, 4 * RATE)) == 5
    kept.write()
    assert kept.held_until == 0
    np.testing.assert_allclose(kept.read_audio(RATE, RATE + 1), 0.1, atol=1e-3)
    kept.close()
    audio.close()


def test_audio_when_the_disk_does_not_answer_for_long_then_memory_is_bounded_and_all_is_written(
    tmp_path: Path,
) -> None:
    kept, audio, told = _kept_audio(tmp_path)
    # Nobody writes meanwhile, as when the disk does not let the writing thread go.
    for _ in range(int(MAX_HELD_S) + 10):
        kept.append(np.zeros(RATE, np.float32))
    assert audio.held_s == pytest.approx(MAX_HELD_S, abs=1.1)
    (notice,) = told
    assert "is kept up to 00:05:00, and no further" in notice.message
    kept.sync()
    kept.close()
    audio.close()
    assert _num_frames(audio.path) == int(MAX_HELD_S) * RATE


def test_audio_when_its_source_can_wait_then_it_is_synced_in_time_and_none_is_given_up(
    tmp_path: Path,
) -> None:
    audio, told, waited = AudioJournal(tmp_path / "audio.wav", RATE), [], []
    kept = KeptAudio(audio, told.append, stays=True, is_patient=True)

    def sync(timeout_s: float) -> None:
        # The thread that syncs gets to it only while somebody waits.
        waited.append(timeout_s)
        if timeout_s:
            kept.sync()

    kept.wait_for_sync = sync
    for _ in range(1000):
        kept.append(np.zeros(RATE, np.float32))
    assert told == []
    assert 3 <= len([timeout_s for timeout_s in waited if timeout_s]) <= 5
    kept.close()
    audio.close()
    assert _num_frames(audio.path) == 1000 * RATE


@pytest.mark.expects_log
def test_text_when_the_disk_fails_for_a_while_then_told_twice_and_nothing_is_lost(
    tmp_path: Path, disk: _Disk
) -> None:
    told: list[Notice] = []
    journal = Journal.create(tmp_path, HEADER)
    text = KeptText(journal.events, told.append)
    for second in range(8):
        disk.error = _io_error() if 2 <= second < 5 else None
        text.append(WORDS, TranscriptDocument())
        text.write()
        text.sync()
    assert [notice.severity for notice in told] == [Severity.ERROR, Severity.INFO]
    assert "Export the transcript" in told[0].advice
    journal.close()
    assert list(SessionLibrary(tmp_path).open("talk").events()) == [WORDS] * 8


@pytest.fixture
def keepers() -> Iterator[list[Keeper]]:
    made: list[Keeper] = []
    yield made
    for keeper in made:
        assert keeper.close(10.0)
    assert [t.name for t in threading.enumerate() if t.name.startswith("vivavoce")] == []


def _begin(root: Path, keepers: list[Keeper]) -> tuple[Keeper, TranscriptDocument]:
    keeper, document = Keeper(root), TranscriptDocument()
    keepers.append(keeper)
    started = RecordingStarted("talk", RATE, "2026-11-30T14:00:00+01:00", "Desk", True)
    keeper.begin(started, Settings(keep=str(KeepPolicy.AUDIO_AND_TEXT)))
    keeper.take(started, document)
    return keeper, document


def test_text_when_nothing_more_is_said_then_the_last_line_still_reaches_the_disk(
    tmp_path: Path, disk: _Disk, keepers: list[Keeper]
) -> None:
    keeper, document = _begin(tmp_path, keepers)
    keeper.take(WORDS, document)
    disk.was_synced.clear()
    keeper.take(WORDS, document)
    assert disk.was_synced.wait(30.0)
    keeper.end(is_trained=True)


def test_abandon_when_the_disk_fails_then_the_empty_recording_is_gone(
    tmp_path: Path, disk: _Disk, keepers: list[Keeper]
) -> None:
    keeper, _ = _begin(tmp_path, keepers)
    disk.error = _io_error()
    keeper.abandon()
    assert list(tmp_path.iterdir()) == []


def test_begin_when_the_disk_is_nearly_full_then_refused(
    tmp_path: Path, keepers: list[Keeper]
) -> None:
    keeper = Keeper(tmp_path, free=lambda _: 1000)
    keepers.append(keeper)
    started = RecordingStarted("talk", RATE, "", "Desk", True)
    with pytest.raises(StoreError, match="too little"):
        keeper.begin(started, Settings())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.expects_log
def test_end_when_not_all_was_taken_then_the_session_can_be_recovered_and_it_is_told(
    tmp_path: Path, keepers: list[Keeper]
) -> None:
    keeper, document = _begin(tmp_path, keepers)
    keeper.take(WORDS, document)
    with pytest.raises(StoreError, match="marked as broken off"):
        keeper.end(is_trained=True, is_whole=False)
    # What comes when it is too late does not land in the next one.
    keeper.begin(RecordingStarted("next", RATE, "", "Desk", True), Settings())
    keeper.take(WORDS, document)
    keeper.take(RecordingStopped("talk", RATE), document)
    keeper.end(is_trained=True)
    library = SessionLibrary(tmp_path)
    assert library.open("talk").info().is_broken_off
    assert library.recover("talk").num_words == 1
    assert list(library.open("next").events()) == []
