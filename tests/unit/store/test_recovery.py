import os
import shutil
import struct
import threading
import wave
from pathlib import Path

import numpy as np
import pytest

from engine.audio.wav import wav_header
from engine.core.config import KeepPolicy
from engine.core.errors import StoreError
from engine.core.events import (
    BackendChanged,
    BackendState,
    FinalWords,
    RecordingStarted,
    RecordingStopped,
    WordsEdited,
)
from engine.core.types import BackendKind, Word
from engine.store.event_json import encode_event
from engine.store.header import SessionHeader
from engine.store.journal import Journal
from engine.store.library import SessionLibrary
from engine.store.session_folder import session_lock

pytestmark = pytest.mark.unit

RATE = 16_000
STARTED = RecordingStarted("talk", RATE, "2026-11-30T14:00:00+01:00", "Desk", True)
TEXTS = ("one", "two", "three")


@pytest.fixture
def library(tmp_path: Path) -> SessionLibrary:
    return SessionLibrary(tmp_path / "sessions")


def _line(number: int, text: str) -> FinalWords:
    return FinalWords((Word(f" {text}", number * RATE, number * RATE + 8000),))


def _break_off(
    library: SessionLibrary,
    keep: KeepPolicy = KeepPolicy.AUDIO_AND_TEXT,
    texts: tuple[str, ...] = TEXTS,
    seconds: int = 3,
    has_begun: bool = True,
) -> Path:
    """Leave a session as a killed process does: written, not synced, and nothing closed."""
    header = SessionHeader("talk", "2026-11-30T14:00:00+01:00", RATE, keep=keep, device="Desk")
    journal = Journal.create(library.root, header)
    if has_begun:
        journal.events.append(STARTED)
    journal.audio.append(np.full(seconds * RATE, 0.25, np.float32))
    for number, text in enumerate(texts):
        journal.events.append(_line(number, text))
    copy = shutil.copytree(journal.folder, library.root.with_name("copy"))
    journal.close(KeepPolicy.NOTHING)
    return copy.rename(journal.folder)


def _wav(folder: Path) -> np.ndarray:
    with wave.open(str(folder / "audio.wav")) as file:
        assert (file.getframerate(), file.getnchannels(), file.getsampwidth()) == (RATE, 1, 2)
        return np.frombuffer(file.readframes(file.getnframes()), "<i2")


def test_recover_when_a_session_broke_off_then_it_is_whole_and_closed(
    library: SessionLibrary,
) -> None:
    folder = _break_off(library)
    (before,) = library.list()
    assert (before.is_broken_off, before.is_recovered) == (True, False)
    report = library.recover("tal")
    assert (report.duration_s, report.num_words, report.is_there) == (3.0, 3, True)
    assert "00:00:03 and 3 words are kept" in report.text
    assert "Up to a second of sound may be missing" in report.text
    (info,) = library.list()
    assert (info.is_closed, info.is_recovered, info.is_broken_off) == (True, True, False)
    assert (info.duration_s, info.num_words) == (3.0, 3)
    assert len(_wav(folder)) == 3 * RATE
    assert sorted(path.name for path in folder.iterdir()) == [
        "audio.wav", "events.jsonl", "session.json",
    ]  # fmt: skip
    assert library.open("talk").document().text() == "one two three"


def test_recover_when_done_twice_or_of_a_whole_one_then_nothing_is_changed(
    library: SessionLibrary,
) -> None:
    folder = _break_off(library)
    library.recover("talk")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert "is whole" in library.recover("talk").text
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_recover_when_it_is_being_recorded_then_refused(library: SessionLibrary) -> None:
    journal = Journal.create(library.root, SessionHeader("talk", "", RATE))
    with pytest.raises(StoreError, match="being recorded"):
        library.recover("talk")
    journal.close()
    assert library.list()[0].is_closed


def test_recover_when_the_last_line_is_torn_anywhere_then_the_others_stay(
    library: SessionLibrary,
) -> None:
    folder = _break_off(library)
    path = folder / "events.jsonl"
    whole = path.read_bytes()
    last = len(encode_event(_line(2, "three")))
    header = (folder / "session.json").read_bytes()
    for num_torn in range(1, last + 1):
        for tail in (b"", bytes(5000)):
            path.write_bytes(whole[: len(whole) - num_torn] + tail)
            (folder / "session.json").write_bytes(header)
            report = library.recover("talk")
            # Without its line end alone, the event is all there.
            words = TEXTS if num_torn == 1 else TEXTS[:2]
            stored = library.open("talk")
            assert stored.document().text() == " ".join(words)
            assert stored.num_skipped == 0
            assert report.num_words == len(words)
            assert ("torn line" in report.cut) == (1 < num_torn < last or bool(tail)), num_torn
            library.append_edits("talk", (WordsEdited((0,), (" first",)),))
            assert library.open("talk").document().text().startswith("first")


@pytest.mark.parametrize("content", [b"", bytes(4096), b'{"event":"sch'])
def test_recover_when_nothing_of_the_text_is_left_then_the_sound_stays(
    library: SessionLibrary, content: bytes
) -> None:
    folder = _break_off(library)
    (folder / "events.jsonl").write_bytes(content)
    report = library.recover("talk")
    assert (report.duration_s, report.num_words) == (3.0, 0)
    assert list(library.open("talk").events()) == []
    assert (folder / "events.jsonl").read_bytes().startswith(b'{"event":"schema"')


def test_recover_when_lines_in_the_middle_are_damaged_then_they_are_counted(
    library: SessionLibrary,
) -> None:
    folder = _break_off(library)
    path = folder / "events.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:3], b"garbage\n", *lines[3:]]))
    report = library.recover("talk")
    assert "1 damaged line of its text cannot be read" in report.lost
    assert report.num_words == 3


@pytest.mark.parametrize("num_bytes", [0, 7, 44, 45, 46, 44 + 2 * RATE + 1])
def test_recover_when_the_sound_is_cut_anywhere_then_its_whole_samples_stay(
    library: SessionLibrary, num_bytes: int
) -> None:
    folder = _break_off(library, texts=())
    os.truncate(folder / "audio.wav", num_bytes)
    library.recover("talk")
    num_samples = max(0, num_bytes - 44) // 2
    assert len(_wav(folder)) == num_samples
    assert (folder / "audio.wav").stat().st_size == 44 + 2 * num_samples
    assert library.list()[0].duration_s == num_samples / RATE


@pytest.mark.parametrize("head", [bytes(44), b"RIFF" + bytes(40)])
def test_recover_when_the_wav_header_is_lost_then_made_anew(
    library: SessionLibrary, head: bytes
) -> None:
    folder = _break_off(library)
    data = (folder / "audio.wav").read_bytes()
    (folder / "audio.wav").write_bytes(head + data[44:])
    library.recover("talk")
    assert np.all(_wav(folder) == 8192)


def test_recover_when_the_sound_is_of_another_make_then_it_is_left_alone(
    library: SessionLibrary,
) -> None:
    folder = _break_off(library)
    fields = struct.pack("<IHHIIHH", 16, 1, 2, 44_100, 176_400, 4, 16)
    other = b"RIFF" + struct.pack("<I", 900) + b"WAVEfmt " + fields + b"LIST" + bytes(1000)
    (folder / "audio.wav").write_bytes(other)
    library.recover("talk")
    assert (folder / "audio.wav").read_bytes() == other


@pytest.mark.parametrize("num_zeros", [3, 2001, 40 * RATE])
def test_recover_when_a_power_cut_left_zeros_at_the_end_then_they_are_cut_behind_the_last_word(
    library: SessionLibrary, num_zeros: int
) -> None:
    folder = _break_off(library, texts=())
    path, header = folder / "audio.wav", (folder / "session.json").read_bytes()
    os.truncate(path, 44 + 2 * 3 * RATE + num_zeros)
    report = library.recover("talk")
    assert "zeros where sound had not reached the disk" in report.cut
    assert len(_wav(folder)) == 3 * RATE

    os.truncate(path, 44 + 2 * 50 * RATE)
    path.write_bytes(wav_header(RATE, 0) + path.read_bytes()[44:])
    (folder / "session.json").write_bytes(header)
    with (folder / "events.jsonl").open("ab") as file:
        file.write(encode_event(_line(40, "late")))
    library.recover("talk")
    assert len(_wav(folder)) == 40 * RATE + 8000


def test_recover_when_zeros_were_recorded_and_synced_then_they_stay(
    library: SessionLibrary,
) -> None:
    folder = _break_off(library, texts=())
    path = folder / "audio.wav"
    path.write_bytes(wav_header(RATE, 23 * RATE) + path.read_bytes()[44:] + bytes(2 * 21 * RATE))
    report = library.recover("talk")
    assert len(_wav(folder)) == 23 * RATE
    assert "1.0 s of zeros" in report.cut


def test_recover_when_only_text_was_to_be_kept_then_the_sound_is_deleted_and_it_says_so(
    library: SessionLibrary,
) -> None:
    folder = _break_off(library, KeepPolicy.TEXT)
    report = library.recover("talk")
    assert not (folder / "audio.wav").exists()
    assert "its sound (00:00:03) was deleted" in report.text
    assert "3 words are kept" in report.text
    (info,) = library.list()
    assert (info.has_audio, info.duration_s, info.num_words) == (False, 3.0, 3)


def test_recover_when_text_alone_was_left_by_a_close_then_its_length_is_that_of_its_events(
    library: SessionLibrary,
) -> None:
    folder = _break_off(library, KeepPolicy.TEXT)
    (folder / "audio.wav").unlink()
    with (folder / "events.jsonl").open("ab") as file:
        file.write(encode_event(RecordingStopped("talk", 5 * RATE)))
    report = library.recover("talk")
    assert (report.duration_s, report.lost) == (5.0, "")


def test_recover_when_nothing_had_been_recorded_then_the_empty_session_is_removed(
    library: SessionLibrary,
) -> None:
    _break_off(library, texts=(), seconds=0, has_begun=False)
    report = library.recover("talk")
    assert not report.is_there
    assert "before anything was recorded" in report.text
    assert library.list() == ()
    assert list(library.root.iterdir()) == []


def test_recover_when_no_line_can_be_understood_then_nothing_is_removed(
    library: SessionLibrary,
) -> None:
    folder = _break_off(library, texts=(), seconds=0, has_begun=False)
    lines = b"".join(b'{"event":"final_words","of_another_make":%d}\n' % n for n in range(9))
    (folder / "events.jsonl").write_bytes(lines)
    report = library.recover("talk")
    assert report.is_there
    assert "9 damaged lines" in report.text
    assert (folder / "events.jsonl").read_bytes() == lines


def test_recover_when_somebody_looks_at_it_just_then_is_done_all_the_same(
    library: SessionLibrary,
) -> None:
    folder = _break_off(library)
    lock = session_lock(folder)
    lock.acquire()
    release = threading.Timer(0.2, lock.release)
    release.start()
    assert "3 words are kept" in library.recover("talk").text
    release.join()


def test_recover_when_the_facts_are_lost_then_taken_from_the_events(
    library: SessionLibrary,
) -> None:
    folder = _break_off(library)
    (folder / "session.json").unlink()
    (folder / "audio.wav").write_bytes(wav_header(48_000, RATE) + bytes(2 * RATE))
    library.recover("talk")
    header = library.open("talk").header
    assert (header.started_at, header.sample_rate, header.device) == (
        STARTED.started_at, RATE, "Desk",
    )  # fmt: skip
    assert len(_wav(folder)) == RATE
    assert library.list()[0].duration_s == 2.5, "as far as the last word"


def test_recover_when_a_time_is_absurd_then_it_does_not_count(library: SessionLibrary) -> None:
    folder = _break_off(library)
    with (folder / "events.jsonl").open("ab") as file:
        file.write(encode_event(FinalWords((Word(" far", 0, 2**62),))))
        file.write(encode_event(FinalWords((Word(" further", 0, 10**30),))))
    assert library.recover("talk").duration_s == 3.0
    assert library.list()[0].duration_s == 3.0


def test_recover_when_weights_were_random_then_it_says_so(library: SessionLibrary) -> None:
    folder = _break_off(library)
    ready = BackendChanged(BackendKind.RECOGNIZER, "fake", BackendState.READY, is_trained=False)
    with (folder / "events.jsonl").open("ab") as file:
        file.write(encode_event(ready))
    library.recover("talk")
    assert not library.open("talk").header.is_trained


@pytest.mark.skipif(os.name == "nt", reason="links need a privilege there")
@pytest.mark.parametrize("name", ["audio.wav", "events.jsonl"])
def test_recover_when_a_file_is_a_link_then_what_it_leads_to_is_not_touched(
    library: SessionLibrary, tmp_path: Path, name: str
) -> None:
    folder = _break_off(library)
    precious = tmp_path / "precious"
    precious.write_bytes(b"not ours")
    (folder / name).unlink()
    (folder / name).symlink_to(precious)
    with pytest.raises(StoreError, match="cannot be written"):
        library.recover("talk")
    assert precious.read_bytes() == b"not ours"


def test_recover_when_the_disk_fails_then_nothing_is_lost_and_it_can_be_done_again(
    library: SessionLibrary, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = _break_off(library)

    def fail(_descriptor: int) -> None:
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fail)
        with pytest.raises(StoreError, match="Input/output error") as caught:
            library.recover("talk")
    assert "another disk" in caught.value.advice
    assert library.list()[0].is_broken_off
    assert library.recover("talk").num_words == 3
    assert len(_wav(folder)) == 3 * RATE


def test_recover_when_a_header_was_being_written_then_its_scratch_file_is_removed(
    library: SessionLibrary,
) -> None:
    folder = _break_off(library)
    (folder / ".session.json.0a1b2c3d").write_bytes(b'{"id"')
    library.recover("talk")
    assert not list(folder.glob(".session*"))


def test_delete_when_it_was_killed_half_way_then_the_rest_goes_with_the_next_listing(
    library: SessionLibrary,
) -> None:
    folder = _break_off(library)
    folder.rename(folder.with_name(".talk.deleted"))
    assert library.list() == ()
    assert list(library.root.iterdir()) == []
