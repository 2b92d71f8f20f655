"""The speaker timeline on documents built by scripts: rows, bars and overlaps."""

import time
from collections.abc import Iterator

import numpy as np
import pytest
from PySide6.QtCore import QRect
from pytestqt.qtbot import QtBot

from engine.core.events import (
    ActivityRevised,
    FinalWords,
)
from engine.core.types import MAX_SPEAKERS, SpeakerId
from tests.helpers.timeline import USER, A, B, C, TimelineParts, count, open_timeline, rows
from tests.helpers.window import FRAME_MS, activity, started, words

pytestmark = pytest.mark.gui


@pytest.fixture
def empty(qtbot: QtBot) -> Iterator[TimelineParts]:
    yield from open_timeline(qtbot, is_empty=True)


@pytest.fixture
def parts(qtbot: QtBot) -> Iterator[TimelineParts]:
    yield from open_timeline(qtbot)


def test_rows_come_with_the_speakers_and_make_it_higher(empty: TimelineParts) -> None:
    empty.state.take([started()])
    assert empty.view.speaker_rows() == ()
    empty.state.take([activity(((0, 0.5, 2.0),), 3.0, 1.0)])
    assert empty.view.speaker_rows() == (A,)
    height = empty.view.sizeHint().height()
    empty.state.take([activity(((0, 0.5, 2.0), (2, 1.0, 2.5), (3, 0.1, 2.0)), 3.0, 1.0)])
    assert empty.view.speaker_rows() == (A, C, SpeakerId(0, 3))
    assert empty.view.sizeHint().height() > height


def test_more_rows_than_fit_are_packed_and_then_scrolled(
    empty: TimelineParts, qtbot: QtBot
) -> None:
    empty.state.take([started(), rows([(slot, 0.0, 5.0) for slot in range(8)], 5.0)])
    qtbot.waitUntil(lambda: empty.view.height() == empty.view.sizeHint().height())
    assert not empty.view.rows_bar.isVisible()
    empty.window.resize(1240, 360)
    qtbot.waitUntil(lambda: empty.view.rows_bar.isVisible())
    assert empty.view.height() <= 0.41 * empty.window.height()
    assert empty.view.row_rect_on_widget(7).isEmpty()
    empty.view.choose_row(7)
    assert empty.view.row_rect_on_widget(7).height() == empty.view.layout_now.row_height


def test_a_bar_stands_where_somebody_speaks_and_nowhere_else(parts: TimelineParts) -> None:
    assert parts.color(3.0, 0) == parts.theme.speaker(0)
    assert parts.color(7.0, 0) == parts.theme.color("ground")
    assert parts.color(7.0, 1) == parts.theme.speaker(1)


def test_below_the_threshold_only_shade_is_left(parts: TimelineParts) -> None:
    parts.view.set_threshold(0.95)
    left = parts.color(3.0, 0)
    assert left not in (parts.theme.speaker(0), parts.theme.color("ground"))
    parts.view.controls.reset_threshold()
    assert parts.color(3.0, 0) == parts.theme.speaker(0)


def test_an_overlap_is_marked_in_the_strip_and_at_the_bars_of_both(parts: TimelineParts) -> None:
    image, mark = parts.picture(), parts.theme.color("overlap")
    assert parts.color(9.25, 0) == parts.theme.speaker(0)
    assert parts.color(9.25, 1) == parts.theme.speaker(1)
    sizes = parts.view.sizes
    strip = QRect(0, sizes.ruler + sizes.level, 1, sizes.overlap)
    for time_s, is_marked in ((9.1, True), (7.0, False), (12.0, False), (25.0, False)):
        strip.moveLeft(parts.x(time_s))
        assert bool(count(image, strip, mark)) is is_marked
        for row in (0, 1):
            rect = parts.view.row_rect_on_widget(row)
            rect.setLeft(parts.x(time_s))
            rect.setWidth(1)
            assert (count(image, rect, mark) >= 4) is is_marked


def test_the_threshold_moves_the_marks_of_overlap_too(parts: TimelineParts) -> None:
    sizes, mark = parts.view.sizes, parts.theme.color("overlap")
    strip = QRect(parts.x(9.1), sizes.ruler + sizes.level, 1, sizes.overlap)
    assert count(parts.picture(), strip, mark)
    parts.view.set_threshold(0.95)
    assert not count(parts.picture(), strip, mark)
    assert "Several people" not in parts.view.describe(9.1)


def test_what_may_still_change_is_hatched(parts: TimelineParts) -> None:
    image, y = parts.picture(), parts.bar_y(1)

    def seen(start_s: float, end_s: float) -> set[str]:
        span = range(parts.x(start_s), parts.x(end_s))
        return {image.pixelColor(x, y).name() for x in span}

    assert len(seen(23.6, 24.6)) > 2
    assert seen(22.6, 23.0) == {parts.theme.speaker(1).name()}


def test_what_has_become_final_is_solid_though_its_rows_were_not_told_again(
    parts: TimelineParts,
) -> None:
    activity = parts.state.document.activity
    end, border = activity.num_frames, activity.final_until
    silence = np.zeros((150, MAX_SPEAKERS), np.float32)
    parts.state.take([ActivityRevised(end, FRAME_MS, silence, border)])
    span = range(parts.x(23.6), parts.x(24.6))
    image, y = parts.picture(), parts.bar_y(1)
    assert len({image.pixelColor(x, y).name() for x in span}) > 2
    parts.state.take([ActivityRevised(end + 150, FRAME_MS, silence[:2], end + 152)])
    span = range(parts.x(23.6), parts.x(24.6))
    image = parts.picture()
    assert {image.pixelColor(x, y).name() for x in span} == {parts.theme.speaker(1).name()}


def test_each_speakers_pattern_is_on_the_lower_edge_of_the_bars(parts: TimelineParts) -> None:
    image = parts.picture()

    def edge(row: int, time_s: float) -> set[str]:
        y = parts.view.row_rect_on_widget(row).bottom() - 6
        return {image.pixelColor(x, y).name() for x in range(parts.x(time_s), parts.x(time_s) + 16)}

    # Plain for the first, striped for the second: told apart without colour.
    assert len(edge(0, 11.0)) == 1
    assert len(edge(1, 7.0)) > 1


def test_words_given_to_somebody_else_are_outlined_there(parts: TimelineParts) -> None:
    parts.editing.assign(parts.words(0.0, 3.0), C)
    shade, outlined = parts.color(1.5, 0), parts.color(1.5, 2)
    assert shade not in (parts.theme.speaker(0), parts.theme.color("ground"))
    assert outlined not in (parts.theme.speaker(2), parts.theme.color("ground"))
    rect = parts.view.row_rect_on_widget(2)
    image, x = parts.picture(), parts.x(1.5)
    assert image.pixelColor(x, rect.top() + 5) == parts.theme.speaker(2)
    parts.editing.undo()
    assert parts.color(1.5, 0) == parts.theme.speaker(0)


def test_a_person_the_user_made_gets_a_row(parts: TimelineParts) -> None:
    parts.editing.assign(parts.words(0.0, 3.0), None)
    assert parts.view.speaker_rows() == (A, B, C, USER)
    parts.editing.undo()
    assert parts.view.speaker_rows() == (A, B, C)


def test_merging_joins_rows_and_undo_parts_them(parts: TimelineParts) -> None:
    parts.editing.merge(B, A)
    assert parts.view.speaker_rows() == (A, C)
    assert parts.color(7.0, 0) == parts.theme.speaker(0)
    assert "One person with B" in parts.view.describe_row(0)
    parts.editing.undo()
    assert parts.view.speaker_rows() == (A, B, C)


def test_another_colour_is_on_bars_and_names_at_once(parts: TimelineParts) -> None:
    parts.editing.color(A, 5)
    assert parts.color(3.0, 0) == parts.theme.speaker(5)


def test_a_long_session_looks_as_busy_as_it_was(empty: TimelineParts) -> None:
    """Seen as a whole, a speaker of a tenth of the time must not look active all the time."""
    turns = [(0, 60.0 * minute, 60.0 * minute + 6.0) for minute in range(240)]
    empty.state.take([started(), rows(turns, 14_400.0)])
    empty.view.show_all()
    rect = empty.view.row_rect_on_widget(0)
    image, x = empty.picture(), empty.x(7_200.0)
    place = QRect(x, rect.top() + 4, 60, rect.height() - 8)
    share = count(image, place, empty.theme.speaker(0)) / (place.width() * place.height())
    assert share < 0.3
    bottom = QRect(x, rect.bottom() - 6, 60, 3)
    assert count(image, bottom, empty.theme.color("ground")) < 0.9 * 180


def test_four_hours_cost_no_more_to_paint_than_four_minutes(empty: TimelineParts) -> None:
    costs_s = []
    for minutes in (4, 240):
        num_frames = minutes * 60 * 1000 // 80
        table = (np.random.default_rng(1).random((num_frames // 10, MAX_SPEAKERS)) > 0.6) * 0.9
        table = np.repeat(table, 10, axis=0).astype(np.float32)
        empty.state.take([started(), ActivityRevised(0, 80, table, num_frames)])
        said = words("so it goes " * (minutes * 50), 0.0, minutes * 60.0)
        empty.state.take([FinalWords(said)])
        empty.view.show_all()
        best_s = 9.0
        for _ in range(5):
            empty.appearance.changed.emit()  # everything is painted anew
            start_s = time.thread_time()
            empty.view.grab()
            best_s = min(best_s, time.thread_time() - start_s)
        costs_s.append(best_s)
    # What is drawn is bounded by the width; a factor of 60 in length must not show.
    assert costs_s[1] < 4 * costs_s[0] + 0.02
