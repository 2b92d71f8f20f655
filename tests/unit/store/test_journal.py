import json
import os
import stat
import subprocess
import sys
import wave
from datetime import datetime
from pathlib import Path

import numpy as np
import pytest

from engine.core.errors import StoreError
from engine.core.events import (
    ActivityRevised,
    BackendChanged,
    BackendState,
    FinalWords,
    Notice,
    PartialWords,
    Severity,
    UtteranceChanged,
    UtteranceState,
)
from engine.core.types import BackendKind, Word
from engine.store.event_json import EventFile
from engine.store.header import KeepPolicy, SessionHeader, new_session_id
from engine.store.journal import Journal
from engine.store.library import SessionLibrary

pytestmark = pytest.mark.unit

RATE = 16_000
WORDS = FinalWords((Word(" Hello", 100, 4000, 0.9), Word(" there.", 4000, 9000, 0.4)))


def _header(keep: KeepPolicy = KeepPolicy.AUDIO_AND_TEXT) -> SessionHeader:
    return SessionHeader("20261130-140322-3f9c", "2026-11-30T14:03:22+01:00", RATE, keep=keep)


def _tone(num_samples: int) -> np.ndarray:
    return (0.5 * np.sin(np.arange(num_samples) * 0.1)).astype(np.float32)


def _wav_samples(path: Path) -> int:
    with wave.open(str(path)) as file:
        assert (file.getframerate(), file.getnchannels(), file.getsampwidth()) == (RATE, 1, 2)
        return file.getnframes()


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_journal_when_closed_then_audio_events_and_header_are_there(tmp_path: Path) -> None:
    journal = Journal.create(tmp_path / "sessions", _header())
    for _ in range(4):
        journal.audio.append(_tone(RATE // 2))
    journal.events.append(WORDS)
    journal.close(is_trained=False)
    journal.close()
    assert _wav_samples(journal.folder / "audio.wav") == 2 * RATE
    session = SessionLibrary(tmp_path / "sessions").open("last")
    assert list(session.events()) == [WORDS]
    header = session.header
    assert (header.is_closed, header.num_samples, header.num_words) == (True, 2 * RATE, 2)
    assert not header.is_trained
    assert not session.document().is_trained


@pytest.mark.skipif(os.name == "nt", reason="modes are those of POSIX")
def test_journal_when_made_then_its_owner_alone_may_read_it(tmp_path: Path) -> None:
    old_umask = os.umask(0)
    try:
        journal = Journal.create(tmp_path / "sessions", _header())
        journal.audio.append(_tone(10))
        paths = list(journal.folder.iterdir())
        modes = {path.name: _mode(path) for path in paths}
        folders = (_mode(journal.folder), _mode(journal.folder.parent))
        journal.close()
        modes |= {path.name: _mode(path) for path in journal.folder.iterdir()}
    finally:
        os.umask(old_umask)
    assert folders == (0o700, 0o700)
    assert set(modes) == {"audio.wav", "events.jsonl", "session.json", ".lock"}
    assert set(modes.values()) == {0o600}


def test_journal_when_only_text_is_kept_then_audio_is_deleted_at_close(tmp_path: Path) -> None:
    journal = Journal.create(tmp_path, _header(KeepPolicy.TEXT))
    journal.audio.append(_tone(RATE))
    assert (journal.folder / "audio.wav").exists()
    journal.close()
    assert not (journal.folder / "audio.wav").exists()
    (info,) = SessionLibrary(tmp_path).list()
    assert (info.duration_s, info.has_audio, info.is_closed) == (1.0, False, True)


def test_journal_when_nothing_is_to_be_kept_then_there_is_none(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="nothing is kept"):
        Journal.create(tmp_path / "sessions", _header(KeepPolicy.NOTHING))
    assert not (tmp_path / "sessions").exists()
    journal = Journal.create(tmp_path / "sessions", _header())
    journal.close(KeepPolicy.NOTHING)
    assert list((tmp_path / "sessions").iterdir()) == []


@pytest.mark.parametrize("bad_id", ["", "../up", "a/b", ".hidden", "a\0"])
def test_journal_when_the_id_is_no_file_name_then_refused(tmp_path: Path, bad_id: str) -> None:
    with pytest.raises(ValueError, match="plain file name"):
        Journal.create(tmp_path, SessionHeader(bad_id, "", RATE))


def test_journal_when_the_id_exists_then_the_old_session_stays(tmp_path: Path) -> None:
    first = Journal.create(tmp_path, _header())
    first.events.append(WORDS)
    first.close()
    with pytest.raises(StoreError, match="cannot be written"):
        Journal.create(tmp_path, _header())
    assert list(SessionLibrary(tmp_path).open("last").events()) == [WORDS]


def test_sync_when_called_often_then_happens_once_a_second(tmp_path: Path) -> None:
    journal = Journal.create(tmp_path, _header())
    audio = [journal.audio.sync_if_due(t / 10) for t in range(25)]
    assert [at for at, done in enumerate(audio) if done] == [0, 10, 20]
    events = []
    for t in range(25):
        journal.events.append(WORDS)
        events.append(journal.events.sync_if_due(t / 10))
    assert [at for at, done in enumerate(events) if done] == [0, 10, 20]
    assert journal.events.sync_if_due(100.0)
    assert not journal.events.sync_if_due(200.0), "nothing new came"
    journal.close()


def test_audio_when_synced_then_the_file_is_a_whole_wav_while_recording(tmp_path: Path) -> None:
    journal = Journal.create(tmp_path, _header())
    for second in range(3):
        journal.audio.append(_tone(RATE))
        journal.audio.sync_if_due(float(second))
        assert _wav_samples(journal.folder / "audio.wav") == (second + 1) * RATE
    journal.close()


def test_events_when_appended_then_only_lasting_ones_are_written(tmp_path: Path) -> None:
    journal = Journal.create(tmp_path, _header())
    ready = BackendChanged(BackendKind.RECOGNIZER, "fake", BackendState.READY)
    notice = Notice(Severity.WARNING, "The microphone was lost.")
    for event in (
        PartialWords((Word(" Hel", 100, 3000),)),
        BackendChanged(BackendKind.RECOGNIZER, "fake", BackendState.LOADING, progress=0.5),
        ready,
        UtteranceChanged(1, UtteranceState.SPEAKING),
        notice,
    ):
        journal.events.append(event)
    lines = (journal.folder / "events.jsonl").read_text().splitlines()
    assert json.loads(lines[0]) == {"event": "schema", "version": 1}
    journal.close()
    assert list(SessionLibrary(tmp_path).open("last").events()) == [ready, notice]


def test_reader_when_lines_are_damaged_then_skips_and_counts_them(tmp_path: Path) -> None:
    journal = Journal.create(tmp_path, _header())
    journal.events.append(WORDS)
    journal.close()
    path = journal.folder / "events.jsonl"
    good = path.read_bytes().splitlines(keepends=True)[1]
    damaged = [
        b"\0" * 512 + b"\n",
        b"\xff\xfe garbage\n",
        b'{"event": "from_the_future", "x": 1}\n',
        b'{"event": "final_words", "words": 3}\n',
        b'{"event": "activity_revised", "first_frame": 0, "frame_ms": 80, '
        b'"probabilities": [[1], [2, 3]], "final_until": 0}\n',
        b'{"event": "activity_revised", "first_frame": 0, "frame_ms": 80, '
        b'"probabilities": [["x"]], "final_until": 0}\n',
        b'{"event": ["final_words"]}\n',
        b"[" * 100_000 + b"\n",
        b"3\n",
        b"\n",
    ]
    path.write_bytes(b"".join([*damaged, b"\0" * 7 + good, good, good[: len(good) // 2]]))
    file = EventFile(path)
    assert list(file.read()) == [WORDS, WORDS]
    assert file.num_skipped == len(damaged) + 1


def test_reader_when_activity_has_no_rows_then_still_an_event(tmp_path: Path) -> None:
    journal = Journal.create(tmp_path, _header())
    journal.events.append(ActivityRevised(5, 80, np.zeros((0, 3), np.float32), 5))
    journal.close()
    (event,) = SessionLibrary(tmp_path).open("last").events()
    assert isinstance(event, ActivityRevised)
    assert len(event.probabilities) == 0
    assert event.final_until == 5


@pytest.mark.skipif(os.name == "nt", reason="the limit is one of POSIX")
def test_journal_when_the_disk_is_full_then_says_so_and_keeps_what_is_there(
    tmp_path: Path,
) -> None:
    import resource

    journal = Journal.create(tmp_path, _header())
    journal.events.append(WORDS)
    journal.audio.append(_tone(RATE))
    journal.audio.sync_if_due(0.0)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, hard))
    try:
        with pytest.raises(StoreError, match=r"audio\.wav.*Free disk space"):
            journal.audio.append(_tone(10 * RATE))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert _wav_samples(journal.folder / "audio.wav") == RATE
    assert list(SessionLibrary(tmp_path).open("last").events()) == [WORDS]
    journal.close()
    assert _wav_samples(journal.folder / "audio.wav") >= RATE


_RECORD_UNTIL_KILLED = """
import sys
from pathlib import Path
import numpy as np
from engine.core.events import FinalWords
from engine.core.types import Word
from engine.store.header import KeepPolicy, SessionHeader
from engine.store.journal import Journal

journal = Journal.create(
    Path(sys.argv[1]), SessionHeader("cut", "2026-11-30T14:03:22+01:00", 16000)
)
for second in range(5):
    for _ in range(10):
        journal.audio.append(np.zeros(1600, np.float32))
    journal.audio.sync_if_due(float(second))
    journal.events.append(FinalWords((Word(f" w{second}", second * 16000, second * 16000 + 8000),)))
print("recorded", flush=True)
sys.stdin.read()
"""


def test_session_when_killed_then_listed_as_broken_off_with_nothing_lost(tmp_path: Path) -> None:
    command = [sys.executable, "-c", _RECORD_UNTIL_KILLED, str(tmp_path)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=Path(__file__).parents[3]
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"recorded\n"
        library = SessionLibrary(tmp_path)
        (info,) = library.list()
        assert (info.is_active, info.is_closed) == (True, False)
        with pytest.raises(StoreError, match="being recorded"):
            library.delete("cut")
        process.kill()
    (info,) = library.list()
    assert (info.is_active, info.is_closed, info.num_words) == (False, False, 5)
    assert info.duration_s == pytest.approx(5.0, abs=1.0)
    assert _wav_samples(tmp_path / "cut" / "audio.wav") >= 4 * RATE
    assert library.open("cut").document().text() == "w0 w1 w2 w3 w4"
    library.delete("cut")
    assert library.list() == ()


def test_new_session_id_when_made_then_sorts_by_time() -> None:
    early = new_session_id(datetime(2026, 11, 30, 9, 59, 59))
    late = new_session_id(datetime(2026, 11, 30, 10, 0, 0))
    assert early < late
    assert early.startswith("20261130-095959-")
