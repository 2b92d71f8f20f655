"""What a journal does when the disk refuses."""

import errno
import os
import stat
import wave
from pathlib import Path

import numpy as np
import pytest

from engine.core.config import KeepPolicy
from engine.core.errors import StoreError
from engine.core.events import FinalWords
from engine.core.types import Word
from engine.store.header import SessionHeader, read_header, write_header
from engine.store.journal import Journal
from engine.store.library import SessionLibrary
from engine.store.refusals import refused
from tests.helpers.full_disk import file_limit

pytestmark = [
    pytest.mark.unit,
    pytest.mark.skipif(os.name == "nt", reason="the limits are those of POSIX"),
]

RATE = 16_000
HEADER = SessionHeader("talk", "2026-11-30T14:03:22+01:00", RATE)
PCM = np.linspace(-0.9, 0.9, RATE, dtype=np.float32)


def _line(number: int) -> FinalWords:
    return FinalWords((Word(f" word{number}", number, number + 1),))


def _wav(path: Path) -> np.ndarray:
    with wave.open(str(path)) as file:
        return np.frombuffer(file.readframes(file.getnframes()), "<i2")


@pytest.mark.parametrize("odd", [0, 1])
def test_audio_when_the_disk_was_full_for_a_while_then_no_sample_is_lost_or_out_of_place(
    tmp_path: Path, odd: int
) -> None:
    journal = Journal.create(tmp_path, HEADER)
    with file_limit(20_000 + odd):
        with pytest.raises(StoreError, match=r"audio\.wav"):
            journal.audio.append(PCM)
        journal.audio.hold(PCM)
        with pytest.raises(StoreError, match=r"audio\.wav"):
            journal.audio.sync_if_due(0.0)
        # What is there by now can be read, whatever becomes of the rest.
        assert len(_wav(journal.audio.path)) <= 20_000
        assert journal.audio.held_s == pytest.approx(2.0, abs=0.01)
    journal.audio.append(PCM)
    assert journal.audio.sync_if_due(1.0)
    expected = np.rint(np.tile(PCM, 3) * 32767).astype("<i2")
    np.testing.assert_array_equal(_wav(journal.audio.path), expected)
    journal.close()
    np.testing.assert_array_equal(_wav(journal.audio.path), expected)


def test_events_when_the_disk_stopped_in_a_line_then_no_line_is_torn_or_lost(
    tmp_path: Path,
) -> None:
    journal = Journal.create(tmp_path, HEADER)
    journal.events.append(_line(0))
    size = journal.events.path.stat().st_size
    with file_limit(size + 20):
        with pytest.raises(StoreError, match=r"events\.jsonl"):
            journal.events.append(_line(1))
        journal.events.hold(_line(2))
    journal.events.append(_line(3))
    journal.close()
    stored = SessionLibrary(tmp_path).open("talk")
    assert list(stored.events()) == [_line(number) for number in range(4)]
    assert stored.num_skipped == 0
    assert stored.header.num_words == 4


def test_audio_when_given_up_then_the_file_ends_whole_and_the_session_closes(
    tmp_path: Path,
) -> None:
    journal = Journal.create(tmp_path, HEADER)
    with file_limit(20_001):
        with pytest.raises(StoreError):
            journal.audio.append(PCM)
        journal.audio.give_up()
        journal.close(num_samples=5 * RATE)
    (info,) = SessionLibrary(tmp_path).list()
    assert (info.is_closed, info.duration_s) == (True, 5.0)
    assert len(_wav(journal.audio.path)) == (20_001 - 44) // 2


def test_close_when_the_disk_is_full_then_what_is_there_can_be_recovered(tmp_path: Path) -> None:
    journal = Journal.create(tmp_path, HEADER)
    journal.audio.append(PCM)
    journal.events.append(_line(0))
    with file_limit(10_000), pytest.raises(StoreError):
        journal.audio.append(PCM)
    with file_limit(10_000), pytest.raises(StoreError):
        journal.close()
    library = SessionLibrary(tmp_path)
    assert library.list()[0].is_broken_off
    library.recover("talk")
    assert library.open("talk").document().text() == "word0"
    assert len(_wav(journal.audio.path)) >= RATE


@pytest.mark.parametrize("limit", [0, 10, 40])
def test_create_when_the_disk_is_full_then_nothing_stays_behind(tmp_path: Path, limit: int) -> None:
    with file_limit(limit), pytest.raises(StoreError):
        Journal.create(tmp_path / "sessions", HEADER)
    assert list((tmp_path / "sessions").iterdir()) == []
    Journal.create(tmp_path / "sessions", HEADER).close()


def test_create_when_the_events_cannot_be_made_then_nothing_stays_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual_open = os.open

    def refuse(path: str | Path, *arguments: int, **named: int) -> int:
        if str(path).endswith("events.jsonl"):
            raise OSError(errno.EDQUOT, "Disk quota exceeded")
        return usual_open(path, *arguments, **named)

    with monkeypatch.context() as patch:
        patch.setattr(os, "open", refuse)
        with pytest.raises(StoreError, match="quota") as caught:
            Journal.create(tmp_path / "sessions", HEADER)
    assert "Delete files of yours" in caught.value.advice
    assert list((tmp_path / "sessions").iterdir()) == []


def test_close_when_nothing_is_kept_then_a_failing_disk_is_no_hindrance(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = Journal.create(tmp_path, HEADER)

    def fail(_descriptor: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "fsync", fail)
    journal.close(KeepPolicy.NOTHING)
    assert list(tmp_path.iterdir()) == []


def test_header_when_it_cannot_be_written_whole_then_the_old_one_stays(tmp_path: Path) -> None:
    write_header(tmp_path, HEADER)
    with file_limit(20), pytest.raises(StoreError, match=r"session\.json cannot be written"):
        write_header(tmp_path, SessionHeader("talk", "", 48_000))
    assert read_header(tmp_path).sample_rate == RATE
    assert [path.name for path in tmp_path.iterdir()] == ["session.json"]


def test_header_when_written_then_its_content_and_its_name_are_on_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[str] = []
    usual_fsync, usual_replace = os.fsync, Path.replace

    def fsync(descriptor: int) -> None:
        is_folder = stat.S_ISDIR(os.fstat(descriptor).st_mode)
        synced.append("folder" if is_folder else "file")
        usual_fsync(descriptor)

    def replace(self: Path, target: Path) -> Path:
        synced.append("rename")
        return usual_replace(self, target)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(Path, "replace", replace)
    write_header(tmp_path, HEADER)
    assert synced == ["file", "rename", "folder"]
    synced.clear()
    Journal.create(tmp_path / "sessions", HEADER).close()
    assert synced[3:5] == ["folder", "folder"], "the names of the session and of its files"


@pytest.mark.parametrize(
    ("number", "reason", "advice"),
    [
        (errno.ENOSPC, "No space left", "Free disk space"),
        (errno.EROFS, "Read-only", "another folder"),
        (errno.EACCES, "Permission denied", "right to write"),
        (errno.ENOENT, "moved or deleted", "Bring the folder"),
        (errno.EIO, "Input/output error", "another disk"),
    ],
)
def test_refusal_when_told_then_says_why_and_what_to_do(
    number: int, reason: str, advice: str
) -> None:
    error = refused(Path("/place"), OSError(number, os.strerror(number)))
    assert "cannot be written to /place" in error.message
    assert reason in error.message
    assert advice in error.advice


def test_audio_when_synced_then_its_header_never_speaks_of_what_is_not_on_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = Journal.create(tmp_path, HEADER)
    told: list[int] = []
    usual_fsync = os.fsync

    def fsync(descriptor: int) -> None:
        told.append(len(_wav(journal.audio.path)))
        usual_fsync(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    for second in range(3):
        journal.audio.append(PCM)
        journal.audio.sync_if_due(float(second))
        assert len(_wav(journal.audio.path)) == (second + 1) * RATE
    assert told == [0, RATE, 2 * RATE]
    journal.close()
