"""Search in the window: what is found, gone to, and kept in line with a growing transcript."""

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from engine.core.events import FinalWords
from tests.helpers.window import RATE, conversation, words

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from tests.helpers.window import WindowParts

pytestmark = pytest.mark.gui


@pytest.fixture
def talk(parts: "WindowParts", qtbot: "QtBot") -> "WindowParts":
    """A window that shows a conversation, its search open."""
    parts.state.take(conversation())
    parts.window.activateWindow()
    parts.window.menu_actions.action("find").trigger()
    qtbot.waitUntil(lambda: parts.window.search_bar.isVisible())
    return parts


def shown(parts: "WindowParts", index: int) -> str:
    """Return the text of a hit."""
    hit = parts.context.marks.hits[index]
    found = parts.state.document.words[hit.first_word : hit.end_word]
    return "".join(entry.word.text for entry in found).strip()


def test_typing_when_words_match_then_they_are_counted_and_the_first_is_gone_to(
    talk: "WindowParts", qtbot: "QtBot"
):
    qtbot.keyClicks(talk.window.search_bar.field, "the other")
    assert [shown(talk, i) for i in range(2)] == ["the other", "The other"]
    assert talk.window.search_bar.count.text() == "1 of 2"
    assert talk.context.marks.current_hit == 0


def test_enter_when_pressed_then_hits_go_round(talk: "WindowParts", qtbot: "QtBot"):
    field = talk.window.search_bar.field
    qtbot.keyClicks(field, "one")
    marks = talk.context.marks
    count = len(marks.hits)
    assert count > 2
    for expected in (1, 2):
        qtbot.keyClick(field, Qt.Key.Key_Return)
        assert marks.current_hit == expected
        assert marks.cursor == marks.hits[expected].start
    for expected in (1, 0, count - 1):
        qtbot.keyClick(field, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
        assert marks.current_hit == expected


def test_typing_when_nothing_matches_then_the_bar_says_so(talk: "WindowParts", qtbot: "QtBot"):
    qtbot.keyClicks(talk.window.search_bar.field, "zebra")
    assert talk.context.marks.hits == ()
    assert talk.window.search_bar.count.text() == "Not found"
    assert not talk.window.search_bar.next_button.isEnabled()


def test_new_words_when_they_match_then_they_are_found_and_the_place_stays(
    talk: "WindowParts", qtbot: "QtBot"
):
    marks = talk.context.marks
    qtbot.keyClicks(talk.window.search_bar.field, "letters")
    at = marks.hits[0]
    talk.state.take([FinalWords(words("Letters again.", 30, 31))])
    qtbot.waitUntil(lambda: len(marks.hits) == 2)
    assert marks.hits[0] == at
    assert marks.current_hit == 0
    assert marks.hits[1].start == 30 * RATE


def test_escape_when_the_search_is_open_then_it_closes_and_marks_nothing(
    talk: "WindowParts", qtbot: "QtBot"
):
    qtbot.keyClicks(talk.window.search_bar.field, "one")
    qtbot.keyClick(talk.window.search_bar.field, Qt.Key.Key_Escape)
    assert not talk.window.search_bar.isVisible()
    assert talk.context.marks.hits == ()
    assert QApplication.focusWidget() is talk.window.transcript
    assert "stop speaking" not in talk.session.calls


def test_another_document_when_it_is_shown_then_it_is_searched(talk: "WindowParts", qtbot: "QtBot"):
    qtbot.keyClicks(talk.window.search_bar.field, "letters")
    assert len(talk.context.marks.hits) == 1
    talk.state.take([conversation()[0], FinalWords(words("No mail today.", 0, 2))])
    assert talk.context.marks.hits == ()
    assert talk.window.search_bar.count.text() == "Not found"


def test_typing_when_it_goes_on_then_the_search_begins_where_it_began(
    talk: "WindowParts", qtbot: "QtBot"
):
    bar = talk.window.search_bar
    bar.end()
    talk.context.marks.set_cursor(5 * RATE)
    bar.begin()
    # The first "s" behind the cursor is beyond the first "one".
    qtbot.keyClicks(bar.field, "s")
    assert talk.context.marks.cursor > 9.5 * RATE
    bar.field.setText("other")
    assert shown(talk, talk.context.marks.current_hit) == "other"
    assert talk.context.marks.cursor < 8 * RATE


def test_escape_when_pressed_in_the_transcript_then_one_thing_after_the_other_ends(
    talk: "WindowParts", qtbot: "QtBot"
):
    window, marks, playback = talk.window, talk.context.marks, talk.context.playback
    window.transcript.setFocus()
    qtbot.waitUntil(window.transcript.hasFocus)
    marks.select(0, RATE)
    playback.play(0)
    qtbot.keyClick(window.transcript, Qt.Key.Key_Escape)
    assert not playback.is_playing
    assert window.search_bar.isVisible()
    qtbot.keyClick(window.transcript, Qt.Key.Key_Escape)
    assert not window.search_bar.isVisible()
    assert marks.selection == (0, RATE)
    qtbot.keyClick(window.transcript, Qt.Key.Key_Escape)
    assert marks.selection is None
