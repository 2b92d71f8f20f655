"""The transcript view on documents built by scripts: following, reading, finding, odd input."""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.views.transcript.places import Spot
from app.views.transcript.view import TranscriptView
from engine.core.events import (
    ActivityRevised,
    FinalWords,
    PartialWords,
    RecordingStopped,
    SessionState,
    SpanMarked,
    SpeakerColored,
    SpeakerRenamed,
    StateChanged,
)
from engine.core.types import MAX_SPEAKERS, SpanKind, SpeakerId, Word
from engine.text.document import TranscriptDocument
from engine.text.search import TranscriptSearch
from tests.helpers.transcript import TranscriptParts, make_transcript
from tests.helpers.window import RATE, conversation, started, words

pytestmark = pytest.mark.gui


@pytest.fixture
def parts(qtbot: QtBot) -> Iterator[TranscriptParts]:
    made = make_transcript()
    qtbot.addWidget(made.view)
    made.state.take([started()])
    yield made
    made.view.close()


@pytest.fixture
def view(parts: TranscriptParts) -> TranscriptView:
    return parts.view


def say(parts: TranscriptParts, first: int, count: int) -> None:
    """Add sentences, each a line of its own."""
    parts.state.take(
        [
            FinalWords(words(f"This is sentence number {n}.", n * 5.0, n * 5.0 + 2.0))
            for n in range(first, first + count)
        ]
    )


def is_at_end(view: TranscriptView) -> bool:
    return bool(view.verticalScrollBar().value() == view.verticalScrollBar().maximum())


def test_it_stays_at_the_end_while_words_come(parts: TranscriptParts, view: TranscriptView) -> None:
    for batch in range(5):
        say(parts, batch * 40, 40)
        assert view.verticalScrollBar().maximum() > 0
        assert is_at_end(view)
    assert not view.jump_button.isVisible()


def test_it_stands_still_once_scrolled_up_and_returns_by_the_button(
    parts: TranscriptParts, view: TranscriptView, qtbot: QtBot
) -> None:
    say(parts, 0, 60)
    view.verticalScrollBar().setValue(200)
    assert not view.is_following
    assert view.jump_button.isVisible()
    say(parts, 60, 40)
    assert view.verticalScrollBar().value() == 200
    qtbot.mouseClick(view.jump_button, Qt.MouseButton.LeftButton)
    assert view.is_following
    assert is_at_end(view)
    assert not view.jump_button.isVisible()


def test_no_way_to_the_latest_is_offered_once_the_recording_has_ended(
    parts: TranscriptParts,
) -> None:
    parts.state.take(list(conversation()))
    parts.view.cursor_at.choose_row(0)
    assert parts.view.jump_button.isVisible()
    parts.state.take(
        [RecordingStopped("2026-01-02_03-04-05", 27 * RATE), StateChanged(SessionState.IDLE)]
    )
    assert not parts.view.jump_button.isVisible()


def test_scrolling_back_to_the_end_follows_again(
    parts: TranscriptParts, view: TranscriptView
) -> None:
    say(parts, 0, 60)
    view.verticalScrollBar().setValue(0)
    for _ in range(3):  # estimated heights become exact on the way
        view.verticalScrollBar().setValue(view.verticalScrollBar().maximum())
    assert view.is_following


def test_a_selection_holds_the_view_still_while_words_come(
    parts: TranscriptParts, view: TranscriptView
) -> None:
    say(parts, 0, 60)
    view.cursor_at.put(Spot(58, 1))
    place = view.spot_rect(Spot(58, 1))
    say(parts, 60, 20)
    assert not view.is_following
    assert view.jump_button.isVisible()
    assert view.spot_rect(Spot(58, 1)) == place


def test_partial_words_are_replaced_by_final_ones(
    parts: TranscriptParts, view: TranscriptView
) -> None:
    parts.state.take([PartialWords(words("hello wor", 0.1, 0.8))])
    assert view.row_count() == 1
    parts.state.take([FinalWords(words("hello world", 0.1, 0.8)), PartialWords(())])
    view.select_all()
    assert view.selected_text() == "[00:00:00] hello world"


def test_what_is_read_stands_still_when_rows_above_turn_out_higher(
    parts: TranscriptParts, view: TranscriptView
) -> None:
    long = "Incomprehensibilities notwithstanding, counterrevolutionaries disproportionately "
    parts.state.take(
        [FinalWords(words(long * (1 + n % 4), n * 9.0, n * 9.0 + 5)) for n in range(300)]
    )
    bar = view.verticalScrollBar()
    bar.setValue(bar.maximum() // 2)
    for _ in range(60):
        top_row = view.stack.heights.row_at(view.offset)
        shown_at = view.row_rect(top_row).top()
        bar.setValue(view.offset - 20)
        assert view.row_rect(top_row).top() - shown_at == 20


def test_what_is_read_stands_still_when_lines_above_part_by_a_late_decision(
    parts: TranscriptParts, view: TranscriptView
) -> None:
    say(parts, 0, 100)
    view.show_sample(60 * 5 * RATE)
    spot = view.cursor_at.spot
    assert spot is not None
    place = view.spot_rect(spot)
    rows = np.zeros((3000, MAX_SPEAKERS), np.float32)
    for n in range(60):
        rows[n * 50 : n * 50 + 13, n % 3] = 0.9
    parts.state.take([ActivityRevised(0, 100, rows, 3000, is_settled=True)])
    assert parts.current_text() == "This"
    moved = view.cursor_at.spot
    assert moved is not None
    assert view.spot_rect(moved) == place


def test_text_size_changes_rows_and_keeps_the_place(
    parts: TranscriptParts, view: TranscriptView
) -> None:
    say(parts, 0, 30)
    low = view.verticalScrollBar().maximum()
    view.set_text_size(19)
    assert view.verticalScrollBar().maximum() > low
    assert is_at_end(view)
    view.show_sample(10 * 5 * RATE)
    view.set_text_size(13)
    spot = view.cursor_at.spot
    assert spot is not None
    assert view.is_in_view(spot)
    assert view.verticalScrollBar().maximum() == low


def test_the_line_in_view_stays_when_the_width_changes(
    parts: TranscriptParts, view: TranscriptView
) -> None:
    say(parts, 0, 200)
    view.show_sample(100 * 5 * RATE)
    view.resize(500, 500)
    QTest.qWait(10)
    assert view.selected_text() == "[00:08:20] This is sentence number 100."
    assert view.is_in_view(Spot(view.current_row, 0))
    assert not view.is_following


def test_only_what_is_seen_is_laid_out(parts: TranscriptParts, view: TranscriptView) -> None:
    say(parts, 0, 2000)
    QTest.qWait(10)
    assert view.stack.num_layouts < 100
    for sample in range(0, 2000 * 5 * RATE, 50 * RATE):
        view.show_sample(sample)
    assert view.stack.num_layouts <= 200


def test_an_append_leaves_the_layout_of_other_rows_alone(
    parts: TranscriptParts, view: TranscriptView
) -> None:
    say(parts, 0, 12)
    theme = parts.appearance.theme
    before = [view.stack.laid_out(index, theme) for index in range(10)]
    say(parts, 12, 1)
    assert all(view.stack.laid_out(i, theme) is before[i] for i in range(10))


def test_a_kept_recording_is_read_from_its_beginning(
    parts: TranscriptParts, view: TranscriptView
) -> None:
    stored = TranscriptDocument()
    for n in range(100):
        stored.apply(FinalWords(words(f"Number {n}.", n * 5.0, n * 5.0 + 1)))
    parts.state.show_stored(stored, "Stored", "stored")
    assert view.offset == 0
    assert not view.is_following
    assert not view.jump_button.isVisible()
    assert view.current_row == -1


@pytest.mark.parametrize("name", ["😀" * 100, "مريم الحسيني " * 15, "x" * 200, "<b>bold</b> & co"])
def test_odd_names_are_drawn(parts: TranscriptParts, view: TranscriptView, name: str) -> None:
    parts.state.take([*conversation(), SpeakerRenamed(0, 0, name)])
    view.grab()
    view.select_all()
    assert name.strip() in view.selected_text()
    tip = view.tip(QPoint(view.stack.metrics.text_left + 4, 20))
    assert "<b>" not in tip


def test_odd_documents_are_drawn(parts: TranscriptParts, view: TranscriptView) -> None:
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
    view.setFocus()
    for _ in range(12):
        QTest.keyClick(view, Qt.Key.Key_Left)
        view.grab()
    for y in range(0, view.viewport().height(), 7):
        for x in range(0, view.viewport().width(), 31):
            view.tip(QPoint(x, y))
            view.spot_at(QPoint(x, y), nearest=True)
    view.select_all()
    assert "⟨" not in view.selected_text()
    assert "😀 שלום" in view.selected_text()


def test_one_word_without_a_speaker_can_be_walked_and_copied(
    parts: TranscriptParts, view: TranscriptView
) -> None:
    parts.state.take([FinalWords((Word("Yes", 0, 0),))])
    for key in (Qt.Key.Key_Down, Qt.Key.Key_Left, Qt.Key.Key_PageDown, Qt.Key.Key_Home):
        QTest.keyClick(view, key)
    assert view.selected_text() == "[00:00:00] Yes"


def test_keys_do_nothing_in_an_empty_transcript(
    parts: TranscriptParts, view: TranscriptView
) -> None:
    for key in (Qt.Key.Key_Down, Qt.Key.Key_Return, Qt.Key.Key_F2, Qt.Key.Key_3, Qt.Key.Key_End):
        QTest.keyClick(view, key)
    assert view.current_row == -1
    assert view.selected_text() == ""
    assert not parts.edits


def test_an_overlap_is_marked_with_both_letters(
    parts: TranscriptParts, view: TranscriptView
) -> None:
    parts.state.take(list(conversation()))
    theme = parts.appearance.theme
    laid_out = [view.stack.laid_out(index, theme) for index in range(view.row_count())]
    texts = [row.layout.text() for row in laid_out if row is not None]
    assert any("⟨A+B⟩" in text for text in texts)


def test_a_new_colour_of_a_speaker_is_painted(parts: TranscriptParts, view: TranscriptView) -> None:
    parts.state.take(list(conversation()))
    before = view.grab().toImage()
    parts.state.take([SpeakerColored(SpeakerId(0, 0), 4)])
    assert view.grab().toImage() != before


def test_a_hit_is_shown_and_painted(parts: TranscriptParts, view: TranscriptView) -> None:
    say(parts, 0, 200)
    hits = TranscriptSearch(parts.state.document).find("number 7")
    plain = view.grab().toImage()
    parts.marks.set_hits(hits, 0)
    view.show_hit(hits[0])
    assert parts.current_text() == "number"
    assert view.is_in_view(Spot(view.current_row, 3))
    assert not view.is_following
    image = view.grab().toImage()
    assert image != plain
    colors = {
        image.pixelColor(x, y).name().upper()
        for y in range(image.height())
        for x in range(0, image.width(), 2)
    }
    assert parts.appearance.theme.hit_current in colors


def test_a_hit_moved_by_a_late_word_is_still_found(
    parts: TranscriptParts, view: TranscriptView
) -> None:
    say(parts, 0, 10)
    (hit,) = TranscriptSearch(parts.state.document).find("number 7")
    parts.state.take([FinalWords(words("Late words before it", 1.0, 1.4))])
    view.show_hit(hit)
    assert parts.current_text() == "number"
    assert "number 7" in view.selected_text()
    parts.state.take([started()])
    view.show_hit(hit)
    assert view.current_row == -1


def test_rows_tell_where_they_are_and_what_they_say(
    parts: TranscriptParts, view: TranscriptView
) -> None:
    say(parts, 0, 60)
    assert view.row_text(3) == "[00:00:15] This is sentence number 3."
    assert view.row_rect(0).bottom() < 0
    rows = [view.row_rect(index) for index in range(view.row_count())]
    assert all(above.bottom() + 1 == below.top() for above, below in pairwise(rows))
    told: list[int] = []
    view.current_row_changed.connect(told.append)
    view.choose_row(3)
    view.choose_row(99)
    assert view.current_row == 3
    assert told == [3]
    assert view.accessibleDescription() == view.row_text(3)
    assert view.row_rect(3).top() >= 0


def test_choosing_everything_moves_nothing(parts: TranscriptParts, view: TranscriptView) -> None:
    say(parts, 0, 100)
    view.verticalScrollBar().setValue(300)
    view.select_all()
    assert view.offset == 300
    assert view.selected_words().count("\n") == 99


def test_a_click_on_a_line_cut_by_the_edge_does_not_scroll_it_away(
    parts: TranscriptParts, view: TranscriptView
) -> None:
    say(parts, 0, 100)
    view.verticalScrollBar().setValue(310)
    row = view.stack.heights.row_at(310)
    assert view.row_rect(row).top() < 0
    point = QPoint(parts.point_of(row, 1).x(), 2)
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=point)
    assert view.offset == 310
    assert view.current_row == row


@pytest.mark.parametrize("text_size_pt", [13, 26, 72])
def test_no_word_is_cut_off_in_the_narrowest_view(
    parts: TranscriptParts, view: TranscriptView, text_size_pt: int
) -> None:
    parts.state.take(list(conversation()))
    view.set_text_size(text_size_pt)
    view.resize(10, 600)
    QTest.qWait(1)
    metrics = view.stack.metrics
    assert metrics.text_left + metrics.text_width <= view.viewport().width()
    laid_out = view.stack.laid_out(2, parts.appearance.theme)
    assert laid_out is not None
    assert all(
        laid_out.layout.lineAt(n).naturalTextWidth() <= metrics.text_width + 1
        for n in range(laid_out.layout.lineCount())
    )


def test_a_view_reached_by_key_shows_that_it_has_the_focus(
    parts: TranscriptParts, view: TranscriptView, qtbot: QtBot
) -> None:
    say(parts, 0, 3)
    view.activateWindow()
    view.clearFocus()
    before = view.grab().toImage()
    view.setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.waitUntil(view.hasFocus)
    assert view.grab().toImage() != before


def test_a_narrow_view_shows_times_above_the_words_and_a_wide_one_beside_them(
    parts: TranscriptParts, view: TranscriptView
) -> None:
    parts.state.take(list(conversation()))
    view.resize(300, 600)
    narrow = view.stack.metrics
    assert narrow.is_narrow
    assert narrow.text_left == narrow.time_left
    assert view.viewport().width() - narrow.text_width < 60
    for index in range(view.row_count()):
        view.stack.measure(index, parts.appearance.theme)
        laid_out = view.stack.laid_out(index, parts.appearance.theme)
        # There is a line for the time, over marked stretches as well.
        height = laid_out.top if laid_out else view.row_rect(index).height()
        assert height >= narrow.small_height * (1 if laid_out else 2)
    view.resize(900, 600)
    assert not view.stack.metrics.is_narrow
    assert view.stack.metrics.text_left > view.stack.metrics.badge_left


def test_the_name_editor_in_a_narrow_view_is_within_it(
    parts: TranscriptParts, view: TranscriptView
) -> None:
    parts.state.take(list(conversation()))
    view.resize(260, 600)
    view.rename_row(0)
    assert view.editors.name.isVisible()
    assert view.editors.name.geometry().right() < view.viewport().width()
    assert view.editors.name.width() > 150
    view.finish_editing()
