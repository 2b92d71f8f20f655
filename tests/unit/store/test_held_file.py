import errno
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from engine.store.held_file import HeldFile
from tests.helpers.full_disk import file_limit

pytestmark = pytest.mark.unit


@contextmanager
def _failing_fsync(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    def fail(_descriptor: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fail)
        yield


@pytest.mark.skipif(os.name == "nt", reason="the limit is one of POSIX")
@pytest.mark.parametrize("limit", [0, 1, 9, 10, 11, 25, 39, 40])
def test_append_when_the_disk_stops_anywhere_then_goes_on_at_the_very_byte(
    tmp_path: Path, limit: int
) -> None:
    file = HeldFile(tmp_path / "file")
    whole = b""
    with file_limit(limit):
        for number in range(4):
            line = b"line %04d\n" % number
            whole += line
            if len(whole) > limit:
                with pytest.raises(OSError, match="too large"):
                    file.append(line)
            else:
                file.append(line)
        assert file.path.read_bytes() == whole[:limit]
        assert (file.num_bytes, file.num_unwritten) == (40, 40 - limit)
    file.append(b"more\n")
    assert file.path.read_bytes() == whole + b"more\n"
    assert file.num_unwritten == 0
    file.close()


def test_sync_when_fsync_failed_before_then_all_since_the_last_good_one_is_written_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = HeldFile(tmp_path / "file")
    file.append(b"safe")
    file.sync()
    file.append(b" lost")
    with _failing_fsync(monkeypatch), pytest.raises(OSError, match="Input/output"):
        file.sync()
    # The system has dropped what it could not write, and will not say so again.
    os.truncate(file.path, 4)
    file.append(b" new")
    file.sync()
    file.overwrite(b"SAFE")
    assert file.path.read_bytes() == b"SAFE lost new"
    assert file.num_held == 0
    file.close()


def test_sync_when_the_file_is_gone_or_moved_then_says_so(tmp_path: Path) -> None:
    for number, take_away in enumerate((Path.unlink, lambda p: p.rename(p.with_name("moved")))):
        file = HeldFile(tmp_path / str(number))
        file.append(b"a")
        take_away(file.path)
        with pytest.raises(FileNotFoundError):
            file.sync()
        file.close()


@pytest.mark.skipif(os.name == "nt", reason="the limit is one of POSIX")
def test_give_up_when_half_a_unit_was_written_then_the_file_ends_with_a_whole_one(
    tmp_path: Path,
) -> None:
    file = HeldFile(tmp_path / "file")
    with file_limit(7), pytest.raises(OSError, match="too large"):
        file.append(b"aabbccdd")
    file.give_up(2)
    assert (file.path.read_bytes(), file.num_bytes, file.num_held) == (b"aabbcc", 6, 0)
    file.close()
    file.close()


def test_write_when_a_sync_takes_long_then_goes_on_and_nothing_is_lost_by_its_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_reached, is_over = threading.Event(), threading.Event()

    def fail_late(_descriptor: int) -> None:
        is_reached.set()
        is_over.wait(10)
        raise OSError(errno.EIO, "Input/output error")

    file = HeldFile(tmp_path / "file")
    file.append(b"before")
    errors: list[OSError] = []

    def sync() -> None:
        try:
            file.sync()
        except OSError as error:
            errors.append(error)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fail_late)
        thread = threading.Thread(target=sync)
        thread.start()
        assert is_reached.wait(10)
        file.append(b" meanwhile")
        assert file.path.read_bytes() == b"before meanwhile"
        is_over.set()
        thread.join(10)
    assert len(errors) == 1
    assert file.num_unwritten == len(b"before meanwhile")
    os.truncate(file.path, 0)
    file.append(b" after")
    assert file.path.read_bytes() == b"before meanwhile after"
    file.close()


def test_sync_when_more_comes_meanwhile_then_only_what_was_synced_leaves_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, fsync = HeldFile(tmp_path / "file"), os.fsync
    file.append(b"0123")

    def sync_and_add(descriptor: int) -> None:
        fsync(descriptor)
        file.hold(b"4567")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", sync_and_add)
        file.sync()
    assert (file.num_synced, file.num_held, file.num_unwritten) == (4, 4, 4)
    assert file.read_held(3, 2) is None
    assert file.read_held(5, 2) == b"56"
    assert file.read_held(6, 9) == b"67"
    file.sync()
    assert file.path.read_bytes() == b"01234567"
    assert file.read_held(8, 1) == b""
    file.close()
