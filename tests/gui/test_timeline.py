"""The speaker timeline on documents built by scripts: what it shows."""

import time
from collections.abc import Iterator

import numpy as np
import pytest
from PySide6.QtCore import QRect
from PySide6.QtGui import QColor, QImage
from pytestqt.qtbot import QtBot

from app.views.timeline_header import name_rect
from engine.audio.level_track import LevelTrack
from engine.core.events import (
    ActivityRevised,
    FinalWords,
    PartialWords,
    SpanMarked,
    SpeakerRenamed,
)
from engine.core.types import MAX_SPEAKERS, SpanKind, SpeakerId, Word
from engine.text.search import Hit
from tests.helpers.timeline import USER, A, B, C, TimelineParts, make_timeline, rows
from tests.helpers.window import RATE, activity, conversation, started, words

pytestmark = pytest.mark.gui


@pytest.fixture
def empty(qtbot: QtBot) -> Iterator[TimelineParts]:
    parts = make_timeline()
    qtbot.addWidget(parts.window)
    qtbot.waitUntil(parts.view.isVisible)
    yield parts
    parts.window.close()


@pytest.fixture
def parts(empty: TimelineParts, qtbot: QtBot) -> TimelineParts:
    empty.state.take(list(conversation()))
    empty.view.set_duration(26.4)
    qtbot.waitUntil(lambda: empty.view.height() == empty.view.sizeHint().height())
    return empty


def _count(image: QImage, rect: QRect, color: QColor) -> int:
    """Return how many pixels of a rectangle have a colour."""
    wanted = color.rgb()
    return sum(
        image.pixel(x, y) == wanted
        for x in range(rect.left(), rect.right() + 1)
        for y in range(rect.top(), rect.bottom() + 1)
    )


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
        assert bool(_count(image, strip, mark)) is is_marked
        for row in (0, 1):
            rect = parts.view.row_rect_on_widget(row)
            rect.setLeft(parts.x(time_s))
            rect.setWidth(1)
            assert (_count(image, rect, mark) >= 4) is is_marked


def test_the_threshold_moves_the_marks_of_overlap_too(parts: TimelineParts) -> None:
    sizes, mark = parts.view.sizes, parts.theme.color("overlap")
    strip = QRect(parts.x(9.1), sizes.ruler + sizes.level, 1, sizes.overlap)
    assert _count(parts.picture(), strip, mark)
    parts.view.set_threshold(0.95)
    assert not _count(parts.picture(), strip, mark)
    assert "Several people" not in parts.view.describe(9.1)


def test_what_may_still_change_is_hatched(parts: TimelineParts) -> None:
    image, y = parts.picture(), parts.bar_y(1)

    def seen(start_s: float, end_s: float) -> set[str]:
        span = range(parts.x(start_s), parts.x(end_s))
        return {image.pixelColor(x, y).name() for x in span}

    assert len(seen(23.6, 24.6)) > 2
    assert seen(22.6, 23.0) == {parts.theme.speaker(1).name()}


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


def test_levels_are_drawn_over_the_time_they_belong_to(parts: TimelineParts) -> None:
    levels = LevelTrack(RATE)
    pcm = np.full(10 * RATE, 0.002, np.float32)
    pcm[4 * RATE : 6 * RATE] = 0.8
    levels.append(pcm)
    parts.state.set_live_levels(levels)
    image, sizes, ground = parts.picture(), parts.view.sizes, parts.theme.color("ground")
    y = sizes.ruler + sizes.level // 2 - 5

    def is_loud(time_s: float) -> bool:
        return image.pixelColor(parts.x(time_s), y) != ground

    assert [is_loud(t) for t in (3.7, 4.3, 5.7, 6.3)] == [False, True, True, False]


def test_levels_grow_while_nothing_else_changes(parts: TimelineParts) -> None:
    levels = LevelTrack(RATE)
    parts.state.set_live_levels(levels)
    sizes = parts.view.sizes
    y = sizes.ruler + sizes.level // 2 - 5
    for second in range(1, 6):
        levels.append(np.full(RATE, 0.7, np.float32))
        image = parts.picture()
        loud = [
            image.pixelColor(parts.x(t + 0.5), y) != parts.theme.color("ground") for t in range(6)
        ]
        assert loud == [t < second for t in range(6)]


def test_hover_tells_time_speakers_probabilities_words_and_state(parts: TimelineParts) -> None:
    parts.state.take([SpeakerRenamed(0, 0, "Maria")])
    lines = parts.view.describe(9.2).splitlines()
    assert lines[0] == "00:00:09.2"
    assert lines[1].startswith("Maria: 9")
    assert lines[2].startswith("Speaker B: ")
    assert "Several people speak at once" in lines
    assert "Who speaks is final" in lines
    assert "“right.”" in lines
    assert "may still change" in parts.view.describe(24.0)
    assert "sound lost" in parts.view.describe(15.5)
    assert "I would" not in parts.view.describe(21.9)
    assert "“Please” (may still change)" in parts.view.describe(21.9)
    settled = rows([(0, 0.5, 5.2)], 6.0, is_settled=True)
    parts.state.take([settled])
    assert "settled" in parts.view.describe(3.0)


def test_a_row_tells_its_name_share_and_whether_it_speaks(parts: TimelineParts) -> None:
    parts.state.take([SpeakerRenamed(0, 1, "Ida")])
    parts.marks.set_playing(7 * RATE)
    told = [parts.view.describe_row(row) for row in range(3)]
    assert "speaking now" in told[1]
    assert told[1].startswith("Ida: ")
    assert "silent now" in told[0]
    assert "Ida" in parts.view.accessibleDescription()


def test_own_voice_gets_a_row_of_its_own(parts: TimelineParts) -> None:
    assert None not in parts.view.speaker_rows()
    parts.state.take([SpanMarked(5, SpanKind.OWN_VOICE, 18 * RATE, 20 * RATE)])
    assert parts.view.speaker_rows()[-1] is None
    rect = parts.view.row_rect_on_widget(3)
    image, ground = parts.picture(), parts.theme.color("ground")

    def painted(time_s: float) -> bool:
        place = QRect(parts.x(time_s), rect.top(), 6, rect.height())
        return _count(image, place, ground) < place.width() * place.height()

    assert [painted(t) for t in (17.3, 19.0, 20.4)] == [False, True, False]


def test_own_voice_without_an_end_goes_on_with_the_time(parts: TimelineParts) -> None:
    parts.state.take([SpanMarked(5, SpanKind.OWN_VOICE, 25 * RATE, 25 * RATE)])
    parts.picture()
    parts.view.set_duration(29.0)
    rect = parts.view.row_rect_on_widget(3)
    place = QRect(parts.x(28.0), rect.top(), 6, rect.height())
    assert (
        _count(parts.picture(), place, parts.theme.color("ground")) < place.width() * rect.height()
    )


def test_cursor_selection_playing_and_hits_are_drawn(parts: TimelineParts) -> None:
    theme, sizes = parts.theme, parts.view.sizes
    before = parts.picture()
    parts.marks.set_cursor(3 * RATE)
    parts.marks.select(6 * RATE, 8 * RATE)
    parts.marks.set_playing(12 * RATE)
    parts.marks.set_hits([Hit(0, 1, 2 * RATE, 3 * RATE), Hit(5, 6, 20 * RATE, 21 * RATE)], 1)
    image = parts.picture()
    low = parts.view.height() - 12
    assert image.pixelColor(parts.x(3.0), low) == theme.color("text")
    assert image.pixelColor(parts.x(12.0), low) == theme.color("playing")
    assert image.pixelColor(parts.x(6.0), low) == theme.color("focus")
    assert image.pixelColor(parts.x(7.0), low) != before.pixelColor(parts.x(7.0), low)
    ruler = QRect(parts.x(2.0) - 2, sizes.ruler - 6, 4, 4)
    assert _count(image, ruler, theme.color("hit_mark"))
    ruler.moveLeft(parts.x(20.0) - 3)
    ruler.moveTop(sizes.ruler - 11)
    assert _count(image, ruler, theme.color("hit_mark"))  # the current hit is higher


def test_close_up_words_are_written_into_the_bars(parts: TimelineParts) -> None:
    parts.view.set_following(False)
    parts.view.zoom_by(0.15, parts.x(2.5))
    assert parts.view.scene.shows_words
    image, color = parts.picture(), parts.theme.speaker(0)
    rect = parts.view.row_rect_on_widget(0)
    place = QRect(parts.x(2.3), rect.top() + 6, parts.x(5.0) - parts.x(2.3), 9)
    assert _count(image, place, color) < 0.98 * place.width() * place.height()


def test_the_view_is_painted_again_only_where_something_is_new(
    parts: TimelineParts, monkeypatch: pytest.MonkeyPatch
) -> None:
    from app.views import timeline_picture

    painted: list[int] = []

    class Noted(timeline_picture.TilePainter):
        def paint(self) -> None:
            painted.append(self._first_px)
            super().paint()

    monkeypatch.setattr(timeline_picture, "TilePainter", Noted)
    parts.picture()
    parts.view.point_at(parts.point(5.0).toPointF())
    parts.marks.set_playing(5 * RATE)
    parts.view.scroll_px(-3)
    parts.picture()
    assert painted == []
    parts.state.take([activity(((1, 21.6, 25.9),), 26.48, 23.2)])
    parts.picture()
    assert len(painted) >= 1


def test_a_picture_of_parts_equals_a_picture_of_the_whole(parts: TimelineParts) -> None:
    """What is kept and moved must not differ from what is painted anew."""
    parts.view.set_following(False)
    for pixels in (0, 37, -111, 260):
        parts.view.scroll_px(pixels)
        kept = parts.picture()
        parts.appearance.changed.emit()  # everything is painted anew
        assert parts.picture() == kept


NAMES = ("🎉" * 40, "شهرزاد بنت المدير " * 12, "x" * 200, "line\nbreak\ttab", "")


@pytest.mark.parametrize("name", NAMES)
def test_any_name_is_drawn_in_its_row(parts: TimelineParts, name: str) -> None:
    ground = parts.theme.color("ground")
    parts.state.take([SpeakerRenamed(0, 0, name[:200])])
    place = name_rect(parts.view.scene, 0)
    image = parts.picture()
    header = parts.view.sizes.header
    # Nothing runs out of the names into the plot, or into the row below.
    edge = QRect(header - 6, round(place.top()), 5, round(place.height()))
    assert _count(image, edge, ground) == edge.width() * edge.height()
    assert parts.view.describe_row(0)


def test_odd_documents_are_drawn_sensibly(empty: TimelineParts) -> None:
    empty.picture()  # nothing at all
    empty.state.take([started()])
    assert empty.view.describe(0.0).startswith("00:00:00")
    empty.state.take([FinalWords((Word(" alone", 0, 0),))])
    empty.view.show_all()
    empty.picture()
    odd = (
        Word(" b", 5 * RATE, 4 * RATE),
        Word(" a", RATE, 9 * RATE),
        Word(" c", 2 * RATE, 2 * RATE),
    )
    empty.state.take([FinalWords(odd), PartialWords((Word(" p", 9 * RATE, 8 * RATE),))])
    empty.view.set_duration(10.0)
    empty.picture()
    empty.state.take([rows([(0, 0.0, 9.0)], 9.0)])
    empty.view.zoom_by(0.1, 300.0)
    empty.picture()
    assert empty.view.speaker_rows() == (A,)


def test_light_and_dark_change_everything_at_once(parts: TimelineParts) -> None:
    parts.picture()
    parts.appearance.force("dark")
    assert parts.color(3.0, 0) == parts.theme.speaker(0)
    assert parts.color(7.0, 0) == parts.theme.color("ground")


def test_a_long_session_looks_as_busy_as_it_was(empty: TimelineParts) -> None:
    """Seen as a whole, a speaker of a tenth of the time must not look active all the time."""
    turns = [(0, 60.0 * minute, 60.0 * minute + 6.0) for minute in range(240)]
    empty.state.take([started(), rows(turns, 14_400.0)])
    empty.view.show_all()
    rect = empty.view.row_rect_on_widget(0)
    image, x = empty.picture(), empty.x(7_200.0)
    place = QRect(x, rect.top() + 4, 60, rect.height() - 8)
    share = _count(image, place, empty.theme.speaker(0)) / (place.width() * place.height())
    assert share < 0.3
    bottom = QRect(x, rect.bottom() - 6, 60, 3)
    assert _count(image, bottom, empty.theme.color("ground")) < 0.9 * 180


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
