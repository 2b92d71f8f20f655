"""What the user changes in a running or ended recording, and where it is kept."""

import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from engine.backends.fake_recognizer import RecognizerScript, words_from_text
from engine.core.config import KeepPolicy, Settings
from engine.core.events import (
    EditEvent,
    Notice,
    PlayChanged,
    PlayState,
    RecordingStarted,
    SpeakerMerged,
    SpeakerRenamed,
    WordsAssigned,
    WordsEdited,
)
from engine.core.types import SpeakerId
from engine.session.keeping import Keeper
from engine.store.journal_files import is_lasting
from engine.store.library import SessionLibrary
from engine.text.document import TranscriptDocument
from tests.helpers.session import RATE, ScriptedDevices, SessionBench, array_input

pytestmark = pytest.mark.unit

NEW = SpeakerId(-1, 0)
EDITS: tuple[EditEvent, ...] = (
    SpeakerRenamed(0, 0, "Mira"),
    WordsAssigned((0,), (NEW,)),
    WordsEdited((1,), (" lamp",)),
    SpeakerMerged(NEW, SpeakerId(0, 1)),
)
Make = Callable[..., SessionBench]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    benches = []

    def build(num_recordings: int = 1, **options: object) -> SessionBench:
        script = RecognizerScript(words=words_from_text("the last words of it", start_s=0.2))
        devices = ScriptedDevices([array_input(4) for _ in range(num_recordings)])
        bench = SessionBench(tmp_path / "sessions", devices, recognizer=script, **options)
        benches.append(bench)
        return bench

    yield build
    for bench in benches:
        bench.session.close()
    assert [t.name for t in threading.enumerate() if t.name.startswith("vivavoce")] == []


def look(document: TranscriptDocument) -> tuple[object, ...]:
    return list(document.words), list(document.lines), document.speaker_name(SpeakerId(0, 0))


@pytest.mark.parametrize("keep", [KeepPolicy.AUDIO_AND_TEXT, KeepPolicy.TEXT])
def test_edits_when_the_recording_has_ended_then_published_and_kept(
    make: Make, tmp_path: Path, keep: KeepPolicy
) -> None:
    bench = make(keep=keep)
    bench.run()
    bench.session.edit(EDITS)
    bench.session.drain_events()

    live = bench.session.document
    assert live.text() == "the lamp words of it"
    assert [event for event in bench.events if event in EDITS] == list(EDITS)
    assert look(SessionLibrary(tmp_path / "sessions").open("last").document()) == look(live)
    assert bench.told(Notice) == []


def test_edits_when_made_while_recording_then_kept_in_their_place(
    make: Make, tmp_path: Path
) -> None:
    bench = make()
    is_edited = threading.Event()

    def edit_at_first_word(event: object) -> None:
        if bench.session.document.words and not is_edited.is_set():
            is_edited.set()
            bench.session.edit(EDITS)

    bench.session.subscribe(edit_at_first_word)
    bench.run()

    assert is_edited.is_set()
    live = bench.session.document
    assert live.speaker_name(SpeakerId(0, 0)) == "Mira"
    assert look(SessionLibrary(tmp_path / "sessions").open("last").document()) == look(live)


def test_edits_when_nothing_is_kept_then_published_alone(make: Make, tmp_path: Path) -> None:
    bench = make(keep=KeepPolicy.NOTHING)
    bench.run()
    bench.session.edit(EDITS)
    bench.session.drain_events()

    assert bench.session.document.text() == "the lamp words of it"
    assert SessionLibrary(tmp_path / "sessions").list() == ()
    assert bench.told(Notice) == []


def test_edits_when_another_recording_follows_then_each_has_its_own(
    make: Make, tmp_path: Path
) -> None:
    bench = make(num_recordings=2)
    bench.run()
    bench.session.edit((SpeakerRenamed(0, 0, "First"),))
    bench.run()
    bench.session.edit((SpeakerRenamed(0, 0, "Second"),))
    bench.session.drain_events()

    library = SessionLibrary(tmp_path / "sessions")
    names = {
        library.open(info.id).document().speaker_name(SpeakerId(0, 0)) for info in library.list()
    }
    assert len(library.list()) == 2
    assert names == {"First", "Second"}


def test_edits_when_the_next_recording_has_not_begun_for_them_then_are_of_the_last(
    tmp_path: Path,
) -> None:
    keeper, document = Keeper(tmp_path), TranscriptDocument()
    first, second = (
        RecordingStarted(name, RATE, "2026-01-01T00:00:00+00:00", "microphone", True)
        for name in ("first", "second")
    )
    keeper.begin(first, Settings())
    keeper.take(first, document)
    keeper.end(is_trained=True)
    keeper.begin(second, Settings())
    for event in (SpeakerRenamed(0, 0, "First"), second, SpeakerRenamed(0, 0, "Second")):
        keeper.take(event, document)
    keeper.end(is_trained=True)
    keeper.close(10.0)

    library = SessionLibrary(tmp_path)
    for name in ("first", "second"):
        stored = library.open(name).document()
        assert stored.speaker_name(SpeakerId(0, 0)) == name.capitalize()


@pytest.mark.expects_log
def test_edits_when_the_kept_session_was_deleted_then_a_notice_says_so(
    make: Make, tmp_path: Path
) -> None:
    bench = make()
    bench.run()
    shutil.rmtree(tmp_path / "sessions")
    bench.session.edit(EDITS[:1])
    bench.session.drain_events()

    assert bench.session.document.speaker_name(SpeakerId(0, 0)) == "Mira"
    assert "cannot be written" in bench.told(Notice)[-1].message


def test_playing_when_told_then_is_no_part_of_the_recording() -> None:
    assert not is_lasting(PlayChanged(PlayState.PLAYING, 0, 100))
    assert all(is_lasting(event) for event in EDITS)
