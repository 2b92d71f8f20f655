"""Small files read whole or not at all; nothing that never ends is opened."""

import os
from pathlib import Path

import pytest

from engine.core.files import expanded, open_plain, read_small


def test_small_file_when_read_then_whole(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"abc")
    assert read_small(path, 3) == b"abc"
    with open_plain(path) as file:
        assert file.read() == b"abc"


def test_small_file_when_larger_than_allowed_then_refused(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"abcd")
    with pytest.raises(ValueError, match="larger than 3 bytes"):
        read_small(path, 3)


@pytest.mark.timeout(10)
@pytest.mark.parametrize("name", ["pipe", "device", "folder"])
def test_open_when_it_is_no_plain_file_then_refused_at_once(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    if name == "pipe":
        os.mkfifo(path)
    elif name == "device":
        path.symlink_to("/dev/zero")
    else:
        path.mkdir()
    with pytest.raises((ValueError, OSError)):
        read_small(path)


def test_path_when_nobody_of_that_name_has_a_home_then_stays_as_it_is() -> None:
    assert expanded("~nobody-of-this-name/x") == Path("~nobody-of-this-name/x")
    assert expanded("~/x") == Path.home() / "x"
