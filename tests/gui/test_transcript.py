"""The transcript view on documents built by scripts."""

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.views.transcript_view import TranscriptView
from engine.core.events import (
    ActivityRevised,
    FinalWords,
    PartialWords,
    SpanMarked,
    SpeakerRenamed,
)
from engine.core.types import MAX_SPEAKERS, SpanKind, SpeakerId, Word
from tests.helpers.window import RATE, WindowParts, conversation, started, words

pytestmark = pytest.mark.gui


@pytest.fixture
def view(parts: WindowParts) -> TranscriptView:
    parts.state.take([started()])
    return parts.window.transcript


def _say(parts: WindowParts, first: int, count: int) -> None:
    """Add sentences, each a line of its own."""
    parts.state.take(
        [
            FinalWords(words(f"This is sentence number {n}.", n * 5.0, n * 5.0 + 2.0))
            for n in range(first, first + count)
        ]
    )


def _is_at_end(view: TranscriptView) -> bool:
    return bool(view.verticalScrollBar().value() == view.verticalScrollBar().maximum())


def test_it_stays_at_the_end_while_words_come(parts: WindowParts, view: TranscriptView) -> None:
    for batch in range(5):
        _say(parts, batch * 40, 40)
        assert view.verticalScrollBar().maximum() > 0
        assert _is_at_end(view)
    assert not view.jump_button.isVisible()


def test_it_stands_still_once_scrolled_up_and_returns_by_the_button(
    parts: WindowParts, view: TranscriptView, qtbot: QtBot
) -> None:
    _say(parts, 0, 60)
    view.verticalScrollBar().setValue(200)
    assert not view.is_following
    assert view.jump_button.isVisible()
    _say(parts, 60, 40)
    assert view.verticalScrollBar().value() == 200
    qtbot.mouseClick(view.jump_button, Qt.MouseButton.LeftButton)
    assert view.is_following
    assert _is_at_end(view)
    assert not view.jump_button.isVisible()


def test_scrolling_back_to_the_end_follows_again(parts: WindowParts, view: TranscriptView) -> None:
    _say(parts, 0, 60)
    view.verticalScrollBar().setValue(0)
    for _ in range(3):  # estimated heights become exact on the way
        view.verticalScrollBar().setValue(view.verticalScrollBar().maximum())
    assert view.is_following


def test_partial_words_are_replaced_by_final_ones(parts: WindowParts, view: TranscriptView) -> None:
    parts.state.take([PartialWords(words("hello wor", 0.1, 0.8))])
    assert len(view.rows.rows) == 1
    parts.state.take([FinalWords(words("hello world", 0.1, 0.8)), PartialWords(())])
    view.select_all()
    assert view.selected_text() == "[00:00:00] hello world"


def test_selected_lines_are_copied_with_times_and_names(
    parts: WindowParts, view: TranscriptView
) -> None:
    parts.state.take(list(conversation()))
    view.setFocus()
    view.select_all()
    QTest.keyClick(view, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    lines = QGuiApplication.clipboard().text().splitlines()
    assert lines[0].startswith("[00:00:00] Speaker A: We should ship")
    assert "(0.9 s of sound lost: the microphone was late)" in lines[3]
    assert len(lines) == len(view.rows.rows)


def test_click_and_shift_click_choose_a_stretch(
    parts: WindowParts, view: TranscriptView, qtbot: QtBot
) -> None:
    _say(parts, 0, 5)
    port = view.viewport()
    qtbot.mouseClick(port, Qt.MouseButton.LeftButton, pos=QPoint(150, 20))
    assert view.selected_text().count("\n") == 0
    qtbot.mouseClick(
        port,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.ShiftModifier,
        QPoint(150, port.height() - 5) if port.height() < 100 else QPoint(150, 95),
    )
    assert view.selected_text().count("\n") >= 1


def test_arrow_keys_move_the_chosen_line(
    parts: WindowParts, view: TranscriptView, qtbot: QtBot
) -> None:
    _say(parts, 0, 50)
    view.setFocus()
    qtbot.keyClick(view, Qt.Key.Key_Up)
    qtbot.keyClick(view, Qt.Key.Key_Up)
    assert view.selected_text() == "[00:04:00] This is sentence number 48."
    for _ in range(40):
        qtbot.keyClick(view, Qt.Key.Key_Up)
    assert "number 8." in view.selected_text()
    assert not view.is_following


def test_double_click_names_a_speaker(
    parts: WindowParts, view: TranscriptView, qtbot: QtBot
) -> None:
    parts.state.take(list(conversation()))
    qtbot.mouseDClick(view.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(140, 40))
    editor = view._editor
    assert editor.isVisible()
    assert editor.text() == "Speaker A"
    editor.setText("Maria")
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    assert parts.session.calls[-1] == "rename A Maria"
    parts.state.take([SpeakerRenamed(0, 0, "Maria")])
    view.select_all()
    assert "Maria: We should ship" in view.selected_text()


def test_escape_leaves_the_name_as_it_was(
    parts: WindowParts, view: TranscriptView, qtbot: QtBot
) -> None:
    parts.state.take(list(conversation()))
    view.rename_current()
    editor = view._editor
    assert editor.isVisible()
    editor.setText("Nobody")
    qtbot.keyClick(editor, Qt.Key.Key_Escape)
    assert not editor.isVisible()
    assert not [call for call in parts.session.calls if call.startswith("rename")]


def test_words_that_come_while_a_name_is_written_do_not_end_it(
    parts: WindowParts, view: TranscriptView, qtbot: QtBot
) -> None:
    parts.state.take(list(conversation()))
    for n in range(30):
        parts.state.take([FinalWords(words(f"Later sentence {n}.", 40 + 5 * n, 42 + 5 * n))])
    view.selection.choose(len(view.rows.rows) - 40 if len(view.rows.rows) > 40 else 0)
    view.rename_current()
    editor = view._editor
    assert editor.isVisible()
    view.jump_to_latest()
    view.selection.choose(0)
    view.rename_current()
    place = editor.geometry()
    for n in range(30, 60):
        parts.state.take([FinalWords(words(f"Later sentence {n}.", 40 + 5 * n, 42 + 5 * n))])
    assert editor.isVisible()
    assert editor.geometry() == place
    editor.setText("Maria")
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    assert parts.session.calls[-1] == "rename A Maria"


def test_what_is_read_stands_still_when_rows_above_turn_out_higher(
    parts: WindowParts, view: TranscriptView
) -> None:
    long = "Incomprehensibilities notwithstanding, counterrevolutionaries disproportionately "
    parts.state.take(
        [FinalWords(words(long * (1 + n % 4), n * 9.0, n * 9.0 + 5)) for n in range(300)]
    )
    bar = view.verticalScrollBar()
    bar.setValue(bar.maximum() // 2)
    for _ in range(60):
        top_row = view._stack.heights.row_at(view.offset)
        shown_at = view._stack.heights.top(top_row) - view.offset
        before = view.offset
        bar.setValue(before - 20)
        moved = view._stack.heights.top(top_row) - view.offset - shown_at
        assert moved == 20


def test_text_size_changes_rows_and_is_remembered(parts: WindowParts, view: TranscriptView) -> None:
    _say(parts, 0, 30)
    low = view.verticalScrollBar().maximum()
    for _ in range(6):
        parts.controller.change_text_size(1)
    assert view.verticalScrollBar().maximum() > low
    assert _is_at_end(view)
    assert parts.controller.settings.text_size_pt == 19
    parts.controller.change_text_size(0)
    assert parts.controller.settings.text_size_pt == 13
    assert view.verticalScrollBar().maximum() == low


def test_the_line_in_view_stays_when_the_width_changes(
    parts: WindowParts, view: TranscriptView
) -> None:
    _say(parts, 0, 200)
    view.show_sample(100 * 5 * RATE)
    parts.window.resize(900, 700)
    QTest.qWait(10)
    assert view.selected_text() == "[00:08:20] This is sentence number 100."
    assert not view.is_following


def test_only_what_is_seen_is_laid_out(parts: WindowParts, view: TranscriptView) -> None:
    _say(parts, 0, 2000)
    QTest.qWait(10)
    assert len(view._stack._layouts) < 100


@pytest.mark.parametrize("name", ["😀" * 100, "مريم الحسيني " * 15, "x" * 200, "<b>bold</b> & co"])
def test_odd_names_are_drawn(parts: WindowParts, view: TranscriptView, name: str) -> None:
    parts.state.take([*conversation(), SpeakerRenamed(0, 0, name)])
    view.grab()
    view.select_all()
    assert name.strip() in view.selected_text()


def test_odd_documents_are_drawn(parts: WindowParts, view: TranscriptView) -> None:
    rows = np.zeros((30, MAX_SPEAKERS), np.float32)
    rows[:, 0] = rows[:, 5] = 0.9
    parts.state.take(
        [
            ActivityRevised(0, 80, rows, 0),
            FinalWords((Word("", 100, 100), Word(" zero", 200, 200), Word(" long", 50, 90_000))),
            FinalWords((Word(" " + "w" * 3000, 0, 10), Word(" 😀 שלום", 20, 30, 0.1))),
            SpanMarked(1, SpanKind.PAUSE, 0, 0),
            SpanMarked(2, SpanKind.UNTRANSCRIBED, 0, 10**9, "x" * 500),
        ]
    )
    parts.window.grab()
    view.select_all()
    assert "⟨" not in view.selected_text()
    assert "😀 שלום" in view.selected_text()


def test_a_click_shows_the_moment_in_the_timeline(
    parts: WindowParts, view: TranscriptView, qtbot: QtBot
) -> None:
    _say(parts, 0, 100)
    parts.window.timeline.set_duration(500.0)
    view.verticalScrollBar().setValue(0)
    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(150, 20))
    model = parts.window.timeline.model
    assert model.start_s <= 0.0 <= model.end_s
    parts.window.timeline.time_chosen.emit(250 * RATE)
    assert "number 50." in view.selected_text()


def test_an_overlap_is_marked_with_both_letters(parts: WindowParts, view: TranscriptView) -> None:
    parts.state.take(list(conversation()))
    stack = view._stack
    laid_out = [stack.laid_out(i, parts.window.appearance.theme) for i in range(len(stack))]
    texts = [row.layout.text() for row in laid_out if row is not None]
    assert any("⟨A+B⟩" in text for text in texts)
    assert SpeakerId(0, 1) in parts.state.document.speakers
