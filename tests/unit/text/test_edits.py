import pytest

from engine.core.errors import EngineError
from engine.core.events import SpeakerMerged, WordsAssigned
from engine.core.types import MAX_SPEAKERS, USER_EPOCH, SpeakerId
from engine.text import edits
from engine.text.document import TranscriptDocument
from engine.text.edits import Edit
from tests.unit.text.talk import NEW, A, B, C, lines, talk

pytestmark = pytest.mark.unit


def do(document: TranscriptDocument, edit: Edit | None) -> Edit:
    assert edit is not None
    for event in edit.do:
        document.apply(event)
    return edit


def undo(document: TranscriptDocument, edit: Edit) -> None:
    for event in edit.undo:
        document.apply(event)


def test_rename_when_done_and_undone_then_the_name_comes_and_goes() -> None:
    document = talk()
    edit = do(document, edits.rename_speaker(document, A, "  Maria \n Lopez\x00 "))
    assert document.speaker_name(A) == "Maria Lopez"
    undo(document, edit)
    assert document.speaker_name(A) == "Speaker A"


@pytest.mark.parametrize("name", ["", "  ", "Speaker A", "\x07"])
def test_rename_when_the_name_is_the_letter_then_there_is_nothing_to_do(name: str) -> None:
    assert edits.rename_speaker(talk(), A, name) is None


def test_rename_when_the_name_is_very_long_then_kept_whole() -> None:
    document = talk()
    do(document, edits.rename_speaker(document, A, "é" * 500))
    assert document.speaker_name(A) == "é" * 500


def test_merge_when_the_target_has_no_name_then_takes_the_name_over() -> None:
    document = talk()
    do(document, edits.rename_speaker(document, B, "Maria"))
    edit = do(document, edits.merge_speakers(document, B, A))
    assert document.speaker_name(A) == "Maria"
    undo(document, edit)
    assert (document.speaker_name(A), document.speaker_name(B)) == ("Speaker A", "Maria")


def test_merge_when_they_are_one_already_then_there_is_nothing_to_do() -> None:
    document = talk()
    do(document, edits.merge_speakers(document, B, A))
    assert edits.merge_speakers(document, A, B) is None
    assert edits.merge_speakers(document, A, A) is None


def test_part_when_merged_in_a_chain_then_all_are_apart_and_undo_restores_the_chain() -> None:
    document = talk()
    do(document, edits.merge_speakers(document, A, B))
    do(document, edits.merge_speakers(document, B, C))
    assert document.speakers == (C,)
    edit = do(document, edits.part_speaker(document, C))
    assert document.speakers == (A, B)
    assert edits.part_speaker(document, C) is None
    undo(document, edit)
    assert edit.undo == (SpeakerMerged(A, B), SpeakerMerged(B, C))
    assert document.speakers == (C,)


def test_color_when_it_is_the_usual_one_then_there_is_nothing_to_do() -> None:
    document = talk()
    assert edits.color_speaker(document, A, 0) is None
    assert edits.color_speaker(document, A, -1) is None
    assert edits.color_speaker(document, A, 8) is None
    edit = do(document, edits.color_speaker(document, A, 3))
    again = do(document, edits.color_speaker(document, A, 0))
    assert document.book.own_color(A) == -1
    undo(document, again)
    undo(document, edit)
    assert document.speaker_color(A) == 0


def test_assign_when_words_had_different_owners_then_undo_gives_each_back() -> None:
    document = talk()
    do(document, edits.assign_words(document, [3], C))
    edit = do(document, edits.assign_words(document, [2, 3, 4, 99, -1], A))
    assert [entry.speakers for entry in document.words[2:5]] == [(A,)] * 3
    assert edits.assign_words(document, [2, 3, 4], A) is None
    undo(document, edit)
    assert [entry.speakers for entry in document.words[2:5]] == [(A,), (C,), (B,)]
    assert [entry.is_locked for entry in document.words[2:5]] == [False, True, False]


def test_lock_when_done_then_words_keep_who_has_them() -> None:
    document = talk()
    edit = do(document, edits.lock_words(document, [2, 3], is_locked=True))
    assert edit.do == (WordsAssigned((2,), (A,)), WordsAssigned((3,), (B,)))
    assert edits.lock_words(document, [2, 3], is_locked=True) is None
    back = do(document, edits.lock_words(document, [3], is_locked=False))
    undo(document, back)
    undo(document, edit)
    assert not any(entry.is_locked for entry in document.words)


def test_lock_when_nobody_is_known_then_there_is_nothing_to_do() -> None:
    assert edits.lock_words(TranscriptDocument(), [0], is_locked=True) is None


def test_edit_when_a_word_is_corrected_then_the_others_stay() -> None:
    document = talk()
    edit = do(document, edits.edit_words(document, [0, 1, 2], "one\ntwin   three. "))
    assert lines(document)[0] == (A, "one twin three.")
    assert [entry.is_edited for entry in document.words[:3]] == [False, True, False]
    undo(document, edit)
    assert not document.words[1].is_edited


def test_edit_when_the_text_is_empty_then_the_words_are_gone() -> None:
    document = talk()
    edit = do(document, edits.edit_words(document, [3, 4], " \t"))
    assert lines(document) == [(A, "one two three. six seven")]
    undo(document, edit)
    assert lines(document) == lines(talk())


def test_edit_when_gone_words_are_between_then_new_text_finds_its_place() -> None:
    document = talk()
    do(document, edits.edit_words(document, [0, 1, 2], "three."))
    do(document, edits.edit_words(document, [0, 1, 2], "and three."))
    assert document.text().startswith("and three. four")
    assert edits.edit_words(document, [0, 1, 2], "and  three.") is None
    assert edits.edit_words(document, [77], "x") is None


def test_new_speaker_when_some_are_taken_then_the_first_free_one() -> None:
    document = talk()
    assert edits.new_speaker(document) == NEW
    first = do(document, edits.assign_words(document, [0], NEW))
    do(document, edits.rename_speaker(document, SpeakerId(USER_EPOCH, 1), "Guest"))
    do(document, edits.merge_speakers(document, A, SpeakerId(USER_EPOCH, 2)))
    assert edits.new_speaker(document) == SpeakerId(USER_EPOCH, 3)
    assert edits.new_speaker(document).letter == "L"
    undo(document, first)
    assert edits.new_speaker(document) == NEW


def test_new_speaker_when_all_are_taken_then_says_what_to_do() -> None:
    document = talk()
    for slot in range(MAX_SPEAKERS):
        document.apply(WordsAssigned((0,), (SpeakerId(USER_EPOCH, slot),)))
        do(document, edits.rename_speaker(document, SpeakerId(USER_EPOCH, slot), "Guest"))
    with pytest.raises(EngineError, match="No more than 8") as caught:
        edits.new_speaker(document)
    assert "merge" in caught.value.advice
