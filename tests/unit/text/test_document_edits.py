from itertools import pairwise

import numpy as np
import pytest

from engine.core.events import (
    ActivityRevised,
    Event,
    FinalWords,
    SpanMarked,
    SpeakerColored,
    SpeakerMerged,
    SpeakerRenamed,
    WordsAssigned,
    WordsEdited,
)
from engine.core.types import SpanKind, SpeakerId, Word
from engine.store.exporters.export import render
from engine.store.exporters.options import ExportFormat
from engine.text.document import TranscriptDocument
from engine.text.lines import LINE_LIMIT_WORDS
from tests.unit.text.talk import NEW, A, B, C, lines, rows, said, started, talk

pytestmark = pytest.mark.unit


def test_merge_when_applied_then_lines_join_and_speakers_are_one() -> None:
    document = talk()
    assert document.speakers == (A, B)

    assert document.apply(SpeakerMerged(B, A)) == 0

    assert lines(document) == [(A, "one two three. four five. six seven")]
    assert document.speakers == (A,)
    assert document.resolve(B) == A
    assert document.merged_into(A) == (B,)
    assert document.speaker_name(B) == "Speaker A"
    document.apply(SpeakerMerged(B, B))
    assert document.speakers == (A, B)
    assert lines(document) == lines(talk())


def test_merge_when_words_come_later_then_they_are_the_targets() -> None:
    document = talk()
    document.apply(SpeakerMerged(B, A))
    document.apply(rows(1, 1, first_frame=7))
    document.apply(said("eight nine", 3.5))

    assert document.words[-1].speakers == (A,)
    assert len(document.lines) == 1


def test_merge_when_both_speak_then_the_word_has_one() -> None:
    document = TranscriptDocument()
    both = np.zeros((2, 8), np.float32)
    both[:, :2] = 0.9
    for event in (started(), ActivityRevised(0, 500, both, 2), said("together")):
        document.apply(event)
    assert document.words[0].speakers == (A, B)

    document.apply(SpeakerMerged(A, B))

    assert document.words[0].speakers == (B,)


def test_merge_when_it_would_close_a_circle_then_is_passed_over() -> None:
    document = talk()
    circle = (SpeakerMerged(A, B), SpeakerMerged(B, C), SpeakerMerged(C, A))
    for event in circle:
        document.apply(event)

    assert [document.resolve(speaker) for speaker in (A, B, C)] == [C, C, C]


@pytest.mark.parametrize(
    "event",
    [
        SpeakerMerged(SpeakerId(0, 8), A),
        SpeakerMerged(A, SpeakerId(-2, 0)),
        SpeakerColored(A, 8),
        SpeakerColored(A, -2),
        SpeakerColored(SpeakerId(0, -1), 3),
        SpeakerRenamed(-7, 0, "Nobody"),
        SpeakerRenamed(0, 99, "Nobody"),
        WordsAssigned((7, -1, 2**40), (B,)),
        WordsAssigned((0, 1), (SpeakerId(0, 20),)),
        WordsEdited((7, -1, 2**40), ("x", "y", "z")),
        WordsAssigned((), ()),
        WordsEdited((), ()),
        SpeakerMerged(A, A),
        WordsEdited((0,), (" one",)),
    ],
)
def test_edit_when_it_cannot_be_then_is_passed_over(event: Event) -> None:
    document, before = talk(), talk()

    assert document.apply(event) is None

    assert list(document.words) == list(before.words)
    assert list(document.lines) == list(before.lines)
    assert document.speakers == before.speakers


def test_color_when_given_then_of_whom_the_speaker_is() -> None:
    document = talk()
    assert [document.speaker_color(speaker) for speaker in (A, B, NEW)] == [0, 1, 0]

    assert document.apply(SpeakerColored(B, 5)) == 0
    document.apply(SpeakerMerged(A, B))

    assert document.speaker_color(A) == 5
    assert document.apply(SpeakerColored(B, -1)) == 0
    assert document.speaker_color(B) == 1


def test_assigned_words_when_activity_is_revised_then_stay_until_given_back() -> None:
    document = talk()
    assert document.apply(WordsAssigned((3, 4), (NEW,))) == 1
    assert lines(document)[1] == (NEW, "four five.")
    assert document.speakers == (A, NEW)
    assert [entry.is_locked for entry in document.words[2:5]] == [False, True, True]

    assert document.apply(rows(2, 2, first_frame=3)) is None
    assert document.words[3].speakers == (NEW,)

    document.apply(WordsAssigned((3, 4), ()))
    assert document.words[3].speakers == (C,)
    assert not document.words[3].is_locked


def test_edited_word_when_applied_then_shows_the_text_and_keeps_what_was_heard() -> None:
    document = talk()
    assert document.apply(WordsEdited((3,), (" for",))) == 1
    entry = document.words[3]
    assert (entry.text, entry.heard, entry.is_edited, entry.is_gone) == (
        " for",
        " four",
        True,
        False,
    )
    assert document.text() == "one two three. for five. six seven"

    document.apply(WordsEdited((3,), (" four",)))
    assert document.words[3].heard is None
    assert lines(document) == lines(talk())


def test_edited_word_when_text_is_unclean_then_is_one_clean_line() -> None:
    document = talk()
    document.apply(WordsEdited((0, 1), (" a\n\tb\x00c", "\r\n")))

    assert document.words[0].text == " a bc"
    assert document.words[1].is_gone


def test_line_when_all_its_words_are_gone_then_is_gone_and_comes_back() -> None:
    document = talk()
    assert document.apply(WordsEdited((3, 4), ("", ""))) == 0
    assert lines(document) == [(A, "one two three. six seven")]

    document.apply(WordsEdited((3, 4), (" four", " five.")))
    assert lines(document) == lines(talk())


def test_lines_when_every_word_is_gone_then_there_are_none() -> None:
    document = talk()
    document.apply(WordsEdited(tuple(range(7)), ("",) * 7))
    assert list(document.lines) == []
    assert document.text() == ""

    document.apply(said("eight", 3.5))
    assert [text for _, text in lines(document)] == ["eight"]
    document.apply(WordsEdited((0,), (" one",)))
    assert document.text().startswith("one")


def test_line_when_its_first_words_are_gone_then_begins_with_the_first_that_is_left() -> None:
    document = talk()
    document.apply(WordsEdited((0,), ("",)))

    line = document.lines[0]
    assert (document.line_start(line), document.line_end(line)) == (500, 1400)


def test_attribution_when_a_text_was_edited_then_is_as_without() -> None:
    edited, plain = talk(), talk()
    # What was heard ends a phrase; what it says now would not.
    edited.apply(WordsEdited((2,), (" three",)))
    revised = rows(0, 0, 1, 1, 1, 1, 0)
    edited.apply(revised)
    plain.apply(revised)

    assert [e.speakers for e in edited.words] == [e.speakers for e in plain.words]


def test_late_word_when_it_parts_a_phrase_then_both_parts_are_looked_at_again() -> None:
    def heard(*events: Event) -> TranscriptDocument:
        document = TranscriptDocument()
        for event in (started(), *events):
            document.apply(event)
        return document

    # B is a little likelier in the second half; within one phrase A's clear half outweighs it.
    table = np.zeros((8, 8), np.float32)
    table[:4, 0] = 0.9
    table[4:, :2] = (0.5, 0.6)
    activity = ActivityRevised(0, 500, table, 8)
    words = FinalWords(tuple(Word(" so", 500 * i, 500 * i + 450) for i in range(8)))
    late = FinalWords((Word(" right.", 1960, 1990),))

    before = heard(activity, words)
    assert {entry.speakers[0] for entry in before.words} == {A}
    before.apply(late)
    after = heard(words, late, activity)

    assert [e.speakers for e in before.words] == [e.speakers for e in after.words]
    assert before.words[-1].speakers[0] == B


def test_words_when_out_of_order_in_one_event_then_all_are_attributed() -> None:
    document = talk()
    document.apply(rows(*[1] * 8, first_frame=7))
    words = said("eight. nine. ten. eleven.", 4.0).words
    document.apply(FinalWords((words[2], words[3], words[0], words[1])))

    assert document.text().endswith("seven eight. nine. ten. eleven.")
    assert [entry.id for entry in document.words[-4:]] == [9, 10, 7, 8]
    assert [entry.speakers for entry in document.words[-4:]] == [(B,)] * 4


def test_words_when_activity_jumps_over_them_then_equal_a_document_told_in_order() -> None:
    live, rebuilt = TranscriptDocument(), TranscriptDocument()
    # No rows come for the second word; its neighbour's speaker is as good as any.
    words = said("one two. three")
    first, last = rows(0), rows(0, first_frame=2)
    for event in (started(), words, first, last):
        live.apply(event)
    for event in (started(), words, rows(0, None, 0)):
        rebuilt.apply(event)

    assert [e.speakers for e in live.words] == [e.speakers for e in rebuilt.words]


def test_word_index_when_words_came_late_then_finds_each() -> None:
    document = talk()
    document.apply(FinalWords((Word(" late", 500, 500), Word(" later", 500, 600))))

    assert [document.words[document.word_index(i)].id for i in range(9)] == list(range(9))
    for unknown in (-1, 9):
        with pytest.raises(KeyError):
            document.word_index(unknown)


def test_speakers_when_a_first_word_changes_hands_then_order_follows() -> None:
    document = talk()
    document.apply(WordsAssigned((0, 1, 2), (B,)))
    assert document.speakers == (B, A)
    document.apply(WordsAssigned((5, 6), (C,)))
    assert document.speakers == (B, C)
    document.apply(WordsAssigned((0, 1, 2, 5, 6), ()))
    assert document.speakers == (A, B)


def test_spans_when_told_again_elsewhere_then_stay_in_order() -> None:
    document = talk()
    for mark_id, start in ((3, 500), (1, 900), (2, 100), (3, 1000), (1, 0)):
        document.apply(SpanMarked(mark_id, SpanKind.GAP, start, start + 10))

    assert [(span.mark_id, span.start) for span in document.spans] == [(1, 0), (2, 100), (3, 1000)]


def test_line_when_no_sentence_ever_ends_then_is_broken_all_the_same() -> None:
    document = TranscriptDocument()
    document.apply(started())
    document.apply(said("word " * 1000))

    lengths = [line.end - line.first for line in document.lines]
    assert max(lengths) == LINE_LIMIT_WORDS
    assert sum(lengths) == 1000


@pytest.mark.parametrize(
    "words",
    [
        (Word(" same", 0, 0), Word(" same", 0, 0), Word(" same", 0, 0)),
        (Word(" long", 0, 60_000), Word(" in", 100, 200), Word(" it", 50_000, 50_001)),
        (Word(" back", 5000, 1000), Word(" wards", 400, 0), Word(" never", 0, 2**60)),
        (Word("", 0, 10), Word(" ", 10, 10), Word("\n", 20, 30)),
        (Word(" one", 0, 100),),
        (),
    ],
)
def test_document_when_times_are_senseless_then_everything_works(words: tuple[Word, ...]) -> None:
    document = TranscriptDocument()
    document.apply(started())
    document.apply(FinalWords(words))
    document.apply(rows(0, 1, None, 0, 1))
    document.apply(WordsEdited(tuple(range(len(words))), ("",) * len(words)))
    document.apply(WordsEdited(tuple(range(len(words))), (" put in",) * len(words)))
    document.apply(WordsAssigned((0,), (NEW,)))
    for name in ExportFormat:
        assert isinstance(render(document, name), str)
    for before, after in pairwise(document.lines):
        assert before.end == after.first
    assert sorted(document.word_index(i) for i in range(len(words))) == list(range(len(words)))


@pytest.mark.parametrize("name", ["👩‍👩‍👧 Ana", "דנה כהן", "x" * 200, "Ann & <Bob> --> |"])
def test_name_when_unusual_then_kept_and_exported(name: str) -> None:
    document = talk()
    document.apply(SpeakerRenamed(0, 0, f"  {name}\n"))

    assert document.speaker_name(A) == name
    for export_format in ExportFormat:
        text = render(document, export_format)
        assert "\n\n\n" not in text
