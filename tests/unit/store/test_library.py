import errno
import json
import os
import shutil
import stat
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from engine.core.errors import StoreError
from engine.core.events import ActivityRevised, FinalWords, SpeakerRenamed
from engine.core.types import SpeakerId, Word
from engine.store.event_json import encode_event
from engine.store.header import KeepPolicy, SessionHeader
from engine.store.journal import Journal
from engine.store.library import SessionLibrary
from engine.store.session_folder import session_lock

pytestmark = pytest.mark.unit

RATE = 16_000


@pytest.fixture
def library(tmp_path: Path) -> SessionLibrary:
    return SessionLibrary(tmp_path / "sessions")


def _record(
    library: SessionLibrary, session_id: str, started_at: str, *texts: str, close: bool = True
) -> Path:
    journal = Journal.create(library.root, SessionHeader(session_id, started_at, RATE))
    for at, text in enumerate(texts):
        journal.audio.append(np.zeros(RATE, np.float32))
        journal.events.append(FinalWords((Word(f" {text}", at * RATE, at * RATE + 8000),)))
    if close:
        journal.close()
        return journal.folder
    # What lies there while it records is what lies there when the process dies.
    journal.audio.sync_if_due(0.0)
    copy = shutil.copytree(journal.folder, library.root.with_name("copy"))
    journal.close(KeepPolicy.NOTHING)
    copy.rename(journal.folder)
    return journal.folder


def test_list_when_there_is_no_folder_then_empty(library: SessionLibrary) -> None:
    assert library.list() == ()
    with pytest.raises(StoreError, match="no session"):
        library.open("last")


def test_list_when_sessions_exist_then_newest_first_across_time_zones(
    library: SessionLibrary,
) -> None:
    _record(library, "a", "2026-11-30T14:00:00+01:00", "one")  # 13:00 UTC
    _record(library, "b", "2026-11-30T13:30:00+00:00", "two", "three")
    _record(library, "c", "2026-11-30T05:00:00-07:00")  # 12:00 UTC
    infos = library.list()
    assert [info.id for info in infos] == ["b", "a", "c"]
    assert [info.num_words for info in infos] == [2, 1, 0]
    assert [info.duration_s for info in infos] == [2.0, 1.0, 0.0]
    assert all(info.is_closed and info.has_audio and not info.is_active for info in infos)
    assert infos[0].size_bytes > 2 * 2 * RATE
    assert library.open("last").header.id == "b"


def test_list_when_other_things_lie_there_then_passed_over(library: SessionLibrary) -> None:
    _record(library, "a", "2026-11-30T14:00:00+01:00", "one")
    (library.root / "notes.txt").write_text("mine")
    (library.root / "empty").mkdir()
    (library.root / "link").symlink_to(library.root / "a")
    assert [info.id for info in library.list()] == ["a"]


def test_list_when_a_session_broke_off_then_its_length_is_that_of_its_audio(
    library: SessionLibrary,
) -> None:
    _record(library, "a", "2026-11-30T14:00:00+01:00", "one", "two", close=False)
    (info,) = library.list()
    assert (info.is_closed, info.is_active) == (False, False)
    assert (info.duration_s, info.num_words) == (2.0, 2)


@pytest.mark.parametrize("damage", [b"", b"\0" * 200, b"{not json", b'{"id": 3}'])
def test_list_when_a_header_is_damaged_then_the_session_is_still_there(
    library: SessionLibrary, damage: bytes
) -> None:
    folder = _record(library, "a", "2026-11-30T14:00:00+01:00", "one", "two")
    (folder / "session.json").write_bytes(damage)
    (info,) = library.list()
    assert (info.id, info.is_closed, info.duration_s, info.num_words) == ("a", False, 2.0, 2)
    assert library.open("a").document().text() == "one two"


def test_open_when_given_a_unique_prefix_then_found(library: SessionLibrary) -> None:
    _record(library, "20261130-1", "2026-11-30T14:00:00+01:00", "one")
    _record(library, "20261130-12", "2026-11-30T14:01:00+01:00", "two")
    _record(library, "20261201-1", "2026-12-01T14:01:00+01:00", "three")
    assert library.open("202612").document().text() == "three"
    assert library.open("20261130-1").document().text() == "one"
    with pytest.raises(StoreError, match=r"2 sessions begin with '202611'.*20261130-12"):
        library.open("202611")


@pytest.mark.parametrize("reference", ["none", "", "..", "../sessions/a"])
def test_open_when_there_is_no_such_session_then_says_so(
    library: SessionLibrary, reference: str
) -> None:
    _record(library, "a", "2026-11-30T14:00:00+01:00", "one")
    for call in (library.open, library.delete, library.delete_audio):
        with pytest.raises(StoreError, match="There is no session"):
            call(reference)


def test_delete_when_asked_then_that_session_alone_is_gone(library: SessionLibrary) -> None:
    _record(library, "a", "2026-11-30T14:00:00+01:00", "one")
    _record(library, "b", "2026-11-30T14:01:00+01:00", "two")
    library.delete("a")
    assert [info.id for info in library.list()] == ["b"]
    library.delete_audio("b")
    session = library.open("b")
    assert session.audio_path is None
    assert session.document().text() == "two"
    assert session.info().duration_s == 1.0


def test_document_when_rebuilt_then_speakers_and_names_are_there(library: SessionLibrary) -> None:
    journal = Journal.create(
        library.root, SessionHeader("a", "2026-11-30T14:00:00+01:00", 48_000, device="Desk")
    )
    journal.events.append(FinalWords((Word(" Hi", 0, 24_000), Word(" you", 48_000, 72_000))))
    rows = np.zeros((20, 2), np.float32)
    rows[:10, 0], rows[10:, 1] = 0.9, 0.8
    journal.events.append(ActivityRevised(0, 80, rows, 20))
    journal.events.append(SpeakerRenamed(0, 1, "Mira"))
    journal.close()
    document = library.open("a").document()
    assert document.sample_rate == 48_000
    assert [word.speakers for word in document.words] == [(SpeakerId(0, 0),), (SpeakerId(0, 1),)]
    assert document.speaker_name(SpeakerId(0, 1)) == "Mira"
    assert document.recording is not None
    assert document.recording.device == "Desk"


def test_document_when_an_event_is_senseless_then_skipped_and_counted(
    library: SessionLibrary,
) -> None:
    folder = _record(library, "a", "2026-11-30T14:00:00+01:00", "one")
    rows = np.full((10, 1), 0.9, np.float32)
    with (folder / "events.jsonl").open("ab") as file:
        file.write(encode_event(ActivityRevised(0, 0, rows, 0)))
        file.write(encode_event(FinalWords((Word(" two", RATE, RATE + 100),))))
    session = library.open("a")
    assert session.document().text() == "one two"
    assert session.num_skipped == 1


# --- titles ---


def test_rename_when_closed_then_only_its_title_is_another(library: SessionLibrary) -> None:
    folder = _record(library, "a", "2026-11-30T14:00:00+01:00", "one", "two")
    before = library.open("a").header
    assert library.rename("a", "  Tea\n with\tMira\0 ") == "Tea with Mira"
    assert library.open("a").header == replace(before, title="Tea with Mira")
    assert library.list()[0].title == "Tea with Mira"
    assert stat.S_IMODE((folder / "session.json").stat().st_mode) == 0o600
    assert library.rename("a", "x" * 300) == "x" * 200
    assert library.rename("a", " ") == ""
    assert library.open("a").header == before


def test_rename_when_it_broke_off_then_it_can_still_be_finished(library: SessionLibrary) -> None:
    _record(library, "a", "2026-11-30T14:00:00+01:00", "one", close=False)
    library.rename("a", "Tea")
    (info,) = library.list()
    assert (info.title, info.is_broken_off) == ("Tea", True)
    library.recover("a")
    (info,) = library.list()
    assert (info.title, info.is_recovered, info.num_words) == ("Tea", True, 1)


def test_rename_when_it_is_being_recorded_then_refused(library: SessionLibrary) -> None:
    header = SessionHeader("a", "2026-11-30T14:00:00+01:00", RATE)
    journal = Journal.create(library.root, header)
    with pytest.raises(StoreError, match=r"being recorded.*Stop it first"):
        library.rename("a", "Tea")
    journal.close()
    assert library.open("a").header.title == ""


def test_rename_when_it_cannot_be_written_then_the_old_header_stays(
    library: SessionLibrary, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = _record(library, "a", "2026-11-30T14:00:00+01:00", "one")
    before = (folder / "session.json").read_bytes()

    def refuse(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises(StoreError, match="cannot be written"):
        library.rename("a", "Tea")
    assert (folder / "session.json").read_bytes() == before
    assert sorted(path.name for path in folder.iterdir()) == [
        "audio.wav", "events.jsonl", "session.json",
    ]  # fmt: skip


def test_open_when_given_a_title_then_found_if_it_is_one_recordings_alone(
    library: SessionLibrary,
) -> None:
    for session_id, title in (
        ("a1", "Tea"),
        ("a2", "Café"),
        ("b1", "Tea"),
        ("b2", "a1"),
        ("b3", ""),
    ):
        _record(library, session_id, "2026-11-30T14:00:00+01:00", session_id)
        library.rename(session_id, title)
    assert library.open("cafe").document().text() == "a2"
    assert library.open("a1").document().text() == "a1"  # ids come first
    with pytest.raises(StoreError, match=r"2 sessions are called 'Tea'.*a1, b1"):
        library.open("Tea")
    library.rename("b1", "b2x")
    with pytest.raises(StoreError, match="There is no session"):
        library.open("Te")


def test_list_when_a_header_holds_a_title_of_many_lines_then_it_is_one_line(
    library: SessionLibrary,
) -> None:
    folder = _record(library, "a", "2026-11-30T14:00:00+01:00", "one")
    header = json.loads((folder / "session.json").read_text())
    header["title"] = "Tea\n\x1b[31mred\x07" + "x" * 500
    (folder / "session.json").write_text(json.dumps(header))
    title = library.list()[0].title
    assert title.startswith("Tea [31mred")
    assert title.isprintable()
    assert len(title) == 200


def test_list_when_another_looks_at_a_broken_session_then_it_is_not_taken_for_a_running_one(
    library: SessionLibrary,
) -> None:
    folder = _record(library, "a", "2026-11-30T14:00:00+01:00", "one", close=False)
    looking = session_lock(folder)
    looking.acquire()
    release = threading.Timer(0.02, looking.release)
    release.start()
    try:
        (info,) = library.list()
    finally:
        release.join()
    assert info.is_broken_off
