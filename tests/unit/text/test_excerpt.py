import json

import pytest

from engine.core.events import (
    FinalWords,
    SpanMarked,
    SpeakerColored,
    SpeakerMerged,
    SpeakerRenamed,
    WordsAssigned,
    WordsEdited,
)
from engine.core.types import SpanKind, Word
from engine.store.exporters.export import render
from engine.store.exporters.options import ExportFormat
from engine.text.document import TranscriptDocument
from engine.text.excerpt import excerpt
from tests.unit.text.talk import NEW, RATE, A, B, C, lines, talk

pytestmark = pytest.mark.unit


def test_excerpt_when_cut_in_a_phrase_then_speakers_and_times_are_those_of_the_whole() -> None:
    document = talk()
    part = excerpt(document, 600, 2000)

    assert lines(part) == [(A, "two three."), (B, "four")]
    assert [entry.word for entry in part.words] == [entry.word for entry in document.words[1:4]]
    assert part.num_samples == document.num_samples
    assert part.sample_rate == RATE
    assert lines(document) == lines(talk())


def test_excerpt_when_edited_then_holds_names_colours_merges_and_corrections() -> None:
    document = talk()
    for event in (
        SpeakerRenamed(0, 0, "Maria"),
        SpeakerColored(A, 6),
        SpeakerMerged(C, A),
        WordsAssigned((3,), (NEW,)),
        WordsEdited((3, 4), (" for", "")),
        SpanMarked(1, SpanKind.PAUSE, 1500, 1500),
        SpanMarked(2, SpanKind.GAP, 0, 100),
    ):
        document.apply(event)
    part = excerpt(document, 1500, 2500)

    assert lines(part) == [(NEW, "for")]
    entry = part.words[0]
    assert (entry.id, entry.heard, entry.is_locked) == (0, " four", True)
    assert part.words[1].is_gone
    assert part.speaker_name(C) == "Maria"
    assert part.speaker_color(C) == 6
    assert [span.mark_id for span in part.spans] == [1]
    part.apply(SpeakerRenamed(0, 0, "Other"))
    part.apply(WordsAssigned((0,), ()))
    assert document.speaker_name(A) == "Maria"
    assert part.words[0].speakers == (B,)
    assert document.words[3].speakers == (NEW,)


def test_excerpt_when_exported_then_holds_only_the_turns_of_the_stretch() -> None:
    part = excerpt(talk(), 1500, 2500)

    data = json.loads(render(part, "json"))
    assert data["turns"] == [{"speaker": "B", "start": 1.5, "end": 2.5}]
    assert render(part, "txt") == "[00:00:02] Speaker B: four five.\n"


def test_excerpt_when_words_are_long_or_have_no_length_then_those_that_reach_in_are_there() -> None:
    document = talk()
    document.apply(FinalWords((Word(" long", 100, 9000), Word(" point", 5000, 5000))))

    assert excerpt(document, 5000, 5001).text() == "long point"
    assert excerpt(document, 4999, 5000).text() == "long"


@pytest.mark.parametrize(("start", "end"), [(0, 0), (3000, 2000), (-500, 0), (10**9, 2 * 10**9)])
def test_excerpt_when_nothing_lies_there_then_is_empty(start: int, end: int) -> None:
    part = excerpt(talk(), start, end)
    assert (part.text(), list(part.lines), part.speakers) == ("", [], ())
    assert excerpt(TranscriptDocument(), start, end).text() == ""


def test_excerpt_when_it_has_words_already_then_no_others_are_copied() -> None:
    document = talk()
    with pytest.raises(ValueError, match="empty document"):
        document.copy_speech(talk(), 0, 100)


@pytest.mark.parametrize("kind", tuple(ExportFormat))
def test_excerpt_when_it_is_all_of_it_then_is_exported_as_the_document_is(
    kind: ExportFormat,
) -> None:
    document = talk()
    for event in (
        FinalWords((Word(" late", 9000, 9400), Word(" point", 5000, 5000))),
        SpanMarked(7, SpanKind.GAP, 2600, 2900, "lost"),
        SpeakerRenamed(0, 0, "Maria"),
        SpeakerColored(B, 5),
        WordsEdited((0, 1), (" One", "")),
        WordsAssigned((3,), (NEW,)),
        SpeakerMerged(C, B),
    ):
        document.apply(event)

    assert render(excerpt(document, 0, 2**62), kind) == render(document, kind)
