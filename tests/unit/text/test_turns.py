import numpy as np
import pytest

from engine.core.events import ActivityRevised, SpeakerMerged, WordsAssigned
from engine.core.types import SpeakerId
from engine.text.document import TranscriptDocument
from engine.text.turns import document_turns
from tests.unit.text.talk import NEW, A, B, rows, said, started, talk

pytestmark = pytest.mark.unit


def turns(document: TranscriptDocument) -> list[tuple[SpeakerId, int, int]]:
    return [(turn.speaker, turn.start_ms, turn.end_ms) for turn in document_turns(document)]


def test_turns_when_nothing_is_edited_then_those_of_the_activity() -> None:
    document = talk()
    assert document_turns(document) == document.activity.turns()
    document.apply(WordsAssigned((3,), (B,)))
    assert document_turns(document) == document.activity.turns()


def test_turns_when_speakers_are_merged_then_theirs_are_joined() -> None:
    document = talk()
    document.apply(SpeakerMerged(B, A))
    assert turns(document) == [(A, 0, 3500)]


def test_turns_when_words_are_given_to_another_then_go_with_them() -> None:
    document = talk()
    document.apply(WordsAssigned((3, 4), (NEW,)))
    assert turns(document) == [(A, 0, 1500), (NEW, 1500, 2400), (A, 2500, 3500)]


def test_turns_when_a_part_is_given_then_the_rest_stays() -> None:
    document = talk()
    document.apply(WordsAssigned((0,), (NEW,)))
    assert turns(document)[:2] == [(NEW, 0, 400), (A, 400, 1500)]


def test_turns_when_one_of_two_voices_is_taken_away_then_the_other_keeps_its_turn() -> None:
    document = TranscriptDocument()
    table = np.zeros((2, 8), np.float32)
    table[:, :2] = 0.9
    for event in (started(), ActivityRevised(0, 500, table, 2), said("both speak")):
        document.apply(event)
    document.apply(WordsAssigned((0, 1), (B,)))
    assert turns(document) == [(B, 0, 1000)]


def test_turns_when_nobody_was_found_then_given_words_make_one() -> None:
    document = TranscriptDocument()
    for event in (started(), rows(None, None), said("who spoke")):
        document.apply(event)
    document.apply(WordsAssigned((0, 1), (NEW,)))
    assert turns(document) == [(NEW, 0, 900)]
