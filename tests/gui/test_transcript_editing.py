"""Correcting lines, naming speakers and giving lines to speakers in the transcript."""

from collections.abc import Iterator

import numpy as np
import pytest
from PySide6.QtCore import QMimeData, QPoint, Qt
from PySide6.QtGui import QContextMenuEvent, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QMenu
from pytestqt.qtbot import QtBot

from app.views.transcript.line_editor import LineEditor
from app.views.transcript.places import Spot
from app.views.transcript.view import TranscriptView
from engine.core.events import (
    ActivityRevised,
    FinalWords,
    PartialWords,
    SpeakerMerged,
    SpeakerRenamed,
    WordsAssigned,
)
from engine.core.types import MAX_SPEAKERS, USER_EPOCH, SpeakerId
from tests.helpers.transcript import TranscriptParts, make_transcript
from tests.helpers.window import conversation, started, words

pytestmark = pytest.mark.gui

# The offscreen platform cannot grab the keyboard for a menu.
opens_menus = pytest.mark.qt_log_ignore(
    "propagateSizeHints", "This plugin does not support", extend=True
)

LEFT = Qt.MouseButton.LeftButton
NONE = Qt.KeyboardModifier.NoModifier
LINE_1 = "And the other one? Right, right."


@pytest.fixture
def parts(qtbot: QtBot) -> Iterator[TranscriptParts]:
    """A talk: rows 0 A, 1 B, 2 A, 3 lost, 4 C, 5 partial B."""
    made = make_transcript((700, 520))
    qtbot.addWidget(made.view)
    made.state.take(list(conversation()))
    made.view.activateWindow()
    made.view.setFocus()
    qtbot.waitUntil(made.view.hasFocus)
    yield made
    made.view.close()


@pytest.fixture
def view(parts: TranscriptParts) -> TranscriptView:
    return parts.view


@pytest.fixture
def editor(view: TranscriptView) -> LineEditor:
    """The editor of row 1, opened by key at its second word."""
    view.cursor_at.put(Spot(1, 1))
    QTest.keyClick(view, Qt.Key.Key_Return)
    assert view.editors.line.isVisible()
    return view.editors.line


def text_of(view: TranscriptView, row: int) -> str:
    return view.row_text(row).partition(": ")[2]


def test_enter_opens_the_line_with_the_word_of_the_cursor_ready_to_be_replaced(
    parts: TranscriptParts, view: TranscriptView, editor: LineEditor
) -> None:
    assert editor.toPlainText() == LINE_1
    assert editor.textCursor().selectedText() == "the"
    area = view.row_rect(1)
    assert area.top() < editor.geometry().center().y() < area.bottom()
    QTest.keyClicks(editor, "that")
    QTest.keyClick(editor, Qt.Key.Key_Return)
    assert not editor.isVisible()
    assert view.hasFocus()
    assert text_of(view, 1) == "And that other one? Right, right."
    parts.editing.undo()
    assert text_of(view, 1) == LINE_1


def test_escape_leaves_a_line_as_it_was(
    parts: TranscriptParts, view: TranscriptView, editor: LineEditor
) -> None:
    QTest.keyClicks(editor, "nonsense")
    QTest.keyClick(editor, Qt.Key.Key_Escape)
    assert not editor.isVisible()
    assert text_of(view, 1) == LINE_1
    assert not parts.edits


def test_shift_enter_and_pasted_lines_keep_a_line_one_line(
    parts: TranscriptParts, view: TranscriptView, editor: LineEditor
) -> None:
    QTest.keyClick(editor, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    assert editor.isVisible()
    mime = QMimeData()
    mime.setText("these\n\n two")
    editor.insertFromMimeData(mime)
    QTest.keyClick(editor, Qt.Key.Key_Enter)
    assert text_of(view, 1) == "And these two other one? Right, right."


def test_leaving_the_editor_takes_the_text(
    parts: TranscriptParts, view: TranscriptView, editor: LineEditor, qtbot: QtBot
) -> None:
    QTest.keyClicks(editor, "every")
    view.setFocus()
    qtbot.waitUntil(lambda: not editor.isVisible())
    assert text_of(view, 1) == "And every other one? Right, right."


def test_a_line_that_was_not_changed_is_no_edit(
    parts: TranscriptParts, view: TranscriptView, editor: LineEditor
) -> None:
    view.finish_editing()
    assert not editor.isVisible()
    assert not parts.edits
    assert parts.editing.history.count() == 0


def test_a_line_grows_with_its_text_and_stays_within_the_view(
    view: TranscriptView, editor: LineEditor
) -> None:
    low = editor.height()
    QTest.keyClicks(editor, "a longer text than was there before " * 4)
    assert editor.height() > low
    editor.setPlainText("word " * 3000)
    assert editor.geometry().top() >= 0
    assert editor.geometry().bottom() <= view.viewport().height()


def test_words_that_come_meanwhile_neither_take_the_text_nor_move_the_line(
    parts: TranscriptParts, view: TranscriptView, editor: LineEditor
) -> None:
    QTest.keyClicks(editor, "my ")
    place = editor.geometry()
    for n in range(60):
        parts.state.take(
            [
                FinalWords(words(f"Later sentence {n}.", 40 + 5 * n, 42 + 5 * n)),
                PartialWords(words("and more", 43 + 5 * n, 44 + 5 * n)),
            ]
        )
    assert editor.isVisible()
    assert editor.hasFocus()
    assert editor.geometry() == place
    assert editor.toPlainText() == "And my  other one? Right, right."
    QTest.keyClick(editor, Qt.Key.Key_Return)
    assert text_of(view, 1) == "And my other one? Right, right."


def test_a_line_that_is_parted_and_gets_late_words_meanwhile_is_corrected_all_the_same(
    parts: TranscriptParts, view: TranscriptView
) -> None:
    for n in range(60):
        text = f"This is the sentence number {n}."
        parts.state.take([FinalWords(words(text, 40 + 5 * n, 43 + 5 * n))])
    view.show_sample(240 * 16_000)
    view.edit_current()
    editor = view.editors.line
    assert editor.toPlainText() == "This is the sentence number 40."
    place = editor.geometry()
    rows = np.zeros((4000, MAX_SPEAKERS), np.float32)
    for n in range(60):
        first = 500 + round(62.5 * n)
        rows[first : first + 19, n % 3], rows[first + 19 : first + 40, 4 + n % 3] = 0.9, 0.9
    parts.state.take(
        [
            ActivityRevised(0, 80, rows, 4000, is_settled=True),
            FinalWords(words("late", 240.6, 240.7)),
            FinalWords(words("Long before everything.", 0.0, 0.3)),
        ]
    )
    assert editor.geometry() == place
    assert parts.text_of(view.editors.spot) == "This"
    editor.setPlainText("This was another sentence number 40.")
    QTest.keyClick(editor, Qt.Key.Key_Return)
    text = parts.state.document.text()
    assert "was" in text
    assert "another sentence number 40." in text
    assert " late" in text


def test_a_text_whose_document_is_not_shown_any_more_goes_to_the_clipboard(
    parts: TranscriptParts, view: TranscriptView, editor: LineEditor
) -> None:
    QTest.keyClicks(editor, "precious")
    parts.state.take([started()])
    assert not editor.isVisible()
    assert QGuiApplication.clipboard().text() == "And precious other one? Right, right."
    assert "clipboard" in parts.state.open_notices[-1].notice.advice
    assert not parts.edits


def test_a_line_is_followed_by_its_editor_when_the_text_size_changes(
    view: TranscriptView, editor: LineEditor
) -> None:
    view.set_text_size(26)
    area = view.row_rect(1)
    assert editor.isVisible()
    assert editor.font().pointSize() == 26
    assert area.top() < editor.geometry().center().y() <= area.bottom() + 4


def test_a_double_click_on_a_word_corrects_its_line_and_stops_the_sound(
    parts: TranscriptParts, view: TranscriptView
) -> None:
    QTest.mouseDClick(view.viewport(), LEFT, NONE, parts.point_of(2, 3))
    assert view.editors.line.isVisible()
    assert view.editors.line.toPlainText().startswith("The other one follows")
    assert parts.playback.calls[-1] == ("stop",)


def test_following_goes_on_after_a_line_was_corrected_from_there(
    parts: TranscriptParts, view: TranscriptView
) -> None:
    assert view.is_following
    view.edit_row(1)
    assert not view.is_following
    QTest.keyClick(view.editors.line, Qt.Key.Key_Return)
    assert view.is_following


def test_removed_and_corrected_words_tell_what_was_heard(
    parts: TranscriptParts, view: TranscriptView
) -> None:
    ids = [entry.id for entry in view.rows.rows[1].words]
    before = view.grab().toImage()
    parts.editing.edit(ids[2:3], "<i>")
    parts.editing.edit(ids[4:6], "")
    assert view.grab().toImage() != before
    assert "What was heard: other" in view.tip(parts.point_of(1, 2))
    gone = view.spot_rect(Spot(1, 4))
    assert "Removed here: Right, right." in view.tip(QPoint(gone.left() + 1, gone.center().y()))


def test_doubtful_words_tell_how_sure_the_recognizer_was(
    parts: TranscriptParts, view: TranscriptView
) -> None:
    row = view.rows.rows[2]
    place = next(i for i, entry in enumerate(row.words) if "Ljubljana" in entry.text)
    assert "30 %" in view.tip(parts.point_of(2, place))
    assert view.tip(parts.point_of(2, place - 1)) == ""


def test_a_line_given_to_somebody_is_pinned_and_says_so(
    parts: TranscriptParts, view: TranscriptView
) -> None:
    view.choose_row(1)
    QTest.keyClick(view, Qt.Key.Key_3)
    parts.state.take([SpeakerRenamed(0, 2, "Maria & co")])
    rect = view.spot_rect(Spot(1, 0))
    tips = {view.tip(QPoint(x, rect.center().y())) for x in range(0, rect.left(), 2)}
    assert any("You said that Maria &amp; co speaks here." in tip for tip in tips)


@pytest.mark.parametrize(
    ("key", "speaker"),
    [
        (Qt.Key.Key_1, SpeakerId(0, 0)),
        (Qt.Key.Key_8, SpeakerId(0, 7)),
        (Qt.Key.Key_9, SpeakerId(USER_EPOCH, 0)),
    ],
)
def test_a_digit_gives_the_chosen_line_to_a_speaker(
    parts: TranscriptParts, view: TranscriptView, key: Qt.Key, speaker: SpeakerId
) -> None:
    view.cursor_at.put(Spot(4, 2))
    ids = tuple(entry.id for entry in view.rows.rows[4].words)
    QTest.keyClick(view, key)
    assert parts.edits == [WordsAssigned(ids, (speaker,))]
    assert parts.current_text() == "did"
    assert view.rows.rows[view.current_row].speaker == speaker


def test_a_digit_gives_chosen_words_alone_to_a_speaker(
    parts: TranscriptParts, view: TranscriptView
) -> None:
    view.cursor_at.put(Spot(4, 7))
    view.cursor_at.put(Spot(4, 9), extend=True)
    QTest.keyClick(view, Qt.Key.Key_1)
    assert view.selected_words() == "can send you"
    assert "Speaker A: can send you" in view.selected_text()


def test_a_digit_of_a_merged_speaker_gives_to_whom_that_is_shown_as(
    parts: TranscriptParts, view: TranscriptView
) -> None:
    parts.state.take([SpeakerMerged(SpeakerId(0, 1), SpeakerId(0, 0))])
    view.choose_row(view.rows.row_at(view.rows.rows[-1].start - 1))
    QTest.keyClick(view, Qt.Key.Key_2)
    assert isinstance(parts.edits[-1], WordsAssigned)
    assert parts.edits[-1].speakers == (SpeakerId(0, 0),)


def test_a_double_click_on_a_name_changes_it(parts: TranscriptParts, view: TranscriptView) -> None:
    point = QPoint(140, view.row_rect(0).top() + 20)
    QTest.mouseDClick(view.viewport(), LEFT, NONE, point)
    editor = view.editors.name
    assert editor.isVisible()
    assert editor.text() == "Speaker A"
    editor.setText("Maria")
    QTest.keyClick(editor, Qt.Key.Key_Return)
    assert parts.edits == [SpeakerRenamed(0, 0, "Maria")]
    assert view.row_text(0).startswith("[00:00:00] Maria: We should ship")
    assert view.hasFocus()


def test_escape_leaves_a_name_as_it_was(parts: TranscriptParts, view: TranscriptView) -> None:
    QTest.keyClick(view, Qt.Key.Key_F2)
    editor = view.editors.name
    assert editor.isVisible()
    editor.setText("Nobody")
    QTest.keyClick(editor, Qt.Key.Key_Escape)
    assert not editor.isVisible()
    assert not parts.edits


def test_words_that_come_while_a_name_is_written_do_not_end_it(
    parts: TranscriptParts, view: TranscriptView
) -> None:
    view.choose_row(0)
    view.rename_current()
    editor = view.editors.name
    place = editor.geometry()
    for n in range(60):
        parts.state.take([FinalWords(words(f"Later sentence {n}.", 40 + 5 * n, 42 + 5 * n))])
    assert editor.isVisible()
    assert editor.geometry() == place
    view.verticalScrollBar().setValue(15)
    assert editor.isVisible()
    editor.setText("Maria")
    QTest.keyClick(editor, Qt.Key.Key_Return)
    assert parts.edits == [SpeakerRenamed(0, 0, "Maria")]


def test_only_one_editor_is_open_at_a_time(
    parts: TranscriptParts, view: TranscriptView, editor: LineEditor
) -> None:
    QTest.keyClicks(editor, "any")
    view.rename_row(0)
    assert not editor.isVisible()
    assert text_of(view, 1) == "And any other one? Right, right."
    assert [each for each in view.findChildren(QLineEdit) if each.isVisible()] == [
        view.editors.name
    ]


def open_menu(view: TranscriptView, point: QPoint, reason: QContextMenuEvent.Reason) -> QMenu:
    event = QContextMenuEvent(reason, point, view.viewport().mapToGlobal(point))
    target = view.viewport() if reason == QContextMenuEvent.Reason.Mouse else view
    QApplication.sendEvent(target, event)
    (menu,) = [each for each in view.findChildren(QMenu) if each.parent() is view]
    return menu


@opens_menus
@pytest.mark.parametrize(
    "reason", [QContextMenuEvent.Reason.Mouse, QContextMenuEvent.Reason.Keyboard]
)
def test_the_menu_of_a_line_offers_everything(
    parts: TranscriptParts, view: TranscriptView, qtbot: QtBot, reason: QContextMenuEvent.Reason
) -> None:
    view.cursor_at.put(Spot(1, 2))
    menu = open_menu(view, parts.point_of(1, 2), reason)
    actions = {action.text(): action for action in menu.actions() if not action.isSeparator()}
    assert list(actions) == [
        "Hear from here",
        "Copy",
        "Copy with times and speakers",
        "Correct line…",
        "Who said this",
    ]
    assert all(action.isEnabled() for action in actions.values())
    actions["Hear from here"].trigger()
    assert parts.playback.calls == [("play", view.rows.rows[1].words[2].word.start, None)]
    actions["Copy with times and speakers"].trigger()
    assert QGuiApplication.clipboard().text() == f"[00:00:06] Speaker B: {LINE_1}"
    menu.close()
    qtbot.waitUntil(lambda: not view.findChildren(QMenu))


@opens_menus
def test_the_menu_moves_the_cursor_unless_it_is_opened_on_what_is_chosen(
    parts: TranscriptParts, view: TranscriptView, qtbot: QtBot
) -> None:
    view.cursor_at.put(Spot(1, 0))
    view.cursor_at.put(Spot(1, 3), extend=True)
    mouse = QContextMenuEvent.Reason.Mouse
    open_menu(view, parts.point_of(1, 1), mouse).close()
    assert view.selected_words() == "And the other one?"
    qtbot.waitUntil(lambda: not view.findChildren(QMenu))
    open_menu(view, parts.point_of(4, 1), mouse).close()
    assert parts.current_text() == "customers"
    assert view.cursor_at.chosen() is None


@opens_menus
def test_the_menu_of_lost_sound_offers_only_what_can_be_done(
    parts: TranscriptParts, view: TranscriptView
) -> None:
    point = view.row_rect(3).center()
    menu = open_menu(view, point, QContextMenuEvent.Reason.Mouse)
    enabled = [action.text() for action in menu.actions() if action.isEnabled() and action.text()]
    assert enabled == ["Hear from here", "Copy with times and speakers"]
    menu.close()
