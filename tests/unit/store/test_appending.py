import os
import stat
from pathlib import Path

import numpy as np
import pytest

from engine.core.config import KeepPolicy
from engine.core.errors import StoreError
from engine.core.events import (
    EditEvent,
    FinalWords,
    SpeakerMerged,
    SpeakerRenamed,
    WordsAssigned,
    WordsEdited,
)
from engine.core.types import SpeakerId, Word
from engine.store.appending import append_events
from engine.store.event_json import schema_line
from engine.store.header import EVENTS_NAME, SessionHeader
from engine.store.journal import Journal
from engine.store.library import SessionLibrary

pytestmark = pytest.mark.unit

RATE = 16_000
A, B = SpeakerId(0, 0), SpeakerId(0, 1)
EDITS: tuple[EditEvent, ...] = (
    SpeakerRenamed(0, 0, "Mira"),
    SpeakerMerged(B, A),
    WordsAssigned((0,), (SpeakerId(-1, 0),)),
    WordsEdited((1,), (" world",)),
)


@pytest.fixture
def library(tmp_path: Path) -> SessionLibrary:
    return SessionLibrary(tmp_path / "sessions")


def _journal(library: SessionLibrary) -> Journal:
    journal = Journal.create(library.root, SessionHeader("talk", "2026-11-30T14:00:00+01:00", RATE))
    journal.audio.append(np.zeros(RATE, np.float32))
    journal.events.append(FinalWords((Word(" hello", 0, 4000), Word(" word", 4000, 8000))))
    return journal


def _check_edited(library: SessionLibrary, num_skipped: int = 0) -> None:
    stored = library.open("talk")
    document = stored.document()
    assert document.text() == "hello world"
    assert document.words[0].speakers == (SpeakerId(-1, 0),)
    assert document.speaker_name(B) == "Mira"
    assert stored.num_skipped == num_skipped


def test_edits_when_added_then_the_session_is_changed_when_opened_again(
    library: SessionLibrary,
) -> None:
    _journal(library).close()
    path = library.root / "talk" / EVENTS_NAME
    before = path.read_bytes()

    library.append_edits("talk", EDITS[:2])
    library.append_edits("tal", EDITS[2:])
    library.append_edits("talk", ())

    assert path.read_bytes().startswith(before)
    assert path.read_bytes().count(b"\n") == before.count(b"\n") + len(EDITS)
    if os.name == "posix":
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    _check_edited(library)


@pytest.mark.parametrize("torn", [b'{"event":"final_wo', b"\0\0\0\0", b"\xff"])
def test_edits_when_the_last_line_is_torn_then_stand_on_lines_of_their_own(
    library: SessionLibrary, torn: bytes
) -> None:
    _journal(library).close()
    path = library.root / "talk" / EVENTS_NAME
    path.write_bytes(path.read_bytes() + torn)

    library.append_edits("talk", EDITS)

    _check_edited(library, num_skipped=1)


def test_edits_when_the_session_is_recorded_elsewhere_then_refused(
    library: SessionLibrary,
) -> None:
    journal = _journal(library)
    path = library.root / "talk" / EVENTS_NAME
    before = path.read_bytes()
    with pytest.raises(StoreError, match="being recorded"):
        library.append_edits("talk", EDITS)
    assert path.read_bytes() == before
    journal.close()
    library.append_edits("talk", EDITS)
    _check_edited(library)


def test_edits_when_there_is_no_such_session_then_says_so(library: SessionLibrary) -> None:
    with pytest.raises(StoreError, match="no session"):
        library.append_edits("talk", EDITS)


def test_edits_when_the_file_of_events_is_missing_then_it_is_made(
    library: SessionLibrary,
) -> None:
    _journal(library).close()
    path = library.root / "talk" / EVENTS_NAME
    path.unlink()
    library.append_edits("talk", EDITS[:1])
    assert path.read_bytes().startswith(schema_line())
    assert library.open("talk").document().speaker_name(A) == "Mira"
    if os.name == "posix":
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_edits_when_text_alone_was_kept_then_added(library: SessionLibrary) -> None:
    _journal(library).close(KeepPolicy.TEXT)
    library.append_edits("talk", EDITS)
    _check_edited(library)


def test_append_when_the_disk_refuses_then_the_file_is_as_before(
    library: SessionLibrary, monkeypatch: pytest.MonkeyPatch
) -> None:
    _journal(library).close()
    path = library.root / "talk" / EVENTS_NAME
    before = path.read_bytes()
    write = os.write

    def refuse(descriptor: int, data: bytes) -> int:
        if len(data) < 40:
            raise OSError(28, "No space left on device")
        return write(descriptor, data[:-20])

    monkeypatch.setattr(os, "write", refuse)
    with pytest.raises(StoreError, match="No space left"):
        append_events(path, EDITS)
    monkeypatch.undo()
    assert path.read_bytes() == before


def test_append_when_the_folder_is_gone_then_says_why(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="cannot be written"):
        append_events(tmp_path / "gone" / EVENTS_NAME, EDITS)
