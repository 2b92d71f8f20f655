"""A transcript is the same however words, activity and edits follow each other."""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.core.config import Settings
from engine.core.events import (
    ActivityRevised,
    EditEvent,
    Event,
    FinalWords,
    RecordingStarted,
    SpanMarked,
    SpeakerColored,
    SpeakerMerged,
    SpeakerRenamed,
    WordsAssigned,
    WordsEdited,
)
from engine.core.types import USER_EPOCH, SpanKind, SpeakerId, Word
from engine.session.keeping import Keeper
from engine.store.exporters.export import render
from engine.store.exporters.options import ExportFormat
from engine.store.library import SessionLibrary
from engine.text import edits
from engine.text.document import Line, TranscriptDocument
from engine.text.edits import Edit
from engine.text.lines import regroup

pytestmark = pytest.mark.property

RATE = 1000
FRAME_MS = 100

speakers = st.builds(SpeakerId, st.sampled_from([0, 0, 1, USER_EPOCH]), st.integers(0, 3))
wild_speakers = st.builds(SpeakerId, st.integers(-3, 2), st.integers(-2, 9))
word_ids = st.lists(st.integers(-2, 40), max_size=6).map(tuple)
texts = st.sampled_from(["", " ", "one", " two", " three.", " a b", "\n", " x\0y", "é"])
names = st.sampled_from(["", "Maria", " Ann  Lee ", "👩‍🚀", "דנה", "x" * 200, "\x07"])


@st.composite
def edited(draw: st.DrawFn) -> WordsEdited:
    pairs = draw(st.lists(st.tuples(st.integers(-2, 40), texts), max_size=6))
    return WordsEdited(tuple(i for i, _ in pairs), tuple(text for _, text in pairs))


edit_events = st.one_of(
    st.builds(SpeakerRenamed, st.integers(-3, 2), st.integers(-2, 9), names),
    st.builds(SpeakerMerged, speakers, speakers),
    st.builds(SpeakerMerged, wild_speakers, wild_speakers),
    st.builds(SpeakerColored, wild_speakers, st.integers(-5, 12)),
    st.builds(WordsAssigned, word_ids, st.lists(speakers, max_size=2).map(tuple)),
    st.builds(WordsAssigned, word_ids, st.lists(wild_speakers, max_size=2).map(tuple)),
    edited(),
)


class Talk:
    """Grows as a live recording does: words and rows follow time, a few come late or again."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.end = 0
        self.num_frames = 0

    def words(self) -> FinalWords:
        words = []
        for _ in range(self.rng.integers(1, 6)):
            start = max(0, self.end + int(self.rng.choice([0, 0, 0, 50, -200, 700, 2500])))
            end = max(0, start + int(self.rng.choice([0, 150, 400, 400, 400, -100])))
            self.end = max(self.end, start, end)
            text = str(self.rng.choice([" yes", " no.", " well", " so", "-known", " 好", "吗？"]))
            words.append(Word(text, start, end))
        if self.rng.random() < 0.3:
            # Not every recognizer keeps to the order.
            self.rng.shuffle(words)  # type: ignore[arg-type]
        return FinalWords(tuple(words))

    def late_word(self) -> FinalWords:
        start = int(self.rng.integers(0, self.end + 1))
        return FinalWords((Word(" late.", start, start + int(self.rng.choice([0, 300, 2500]))),))

    def rows(self, *, is_old: bool = False, is_settled: bool = False) -> ActivityRevised:
        """Return rows of changing speakers; the newest leave a hole now and then."""
        first = self.num_frames + int(self.rng.choice([0, 0, 0, 4]))
        if is_old:
            first = int(self.rng.integers(0, self.num_frames + 1))
        # Exact in three decimals and in float16 alike, as journals round.
        count = int(self.rng.integers(1, 25))
        stretch = self.rng.integers(1, 5)
        rows = self.rng.choice(
            np.array([0, 0, 0, 0.125, 0.5, 0.75, 1.0], np.float32), (count, 4)
        ).repeat(stretch, axis=0)
        self.num_frames = max(self.num_frames, first + len(rows))
        return ActivityRevised(first, FRAME_MS, rows, 0, is_settled=is_settled)

    def mark(self) -> SpanMarked:
        """Return a marked stretch, now and then in place of one before it."""
        start = int(self.rng.integers(0, self.end + 1))
        kind = SpanKind(self.rng.choice(list(SpanKind)))
        end = start + int(self.rng.choice([0, 300])) * (kind is not SpanKind.PAUSE)
        return SpanMarked(int(self.rng.integers(0, 6)), kind, start, end)

    def last_rows(self) -> ActivityRevised:
        """Return rows that make all final."""
        rows = np.zeros((1, 4), np.float32)
        return ActivityRevised(self.num_frames, FRAME_MS, rows, self.num_frames + 1)


@st.composite
def told(draw: st.DrawFn) -> list[Event]:
    """Return what is told in some order, at its end with every row final."""
    talk = Talk(draw(st.integers(0, 2**32 - 1)))
    events: list[Event] = []
    for kind in draw(st.lists(st.sampled_from("wwwaaeeelrsmm"), min_size=5, max_size=40)):
        if kind == "e":
            events.append(draw(edit_events))
        elif kind == "w":
            events.append(talk.words())
        elif kind == "l":
            events.append(talk.late_word())
        elif kind == "m":
            events.append(talk.mark())
        else:
            events.append(talk.rows(is_old=kind in "rs", is_settled=kind == "s"))
    return [*events, talk.last_rows()] if talk.num_frames else events


def looks(document: TranscriptDocument) -> tuple[object, ...]:
    """Return all that people see of a document."""
    everybody = [SpeakerId(epoch, slot) for epoch in (USER_EPOCH, 0, 1, 2) for slot in range(8)]
    return (
        list(document.words),
        list(document.lines),
        document.speakers,
        document.spans,
        [document.speaker_name(speaker) for speaker in everybody],
        [document.speaker_color(speaker) for speaker in everybody],
        [document.resolve(speaker) for speaker in everybody],
    )


def check_whole(document: TranscriptDocument) -> None:
    """Check what is kept up to date against what is made anew."""
    words = document.words
    starts = [(entry.word.start, entry.id) for entry in words]
    assert starts == sorted(starts)
    assert [document.word_index(entry.id) for entry in words] == list(range(len(words)))
    assert document.speakers == tuple(dict.fromkeys(s for e in words for s in e.speakers))
    lines: list[Line] = []
    breaks = [s.start for s in document.spans if s.kind in (SpanKind.PAUSE, SpanKind.GAP)]
    regroup(lines, words, range(len(words)), document.sample_rate, breaks=breaks)
    assert list(document.lines) == lines
    assert all(document.line_text(line) for line in lines)
    for line in lines:
        first, end = document.line_start(line), document.line_words(line)[-1].word.start
        assert not any(first < at <= end for at in breaks)
    if lines:
        assert (lines[0].first, lines[-1].end) == (0, len(words))


def new_document() -> TranscriptDocument:
    document = TranscriptDocument()
    document.apply(started())
    return document


def started() -> RecordingStarted:
    return RecordingStarted("talk", RATE, "2026-01-01T00:00:00+00:00", "microphone", True)


@settings(max_examples=300)
@given(told())
def test_document_when_told_in_any_order_then_equals_one_rebuilt_from_its_journal(
    events: list[Event],
) -> None:
    live = TranscriptDocument()
    with TemporaryDirectory() as folder:
        keeper = Keeper(Path(folder))
        keeper.begin(started(), Settings())
        for event in (started(), *events):
            live.apply(event)
            keeper.take(event, live)
        keeper.end(is_trained=True)
        keeper.close(10.0)
        stored = SessionLibrary(Path(folder)).open("talk").document()
    assert looks(stored) == looks(live)
    check_whole(live)
    check_whole(stored)


@given(told())
def test_lines_when_told_which_changed_then_all_before_are_as_they_were(
    events: list[Event],
) -> None:
    document = new_document()
    for event in events:
        before = [_seen(document, line) for line in document.lines]
        changed = document.apply(event)
        after = [_seen(document, line) for line in document.lines]
        if changed is None:
            assert after == before
        else:
            assert after[:changed] == before[:changed]


@given(told(), st.data())
def test_edits_when_taken_back_in_reverse_then_everything_looks_as_before(
    events: list[Event], data: st.DataObject
) -> None:
    document = new_document()
    for event in events:
        document.apply(event)
    document.apply(SpanMarked(1, SpanKind.GAP, 0, 100))
    pasts, done = [], list[Edit]()
    for _ in range(data.draw(st.integers(1, 6))):
        edit = data.draw(_edits(document))
        if edit is None:
            continue
        pasts.append(looks(document))
        done.append(edit)
        _apply(document, edit.do)
        check_whole(document)
        for name in (ExportFormat.TXT, ExportFormat.SRT, ExportFormat.VTT, ExportFormat.CTM):
            assert "  " not in render(document, name)
    future = looks(document)
    for edit, past in zip(reversed(done), reversed(pasts), strict=True):
        _apply(document, edit.undo)
        assert looks(document) == past
    for edit in done:
        _apply(document, edit.do)
    assert looks(document) == future


def _apply(document: TranscriptDocument, events: tuple[EditEvent, ...]) -> None:
    for event in events:
        document.apply(event)


def _seen(document: TranscriptDocument, line: Line) -> tuple[object, ...]:
    speaker = line.speaker
    name = None if speaker is None else document.speaker_name(speaker)
    color = None if speaker is None else document.speaker_color(speaker)
    return line, name, color, tuple(document.line_words(line))


@st.composite
def _edits(draw: st.DrawFn, document: TranscriptDocument) -> Edit | None:
    ids = [entry.id for entry in document.words]
    low = draw(st.integers(0, len(ids)))
    some = ids[low : low + draw(st.integers(0, 6))]
    text = " ".join(draw(st.lists(st.sampled_from(["yes", "no.", "好吗", "so", "-known"]))))
    makers = [
        lambda: edits.rename_speaker(document, draw(speakers), draw(names)),
        lambda: edits.merge_speakers(document, draw(speakers), draw(speakers)),
        lambda: edits.part_speaker(document, draw(speakers)),
        lambda: edits.color_speaker(document, draw(speakers), draw(st.integers(-2, 9))),
        lambda: edits.assign_words(document, some, draw(speakers)),
        lambda: edits.lock_words(document, some, is_locked=draw(st.booleans())),
        lambda: edits.edit_words(document, some, text),
    ]
    return draw(st.sampled_from(makers))()
