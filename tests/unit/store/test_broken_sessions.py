"""Whatever is wrong with one file of a session, all sessions are in the list."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.core.errors import StoreError
from engine.store.header import SessionHeader, read_header, write_header
from engine.store.library import SessionLibrary

pytestmark = pytest.mark.unit

_GOOD, _BAD = "20260101-000000-aaaa", "20260102-000000-bbbb"
_MAKE: dict[str, Callable[[Path], object]] = {
    "missing": lambda _: None,
    "folder": lambda path: path.mkdir(),
    "pipe": lambda path: os.mkfifo(path),
    "loop": lambda path: path.symlink_to(path),
    "device": lambda path: path.symlink_to("/dev/zero"),
    "dangling": lambda path: path.symlink_to("nowhere"),
    "empty": lambda path: path.touch(),
}


@pytest.fixture
def library(tmp_path: Path) -> SessionLibrary:
    for name in (_GOOD, _BAD):
        folder = tmp_path / name
        folder.mkdir()
        write_header(folder, SessionHeader(name, "2026-01-02T03:04:05", 16_000, is_closed=True))
        (folder / "events.jsonl").write_text('{"event": "schema", "version": 1}\n')
        (folder / "audio.wav").write_bytes(bytes(44))
    return SessionLibrary(tmp_path)


@pytest.mark.timeout(20)
@pytest.mark.parametrize("kind", _MAKE)
@pytest.mark.parametrize("name", ["session.json", "events.jsonl", "audio.wav"])
def test_list_when_a_file_of_one_session_is_no_file_then_both_are_listed(
    library: SessionLibrary, name: str, kind: str
) -> None:
    path = library.root / _BAD / name
    path.unlink()
    _MAKE[kind](path)
    assert {info.id for info in library.list()} == {_GOOD, _BAD}


@pytest.mark.timeout(20)
@pytest.mark.parametrize("kind", ["folder", "pipe", "loop", "device"])
def test_events_when_they_are_no_file_then_store_error(library: SessionLibrary, kind: str) -> None:
    path = library.root / _BAD / "events.jsonl"
    path.unlink()
    _MAKE[kind](path)
    with pytest.raises(StoreError, match="cannot be read"):
        library.open(_BAD).document()


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("sample_rate", 0), ("sample_rate", 10**9), ("num_samples", -1), ("num_samples", 10**400),
        ("num_words", -1), ("num_words", 10**30),
    ],
)  # fmt: skip
def test_header_when_a_number_makes_no_sense_then_refused_and_the_session_is_listed(
    library: SessionLibrary, key: str, value: int
) -> None:
    path = library.root / _BAD / "session.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {key: value}))
    with pytest.raises(ValueError, match=r"must be|out of range"):
        read_header(library.root / _BAD)
    assert len(library.list()) == 2


@pytest.mark.parametrize("started_at", ["0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59"])
def test_list_when_a_time_is_beyond_the_calendar_then_is_listed(
    library: SessionLibrary, started_at: str
) -> None:
    path = library.root / _BAD / "session.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"started_at": started_at}))
    assert len(library.list()) == 2


def test_document_when_rows_lie_a_week_ahead_then_they_are_passed_over(
    library: SessionLibrary,
) -> None:
    line = {
        "event": "activity_revised", "first_frame": 10**12, "frame_ms": 80,
        "probabilities": [[0.5]], "final_until": 10**12,
    }  # fmt: skip
    path = library.root / _BAD / "events.jsonl"
    path.write_text(path.read_text() + json.dumps(line) + "\n")
    stored = library.open(_BAD)
    assert stored.document().activity.num_frames == 0
    assert stored.num_skipped == 1
