"""Word cursor, selection, copying and hearing in the transcript."""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.views.transcript.places import Spot
from app.views.transcript.view import TranscriptView
from engine.core.events import FinalWords, PartialWords
from tests.helpers.transcript import TranscriptParts, make_transcript
from tests.helpers.window import RATE, conversation, started, words

pytestmark = pytest.mark.gui

SHIFT = Qt.KeyboardModifier.ShiftModifier
CONTROL = Qt.KeyboardModifier.ControlModifier
LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def parts(qtbot: QtBot) -> Iterator[TranscriptParts]:
    """A talk: rows 0 A, 1 B, 2 A (two lines at least), 3 lost, 4 C, 5 partial B."""
    made = make_transcript((700, 620))
    qtbot.addWidget(made.view)
    made.state.take(list(conversation()))
    yield made
    made.view.close()


@pytest.fixture
def view(parts: TranscriptParts) -> TranscriptView:
    return parts.view


def click(parts: TranscriptParts, row: int, word: int, *, shift: bool = False) -> None:
    modifiers = SHIFT if shift else Qt.KeyboardModifier.NoModifier
    QTest.mouseClick(parts.view.viewport(), LEFT, modifiers, parts.point_of(row, word))


def drag(parts: TranscriptParts, start: QPoint, end: QPoint) -> None:
    port = parts.view.viewport()
    QTest.mousePress(port, LEFT, Qt.KeyboardModifier.NoModifier, start)
    QTest.mouseMove(port, (start + end) / 2)
    QTest.mouseMove(port, end)
    QTest.mouseRelease(port, LEFT, Qt.KeyboardModifier.NoModifier, end)


def press(view: TranscriptView, *keys: Qt.Key, shift: bool = False) -> None:
    for key in keys:
        QTest.keyClick(view, key, SHIFT if shift else Qt.KeyboardModifier.NoModifier)


def test_a_click_on_a_word_puts_the_cursor_there_and_plays_to_the_end_of_its_line(
    parts: TranscriptParts, view: TranscriptView
) -> None:
    click(parts, 1, 2)
    row = view.rows.rows[1]
    assert parts.current_text() == "other"
    start = row.words[2].word.start
    assert parts.playback.calls == [("play", start, row.words[-1].word.end)]
    assert parts.marks.cursor == start
    assert parts.marks.selection is None


def test_a_click_plays_nothing_where_clicks_are_not_heard(
    parts: TranscriptParts, view: TranscriptView
) -> None:
    view.hears_clicks = False
    click(parts, 1, 2)
    assert parts.current_text() == "other"
    assert not parts.playback.calls


def test_a_click_on_a_word_that_may_still_change_plays_nothing(
    parts: TranscriptParts, view: TranscriptView
) -> None:
    click(parts, 5, 1)
    assert parts.current_text() == "do,"
    assert not parts.playback.calls


@pytest.mark.parametrize("x", [20, 110])
def test_a_click_beside_the_words_chooses_the_line_and_plays_nothing(
    parts: TranscriptParts, view: TranscriptView, x: int
) -> None:
    point = QPoint(x, view.row_rect(1).center().y())
    QTest.mouseClick(view.viewport(), LEFT, Qt.KeyboardModifier.NoModifier, point)
    assert view.selected_words() == "And the other one? Right, right."
    row = view.rows.rows[1]
    assert parts.marks.selection == (row.start, row.words[-1].word.end)
    assert not parts.playback.calls


def test_dragging_over_words_chooses_them_and_plays_nothing(
    parts: TranscriptParts, view: TranscriptView
) -> None:
    drag(parts, parts.point_of(0, 3), parts.point_of(1, 1))
    assert view.selected_words().splitlines() == [
        "the small one first and see who complains about it.",
        "And the",
    ]
    assert not parts.playback.calls
    first, last = view.rows.rows[0].words[3].word, view.rows.rows[1].words[1].word
    assert parts.marks.selection == (first.start, last.end)


def test_dragging_backwards_and_over_one_word_chooses_it_too(
    parts: TranscriptParts, view: TranscriptView
) -> None:
    drag(parts, parts.point_of(0, 5), parts.point_of(0, 3))
    assert view.selected_words() == "the small one"
    rect = view.spot_rect(Spot(2, 12))
    drag(parts, rect.center() - QPoint(14, 0), rect.center() + QPoint(14, 0))
    assert view.selected_words() == parts.text_of(Spot(2, 12))


def test_shift_click_chooses_from_the_cursor_to_the_word(
    parts: TranscriptParts, view: TranscriptView
) -> None:
    click(parts, 0, 1)
    click(parts, 0, 3, shift=True)
    assert view.selected_words() == "should ship the"
    click(parts, 0, 0, shift=True)
    assert view.selected_words() == "We should"
    assert len(parts.playback.calls) == 1


def test_partial_words_are_chosen_and_copied_too(
    parts: TranscriptParts, view: TranscriptView
) -> None:
    drag(parts, parts.point_of(4, 12), parts.point_of(5, 1))
    assert view.selected_words().splitlines()[1] == "Please do,"


def test_a_chosen_partial_word_stays_chosen_when_it_becomes_final(
    parts: TranscriptParts, view: TranscriptView
) -> None:
    drag(parts, parts.point_of(5, 0), parts.point_of(5, 1))
    parts.state.take(
        [FinalWords(words("Please do, I would like to", 21.8, 24.4)), PartialWords(())]
    )
    assert view.selected_words() == "Please do,"


def test_keys_move_the_cursor_by_word_and_row(parts: TranscriptParts, view: TranscriptView) -> None:
    press(view, Qt.Key.Key_Down)
    assert view.current_row == view.row_count() - 1
    press(view, Qt.Key.Key_Up, Qt.Key.Key_Up)
    assert view.current_row == 3
    assert view.rows.rows[3].span is not None
    press(view, Qt.Key.Key_Up)
    assert parts.current_text() == "The"
    press(view, Qt.Key.Key_Right, Qt.Key.Key_Right)
    assert parts.current_text() == "one"
    press(view, Qt.Key.Key_Left)
    assert parts.current_text() == "other"
    QTest.keyClick(view, Qt.Key.Key_Right, CONTROL)
    assert parts.current_text() == "one"
    press(view, Qt.Key.Key_End)
    assert parts.current_text() == "yet."
    press(view, Qt.Key.Key_Home)
    assert parts.current_text() == "The"
    press(view, Qt.Key.Key_Left)
    assert parts.current_text() == "right."
    QTest.keyClick(view, Qt.Key.Key_Home, CONTROL)
    assert view.offset == 0
    QTest.keyClick(view, Qt.Key.Key_End, CONTROL)
    assert view.is_following


def test_shift_and_keys_choose_words_and_rows(parts: TranscriptParts, view: TranscriptView) -> None:
    view.cursor_at.put(Spot(1, 1))
    press(view, Qt.Key.Key_Right, Qt.Key.Key_Right, shift=True)
    assert view.selected_words() == "the other one?"
    press(view, Qt.Key.Key_Up, shift=True)
    assert view.selected_words().splitlines()[-1] == "And the"
    assert view.selected_words().startswith("We should")
    press(view, Qt.Key.Key_Right)
    assert view.cursor_at.chosen() is None
    press(view, Qt.Key.Key_End, shift=True)
    assert view.selected_words().startswith("should ship")
    press(view, Qt.Key.Key_PageDown, shift=True)
    assert "letters." in view.selected_words()


def test_removed_words_are_passed_over_by_the_cursor(
    parts: TranscriptParts, view: TranscriptView
) -> None:
    ids = [entry.id for entry in view.rows.rows[0].words]
    parts.editing.edit(ids[1:3], "")
    view.cursor_at.put(Spot(0, 0))
    press(view, Qt.Key.Key_Right)
    assert parts.current_text() == "the"


def test_a_selection_stays_with_its_words_when_late_ones_come_before_it(
    parts: TranscriptParts, view: TranscriptView
) -> None:
    drag(parts, parts.point_of(1, 1), parts.point_of(1, 3))
    parts.state.take([FinalWords(words("Late and early.", 0.0, 0.3))])
    assert view.selected_words() == "the other one?"
    ids = [entry.id for entry in parts.state.document.words[:8]]
    parts.editing.assign(ids, None)
    assert view.selected_words() == "the other one?"


def test_a_selection_made_elsewhere_is_shown_here_and_told_to_nobody(
    parts: TranscriptParts, view: TranscriptView
) -> None:
    told: list[object] = []
    row = view.rows.rows[1]
    start, end = row.words[1].word.start + 10, row.words[2].word.end - 10
    parts.marks.select(start, end)
    parts.marks.selection_changed.connect(lambda: told.append(parts.marks.selection))
    assert view.selected_words() == "the other"
    assert parts.marks.selection == (start, end)
    assert not told
    parts.marks.select(round(15.2 * RATE), round(15.8 * RATE))
    assert view.selected_text() == ""
    parts.marks.clear_selection()
    assert view.cursor_at.chosen() is None


def test_a_cursor_put_elsewhere_is_shown_here(parts: TranscriptParts, view: TranscriptView) -> None:
    parts.marks.set_cursor(view.rows.rows[4].words[2].word.start + 5)
    assert parts.current_text() == "did"
    assert view.current_row == 4
    assert parts.marks.cursor == view.rows.rows[4].words[2].word.start + 5


def test_a_cursor_put_elsewhere_leaves_the_selection(
    parts: TranscriptParts, view: TranscriptView
) -> None:
    drag(parts, parts.point_of(1, 1), parts.point_of(1, 3))
    parts.marks.set_cursor(view.rows.rows[4].start)
    assert view.current_row == 4
    assert view.selected_words() == "the other one?"


def test_a_moment_that_is_shown_leaves_cursor_and_selection_where_the_timeline_put_them(
    parts: TranscriptParts, view: TranscriptView
) -> None:
    row = view.rows.rows[1]
    start, end = row.words[1].word.start + 10, row.words[2].word.end - 10
    parts.marks.select(start, end)
    view.show_sample(start + 5)
    assert parts.marks.selection == (start, end)
    assert parts.marks.cursor == start + 5
    assert parts.current_text() == "the"
    assert view.selected_words() == "the other"


def test_another_document_begins_without_marks(
    parts: TranscriptParts, view: TranscriptView
) -> None:
    drag(parts, parts.point_of(1, 1), parts.point_of(1, 3))
    told: list[int] = []
    view.current_row_changed.connect(told.append)
    parts.state.take([started()])
    assert view.current_row == -1
    assert told == [-1]
    assert view.selected_text() == ""


def test_copy_tells_times_and_speakers_and_plain_copy_the_words_alone(
    parts: TranscriptParts, view: TranscriptView
) -> None:
    drag(parts, parts.point_of(2, 19), parts.point_of(4, 1))
    view.copy()
    full = QGuiApplication.clipboard().text().splitlines()
    assert full[0] == "[00:00:14] Speaker A: it yet."
    assert full[1] == "[00:00:15] (0.9 s of sound lost: the microphone was late)"
    assert full[2] == "[00:00:16] Speaker C: Two customers"
    QTest.keyClick(view, Qt.Key.Key_C, CONTROL)
    assert QGuiApplication.clipboard().text() == "it yet.\nTwo customers"


def test_without_a_selection_the_line_of_the_cursor_is_copied(
    parts: TranscriptParts, view: TranscriptView
) -> None:
    view.show_sample(6 * RATE)
    assert view.selected_text() == "[00:00:06] Speaker B: And the other one? Right, right."


def test_everything_is_chosen_by_key(parts: TranscriptParts, view: TranscriptView) -> None:
    QTest.keyClick(view, Qt.Key.Key_A, CONTROL)
    lines = view.selected_text().splitlines()
    assert len(lines) == view.row_count()
    assert lines[0].startswith("[00:00:00] Speaker A: We should ship")


def test_space_plays_or_pauses(parts: TranscriptParts, view: TranscriptView) -> None:
    press(view, Qt.Key.Key_Space)
    assert parts.playback.calls == [("toggle",)]


def test_hearing_from_here_goes_on_to_the_end(parts: TranscriptParts, view: TranscriptView) -> None:
    view.cursor_at.put(Spot(1, 2))
    view.hear_from_here()
    assert parts.playback.calls == [("play", view.rows.rows[1].words[2].word.start, None)]


def test_the_spoken_word_is_lit_and_nothing_else_changes(
    parts: TranscriptParts, view: TranscriptView
) -> None:
    before = view.grab().toImage()
    word = view.rows.rows[1].words[2].word
    parts.marks.set_playing(word.start + 5)
    lit = view.grab().toImage()
    rows = {
        y
        for y in range(lit.height())
        if any(lit.pixel(x, y) != before.pixel(x, y) for x in range(0, lit.width() - 20, 3))
    }
    area = view.row_rect(1)
    assert rows
    assert rows <= set(range(area.top(), area.bottom() + 1))
    parts.marks.set_playing(None)
    assert view.grab().toImage() == before


def test_what_is_heard_is_followed_until_the_reader_scrolls_away(
    parts: TranscriptParts, view: TranscriptView
) -> None:
    for n in range(100):
        parts.state.take([FinalWords(words(f"Sentence {n} now.", 40 + n * 5.0, 41 + n * 5.0))])

    def play(n: int) -> int:
        sample = round((40.1 + n * 5.0) * RATE)
        parts.marks.set_playing(sample)
        return view.rows.row_at(sample)

    assert view.is_in_view(Spot(play(0), 0))
    assert view.is_in_view(Spot(play(50), 0))
    view.verticalScrollBar().setValue(0)
    assert not view.is_in_view(Spot(play(51), 0))
    assert view.offset == 0
    # Where the reader meets it again both go on together.
    view.verticalScrollBar().setValue(
        view.offset + view.row_rect(view.rows.row_at(round((40 + 52 * 5.0) * RATE))).top() - 20
    )
    assert view.is_in_view(Spot(play(52), 0))
    assert view.is_in_view(Spot(play(90), 0))


def test_a_selection_grows_beyond_the_edge_while_the_pointer_is_held_there(
    parts: TranscriptParts, view: TranscriptView, qtbot: QtBot
) -> None:
    for n in range(60):
        parts.state.take([FinalWords(words(f"Sentence {n} now.", 40 + n * 5.0, 41 + n * 5.0))])
    view.verticalScrollBar().setValue(0)
    port, start = view.viewport(), parts.point_of(0, 0)
    QTest.mousePress(port, LEFT, Qt.KeyboardModifier.NoModifier, start)
    QTest.mouseMove(port, QPoint(start.x(), port.height() + 60))
    QTest.mouseMove(port, QPoint(start.x(), port.height() + 61))
    qtbot.waitUntil(lambda: view.offset > 100)
    QTest.mouseRelease(port, LEFT, Qt.KeyboardModifier.NoModifier, QPoint(start.x(), 10))
    chosen = view.cursor_at.chosen()
    assert chosen is not None
    assert chosen[1].row > 10
