"""Typing what is to be spoken, in the captions' window."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLineEdit

from app.phrases import PHRASES_NAME, PhraseBook
from engine.core.errors import BackendError
from engine.core.events import FinalWords, PartialWords, UtteranceState
from tests.helpers.captions import (
    CaptionParts,
    close_captions,
    make_captions,
    press,
    talk,
    wait_active,
)
from tests.helpers.window import started, words

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

Key = Qt.Key
CONTROL = Qt.KeyboardModifier.ControlModifier
TEXT = "Good morning. I speak by typing. Please give me a moment."


@pytest.fixture
def captions(qtbot: "QtBot", tmp_path: Path) -> Iterator[CaptionParts]:
    parts = make_captions(tmp_path)
    parts.window.show_full()
    wait_active(parts, qtbot)
    parts.window.choices.choose({"num_lines": 8, "size_pt": 26})
    press(Key.Key_F6)
    yield parts
    close_captions(parts, qtbot)


def type_text(text: str) -> None:
    """Type a text where the focus is, and press Enter."""
    focused = QApplication.focusWidget()
    assert isinstance(focused, QLineEdit)
    focused.insert(text)
    press(Key.Key_Return)


def spoken(parts: CaptionParts) -> list[str]:
    return [call.removeprefix("speak ") for call in parts.session.calls if "speak " in call]


def own_text(parts: CaptionParts) -> str:
    return " ".join(row.words for row in parts.window.view.rows if row.is_own)


def test_box_when_enter_is_pressed_then_the_text_is_spoken(captions: CaptionParts) -> None:
    type_text(TEXT)
    assert spoken(captions) == [TEXT]
    assert captions.window.box.line.text() == ""


def test_box_when_there_is_nothing_to_say_then_nothing_is_spoken(captions: CaptionParts) -> None:
    type_text("   ")
    assert spoken(captions) == []


def test_box_when_a_text_is_heard_then_others_see_it_sentence_by_sentence(
    captions: CaptionParts,
) -> None:
    type_text(TEXT)
    assert own_text(captions) == ""
    captions.utter(UtteranceState.RENDERING)
    assert own_text(captions) == ""
    captions.utter(UtteranceState.SPEAKING, 0, 13)
    assert own_text(captions) == "Good morning."
    assert captions.window.view.rows[-1].text.startswith("You: ")
    assert "Good morning." in captions.window.box.message.text()
    captions.utter(UtteranceState.SPEAKING, 14, 32)
    assert own_text(captions) == "Good morning. I speak by typing."
    captions.utter(UtteranceState.DONE)
    assert own_text(captions) == TEXT


def test_box_when_speaking_is_stopped_then_only_what_was_heard_stays(
    captions: CaptionParts,
) -> None:
    type_text(TEXT)
    captions.utter(UtteranceState.SPEAKING, 0, 13)
    press(Key.Key_Escape)
    assert captions.session.calls[-1] == "stop speaking"
    assert captions.window.isVisible()
    assert captions.window.box.isVisible()
    captions.utter(UtteranceState.CANCELLED)
    assert own_text(captions) == "Good morning."
    captions.utter(UtteranceState.DONE)
    assert own_text(captions) == "Good morning."


def test_box_when_a_text_is_only_queued_and_stopped_then_it_is_not_shown(
    captions: CaptionParts,
) -> None:
    type_text(TEXT)
    captions.utter(UtteranceState.QUEUED)
    captions.utter(UtteranceState.CANCELLED)
    assert own_text(captions) == ""


def test_escape_when_nothing_is_spoken_then_it_closes_one_thing_at_a_time(
    captions: CaptionParts,
) -> None:
    window = captions.window
    press(Key.Key_F7)
    assert window.box.phrases.isVisible()
    press(Key.Key_Escape)
    assert not window.box.phrases.isVisible()
    assert window.box.line.hasFocus()
    press(Key.Key_Escape)
    assert not window.box.isVisible()
    assert window.view.hasFocus()
    press(Key.Key_Escape)
    assert not window.isVisible()


def test_words_when_others_answer_then_they_stand_behind_what_was_typed(
    captions: CaptionParts,
) -> None:
    captions.state.take([*talk(), PartialWords(())])
    type_text("Yes.")
    captions.utter(UtteranceState.SPEAKING, 0, 4)
    captions.utter(UtteranceState.DONE)
    captions.state.take([FinalWords(words("Oh, good.", 10.6, 11.6))])
    lines = captions.window.view.text().splitlines()
    assert lines[-2:] == ["You: Yes.", "Speaker B: Oh, good."]
    assert lines[-3].endswith("since the spring.")


def test_words_when_another_recording_begins_then_what_was_typed_goes_too(
    captions: CaptionParts,
) -> None:
    captions.state.take(talk())
    type_text("Yes.")
    captions.utter(UtteranceState.SPEAKING, 0, 4)
    captions.utter(UtteranceState.DONE)
    captions.state.take([started(), FinalWords(words("New words", 0.5, 1.0))])
    assert captions.window.view.text() == "New words"


def test_box_when_nothing_is_recorded_then_what_is_typed_is_shown_all_the_same(
    captions: CaptionParts,
) -> None:
    type_text("Hello 🦊 שלום")
    captions.utter(UtteranceState.SPEAKING)
    assert captions.window.view.text() == "You: Hello 🦊 שלום"


def test_box_when_texts_were_spoken_then_up_and_down_bring_them_back(
    captions: CaptionParts,
) -> None:
    line = captions.window.box.line
    for text in ("One", "Two", "Two"):
        type_text(text)
    line.insert("draft")
    shown = []
    for key in (Key.Key_Up, Key.Key_Up, Key.Key_Up, Key.Key_Down, Key.Key_Down, Key.Key_Down):
        press(key)
        shown.append(line.text())
    assert shown == ["Two", "One", "One", "Two", "draft", "draft"]


def test_box_when_the_voice_fails_then_the_text_stays_and_it_is_said(
    captions: CaptionParts,
) -> None:
    captions.session.speak_error = BackendError("There is no voice.", advice="Fetch one.")
    type_text(TEXT)
    assert captions.window.box.line.text() == TEXT
    assert captions.window.box.message.text() == "There is no voice. Fetch one."
    assert own_text(captions) == ""
    captions.session.speak_error = None
    press(Key.Key_Return)
    assert spoken(captions) == [TEXT]


def test_box_when_there_is_no_engine_yet_then_the_text_stays_and_it_is_said(
    qtbot: "QtBot", tmp_path: Path
) -> None:
    parts = make_captions(tmp_path, has_session=False)
    parts.window.show_full()
    parts.window.box.line.setText(TEXT)
    parts.window.box.speak()
    assert parts.window.box.line.text() == TEXT
    assert "not there yet" in parts.window.box.message.text()
    close_captions(parts, qtbot)


# --- phrases ---


def test_phrases_when_their_keys_are_pressed_then_they_are_spoken(captions: CaptionParts) -> None:
    phrases = captions.window.box.phrases
    for number in range(1, 12):
        phrases.add(f"Phrase {number}")
    press(Key.Key_1, CONTROL)
    captions.window.show_box(False)
    press(Key.Key_9, CONTROL)
    assert spoken(captions) == ["Phrase 1", "Phrase 9"]
    assert captions.window.box.isVisible()


def test_phrases_when_a_key_has_none_then_it_is_said(captions: CaptionParts) -> None:
    press(Key.Key_3, CONTROL)
    assert "no phrase 3" in captions.window.box.message.text()
    assert spoken(captions) == []


def test_phrases_when_typed_text_is_saved_then_it_is_kept(captions: CaptionParts) -> None:
    captions.window.box.line.insert("See you soon 🦊")
    press(Key.Key_D, CONTROL)
    assert tuple(PhraseBook(captions.folder).phrases) == ("See you soon 🦊",)
    captions.window.box.line.clear()
    type_text("Spoken before")
    press(Key.Key_D, CONTROL)
    assert tuple(PhraseBook(captions.folder).phrases)[-1] == "Spoken before"


def test_phrases_when_changed_by_keyboard_alone_then_they_are_kept(
    captions: CaptionParts, qtbot: "QtBot"
) -> None:
    phrases = captions.window.box.phrases
    for text in ("One", "Two", "Three"):
        phrases.add(text)
    press(Key.Key_F7)
    assert phrases.tree.hasFocus()
    press(Key.Key_Up, CONTROL)
    assert phrases.current == 1
    press(Key.Key_F2)
    editor = QApplication.focusWidget()
    assert isinstance(editor, QLineEdit)
    editor.setText("3")
    press(Key.Key_Return)
    qtbot.waitUntil(phrases.tree.hasFocus)
    assert tuple(PhraseBook(captions.folder).phrases) == ("One", "3", "Two")
    press(Key.Key_Up)
    press(Key.Key_Delete)
    press(Key.Key_Return)
    assert tuple(PhraseBook(captions.folder).phrases) == ("3", "Two")
    assert spoken(captions) == ["3"]


def test_phrases_when_a_change_is_given_up_then_the_list_is_as_before(
    captions: CaptionParts, qtbot: "QtBot"
) -> None:
    phrases = captions.window.box.phrases
    phrases.add("One")
    press(Key.Key_F7)
    for text, key in (("changed", Key.Key_Escape), ("  ", Key.Key_Return)):
        press(Key.Key_F2)
        editor = QApplication.focusWidget()
        assert isinstance(editor, QLineEdit)
        editor.setText(text)
        press(key)
        qtbot.waitUntil(phrases.tree.hasFocus)
        assert phrases.tree.topLevelItem(0).text(1) == "One"
    assert captions.window.box.phrases.isVisible()
    assert tuple(PhraseBook(captions.folder).phrases) == ("One",)


def test_phrases_when_one_is_removed_by_mistake_then_up_brings_its_text_back(
    captions: CaptionParts,
) -> None:
    captions.window.box.phrases.add("Dear to me")
    press(Key.Key_F7)
    press(Key.Key_Delete)
    assert tuple(PhraseBook(captions.folder).phrases) == ()
    captions.window.box.line.setFocus()
    press(Key.Key_Up)
    assert captions.window.box.line.text() == "Dear to me"


def test_phrases_when_the_buttons_are_used_then_they_do_as_the_keys(
    captions: CaptionParts,
) -> None:
    phrases = captions.window.box.phrases
    for text in ("One", "Two"):
        phrases.add(text)
    captions.window.toggle_phrases()
    phrases.up_button.click()
    captions.window.box.line.insert("Three")
    phrases.add_button.click()
    phrases.up_button.click()
    phrases.down_button.click()
    phrases.tree.setCurrentItem(phrases.tree.topLevelItem(1))
    phrases.remove_button.click()
    assert tuple(PhraseBook(captions.folder).phrases) == ("Two", "Three")
    phrases.rename_button.click()
    assert isinstance(QApplication.focusWidget(), QLineEdit)


def test_phrases_when_there_are_hundreds_then_the_list_scrolls(captions: CaptionParts) -> None:
    book = PhraseBook(captions.folder / "many")
    assert not book.phrases
    phrases = captions.window.box.phrases
    for number in range(300):
        phrases.add(f"{'long ' * 60}{number}")
    captions.window.toggle_phrases()
    assert phrases.tree.topLevelItemCount() == 300
    assert phrases.tree.height() < 400
    assert captions.window.view.height() > 100


def test_phrases_when_the_file_is_damaged_then_it_is_said_in_both_places(
    qtbot: "QtBot", tmp_path: Path
) -> None:
    (tmp_path / PHRASES_NAME).write_text("phrases = [")
    parts = make_captions(tmp_path)
    for _ in range(2):
        parts.window.show_full()
        parts.window.toggle_phrases()
        assert "broken-1" in parts.window.box.phrases.problem.text()
        parts.window.leave()
    notices = [dated.notice.message for dated in parts.state.open_notices]
    assert len(notices) == 1
    assert "broken-1" in notices[0]
    assert (tmp_path / f"{PHRASES_NAME}.broken-1").read_text() == "phrases = ["
    close_captions(parts, qtbot)
